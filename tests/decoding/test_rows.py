"""Attention along a hypothesis: `rows` says where it stood at each step of the search."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import NothingRecordedError, Recording, capture
from regard.data.batches import Sentences
from regard.decoding import Distribution, Draw, Hypothesis, Request, beam, greedy, sample
from tests.draws import assert_near
from tests.models.small import END, START, chosen, sentences

SOURCE, LENGTHS = sentences(7, 2, 6, 4)
LIMITS = torch.tensor([8, 5, 9, 3])

ATTENTIONS = {
    "transformer, pre-norm": ("decoder.0.self", "decoder.0.cross", "decoder.2.self", "decoder.2.cross"),
    "bahdanau": ("decoder.align",),
    "bahdanau, hard": ("decoder.align",),
    "luong, general without feeding": ("decoder.align",),
    "luong, local-m, general": ("decoder.align",),
    "luong, local-p, general": ("decoder.align",),
    "luong, local-p, concat without feeding": ("decoder.align",),
}


class Counted:
    """A stepper that counts its steps: what was captured before them is the reading of the prefix."""

    def __init__(self, model: Any) -> None:
        self.model, self.steps = model, 0
        self.start, self.reorder = model.start, model.reorder

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        self.steps += 1
        log_probs, state = self.model.step(tokens, state)
        return log_probs, state


def searched(stepper: Counted, size: int | None, prefix: list[int]) -> list[list[Hypothesis]]:
    """With a beam of that size, greedily (0), or by lot (None)."""
    request = Request(Sentences(SOURCE, LENGTHS), torch.tensor([prefix] * 4), END, LIMITS)
    if size:
        return beam(stepper, request, size=size, nbest=size, penalty=0.6)
    found = sample(stepper, request, choose=Draw(Distribution(), 1)) if size is None else greedy(stepper, request)
    return [[one] for one in found]


def gathered(calls: list[Tensor], hypothesis: Hypothesis) -> list[Tensor]:
    """(H S) of each step."""
    return [calls[t][row, :, 0] for t, row in enumerate(hypothesis.rows)]


def forced(model: Any, sentence: int, prefix: list[int], hypothesis: Hypothesis) -> Recording:
    """The attention of one full pass over the same tokens, the sentence alone."""
    one = slice(sentence, sentence + 1)
    read = [*prefix, *hypothesis.tokens][: len(prefix) - 1 + len(hypothesis.rows)]
    with torch.inference_mode(), capture(model) as recording:
        model(SOURCE[one, : int(LENGTHS[sentence])], LENGTHS[one], torch.tensor([read]))
    return recording


@pytest.mark.parametrize("prefix", [[START], [START, 5, 3]], ids=["start mark", "longer prefix"])
@pytest.mark.parametrize("size", [None, 0, 1, 4])
@pytest.mark.parametrize("name", ATTENTIONS)
def test_weights_gathered_along_the_rows_are_those_of_a_full_pass(
    name: str, size: int | None, prefix: list[int]
) -> None:
    model = chosen(name, seed=7)
    stepper = Counted(model)
    with capture(model) as recording:
        answers = searched(stepper, size, prefix)
    lengths_seen, rows_seen = set(), set()
    for sentence, found in enumerate(answers):
        for hypothesis in found:
            whole = forced(model, sentence, prefix, hypothesis)
            lengths_seen.add(len(hypothesis.rows))
            rows_seen.update(hypothesis.rows)
            for attention in ATTENTIONS[name]:
                expected = whole.joined(attention)[0, :, len(prefix) - 1 :]
                calls = recording.all(attention)[-stepper.steps :]
                for t, weights in enumerate(gathered(calls, hypothesis)):
                    real = expected[:, t, : weights.shape[-1]]
                    assert_near(weights[:, : real.shape[-1]], real)
                    assert not weights[:, real.shape[-1] :].any()  # what is left is padding
    assert len(lengths_seen) > 1
    assert max(rows_seen) >= (size or 1) * 2


@pytest.mark.parametrize("size", [None, 0, 4])
def test_a_search_without_attention_has_no_weights_to_gather(size: int | None) -> None:
    model = chosen("rnn, gru")
    with pytest.raises(NothingRecordedError, match="0 attentions in Recurrent"), capture(model):
        searched(Counted(model), size, [START])
