"""Known links beside those that heads make."""

import pytest

from regard.data.corpora import Pair
from regard.data.corpora.links import possible
from regard.errors import ConfigError
from regard.evaluation.alignment import Gold, score_alignments
from regard.evaluation.best_head import rank_heads
from regard.inside.gold import held, known, linked
from regard.tasks.word_texts import WordPair
from tests.inside.models import loaded


@pytest.fixture(scope="module")
def pair() -> Pair:
    """A short one: each use of it is quick."""
    return min(held(), key=lambda pair: len(pair.source))


def test_a_sentence_of_the_corpus_is_known_in_both_directions(pair: Pair) -> None:
    found = known(pair.source)
    assert found is not None
    assert (found.pair.source.text, found.pair.target.text) == (pair.source, pair.target)
    assert found.pair.source.words == pair.source_words
    assert found.gold.sure == frozenset(pair.alignment)
    assert found.gold.possible == found.gold.sure | possible(pair)
    back = known(pair.target, pair.source)
    assert back is not None
    assert back.gold.sure == frozenset((j, i) for i, j in pair.alignment)


def test_what_is_not_in_the_corpus_or_translated_otherwise_is_not_known(pair: Pair) -> None:
    assert known("Nobody ever said this.") is None
    assert known(pair.source, "狮子") is None


@pytest.mark.parametrize("name", ["bahdanau", "transformer, pre-norm"])
def test_every_head_has_the_error_rate_that_evaluation_gives_it(name: str, pair: Pair) -> None:
    model, found = loaded(name), known(pair.source)
    assert found is not None
    seen = linked(model, found)
    gold = Gold.of(pair.alignment, possible(pair))
    words = WordPair.of_words(pair.source_words, pair.target_words)
    wanted = {(one.name, one.head, one.shift): one.aer for one in rank_heads(model, [words], [gold])}
    assert {(one.choice.name, one.choice.head, one.choice.shift): one.choice.aer for one in seen} == wanted
    for one in seen:
        assert one.choice.aer == score_alignments([one.links], [gold]).aer
    rates = [one.choice.aer or 0.0 for one in seen]
    assert rates == sorted(rates)


def test_only_a_translator_links_words(pair: Pair) -> None:
    found = known(pair.source)
    assert found is not None
    with pytest.raises(ConfigError, match="Only a translator"):
        linked(loaded("gpt2"), found)
