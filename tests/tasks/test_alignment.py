"""From heads to links."""

import pytest

from regard.errors import ConfigError
from regard.tasks.alignment import EVERY, Among, Choice, Reverse, align
from regard.tasks.links import by_source, by_target, claims, turned
from regard.tasks.word_texts import WordPair
from regard.tasks.word_weights import word_weights
from tests.tasks.aligners import diagonal, transformer
from tests.text.corpus import CHINESE, ENGLISH

HEADS = {"decoder.0.cross": 2, "decoder.1.cross": 2}
ALIGN = Choice("decoder.align", 0, "predicts")
PAIR = WordPair.of_words(["The", "cat", "slept"], ["a", "b", "c"])


def test_every_head_and_both_steps_are_in_question() -> None:
    assert len(EVERY.choices(HEADS)) == 12
    assert Choice("decoder.1.cross", "mean", "reads") in EVERY.choices(HEADS)
    assert EVERY.choices({"decoder.align": 1}) == [Choice("decoder.align", 0, shift) for shift in ("predicts", "reads")]
    assert EVERY.choices(HEADS)[:3] == [
        Choice("decoder.0.cross", 0, "predicts"), Choice("decoder.0.cross", 0, "reads"),
        Choice("decoder.0.cross", 1, "predicts"),
    ]  # fmt: skip


def test_layer_head_and_step_can_be_said() -> None:
    assert Among(1, 0, "reads").choices(HEADS) == [Choice("decoder.1.cross", 0, "reads")]
    assert [choice.name for choice in Among(head="mean", shift="reads").choices(HEADS)] == list(HEADS)
    assert str(Choice("decoder.1.cross", 0, "reads")) == "decoder.1.cross, head 0, at the step that reads the word"
    assert "mean of its heads" in str(Choice("decoder.1.cross", "mean", "predicts"))


@pytest.mark.parametrize("layer", [2, -1])
def test_a_layer_that_is_not_there_is_told(layer: int) -> None:
    with pytest.raises(ConfigError, match=f"no layer {layer}") as told:
        Among(layer=layer).choices(HEADS)
    assert "found: attention to the source in decoder.0.cross, decoder.1.cross" in str(told.value)
    assert "wanted: 0 to 1" in str(told.value)


def test_a_head_that_is_not_there_is_told() -> None:
    with pytest.raises(ConfigError, match="decoder.0.cross has no head 2") as told:
        Among(head=2).choices(HEADS)
    assert "wanted: 0 to 1, or mean" in str(told.value)


def test_links_are_those_of_the_words_looked_at_most() -> None:
    assert align(diagonal(), [PAIR], ALIGN) == [{(0, 0), (1, 1), (2, 2)}]
    late = Choice("decoder.align", 0, "reads")
    assert align(diagonal(late=-1), [PAIR], late) == [{(0, 0), (1, 1), (2, 2)}]


def test_an_empty_pair_has_no_links_and_keeps_its_place() -> None:
    empty = WordPair.of_words(["The"], [])
    assert align(diagonal(), [empty, PAIR, empty], ALIGN, symmetrise="none")[0::2] == [frozenset(), frozenset()]


@pytest.mark.parametrize("name", ["none", "intersection", "union", "grow-diag"])
def test_both_readings_come_from_one_head(name: str) -> None:
    translator, choice = transformer(), Choice("decoder.1.cross", 1, "reads")
    pairs = [WordPair.of_texts(*texts) for texts in zip(ENGLISH[:9], CHINESE[:9], strict=True)]
    weights = {number: found.of("decoder.1.cross", 1, "reads") for number, found in word_weights(translator, pairs)}
    for number, links in enumerate(align(translator, pairs, choice, symmetrise=name)):
        claimed = claims(weights[number])
        first, second = by_target(claimed), by_source(claimed)
        assert {"none": first, "intersection": first & second, "union": first | second}.get(name, links) == links


def test_the_second_reading_comes_from_the_reverse_model() -> None:
    crossed = WordPair.of_words(["a", "b"], ["c", "d", "e"])
    reverse = Reverse(diagonal(late=1), ALIGN)  # source word i comes from target word i + 1
    (both,) = align(diagonal(), [crossed], ALIGN, symmetrise="union", reverse=reverse)
    (ours,) = align(diagonal(), [crossed], ALIGN, symmetrise="none")
    (theirs,) = align(diagonal(late=1), [crossed.swapped()], ALIGN, symmetrise="none")
    assert turned(theirs) == {(0, 1), (1, 2)}
    assert both == ours | turned(theirs)
