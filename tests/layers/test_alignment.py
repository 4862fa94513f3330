"""Align and its Memory: one look per word, the hypotheses of a sentence side by side."""

import pytest
import torch
from torch import Tensor

from regard.attention import SCORES, capture, window_mask
from regard.layers import Align, Memory, fold
from tests import oracles
from tests.draws import DTYPES, assert_near, normal

B, N, T, S, Q, W = 4, 3, 5, 7, 6, 8
LENGTHS = torch.tensor([7, 2, 6, 4])


def align(score: str = "general", dtype: torch.dtype = torch.float64, *, normalise: str = "soft") -> Align:
    torch.manual_seed(0)
    made = Align(SCORES[score](query=Q, key=W, limit=S), normalise=normalise).to(dtype).eval()
    oracles.shake(made, seed=1)
    return made


def annotations(dtype: torch.dtype = torch.float64) -> Tensor:
    return normal(B, S, W, seed=2, dtype=dtype)


def test_what_the_score_does_to_the_keys_is_done_once_and_the_values_are_the_annotations() -> None:
    ours, given = align(), annotations()
    memory = ours.remember(given, LENGTHS)
    assert_near(memory.keys[:, 0], given @ ours.score.matrix.weight.T)
    assert torch.equal(memory.values[:, 0], given)
    assert torch.equal(memory.lengths, LENGTHS)
    assert memory.mask.shape == (B, 1, 1, S)
    assert torch.equal(memory.mask.sum(-1).flatten(), LENGTHS)


@pytest.mark.parametrize("score", ["general", "additive", "location"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sentence_alone_gets_the_context_it_gets_in_a_padded_batch(dtype: torch.dtype, score: str) -> None:
    ours, given, query = align(score, dtype), annotations(dtype), normal(B, T, Q, seed=3, dtype=dtype)
    together = ours(query, ours.remember(given, LENGTHS))
    assert together.shape == (B, T, W)
    for b, length in enumerate(LENGTHS.tolist()):
        scores = ours.score(query[b], ours.score.prepare(given[b, :length]))
        assert_near(together[b], scores.softmax(-1) @ given[b, :length])


@pytest.mark.parametrize("steps", [1, T])
@pytest.mark.parametrize("score", ["general", "additive", "location"])
def test_many_hypotheses_of_a_sentence_share_its_memory_as_if_it_were_copied(score: str, steps: int) -> None:
    ours, given = align(score), annotations()
    query = normal(B * N, steps, Q, seed=3)
    centres = normal(B * N, steps, seed=4) * 2 + 3
    focus = normal(B * N, 1, steps, S, seed=5).exp()
    shared, copied = (
        ours.remember(given, LENGTHS),
        ours.remember(given.repeat_interleave(N, dim=0), LENGTHS.repeat_interleave(N)),
    )
    with capture(ours) as apart:
        expected = ours(query, copied, window=window_mask(centres, S, radius=2), focus=focus)
    folded = focus.reshape(B, N, steps, S).flatten(1, 2)[:, None]
    with capture(ours) as together:
        window = window_mask(fold(centres, shared), S, radius=2)
        assert_near(ours(query, shared, window=window, focus=folded), expected)
    assert together.last("decoder.align").shape == (B * N, 1, steps, S)
    assert_near(together.last("decoder.align"), apart.last("decoder.align"))


def test_fold_puts_the_hypotheses_of_a_sentence_side_by_side() -> None:
    memory = align().remember(annotations(), LENGTHS)
    x = torch.arange(B * N * T).reshape(B * N, T)
    folded = fold(x, memory)
    assert folded.shape == (B, N * T)
    assert folded[1].tolist() == [*x[N].tolist(), *x[N + 1].tolist(), *x[N + 2].tolist()]
    assert torch.equal(fold(x[..., None], memory)[..., 0], folded)


def test_a_window_that_lies_outside_the_sentence_gives_zeros() -> None:
    ours = align()
    memory, query = ours.remember(annotations(), LENGTHS), normal(B, T, Q, seed=3).requires_grad_()
    window = window_mask(torch.arange(T).expand(B, T), S, radius=1)
    with capture(ours) as recording:
        context = ours(query, memory, window=window)
    context.sum().backward()
    assert (context[1, 3:] == 0).all()  # two words, looked at from places 3 and 4
    assert (context[1, :3] != 0).all()
    assert (recording.last("decoder.align")[1, 0, 3:] == 0).all()
    assert context.isfinite().all()
    assert query.grad is not None
    assert query.grad.isfinite().all()


def test_focus_is_a_factor_of_each_weight() -> None:
    ours = align()
    memory, query, focus = ours.remember(annotations(), LENGTHS), normal(B, T, Q, seed=3), normal(B, 1, T, S, seed=4)
    with capture(ours) as plain:
        ours(query, memory)
    with capture(ours) as focused:
        context = ours(query, memory, focus=focus)
    weights = plain.last("decoder.align") * focus
    assert_near(focused.last("decoder.align"), weights)
    assert_near(context, weights[:, 0] @ memory.values[:, 0])


def test_hard_looks_soft_in_training_and_hard_afterwards() -> None:
    soft, ours = align(), align(normalise="hard")
    memory, query = ours.remember(annotations(), LENGTHS), normal(B, T, Q, seed=3)
    assert torch.equal(ours.train()(query, memory), soft(query, memory))
    with capture(ours) as recording:
        context = ours.eval()(query, memory)
    weights = recording.last("decoder.align")
    assert set(weights.flatten().tolist()) == {0.0, 1.0}
    with capture(soft) as softly:
        soft(query, memory)
    best = softly.last("decoder.align").argmax(-1)
    assert torch.equal(weights.argmax(-1), best)
    for b in range(B):
        assert_near(context[b], memory.values[b, 0, best[b, 0]])


# Who is left


KEPT = {
    "all hypotheses": (N, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [0, 1, 2, 3]),
    "some of each": (N, [2, 0, 5, 3, 8, 6, 9, 9], [0, 1, 2, 3]),
    "none of the first": (N, [3, 4, 8, 6, 9, 9], [1, 2, 3]),
    "the second alone": (N, [4, 4, 5], [1]),
    "the ends": (2, [0, 1, 7, 6], [0, 3]),
    "another order": (1, [2, 0, 3, 1], [2, 0, 3, 1]),
}


@pytest.mark.parametrize("case", KEPT)
def test_the_memory_of_those_sentences_is_kept_that_have_hypotheses_left(case: str) -> None:
    each, rows, sentences = KEPT[case]
    memory = align().remember(annotations(), LENGTHS)
    kept = memory.keep(torch.tensor(rows), of=B * each)
    for part in ("keys", "values", "lengths", "mask"):
        assert torch.equal(getattr(kept, part), getattr(memory, part)[sentences]), part
    assert (kept is memory) == (sentences == [0, 1, 2, 3])


def test_a_memory_cannot_be_changed() -> None:
    memory: Memory = align().remember(annotations(), LENGTHS)
    with pytest.raises(AttributeError):
        memory.lengths = LENGTHS
