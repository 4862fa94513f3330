"""One word at a time equals all words at once: the cache, the prefix, the reordering of hypotheses, for every model."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.data.batches import Sentences
from tests.draws import DTYPES, assert_near, words
from tests.models.small import ATTENDING, CHOICES, TARGET_WORDS, chosen, ready, sentences

B, T, V = 4, 6, TARGET_WORDS
SOURCE, LENGTHS = sentences(7, 2, 6, 4)
TARGET = words(B, T, below=V, seed=1)
NOTHING = TARGET[:, :0]

every_model = pytest.mark.parametrize("name", CHOICES)


def log_probs(model: Any, rows: list[tuple[int, list[int]]]) -> Tensor:
    """Of the word after each (sentence, words so far), by a full pass with a memory for each row."""
    owners = torch.tensor([sentence for sentence, _ in rows])
    hidden = model(SOURCE[owners], LENGTHS[owners], torch.tensor([so_far for _, so_far in rows]))
    return model.output(hidden[:, -1]).log_softmax(-1)


@pytest.fixture
def logits() -> Callable[[Any], list[Tensor]]:
    """Listens to a model's output layer: `step` may round, and here double precision is wanted."""

    def listen(model: Any) -> list[Tensor]:
        heard: list[Tensor] = []
        model.output.register_forward_hook(lambda _, __, result: heard.append(result))
        return heard

    return listen


@pytest.mark.parametrize("dtype", DTYPES)
@every_model
def test_every_cached_step_equals_the_full_pass(
    name: str, dtype: torch.dtype, logits: Callable[[Any], list[Tensor]]
) -> None:
    model = chosen(name, dtype=dtype)
    whole = model.output(model(SOURCE, LENGTHS, TARGET))
    heard = logits(model)
    state = model.start(Sentences(SOURCE, LENGTHS), NOTHING)
    for t in range(T):
        found, state = model.step(TARGET[:, t], state)
        assert_near(heard[t], whole[:, t])
        assert_near(found, whole[:, t].log_softmax(-1))
    assert len(heard) == T


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 4])
@every_model
def test_a_prefix_read_at_once_equals_one_read_step_by_step(
    name: str, size: int, dtype: torch.dtype, logits: Callable[[Any], list[Tensor]]
) -> None:
    model = chosen(name, dtype=dtype)
    heard = logits(model)
    at_once, stepped = (
        model.start(Sentences(SOURCE, LENGTHS), TARGET[:, :size]),
        model.start(Sentences(SOURCE, LENGTHS), NOTHING),
    )
    for t in range(size):
        _, stepped = model.step(TARGET[:, t], stepped)
    heard.clear()
    for t in range(size, T):
        _, at_once = model.step(TARGET[:, t], at_once)
        _, stepped = model.step(TARGET[:, t], stepped)
        assert_near(heard[-2], heard[-1])


@every_model
def test_log_probabilities_are_those_of_a_distribution(name: str) -> None:
    model = ready(name)
    found, _ = model.step(TARGET[:, 0], model.start(Sentences(SOURCE, LENGTHS), NOTHING))
    assert found.shape == (B, V)
    assert_near(found.exp().sum(-1), torch.ones(B))


REORDERINGS = {
    "hypotheses of each sentence change places": (3, [1, 0, 2, 5, 4, 3, 6, 8, 7, 11, 9, 10]),
    "some are dropped and others repeated": (3, [0, 0, 2, 4, 4, 4, 8, 7, 7, 9, 11, 9]),
    "each sentence keeps fewer": (3, [2, 0, 3, 4, 8, 8, 10, 9]),
    "each sentence gets more": (1, [0, 0, 1, 1, 2, 2, 3, 3]),
    "the first sentence is gone": (2, [2, 3, 5, 4, 6, 6]),
    "two sentences in the middle are gone": (2, [1, 0, 7, 6]),
    "the last sentence is gone and each keeps one": (3, [1, 5, 6]),
    "one sentence is left": (1, [2]),
    "sentences change places": (1, [2, 0, 3, 1]),
    "nothing changes": (2, [0, 1, 2, 3, 4, 5, 6, 7]),
}


@pytest.mark.parametrize("case", REORDERINGS)
@every_model
@torch.inference_mode()
def test_reordered_hypotheses_go_on_from_the_rows_they_were(name: str, case: str) -> None:
    each, rows = REORDERINGS[case]
    model = ready(name)
    histories = [(b, []) for b in range(B) for _ in range(each)]
    state = model.reorder(model.start(Sentences(SOURCE, LENGTHS), NOTHING), torch.arange(B).repeat_interleave(each))
    state = said(model, state, histories, seed=0)
    state = said(model, state, histories, seed=1)
    state = model.reorder(state, torch.tensor(rows))
    histories = [(histories[row][0], list(histories[row][1])) for row in rows]
    state = said(model, state, histories, seed=2)
    # and once more, so that a wrong order of the memory cannot hide behind a right one of the past
    state = model.reorder(state, torch.arange(len(rows)))
    said(model, state, histories, seed=3)


def said(model: Any, state: Any, histories: list[tuple[int, list[int]]], *, seed: int) -> Any:
    """Every hypothesis says one more word, each its own; all log-probabilities are compared with a full pass."""
    spoken = words(len(histories), below=V, seed=seed)
    for (_, history), word in zip(histories, spoken.tolist(), strict=True):
        history.append(word)
    found, state = model.step(spoken, state)
    assert_near(found, log_probs(model, histories))
    return state


@every_model
def test_a_prefix_can_be_reordered_too(name: str) -> None:
    model = ready(name)
    state = model.reorder(model.start(Sentences(SOURCE, LENGTHS), TARGET[:, :3]), torch.tensor([1, 1, 3, 3]))
    histories = [(b, TARGET[b, :3].tolist()) for b in (1, 1, 3, 3)]
    said(model, state, histories, seed=4)


@pytest.mark.parametrize("name", ATTENDING)
def test_what_belongs_to_the_sentence_is_not_copied_for_its_hypotheses(name: str) -> None:
    model = ready(name)
    state = model.start(Sentences(SOURCE, LENGTHS), TARGET[:, :2])
    spread = model.reorder(state, torch.arange(B).repeat_interleave(5))
    assert spread.memory is state.memory
    _, stepped = model.step(words(5 * B, below=V, seed=5), spread)
    assert stepped.memory is state.memory
    left = model.reorder(stepped, torch.tensor([5, 6, 15, 16]))
    assert left.memory.keys.shape[0] == left.memory.values.shape[0] == 2
    assert left.memory.lengths.tolist() == LENGTHS[[1, 3]].tolist()


@every_model
def test_a_state_can_be_used_twice(name: str) -> None:
    model = ready(name)
    state = model.start(Sentences(SOURCE, LENGTHS), TARGET[:, :2])
    first, _ = model.step(TARGET[:, 2], state)
    model.step(TARGET[:, 3], state)
    again, _ = model.step(TARGET[:, 2], state)
    assert torch.equal(first, again)
