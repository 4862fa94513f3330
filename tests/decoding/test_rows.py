"""Attention along a hypothesis: `rows` says where it stood at each step of the search."""

import pytest
import torch
from torch import Tensor

from regard.attention import Recording, capture
from regard.data.batches import Sentences
from regard.decoding import Hypothesis, Request, beam, greedy
from regard.models.transformer import Transformer
from tests.draws import assert_near
from tests.models.small import END, START, sentences, small

SOURCE, LENGTHS = sentences(7, 2, 6, 4)
LIMITS = torch.tensor([8, 5, 9, 3])


def gathered(recording: Recording, name: str, hypothesis: Hypothesis) -> list[Tensor]:
    """(H S) of each step. Reading a longer prefix is one call more, before the steps."""
    calls = recording.all(name)
    first = len(calls) - steps(recording)
    return [calls[first + t][row, :, 0] for t, row in enumerate(hypothesis.rows)]


def steps(recording: Recording) -> int:
    return sum(call.shape[2] == 1 for call in recording.all("decoder.0.cross"))


def forced(model: Transformer, sentence: int, prefix: list[int], hypothesis: Hypothesis) -> Recording:
    """The attention of one full pass over the same tokens, the sentence alone."""
    one = slice(sentence, sentence + 1)
    read = [*prefix, *hypothesis.tokens][: len(prefix) - 1 + len(hypothesis.rows)]
    with torch.inference_mode(), capture(model) as recording:
        model(SOURCE[one, : int(LENGTHS[sentence])], LENGTHS[one], torch.tensor([read]))
    return recording


@pytest.mark.parametrize("prefix", [[START], [START, 5, 3]], ids=["start mark", "longer prefix"])
@pytest.mark.parametrize("size", [0, 1, 4])
def test_weights_gathered_along_the_rows_are_those_of_a_full_pass(size: int, prefix: list[int]) -> None:
    model = small(seed=7)
    request = Request(Sentences(SOURCE, LENGTHS), torch.tensor([prefix] * 4), END, LIMITS)
    with capture(model) as searched:
        if size:
            answers = beam(model, request, size=size, nbest=size, penalty=0.6)
        else:
            answers = [[one] for one in greedy(model, request)]
    lengths_seen, rows_seen = set(), set()
    for sentence, found in enumerate(answers):
        for hypothesis in found:
            whole = forced(model, sentence, prefix, hypothesis)
            lengths_seen.add(len(hypothesis.rows))
            rows_seen.update(hypothesis.rows)
            for name in ("decoder.0.self", "decoder.0.cross", "decoder.2.self", "decoder.2.cross"):
                expected = whole.last(name)[0, :, len(prefix) - 1 :]
                for t, weights in enumerate(gathered(searched, name, hypothesis)):
                    real = expected[:, t, : weights.shape[-1]]
                    assert_near(weights[:, : real.shape[-1]], real)
                    assert not weights[:, real.shape[-1] :].any()  # what is left is padding
    assert len(lengths_seen) > 1
    assert max(rows_seen) >= max(size, 1) * 2
