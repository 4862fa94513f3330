"""What a search may not do: repeat runs of tokens, choose banned ones, leave a text open at its limit. Beside Hugging
Face's generate on the same network, and beside a list of everything."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import NoRepeatNGramLogitsProcessor

from regard.data.batches import Sentences
from regard.decoding import Banned, Distribution, Draw, ForcedEnd, NoRepeat, Request, Stepper, beam, greedy, sample
from regard.decoding.no_repeat import repeating
from tests.decoding import foreign
from tests.decoding.chain import END, START, Chain, asked, chain, everything
from tests.decoding.foreign import Foreign
from tests.draws import words
from tests.models.small import END as LAST
from tests.models.small import SEARCHED, ready, sentences

LENGTH = 24
PROMPTS = words(5, 4, below=foreign.WORDS, seed=4)
BANNED = (1, 6, 10, 11)

Wrap = Callable[[Stepper], Stepper]
WRAPPERS: dict[str, tuple[Wrap, dict[str, Any]]] = {
    "no word twice": (lambda stepper: NoRepeat(stepper, 1), {"no_repeat_ngram_size": 1}),
    "no two words twice": (lambda stepper: NoRepeat(stepper, 2), {"no_repeat_ngram_size": 2}),
    "no three words twice": (lambda stepper: NoRepeat(stepper, 3), {"no_repeat_ngram_size": 3}),
    "banned": (lambda stepper: Banned(stepper, BANNED), {"bad_words_ids": [[token] for token in BANNED]}),
    "banned, no two words twice": (
        lambda stepper: Banned(NoRepeat(stepper, 2), BANNED),
        {"no_repeat_ngram_size": 2, "bad_words_ids": [[token] for token in BANNED]},
    ),
}


def request(end: int, limit: int = LENGTH) -> Request:
    return Request(None, PROMPTS, end, torch.full((len(PROMPTS),), limit))


def generated(model: Any, end: int, **options: Any) -> list[tuple[int, ...]]:
    return foreign.generated(model, PROMPTS, end, max_new_tokens=LENGTH, **options)


@pytest.mark.parametrize("name", WRAPPERS)
def test_greedy_search_obeys_as_hugging_face_does(name: str) -> None:
    wrap, options = WRAPPERS[name]
    limit = LENGTH if "word twice" not in name else foreign.WORDS - 5  # there are not more words to choose from
    for seed in range(2):
        stepper = Foreign(foreign.network(seed), logits=False)
        found = [one.tokens[:limit] for one in greedy(wrap(stepper), request(foreign.END))]
        assert found == [row[:limit] for row in generated(stepper.network, foreign.END, **options)]
        assert found != [one.tokens[:limit] for one in greedy(stepper, request(foreign.END))]


@pytest.mark.parametrize("name", [name for name in WRAPPERS if name != "no word twice"])
def test_beam_search_obeys_as_hugging_face_does(name: str) -> None:
    """Without an end mark: what the limit cuts off and what has ended compete there, and here the ended go first."""
    wrap, options = WRAPPERS[name]
    for seed in range(2):
        stepper = Foreign(foreign.network(seed), logits=False)
        found = [one.tokens for (one,) in beam(wrap(stepper), request(-1), size=3)]
        assert found == generated(stepper.network, -1, num_beams=3, **options)
        assert found != [one.tokens for (one,) in beam(stepper, request(-1), size=3)]


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=14), st.integers(1, 5))
def test_what_would_repeat_is_what_hugging_face_finds(text: list[int], size: int) -> None:
    scores = NoRepeatNGramLogitsProcessor(size)(torch.tensor([text]), torch.zeros(1, 5))
    assert repeating(tuple(text), size) == set(scores[0].isinf().nonzero().flatten().tolist())


def test_a_run_may_not_be_repeated_when_rows_have_changed_places() -> None:
    found = beam(NoRepeat(chain(3), 2), asked(12, 9, 14), size=4, nbest=4)
    for answers in found:
        for one in answers:
            text = (START, *one.tokens)
            pairs = list(pairwise(text))
            assert len(set(pairs)) == len(pairs)


def test_what_is_drawn_is_never_banned() -> None:
    stepper = Banned(chain(1, kinds=60), (1, END))
    found = sample(stepper, asked(*[8] * 60), choose=Draw(Distribution(temperature=3.0), 5))
    assert {token for one in found for token in one.tokens} == {0, 3}
    assert not any(one.finished for one in found)


@pytest.mark.parametrize("seed", range(4))
def test_at_the_limit_a_forced_end_is_certain(seed: int) -> None:
    """Beside a list of everything, in which each text that the limit cuts off ends at no cost instead of its last
    word."""
    limits, wide = (1, 3, 4), 4**4
    given = asked(*limits)
    found = beam(ForcedEnd(chain(seed), END, given.limits), given, size=wide, nbest=1, penalty=0.6)
    for kind, (limit, (best, *_)) in enumerate(zip(limits, found, strict=True)):
        every = everything(chain(seed), kind, limit, 0.0)
        ended = {one.tokens: one.log_prob for one in every if one.finished and len(one.tokens) < limit - 1}
        full = {one.tokens[: limit - 1] for one in every if len(one.tokens) >= limit - 1}
        texts = ended | {tokens: log_prob_of(chain(seed), kind, tokens) for tokens in full}
        wanted = max(texts, key=lambda tokens: texts[tokens] / (len(tokens) + 1) ** 0.6)
        assert (best.tokens, best.finished) == (wanted, True)
        assert best.log_prob == pytest.approx(texts[wanted], abs=1e-5)


def log_prob_of(chain: Chain, kind: int, tokens: tuple[int, ...]) -> float:
    so_far, total = (START,), 0.0
    for token in tokens:
        total += chain.after(kind, so_far)[token]
        so_far = (*so_far, token)
    return total


def test_a_forced_end_is_that_of_hugging_face() -> None:
    for seed in range(2):
        stepper, given = Foreign(foreign.network(seed), logits=False), request(foreign.END, limit=6)
        with torch.inference_mode():
            rows = stepper.network.generate(
                PROMPTS, attention_mask=torch.ones_like(PROMPTS), do_sample=False, num_beams=3, early_stopping="never",
                max_length=PROMPTS.shape[1] + 6, forced_eos_token_id=foreign.END, pad_token_id=foreign.PAD,
                eos_token_id=foreign.END,
            )  # fmt: skip
        made = [row[PROMPTS.shape[1] :] for row in rows.tolist()]
        found = beam(ForcedEnd(stepper, foreign.END, given.limits), given, size=3)
        assert [one.tokens for (one,) in found] == [tuple(row[: row.index(foreign.END)]) for row in made]
        assert all(one.finished for (one,) in found)


@pytest.mark.parametrize("name", SEARCHED)
def test_every_model_can_be_held_back(name: str) -> None:
    source, lengths = sentences(7, 2, 6)
    limits = torch.tensor([6, 3, 5])
    given = Request(Sentences(source, lengths), torch.full((3, 1), 1), LAST, limits)
    stepper = ForcedEnd(Banned(NoRepeat(ready(name), 2), (5,)), LAST, limits)
    for answers in beam(stepper, given, size=3, nbest=3):
        assert all(one.finished and 5 not in one.tokens for one in answers)
