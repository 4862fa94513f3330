"""The look-ahead mask lets one pass train all prefixes of a text at once.

Vaswani et al. 2017, section 3.2.3, masks "all values in the input of the softmax which correspond to illegal
connections": a word looks at itself and at what came before. So the state of a word is the one that it would have if
the text ended there, and a text of n words teaches n predictions in a single pass. A recurrent network, or a model
without the mask, would have to read every prefix on its own.

Here the gradient of one masked pass is compared with the sum of the gradients of all prefixes, and both are timed.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention import capture
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.lab.timing import fastest
from regard.models.gpt2 import GPT2, GPT2Config
from regard.report import Plot
from regard.seeds import derive

STATISTIC = (
    "How far the gradient of one pass is from the sum of the gradients of all prefixes, as a share of the latter "
    "(a GPT-2 with two layers, in double precision, 24 words)."
)
THRESHOLD = 1e-9  # what is left of 16 digits after some thousand sums
WORDS, LENGTH, ROWS = 50, 24, 4
Teach = Callable[[GPT2, Tensor], Tensor]


def at_once(model: GPT2, text: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    """How surprising all next words are together, in one pass."""
    logits = model.output(model(text[:, :-1]))
    return F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten(), reduction="sum")


def by_prefix(model: GPT2, text: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    """The same, from every prefix on its own: the model never has the future before it."""
    losses = [
        F.cross_entropy(model.output(model(text[:, :end])[:, -1]), text[:, end], reduction="sum")
        for end in range(1, text.shape[1])
    ]
    return torch.stack(losses).sum()


def without_mask(model: GPT2, text: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    """One pass in which everybody may look everywhere."""

    def see_all(name: str, what: str, tensor: Tensor) -> Tensor:
        return torch.ones_like(tensor) if what == "mask" else tensor

    with capture(model, keep=(), edit=see_all):
        return at_once(model, text)


def gradient(teach: Teach, model: GPT2, text: Int[Tensor, "B T"]) -> Float[Tensor, "P"]:
    """All derivatives of the loss, in a row."""
    model.zero_grad()
    teach(model, text).backward()  # type: ignore[no-untyped-call]
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None])


def apart(one: Float[Tensor, "P"], other: Float[Tensor, "P"]) -> float:
    """The length of the difference as a share of the second's length."""
    return float((one - other).norm() / other.norm())


def measure(setting: Setting) -> Measured:
    exact, text = gpt2(setting.seed, width=32).double(), texts(setting.seed, LENGTH)
    wanted = gradient(by_prefix, exact, text)
    found, cheated = (apart(gradient(teach, exact, text), wanted) for teach in (at_once, without_mask))
    lengths = setting.of((8, 16, 32, 64), (8, 16, 32, 64, 128))
    model = gpt2(setting.seed, width=128)
    seconds = {
        name: [fastest(lambda t=teach, n=n: gradient(t, model, texts(setting.seed, n))) for n in lengths]  # type: ignore[misc]
        for name, teach in TIMED.items()
    }
    ratio = [slow / fast for slow, fast in zip(seconds["prefix by prefix"], seconds["one pass"], strict=True)]
    curves = {name: learned(teach, setting.seed, setting.of(60, 200)) for name, teach in TAUGHT.items()}
    numbers = {
        **{f"prefix by prefix takes so many times as long, {n} words": times
           for n, times in zip(lengths, ratio, strict=True)},
        **{f"loss at the end of training, {name}, read with the mask": end for name, (_, end) in curves.items()},
    }  # fmt: skip
    series = {"lengths": list(lengths), "ratio": ratio, "curves": {name: curve for name, (curve, _) in curves.items()}}
    return Measured(found, cheated, numbers, series)


def gpt2(seed: int, width: int) -> GPT2:
    """A small one, without dropout, so that what it computes is the same whenever it does."""
    torch.manual_seed(derive(seed, "init"))
    still = {"dropout": 0.0, "embedding_dropout": 0.0, "attention_dropout": 0.0}
    sizes = {"width": width, "heads": 4, "hidden": 2 * width, "layers": 2, "limit": 256}
    return GPT2(GPT2Config.parse({**sizes, **still}, where="model"), vocabulary=WORDS)


def texts(seed: int, length: int) -> Int[Tensor, "B T"]:
    """Random walks: from each word to one of the next three, so that there is something to learn."""
    generator = torch.Generator().manual_seed(derive(seed, "texts", length))
    first = torch.randint(WORDS, (ROWS, 1), generator=generator)
    steps = torch.randint(1, 4, (ROWS, length), generator=generator)
    return torch.cat((first, first + steps.cumsum(-1)), dim=1) % WORDS


def learned(teach: Teach, seed: int, updates: int) -> tuple[list[float], float]:
    """The loss of a word in each update, and at last that of a new text, read with the mask as in generation."""
    model = gpt2(seed, width=32)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for update in range(updates):
        optimiser.zero_grad()
        loss = teach(model, texts(derive(seed, "course", update), LENGTH)) / (ROWS * LENGTH)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(float(loss.detach()))
    with torch.no_grad():
        end = at_once(model, texts(derive(seed, "examination"), LENGTH)) / (ROWS * LENGTH)
    return losses, float(end)


TIMED: dict[str, Teach] = {"one pass": at_once, "prefix by prefix": by_prefix}
TAUGHT: dict[str, Teach] = {"one pass": at_once, "prefix by prefix": by_prefix, "without a mask": without_mask}


def draw(measured: Sequence[Measured]) -> list[Figure]:
    lengths = measured[0].series["lengths"]
    ratio = over_seeds("time of all prefixes / time of one pass", [one.series["ratio"] for one in measured])
    curves = [over_seeds(name, [one.series["curves"][name] for one in measured]) for name in TAUGHT]
    updates = list(range(1, len(curves[0].values) + 1))
    return [
        Plot("lines", lengths, [ratio], "words of a text", "times as long", "What the mask saves."),
        Plot("lines", updates, curves, "update", "loss of a word", "Without a mask it learns to look ahead."),
    ]


CLAIM = Claim(
    name="look_ahead",
    title="With the look-ahead mask, one pass trains all prefixes",
    question="Is one pass with the mask the same training as reading every prefix on its own, and how much faster?",
    source="Vaswani et al. 2017, section 3.2.3",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    side="at most",
    control="one pass without the mask.",
    measure=measure,
    draw=draw,
    alone=True,
)
