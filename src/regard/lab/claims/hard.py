"""Soft attention or hard attention: a mixture of all places, or one place, drawn by chance.

Xu et al. 2015, "Show, Attend and Tell", arXiv:1502.03044, section 4: soft attention is smooth, so that it is trained by
plain backpropagation; hard attention chooses one place, through which no gradient passes, so that it is trained by
sampling (REINFORCE, Williams 1992), whose gradient is noisy; a baseline makes it less so. Luong et al. 2015, section
3.2, say the same.

    soft   ∂/∂θ log p(y | Σ α_i v_i)
    hard   ∂/∂θ log p(y | v_s) + (log p(y | v_s) − b) ∂/∂θ log α_s,  s ~ α

Differs from the paper: the baseline b of a riddle is the mean of the others in its batch, not one that moves along with
the training.
"""

from collections.abc import Callable, Iterator, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from regard.attention import hard, softmax
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.recall import Finder, Loss, Riddle, accuracy, answered, endless, taught
from regard.lab.series import over_seeds
from regard.report import Plot
from regard.seeds import derive

STATISTIC = (
    "The noise of the gradient (its variance from batch to batch over the square of its mean, for queries and keys) of "
    "hard attention with a baseline, as a multiple of that of soft attention, at the same half-trained weights."
)
THRESHOLD = 2.0
WIDTH, RIDDLES = 32, 64
RATE, HALF, LESSON = 3e-3, 100, 200
"""How fast it is taught, for how many updates until its noise is measured, and between two examinations."""
Baseline = Callable[[Tensor], Tensor]


def others(rewards: Float[Tensor, "B"]) -> Float[Tensor, "B"]:
    """For each the mean of all others: what could be expected, whatever was drawn for this one."""
    return (rewards.sum() - rewards) / (len(rewards) - 1)


def sampled(finder: Finder, riddle: Riddle, baseline: Baseline = others) -> Float[Tensor, ""]:
    """A loss whose gradient is, on average, that of how well it answers from one place that is drawn by its weights."""
    drawn: dict[str, Tensor] = {}

    def one_place(scores: Tensor, mask: Tensor | None) -> Tensor:
        chances = softmax(scores, mask)
        place = torch.multinomial(chances.flatten(0, -2), 1).view(*chances.shape[:-1], 1)
        drawn["log"] = chances.gather(-1, place).log().flatten()
        return torch.zeros_like(chances).scatter_(-1, place, 1.0)

    losses = F.cross_entropy(finder(riddle, normalise=one_place), riddle.answer, reduction="none")
    rewards = -losses.detach()
    return (losses - (rewards - baseline(rewards)) * drawn["log"]).mean()


def without_baseline(finder: Finder, riddle: Riddle) -> Float[Tensor, ""]:
    """The same with nothing to compare with."""
    return sampled(finder, riddle, torch.zeros_like)


def noise(gradients: Float[Tensor, "K P"]) -> float:
    """Σ variance / ‖mean‖²: how many batches' mean it takes until the gradient is as long as its error."""
    return float(gradients.var(dim=0).sum() / gradients.mean(dim=0).square().sum())


def gradients(finder: Finder, loss: Loss, seed: int, batches: int) -> Float[Tensor, "K P"]:
    """How each of some batches would change where it looks."""
    return torch.stack(list(_gradients(finder, loss, seed, batches)))


def _gradients(finder: Finder, loss: Loss, seed: int, batches: int) -> Iterator[Tensor]:
    torch.manual_seed(derive(seed, "places"))
    for _, riddle in zip(range(batches), endless(derive(seed, "noise"), RIDDLES), strict=False):
        found = torch.autograd.grad(loss(finder, riddle), finder.looking())
        yield torch.cat([part.flatten() for part in found])


WAYS: dict[str, Loss] = {
    "soft": answered,
    "hard, with a baseline": sampled,
    "hard, without a baseline": without_baseline,
}


def measure(setting: Setting) -> Measured:
    half = taught(Finder(WIDTH, seed=setting.seed), seed=setting.seed, updates=HALF, rate=RATE)
    batches = setting.of(100, 400)
    noises = {way: noise(gradients(half, loss, setting.seed, batches)) for way, loss in WAYS.items()}
    other = noise(gradients(half, answered, derive(setting.seed, "other"), batches))
    courses = {way: course(loss, setting.seed, setting.of(5, 10)) for way, loss in WAYS.items()}
    numbers = {
        **{f"noise of the gradient, {way}": found for way, found in noises.items()},
        **{f"riddles solved at the end, {way}": found[-1] for way, found in courses.items()},
        "riddles solved, taught softly, then looking hard": softly_then_hard(setting.seed, setting.of(5, 10)),
    }
    series = {"courses": courses, "noises": {way: [found] for way, found in noises.items()}}
    value, control = (found / noises["soft"] for found in (noises["hard, with a baseline"], other))
    return Measured(value, control, numbers, series)


def course(loss: Loss, seed: int, lessons: int) -> list[float]:
    """How many riddles it solves after each lesson; one that was taught by drawing places looks at the best one."""
    torch.manual_seed(derive(seed, "lessons"))
    finder, normalise = Finder(WIDTH, seed=seed), softmax if loss is answered else hard
    found = []
    for lesson in range(lessons):
        taught(finder, seed=derive(seed, "lesson", lesson), updates=LESSON, loss=loss, rate=RATE)
        found.append(accuracy(finder, normalise=normalise))
    return found


def softly_then_hard(seed: int, lessons: int) -> float:
    """What is left if a model that was taught softly must choose one place."""
    finder = taught(Finder(WIDTH, seed=seed), seed=seed, updates=lessons * LESSON, rate=RATE)
    return accuracy(finder, normalise=hard)


def draw(measured: Sequence[Measured]) -> list[Figure]:
    courses = [over_seeds(way, [one.series["courses"][way] for one in measured]) for way in WAYS]
    noises = [over_seeds(way, [one.series["noises"][way] for one in measured]) for way in WAYS]
    updates = [LESSON * (lesson + 1) for lesson in range(len(courses[0].values))]
    return [
        Plot("lines", updates, courses, "update", "riddles solved", "Learning where to look."),
        Plot("bars", ["half-trained"], noises, "", "variance / mean²", "How noisy the gradient is."),
    ]


CLAIM = Claim(
    name="hard",
    title="Hard attention is learned by sampling, with a noisier gradient than soft attention",
    question="What does it cost to look at one place only, drawn by chance, instead of a mixture of all?",
    source="Xu et al. 2015, section 4; Luong et al. 2015, section 3.2",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="soft attention, with other batches.",
    measure=measure,
    draw=draw,
)
