"""What may be asked of a translator besides the best translation."""

import copy
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.data.batches import Sentences, pad
from regard.decoding import Request, beam
from regard.errors import ConfigError, LimitError
from regard.tasks.searching import USUAL, Habits, Search
from regard.tasks.translation import TranslationConfig
from regard.tasks.translator import Translator
from tests.tasks.libraries import lines, small

TEXTS = [line for line in lines(14, seed=3) if line.strip()]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return small()


@pytest.fixture(scope="module")
def letters() -> Translator:
    """Each character that it reads or writes is a token."""
    return small(kind="character")


WORDS = ["a cat slept.", "the dog heard.", "lion", "a bird, a dog", "The zebra."]
DRAWN: list[dict[str, Any]] = [{"beam": 1}, {"beam": 3}, {"sample": True, "temperature": 0.3}]


def written(translator: Translator, **search: Any) -> list[str]:
    return [found.text for (found, *_) in translator.translations(WORDS, Search(**search))]


# What it computes with


def test_searches_use_packed_matrices_and_leave_the_model_as_it_was(translator: Translator) -> None:
    seen: list[bool] = []
    layer = translator.model.get_submodule("output")
    hook = translator.model.get_submodule("decoder_norm").register_forward_hook(
        lambda *_: seen.append("forward" in vars(layer))
    )
    translator.translate(TEXTS, beam=5)
    hook.remove()
    assert seen
    assert all(seen)
    assert "forward" not in vars(layer)


