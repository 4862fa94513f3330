"""What may be wrong with a translator, in numbers. Every validation records them; training/diagnosis.py judges them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention import capture, padding_mask
from regard.evaluation.loss import held_out_loss
from regard.tasks.pairs import EncodedPairs, Tokenizers

FEW, MANY = 32, 100
"""How many pairs the model is asked about once more: few enough for a validation not to take noticeably longer."""
LONGEST, TIMES = 4, 4
"""A loop: at most so many tokens, at least so many times in a row."""


@dataclass(frozen=True)
class Outputs:
    """What a model has made of some sources, beside what it should have made."""

    sources: Sequence[str]
    outputs: Sequence[str]
    references: Sequence[str]


def of_outputs(made: Outputs, tokenizers: Tokenizers) -> dict[str, Any]:
    """The symptoms that can be read off the outputs."""
    outputs, references = (tokenizers.target.encode_all(texts) for texts in (made.outputs, made.references))
    return {
        "sentences": len(set(made.sources)),
        "copied": copied(made),
        "looped": looped(outputs, references),
        "constant": constant(made),
        "length_ratio": sum(map(len, outputs)) / max(1, sum(map(len, references))),
    }


def of_model(model: nn.Module, sample: EncodedPairs, tokenizers: Tokenizers) -> dict[str, Any]:
    """The symptoms that are seen in the model itself."""
    few = EncodedPairs(sample.sources[:FEW], sample.targets[:FEW])
    return {
        "loss_other_source": held_out_loss(model, with_other_sources(sample), tokenizers).per_token,
        "attention_entropy": attention_entropy(model, few, tokenizers),
    }


def sampled(pairs: EncodedPairs) -> tuple[EncodedPairs, EncodedPairs]:
    """About a tenth of the pairs, evenly spread, no source twice; and all the others."""
    different = list({tuple(source): row for row, source in enumerate(pairs.sources)}.values())
    most = max(FEW, min(MANY, len(different) // 10))
    chosen = different[:: ceil(len(different) / most)]
    rest = sorted(set(range(len(pairs))) - set(chosen))
    some, others = (
        EncodedPairs([pairs.sources[i] for i in rows], [pairs.targets[i] for i in rows]) for rows in (chosen, rest)
    )
    return some, others


def copied(made: Outputs) -> float | None:
    """The share of outputs that are just their source, where the reference is not; None where most references are."""
    sources, outputs, references = (
        [" ".join(text.casefold().split()) for text in side] for side in (made.sources, made.outputs, made.references)
    )
    rows = zip(sources, outputs, references, strict=True)
    others = [(source, output) for source, output, reference in rows if reference != source]
    if 2 * len(others) < len(made.sources):
        return None
    return sum(output == source for source, output in others) / len(others)


def looped(outputs: Sequence[Sequence[int]], references: Sequence[Sequence[int]]) -> float:
    """The share of outputs that repeat themselves where the reference does not."""
    loops = [has_loop(ours) and not has_loop(theirs) for ours, theirs in zip(outputs, references, strict=True)]
    return sum(loops) / len(loops)


def has_loop(tokens: Sequence[int]) -> bool:
    """Whether one to four tokens come at least four times in a row."""
    for length in range(1, LONGEST + 1):
        equal = 0
        for token, later in zip(tokens, tokens[length:], strict=False):
            equal = equal + 1 if token == later else 0
            if equal == length * (TIMES - 1):
                return True
    return False


def constant(made: Outputs) -> float:
    """The share of different sources that have got one and the same output, and a wrong one."""
    rows = zip(made.sources, made.outputs, made.references, strict=True)
    wrong = {source: output for source, output, reference in rows if output != reference}
    return max(Counter(wrong.values()).values(), default=0) / len(set(made.sources))


def with_other_sources(pairs: EncodedPairs) -> EncodedPairs:
    """Each target beside the source of a pair that is far from it."""
    half = len(pairs) // 2
    return EncodedPairs([*pairs.sources[half:], *pairs.sources[:half]], pairs.targets)


@torch.inference_mode()
def attention_entropy(model: nn.Module, pairs: EncodedPairs, tokenizers: Tokenizers) -> float | None:
    """How evenly the most pointed of all heads spreads its weights over the source: 0 looks at one token, 1 at all
    alike. The mean over target tokens of -Σ w ln w / ln S. None if the model has no attention, or nothing to choose."""
    batch = pairs.batch(range(len(pairs)), tokenizers).to(next(model.parameters()).device)
    heard: dict[str, list[Tensor]] = {}

    def listen(name: str, what: str, tensor: Tensor) -> Tensor:
        if what == "weights" and name.startswith("decoder.") and not name.endswith(".self"):
            heard.setdefault(name, []).append(_entropies(tensor, batch.source_lengths))
        return tensor

    with capture(model.eval(), keep=(), edit=listen):  # the weights themselves would take much memory
        model(batch.source, batch.source_lengths, batch.target[:, :-1])
    real = padding_mask(batch.target_lengths - 1, batch.target.shape[1] - 1)[:, 0, 0]
    rows = real & (batch.source_lengths > 1)[:, None]
    if not heard or not rows.any():
        return None
    heads = torch.cat([torch.cat(calls, dim=1)[rows] for calls in heard.values()], dim=1)
    return float(heads.mean(dim=0).min())


def _entropies(weights: Tensor, lengths: Tensor) -> Tensor:
    """(B H T S) -> (B T H), as a part of the greatest that is possible."""
    weights = weights.float() / weights.sum(dim=-1, keepdim=True).clamp(min=1e-9)  # a window's may sum to less
    entropy = -torch.xlogy(weights, weights).sum(dim=-1)
    return (entropy / lengths.clamp(min=2).log()[:, None, None]).transpose(1, 2)
