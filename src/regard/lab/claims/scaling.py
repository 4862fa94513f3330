"""√d: without it, softmax saturates as d grows, and nothing can be learned through it.

Vaswani et al. 2017, section 3.2.1: "We suspect that for large values of d_k, the dot products grow large in magnitude,
pushing the softmax function into regions where it has extremely small gradients." Queries and keys of d independent
numbers with variance 1 have a dot product with variance d; divided by √d it has variance 1 again.

Here queries and keys are drawn so, the gradient that comes back through the softmax is measured at its scores, and the
same small model is taught with and without the root.
"""

from collections.abc import Sequence
from math import log
from statistics import median
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import Score, attend, dot, scaled_dot
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.recall import Finder, accuracy, taught
from regard.lab.series import over_seeds
from regard.report import Plot, Series
from regard.seeds import derive

WITHOUT, WITH = "without √d", "with √d"
SCORES: dict[str, Score] = {WITHOUT: dot, WITH: scaled_dot}
TAUGHT = {WITHOUT: "dot", WITH: "scaled-dot"}
WIDTHS = (4, 16, 64, 256, 1024)
QUERIES, KEYS = 512, 64
STATISTIC = (
    "The gradient at the scores of a typical (median) query at d = 1024, as a share of what it is at d = 4; "
    "dot products are not divided by √d."
)
THRESHOLD = 0.1
"""A tenth: an order of magnitude is gone. It does not say how much longer learning takes: plain descent would take ten
times as many steps for the same way, but Adam, which teaches the model here, divides a gradient by its own size."""


class Flow(NamedTuple):
    """What one query of random keys gives: the entropy of its weights, as a share of what even weights have, and the
    norm of the gradient at its scores."""

    entropy: list[float]
    gradient: list[float]


def flow(score: Score, width: int, generator: torch.Generator) -> Flow:
    """Queries and keys of variance 1; values are plain numbers of variance 1, and the context is what is asked of."""
    query, keys = (torch.randn(1, QUERIES, count, width, generator=generator) for count in (1, KEYS))
    seen: dict[str, Tensor] = {}

    def keep(what: str, tensor: Tensor, /) -> Tensor:
        seen[what] = tensor.detach().requires_grad_() if what == "scores" else tensor
        return seen[what]

    values = torch.randn(1, QUERIES, KEYS, 1, generator=generator)
    attend(query, keys, values, score=score, tap=keep).sum().backward()  # type: ignore[no-untyped-call]
    gradient = seen["scores"].grad
    assert gradient is not None
    return Flow(evenness(seen["weights"].detach()).flatten().tolist(), gradient.norm(dim=-1).flatten().tolist())


def evenness(weights: Float[Tensor, "*batch S"]) -> Float[Tensor, "*batch"]:
    """The entropy of weights as a share of the highest that so many can have: 1 where all are equal, 0 where one has
    everything."""
    entropy: Tensor = torch.special.entr(weights).sum(-1)
    return entropy / log(weights.shape[-1])


def left(gradients: Sequence[float]) -> float:
    """What is left of the first gradient in the last."""
    return gradients[-1] / gradients[0]


def measure(setting: Setting) -> Measured:
    flows = {
        name: [flow(score, d, torch.Generator().manual_seed(derive(setting.seed, "scaling", d))) for d in WIDTHS]
        for name, score in SCORES.items()
    }
    gradients = {name: [median(one.gradient) for one in found] for name, found in flows.items()}
    entropies = {name: [median(one.entropy) for one in found] for name, found in flows.items()}
    trained, updates = setting.of((16, 64, 256), (16, 64, 256, 512)), setting.of(300, 400)
    learned = {
        name: [accuracy(taught(Finder(d, score=score, seed=setting.seed), seed=setting.seed, updates=updates))
               for d in trained]
        for name, score in TAUGHT.items()
    }  # fmt: skip
    numbers = {
        f"{what}, {name}": values[-1]
        for what, found in (
            ("entropy of the weights at d = 1024 (share of the highest)", entropies),
            (f"riddles solved after {updates} updates at d = {trained[-1]}", learned),
        )
        for name, values in found.items()
    }
    series = {"gradients": gradients, "entropies": entropies, "trained": list(trained), "learned": learned}
    return Measured(left(gradients[WITHOUT]), left(gradients[WITH]), numbers, series)


def draw(measured: Sequence[Measured]) -> list[Figure]:
    def lines(what: str) -> list[Series]:
        return [over_seeds(name, [one.series[what][name] for one in measured]) for name in SCORES]

    widths, trained = [str(d) for d in WIDTHS], [str(d) for d in measured[0].series["trained"]]
    return [
        Plot("lines", widths, lines("gradients"), "d", "gradient at the scores", "What comes back to a typical query."),
        Plot(
            "lines", widths, lines("entropies"), "d", "entropy / highest", "1: looks everywhere alike; 0: at one place."
        ),
        Plot("lines", trained, lines("learned"), "d", "riddles solved", "The same model, taught with and without √d."),
    ]


CLAIM = Claim(
    name="scaling",
    title="Without √d, softmax saturates and gradients vanish as d grows",
    question="Does a dot product of wide vectors have to be divided by √d?",
    source="Vaswani et al. 2017, section 3.2.1",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    side="at most",
    control="the same queries and keys, divided by √d.",
    measure=measure,
    draw=draw,
)
