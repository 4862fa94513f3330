"""GPT-2 one word at a time equals all words at once: the cache, prompts of different length, hypotheses."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import capture
from regard.decoding import Request, Stepper, beam, greedy
from regard.errors import LimitError
from tests.draws import DTYPES, assert_near, words
from tests.models.gpt2s import CHOICES, END, LIMIT, PROMPTS, WORDS, before, gpt2

B, T = 4, 6
TOKENS = words(B, T, below=WORDS, seed=1)
NOTHING = TOKENS[:, :0]

every_choice = pytest.mark.parametrize("name", CHOICES)


def log_probs(model: Any, text: list[int]) -> Tensor:
    """Of the word after a text, by a full pass over it alone."""
    with torch.inference_mode():
        return model.output(model(torch.tensor([text]))[0, -1]).log_softmax(-1)


def test_it_is_a_stepper() -> None:
    assert isinstance(gpt2(), Stepper)


@pytest.mark.parametrize("dtype", DTYPES)
@every_choice
def test_every_cached_step_equals_the_full_pass(name: str, dtype: torch.dtype) -> None:
    model = gpt2(dtype=dtype, **CHOICES[name])
    with torch.inference_mode():
        whole = model.output(model(TOKENS)).log_softmax(-1)
    state = model.start(None, NOTHING)
    for t in range(T):
        found, state = model.step(TOKENS[:, t], state)
        assert_near(found, whole[:, t])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 4])
@every_choice
def test_a_prompt_read_at_once_equals_one_read_step_by_step(name: str, size: int, dtype: torch.dtype) -> None:
    model = gpt2(dtype=dtype, **CHOICES[name])
    at_once, stepped = model.start(None, TOKENS[:, :size]), model.start(None, NOTHING)
    for t in range(size):
        _, stepped = model.step(TOKENS[:, t], stepped)
    for t in range(size, T):
        one, at_once = model.step(TOKENS[:, t], at_once)
        other, stepped = model.step(TOKENS[:, t], stepped)
        assert_near(one, other)


def test_a_long_text_equals_the_full_pass_though_the_cache_had_to_grow() -> None:
    """More than two times its first room."""
    model = gpt2(dtype=torch.float64, limit=300)
    tokens = words(2, 290, below=WORDS, seed=4)
    with torch.inference_mode():
        whole = model.output(model(tokens)).log_softmax(-1)
    state = model.start(None, tokens[:, :3])
    for t in range(3, 290):
        found, state = model.step(tokens[:, t], state)
        assert_near(found, whole[:, t])


# Prompts of different length


@pytest.mark.parametrize("dtype", DTYPES)
@every_choice
def test_prompts_with_padding_before_them_equal_each_prompt_alone(name: str, dtype: torch.dtype) -> None:
    model = gpt2(dtype=dtype, **CHOICES[name])
    tokens, padding = before(PROMPTS, filler=5)
    state = model.start(padding, tokens[:, :-1])
    histories = [list(prompt[:-1]) for prompt in PROMPTS]
    spoken = tokens[:, -1]
    for t in range(12):
        found, state = model.step(spoken, state)
        for b, history in enumerate(histories):
            history.append(int(spoken[b]))
            assert_near(found[b], log_probs(model, history))
        spoken = words(B, below=WORDS, seed=t)


@settings(max_examples=25, deadline=None)
@given(
    prompts=st.lists(st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=8), min_size=1, max_size=5),
    filler=st.integers(0, WORDS - 1),
)
def test_what_stands_in_the_padding_never_matters(prompts: list[list[int]], filler: int) -> None:
    model = gpt2()
    tokens, padding = before(prompts, filler)
    found, _ = model.step(tokens[:, -1], model.start(padding, tokens[:, :-1]))
    for b, prompt in enumerate(prompts):
        assert_near(found[b], log_probs(model, prompt))


def test_where_a_prompt_with_padding_looks_is_where_it_looks_alone() -> None:
    model = gpt2(dtype=torch.float64)
    tokens, padding = before(PROMPTS)
    with capture(model) as recording:
        model.step(tokens[:, -1], model.start(padding, tokens[:, :-1]))
    longest = tokens.shape[1]
    for layer in range(2):
        read, spoken = recording.all(f"decoder.{layer}.self")
        assert read.shape == (B, 3, longest - 1, longest - 1)
        assert spoken.shape == (B, 3, 1, longest)
        for b, prompt in enumerate(PROMPTS):
            with torch.inference_mode(), capture(model) as alone:
                model(torch.tensor([prompt]))
            some = int(padding[b])
            wanted = alone.last(f"decoder.{layer}.self")[0]
            assert not spoken[b, :, 0, :some].any()
            assert not read[b, :, :some].any()
            assert_near(spoken[b, :, 0, some:], wanted[:, -1])
            assert_near(read[b, :, some:, some:], wanted[:, :-1, :-1])


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_search_over_many_prompts_gives_what_each_alone_gives(size: int) -> None:
    model = gpt2(dtype=torch.float64)
    tokens, padding = before(PROMPTS)
    limits = torch.tensor([9, 30, 4, 20])

    def searched(source: Any, prefix: Tensor, most: Tensor) -> list[Any]:
        request = Request(source, prefix, END, most)
        return beam(model, request, size=size, nbest=size) if size else [[one] for one in greedy(model, request)]

    together = searched(padding, tokens, limits)
    for b, prompt in enumerate(PROMPTS):
        (alone,) = searched(None, torch.tensor([prompt]), limits[b : b + 1])
        assert [one.tokens for one in together[b]] == [one.tokens for one in alone]
        assert [one.log_prob for one in together[b]] == pytest.approx([one.log_prob for one in alone], abs=1e-9)


# Hypotheses


REORDERINGS = {
    "some change places": [1, 0, 2, 3],
    "some are dropped and others repeated": [0, 0, 3, 3, 3, 1],
    "fewer are left": [3, 1],
    "each is there twice": [0, 0, 1, 1, 2, 2, 3, 3],
    "the longest is gone": [3, 1, 2],
    "one is left": [3],
    "only those without padding are left": [0, 0],
    "nothing changes": [0, 1, 2, 3],
}


@pytest.mark.parametrize("case", REORDERINGS)
@every_choice
def test_reordered_hypotheses_go_on_from_the_rows_they_were(name: str, case: str) -> None:
    model, rows = gpt2(dtype=torch.float64, **CHOICES[name]), REORDERINGS[case]
    tokens, padding = before(PROMPTS)
    histories = [list(prompt) for prompt in PROMPTS]
    state = model.start(padding, tokens)
    for turn in range(4):
        if turn == 2:
            state = model.reorder(state, torch.tensor(rows))
            histories = [list(histories[row]) for row in rows]
        spoken = words(len(histories), below=WORDS, seed=turn)
        found, state = model.step(spoken, state)
        for b, history in enumerate(histories):
            history.append(int(spoken[b]))
            assert_near(found[b], log_probs(model, history))


def test_a_state_can_be_gone_on_from_twice_and_both_ways_stay_as_they_are() -> None:
    model = gpt2()
    state = model.start(None, TOKENS[:, :2])
    first, one = model.step(TOKENS[:, 2], state)
    _, other = model.step(TOKENS[:, 3], state)
    again, _ = model.step(TOKENS[:, 2], state)
    assert torch.equal(first, again)
    for ahead, word in ((one, 2), (other, 3)):
        found, _ = model.step(TOKENS[:, 4], ahead)
        for b in range(B):
            assert_near(found[b], log_probs(model, [*TOKENS[b, :2].tolist(), int(TOKENS[b, word]), int(TOKENS[b, 4])]))


def test_steps_keep_no_gradients_and_can_be_mixed_with_inference_mode() -> None:
    model = gpt2()
    state = model.start(None, TOKENS[:, :2])
    with torch.inference_mode():
        _, state = model.step(TOKENS[:, 2], state)
    found, _ = model.step(TOKENS[:, 3], state)
    assert not found.requires_grad


# The limit


def test_the_last_place_can_be_filled_and_no_more() -> None:
    model = gpt2()
    tokens = words(1, LIMIT, below=WORDS, seed=0)
    state = model.start(None, tokens[:, :-1])
    found, full = model.step(tokens[:, -1], state)
    assert_near(found[0], log_probs(model, tokens[0].tolist()))
    with pytest.raises(LimitError, match=r"found: 65 tokens\n  wanted: at most 64"):
        model.step(tokens[:, 0], full)
    with pytest.raises(LimitError, match=r"found: 65 tokens"):
        model.start(None, words(1, LIMIT + 1, below=WORDS, seed=0))
    again, _ = model.step(tokens[:, -1], state)  # what was refused has left nothing behind
    assert torch.equal(found, again)


def test_padding_does_not_count_towards_the_limit() -> None:
    model = gpt2(limit=10, dtype=torch.float64)
    tokens, padding = before([[1, 2, 3, 4, 5, 6, 7, 8], [9, 8]])
    state = model.start(padding, tokens)
    state = model.reorder(state, torch.tensor([1]))  # the long one is done
    history = [9, 8]
    for t in range(8):
        found, state = model.step(torch.tensor([t]), state)
        history.append(t)
        assert_near(found[0], log_probs(model, history))
    with pytest.raises(LimitError, match=r"found: 11 tokens"):
        model.step(torch.tensor([0]), state)
