"""Texts that outgrow the window: as if the last of it were read anew, whoever else is in the batch."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.decoding import LogProbs, Request, Sliding, Stepper, beam, forgotten, greedy
from tests.draws import assert_near, words
from tests.models.gpt2s import PROMPTS, WORDS, before, gpt2

LIMITS = (2, 7, 8)


def naive(window: list[int], token: int, limit: int) -> list[int]:
    """What is seen when a token comes: a full window loses its older half first."""
    return [*(window[limit // 2 :] if len(window) == limit else window), token]


def log_probs(model: Any, window: list[int]) -> Tensor:
    """Of the word after a window, by a full pass over it alone."""
    with torch.inference_mode():
        return model.output(model(torch.tensor([window]))[0, -1]).log_softmax(-1)


def test_it_is_a_stepper() -> None:
    assert isinstance(Sliding(gpt2(), 64), Stepper)
    assert isinstance(LogProbs(gpt2()), Stepper)


@pytest.mark.parametrize("limit", [2, 3, 6, 7, 64])
def test_what_is_forgotten_is_half_of_each_full_window(limit: int) -> None:
    window: list[int] = []
    for read in range(1, 200):
        window = naive(window, read, limit)
        assert forgotten(read, limit) == window[0] - 1
        assert limit - limit // 2 < len(window) <= limit or read <= limit


@pytest.mark.parametrize("limit", LIMITS)
def test_every_step_is_that_of_the_window_read_anew(limit: int) -> None:
    model = gpt2(limit=limit, dtype=torch.float64)
    stepper = Sliding(model, limit)
    tokens = words(1, 5 * limit, below=WORDS, seed=limit)
    state, window = stepper.start(None, tokens[:, :1]), tokens[0, :1].tolist()
    for token in tokens[0, 1:]:
        found, state = stepper.step(token[None], state)
        window = naive(window, int(token), limit)
        assert_near(found[0], log_probs(model, window))


def test_each_row_slides_by_its_own_length() -> None:
    """Prompts of 7, 2, 6 and 1 tokens, with padding; later some rows leave and others are there twice."""
    limit = 8
    model = gpt2(limit=limit, dtype=torch.float64)
    stepper = Sliding(model, limit)
    tokens, padding = before(PROMPTS, filler=5)
    state = stepper.start(padding, tokens[:, :-1])
    windows, spoken = [list(prompt[:-1]) for prompt in PROMPTS], tokens[:, -1]
    for t in range(40):
        found, state = stepper.step(spoken, state)
        windows = [naive(window, int(token), limit) for window, token in zip(windows, spoken, strict=True)]
        for row, window in enumerate(windows):
            assert_near(found[row], log_probs(model, window))
        if t in (3, 20):
            rows = [3, 0, 0, 2] if t == 3 else [1, 3]
            state, windows = stepper.reorder(state, torch.tensor(rows)), [windows[row] for row in rows]
        spoken = words(len(windows), below=WORDS, seed=t)


def test_a_prompt_longer_than_the_window_leaves_what_a_text_of_that_length_would_see() -> None:
    model = gpt2(limit=8, dtype=torch.float64)
    stepper = Sliding(model, 8)
    tokens = words(1, 23, below=WORDS, seed=3)
    found, _ = stepper.step(tokens[:, -1], stepper.start(None, tokens[:, :-1]))
    assert_near(found[0], log_probs(model, tokens[0, forgotten(23, 8) :].tolist()))


@pytest.mark.parametrize("size", [0, 3])
def test_a_search_beyond_the_window_gives_for_many_prompts_what_each_alone_gives(size: int) -> None:
    stepper = Sliding(gpt2(limit=9, dtype=torch.float64), 9)
    tokens, padding = before(PROMPTS)
    limits = torch.tensor([9, 30, 4, 20])

    def searched(source: Any, prefix: Tensor, most: Tensor) -> list[Any]:
        request = Request(source, prefix, -1, most)
        return beam(stepper, request, size=size, nbest=size) if size else [[one] for one in greedy(stepper, request)]

    together = searched(padding, tokens, limits)
    for b, prompt in enumerate(PROMPTS):
        (alone,) = searched(None, torch.tensor([prompt]), limits[b : b + 1])
        assert [one.tokens for one in together[b]] == [one.tokens for one in alone]
        assert [one.log_prob for one in together[b]] == pytest.approx([one.log_prob for one in alone], abs=1e-9)


class Counting:
    """A stepper that notes how many rows and tokens it is given to read at once."""

    def __init__(self, stepper: Any) -> None:
        self.stepper, self.step, self.reorder = stepper, stepper.step, stepper.reorder
        self.read: list[tuple[int, ...]] = []

    def start(self, source: Any, prefix: Tensor) -> Any:
        self.read.append(tuple(prefix.shape))
        return self.stepper.start(source, prefix)


def test_equal_prompts_are_read_once_and_each_goes_its_own_way() -> None:
    model = gpt2(dtype=torch.float64)
    counting = Counting(model)
    stepper = Sliding(counting, 64)
    prompts = [PROMPTS[0], PROMPTS[1], PROMPTS[0], PROMPTS[0]]
    tokens, padding = before(prompts)
    state = stepper.start(padding, tokens)
    assert counting.read == [(2, 7)]
    windows = [list(prompt) for prompt in prompts]
    for t in range(5):
        spoken = words(4, below=WORDS, seed=t)
        found, state = stepper.step(spoken, state)
        windows = [[*window, int(token)] for window, token in zip(windows, spoken, strict=True)]
        for row, window in enumerate(windows):
            assert_near(found[row], log_probs(model, window))


def test_a_token_is_read_about_twice_however_long_the_text() -> None:
    counting = Counting(gpt2(limit=16))
    stepper = Sliding(counting, 16)
    state = stepper.start(None, torch.tensor([[1]]))
    for t in range(400):
        _, state = stepper.step(torch.tensor([t % WORDS]), state)
    assert 300 < sum(rows * length for rows, length in counting.read) <= 401


def test_logits_become_log_probabilities() -> None:
    class Twice:
        def __init__(self) -> None:
            self.model = gpt2()
            self.start, self.reorder = self.model.start, self.model.reorder

        def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
            scores, state = self.model.step(tokens, state)
            return scores + 7, state

    token = torch.tensor([3])
    found, _ = LogProbs(Twice()).step(token, gpt2().start(None, torch.tensor([[1, 2]])))
    wanted, _ = gpt2().step(token, gpt2().start(None, torch.tensor([[1, 2]])))
    assert_near(found, wanted)