@pytest.mark.parametrize("size", [1, 5])
def test_translations_are_those_of_the_matrices_as_they_lie(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = small().translations(TEXTS, Search(beam=size))
    monkeypatch.setattr("regard.layers.packed._suits", lambda layer: False)
    plain = small().translations(TEXTS, Search(beam=size))
    assert [found.text for (found,) in packed] == [found.text for (found,) in plain]
    assert [found.score for (found,) in packed] == pytest.approx([found.score for (found,) in plain], abs=1e-5)


def test_a_translator_can_be_copied(translator: Translator) -> None:
    assert copy.deepcopy(translator).translate(TEXTS[:2]) == translator.translate(TEXTS[:2])


# Habits


def test_a_model_searches_as_it_is_used_to_unless_asked_otherwise() -> None:
    habits = Habits(beam=3, penalty=0.4)
    assert habits.search(nbest=2) == Search(beam=3, nbest=2, penalty=0.4)
    assert habits.search(beam=7, penalty=1.0) == Search(beam=7)
    assert USUAL.search() == Search()
    used = Translator(small().model, small().tokenizers, habits=habits)
    assert used.translate(TEXTS) == small().translate(TEXTS, beam=3, penalty=0.4)
    assert used.search().beam == 3


def test_a_run_has_the_habits_that_are_usual() -> None:
    assert Habits.of(TranslationConfig().habits.model_dump()) == Habits()


def test_habits_come_with_the_settings_of_a_model(translator: Translator) -> None:
    config = {"data": {"langs": ["en", "zh"]}, "habits": {"beam": 2, "banned": [5, 6], "forced_end": True, "limit": 9}}
    made = Translator.assemble(translator.model, translator.tokenizers, config, "name")
    assert made.habits == Habits(beam=2, banned=(5, 6), forced_end=True, limit=9)


@pytest.mark.parametrize("how", DRAWN)
def test_banned_tokens_are_never_written(letters: Translator, how: dict[str, Any]) -> None:
    usual = "".join(written(letters, **how))
    favourites = sorted(set(usual), key=usual.count)[-3:]
    banned = tuple(letters.tokenizers.target.encode("".join(favourites)))
    shy = Translator(letters.model, letters.tokenizers, habits=Habits(banned=banned))
    assert banned
    found = "".join(written(shy, **how))
    assert found
    assert not set(found) & set(favourites)


def test_what_is_left_adds_up_to_one_if_that_is_the_habit(letters: Translator) -> None:
    """Beside a network to whose output the banned tokens never belonged."""
    banned = tuple(range(5, 12))
    scores = {}
    for again in (False, True):
        habits = Habits(banned=banned, renormalise=again)
        found = Translator(letters.model, letters.tokenizers, habits=habits).translations(WORDS, Search(beam=1))
        scores[again] = [one.log_prob for (one,) in found]
    cut = Translator(Without(letters.model, banned), letters.tokenizers)
    wanted = [one.log_prob for (one,) in cut.translations(WORDS, Search(beam=1))]
    assert scores[True] == pytest.approx(wanted, abs=1e-4)
    assert all(one < other for one, other in zip(scores[False], scores[True], strict=True))


class Without(nn.Module):
    """A model whose softmax is over all tokens but some."""

    def __init__(self, model: Any, tokens: tuple[int, ...]) -> None:
        super().__init__()
        self.model, self.config, self.tokens = model, model.config, list(tokens)
        self.start, self.reorder = model.start, model.reorder

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        log_probs, state = self.model.step(tokens, state)
        odds = log_probs.exp()
        odds[:, self.tokens] = 0
        return (odds / odds.sum(-1, keepdim=True)).log(), state


def test_a_limit_is_kept_and_a_forced_end_counts_as_one(translator: Translator) -> None:
    short = Translator(translator.model, translator.tokenizers, habits=Habits(limit=4))
    ended = Translator(translator.model, translator.tokenizers, habits=Habits(limit=4, forced_end=True))
    cut, closed = short.translations(TEXTS, Search(beam=1)), ended.translations(TEXTS, Search(beam=1))
    assert any(not one.finished for (one,) in cut)
    assert all(one.finished for (one,) in closed)
    for (before,), (after,) in zip(cut, closed, strict=True):
        assert before.finished or before.text.startswith(after.text)


# Prefixes


def test_a_translation_begins_with_its_prefix_and_goes_on_as_likely_as_can_be(translator: Translator) -> None:
    target = translator.tokenizers.target
    for text, prefix in zip(TEXTS, ["那只猫", "然后", "一只狗,然后", "狮子"] * 3, strict=False):
        found = translator.translations([text], Search(beam=3), [prefix])[0][0]
        assert found.text.startswith(prefix)
        source, lengths = pad([[*translator.tokenizers.source.encode(text), translator.tokenizers.source.end]], 0)
        begun = torch.tensor([[target.start, *target.encode(prefix)]])
        limits = (2 * lengths + 20).clamp(max=translator.limit - begun.shape[1] + 1)
        ((wanted,),) = beam(translator.model, Request(Sentences(source, lengths), begun, target.end, limits), size=3)
        assert found.text == target.decode([*begun[0, 1:].tolist(), *wanted.tokens])
        assert (found.score, found.finished) == (pytest.approx(wanted.score), wanted.finished)


def test_prefixes_may_be_of_any_length_and_absent(translator: Translator) -> None:
    prefixes = ["", "那只猫", "然后", "", "一只狗,然后睡了", "那只 "] * 3
    texts = (TEXTS * 2)[: len(prefixes)]
    together = translator.translate(texts, prefix=prefixes, beam=2)
    for text, prefix, found in zip(texts, prefixes, together, strict=True):
        assert found == translator.translate(text, prefix=prefix, beam=2)
        assert found.startswith(prefix.rstrip())
    assert translator.translate(texts, prefix="然后", beam=2) == translator.translate(
        texts, prefix=["然后"] * len(texts), beam=2
    )
    assert translator.translate(["", texts[0]], prefix="然后", beam=1)[0] == ""


def test_the_likeliest_beginning_changes_nothing(translator: Translator) -> None:
    target = translator.tokenizers.target
    for text in TEXTS[:6]:
        best = translator.translations([text], Search(beam=1))[0][0].text
        ids = target.encode(best)
        begun = target.decode(ids[:2])
        if ids and target.encode(begun) == ids[:2]:
            assert translator.translate(text, prefix=begun, beam=1)[: len(best)] == best


def test_a_prefix_that_leaves_no_room_is_refused(translator: Translator) -> None:
    with pytest.raises(LimitError, match="longer than a translation can be") as told:
        translator.translate(TEXTS[0], prefix="猫狗" * 60)
    assert told.value.wanted == f"at most {translator.limit - 1}"


# Repetition


def repeats(texts: list[str]) -> int:
    """Pairs of characters that a text has already."""
    pairs = [list(pairwise(text)) for text in texts]
    return sum(len(some) - len(set(some)) for some in pairs)


@pytest.mark.parametrize("how", DRAWN)
def test_nothing_is_said_twice_if_so_asked(letters: Translator, how: dict[str, Any]) -> None:
    assert repeats(written(letters, **how)) > 0
    assert repeats(written(letters, **how, no_repeat_ngram=2)) == 0


@pytest.mark.parametrize("how", DRAWN)
def test_a_repetition_penalty_makes_texts_more_varied(letters: Translator, how: dict[str, Any]) -> None:
    plain, varied = written(letters, **how), written(letters, **how, repetition_penalty=3.0)
    assert repeats(varied) < repeats(plain) / 2


# Drawing


def test_what_is_drawn_depends_on_the_seed_and_the_text_alone(translator: Translator) -> None:
    how: dict[str, Any] = {"sample": True, "nbest": 3, "top_k": 40}
    together = translator.translations(TEXTS, Search(**how, seed=5))
    for text, found in zip(TEXTS, together, strict=True):
        alone = translator.translations([text], Search(**how, seed=5))[0]
        assert [one.text for one in alone] == [one.text for one in found]
    assert [one[0].text for one in translator.translations(TEXTS, Search(sample=True, top_k=40, seed=5))] == [
        one[0].text for one in together
    ]
    assert translator.translate(TEXTS, sample=True, seed=6) != translator.translate(TEXTS, sample=True, seed=5)
    assert len({one.text for found in together for one in found}) > 2 * len(TEXTS)


def test_drawing_from_the_best_token_alone_is_greedy_search(translator: Translator) -> None:
    greedy = translator.translate(TEXTS, beam=1)
    assert translator.translate(TEXTS, sample=True, temperature=0.0) == greedy
    assert translator.translate(TEXTS, sample=True, top_k=1) == greedy


# Mistakes


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"nbest": 6}, "beam 5, n-best 6"),
        ({"beam": 0}, "beam 0"),
        ({"nbest": 0}, "n-best 0"),
        ({"penalty": 11.0}, "length penalty 11"),
        ({"no_repeat_ngram": -1}, "--no-repeat-ngram -1"),
        ({"temperature": 0.5}, "--temperature"),
        ({"top_k": 3, "seed": 2}, "--top-k and --seed"),
        ({"sample": True, "top_p": 0.0}, "--top-p 0"),
        ({"sample": True, "beam": 4}, "exclude each other"),
        ({"sample": True, "penalty": 0.2}, "--sample and --length-penalty exclude each other"),
        ({"sample": True, "patience": 3}, "--sample and --patience exclude each other"),
        ({"repetition_penalty": 0.0}, "--repetition-penalty 0"),
    ],
)
def test_what_cannot_be_asked_is_told(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        USUAL.search(**asked)


def test_drawn_translations_may_be_more_than_a_beam() -> None:
    assert USUAL.search(sample=True, nbest=9).rows == 9


def test_a_line_that_is_too_long_is_told_by_its_number(translator: Translator) -> None:
    texts = ["", "The cat slept.", "   " * 200, "cat " * 60]
    for refused in (lambda: translator.check(texts), lambda: translator.translate(texts)):
        with pytest.raises(LimitError, match="Line 4 is longer") as told:
            refused()
        assert "--split" in told.value.do
    with pytest.raises(LimitError, match="Line 1003 "):
        translator.check(texts, first=1000)
    translator.check(texts[:3])
    assert (translator.fits(texts[1]), translator.fits(texts[3])) == (True, False)
