"""Dot product or additive attention: what each costs, and how well each learns.

Vaswani et al. 2017, section 3.2.1: "While the two are similar in theoretical complexity, dot-product attention is much
faster and more space-efficient in practice, since it can be implemented using highly optimized matrix multiplication
code"; and for small d both "perform similarly", while additive attention "outperforms dot product attention without
scaling for larger values of d_k" (Britz et al. 2017, "Massive Exploration of Neural Machine Translation
Architectures", arXiv:1703.03906, section 4.5).

Here each score computes weights for the same queries and keys, forth and back, and the same small model is taught with
each of them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from regard.attention import SCORES, attend
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.recall import Finder, accuracy, taught
from regard.lab.series import over_seeds
from regard.lab.timing import fastest, kept_bytes
from regard.report import Plot, Series
from regard.seeds import derive

STATISTIC = (
    "How many times as long additive attention takes as the scaled dot product, forth and back, with 4 heads of "
    "d = 64 over 128 words; both explicit, neither with a fused kernel."
)
THRESHOLD = 2.0  # "much faster"
KINDS = {"scaled-dot": "scaled dot", "dot": "dot, unscaled", "additive": "additive"}
ROWS, HEADS, WORDS, WIDTH = 2, 4, 128, 64
WIDTHS = (16, 64, 256)


def measure(setting: Setting) -> Measured:
    work = {kind: attention(kind, WIDTH, setting.seed) for kind in KINDS}
    repeats = setting.of(5, 15)
    seconds = {kind: fastest(job, repeats) for kind, job in work.items()}
    again = fastest(work["scaled-dot"], repeats)
    megabytes = {kind: [kept_bytes(attention(kind, d, setting.seed)) / 1e6 for d in WIDTHS] for kind in KINDS}
    updates = setting.of(200, 400)
    learned = {kind: [solved(kind, d, setting.seed, updates) for d in WIDTHS] for kind in KINDS}
    numbers = {
        **{f"milliseconds, {KINDS[kind]}": 1000 * found for kind, found in seconds.items()},
        **{f"megabytes kept for the way back at d = {WIDTH}, {KINDS[kind]}": found[WIDTHS.index(WIDTH)]
           for kind, found in megabytes.items()},
        **{f"riddles solved at d = {d}, {KINDS[kind]}": one
           for kind, found in learned.items() for d, one in zip(WIDTHS, found, strict=True)},
    }  # fmt: skip
    series = {"megabytes": megabytes, "learned": learned, "milliseconds": {k: [1000 * s] for k, s in seconds.items()}}
    other = max(again, seconds["dot"])
    value, control = (times(found, seconds["scaled-dot"]) for found in (seconds["additive"], other))
    return Measured(value, control, numbers, series)


def attention(kind: str, width: int, seed: int) -> Callable[[], Tensor]:
    """Attends to random words with this score, and takes the gradient back to queries, keys and values."""
    torch.manual_seed(derive(seed, "words"))
    query, keys, values = (torch.randn(ROWS, HEADS, WORDS, width, requires_grad=True) for _ in range(3))
    score: Any = SCORES[kind](query=width, key=width, limit=WORDS)

    def work() -> Tensor:
        context = attend(query, score.prepare(keys), values, score=score)
        context.sum().backward()  # type: ignore[no-untyped-call]
        return context

    return work


def times(one: float, other: float) -> float:
    """How often the other fits into the one."""
    return one / other


def solved(kind: str, width: int, seed: int, updates: int) -> float:
    """How many riddles a model with this score can solve after so many updates."""
    return accuracy(taught(Finder(width, score=kind, seed=seed), seed=seed, updates=updates, rate=2e-3))


def draw(measured: Sequence[Measured]) -> list[Figure]:
    def lines(what: str) -> list[Series]:
        return [over_seeds(label, [one.series[what][kind] for one in measured]) for kind, label in KINDS.items()]

    widths = [str(width) for width in WIDTHS]
    return [
        Plot("lines", widths, lines("learned"), "d", "riddles solved", "Quality after equally many updates."),
        Plot("bars", [f"{WORDS} words, d = {WIDTH}"], lines("milliseconds"), "", "milliseconds", "Forth and back."),
        Plot("lines", widths, lines("megabytes"), "d", "megabytes", "What is kept until the gradient comes back."),
    ]


CLAIM = Claim(
    name="dot_or_additive",
    title="The dot product is much faster than additive attention",
    question="What does additive attention cost in time and memory, and what does it give at small and large d?",
    source="Vaswani et al. 2017, section 3.2.1; Britz et al. 2017, section 4.5",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="the slower of two matrix products: the dot product without scaling, and the scaled one timed again.",
    measure=measure,
    draw=draw,
    alone=True,
)
