"""Soft attention or hard attention: a mixture of all places, or one place, drawn by chance.

Xu et al. 2015, "Show, Attend and Tell", arXiv:1502.03044, section 4: soft attention is smooth, so that it is trained by
plain backpropagation; hard attention chooses one place, through which no gradient passes, so that it is trained by
sampling (REINFORCE, Williams 1992), whose gradient is noisy; a baseline makes it less so. Luong et al. 2015, section
3.2, say the same.

    soft   ∂/∂θ log p(y | Σ α_i v_i)
    hard   ∂/∂θ log p(y | v_s) + (log p(y | v_s) − b) ∂/∂θ log α_s,  s ~ α

Differs from the paper: the baseline b of a riddle is the mean of the others in its batch, not one that moves along with
the training.

The control has the goal of hard attention, but sums over all places, each with its chance, instead of drawing one: with
so few places that can be done. If it were as noisy, the noise would come from the goal and not from the sampling. (At
first soft attention with other batches was the control: that cannot be noisier but by luck. That hard attention must
have learned something was added, too; both before the full run.)
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from regard.attention import hard, softmax
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.recall import Finder, Loss, Riddle, accuracy, answered, endless, taught, teaching
from regard.lab.series import over_seeds
from regard.report import Plot
from regard.seeds import derive

STATISTIC = (
    "The noise of the gradient (its variance from batch to batch over the square of its mean, for queries and keys) of "
    "hard attention with a baseline, as a multiple of that of soft attention, at the same half-trained weights. 0 if "
    "hard attention, taught by sampling, solves fewer than half of the riddles (chance: 1 in 16)."
)
THRESHOLD = 2.0
LEARNED = 0.5
"""What must be solved for "is learned by sampling" to be true: eight times as much as by chance."""
WIDTH, RIDDLES = 32, 64
RATE, HALF, LESSON = 3e-3, 40, 25
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


def summed(finder: Finder, riddle: Riddle) -> Float[Tensor, ""]:
    """What `sampled` is on average: how surprising the answer is from each place, times the chance of that place."""
    seen: dict[str, Tensor] = {}

    def keep(scores: Tensor, mask: Tensor | None) -> Tensor:
        seen["chances"] = softmax(scores, mask)
        return seen["chances"]

    finder(riddle, normalise=keep)
    answers = finder.output(finder.values(riddle.values)).transpose(1, 2)
    losses = F.cross_entropy(answers, riddle.answer[:, None].expand_as(riddle.values), reduction="none")
    return (seen["chances"][:, 0, 0] * losses).sum(-1).mean()


def without_baseline(finder: Finder, riddle: Riddle) -> Float[Tensor, ""]:
    """The same with nothing to compare with."""
    return sampled(finder, riddle, torch.zeros_like)


def noise(gradients: Float[Tensor, "K P"]) -> float:
    """Σ variance / ‖mean‖²: of how many batches the mean must be until it is as long as its error. (The mean of K
    batches has an error, too: what is really far more than K comes out as K.)"""
    return float(gradients.var(dim=0).sum() / gradients.mean(dim=0).square().sum())


def gradients(finder: Finder, loss: Loss, seed: int, batches: int) -> Float[Tensor, "K P"]:
    """How each of some batches would change where it looks."""
    return torch.stack(list(_gradients(finder, loss, seed, batches)))


def _gradients(finder: Finder, loss: Loss, seed: int, batches: int) -> Iterator[Tensor]:
    torch.manual_seed(derive(seed, "places"))
    for _, riddle in zip(range(batches), endless(derive(seed, "noise"), RIDDLES), strict=False):
        found = torch.autograd.grad(loss(finder, riddle), finder.looking())
        yield torch.cat([part.flatten() for part in found])


SOFT, HARD, BARE, SUMMED = "soft", "hard, with a baseline", "hard, without a baseline", "hard, summed over all places"
WAYS: dict[str, Loss] = {SOFT: answered, HARD: sampled, BARE: without_baseline, SUMMED: summed}


def measure(setting: Setting) -> Measured:
    half = taught(Finder(WIDTH, seed=setting.seed), seed=setting.seed, updates=HALF, rate=RATE)
    batches, updates = setting.of(400, 1000), setting.of(200, 500)
    noises = {way: noise(gradients(half, loss, setting.seed, batches)) for way, loss in WAYS.items()}
    courses = {way: course(loss, setting.seed, updates) for way, loss in WAYS.items()}
    numbers = {
        **{f"noise of the gradient, {way}": found for way, found in noises.items()},
        **{f"riddles solved at the end, {way}": found[-1] for way, found in courses.items()},
        "riddles solved, taught softly, then looking hard": softly_then_hard(setting.seed, updates),
    }
    series = {"courses": courses, "noises": {way: [found] for way, found in noises.items()}}
    value, control = (noisier(noises[way] / noises[SOFT], courses[way][-1]) for way in (HARD, SUMMED))
    return Measured(value, control, numbers, series)


def noisier(times: float, solved: float) -> float:
    """How many times as noisy it is, if it has learned."""
    return times if solved >= LEARNED else 0.0


def course(loss: Loss, seed: int, updates: int) -> list[float]:
    """How many riddles it solves every so many updates; one that was taught by drawing places looks at the best one."""
    torch.manual_seed(derive(seed, "lessons"))
    finder, normalise = Finder(WIDTH, seed=seed), softmax if loss is answered else hard
    lessons = islice(teaching(finder, seed=seed, loss=loss, rate=RATE), updates)
    return [accuracy(finder, normalise=normalise) for update in lessons if update % LESSON == 0]


def softly_then_hard(seed: int, updates: int) -> float:
    """What is left if a model that was taught softly must choose one place."""
    return accuracy(taught(Finder(WIDTH, seed=seed), seed=seed, updates=updates, rate=RATE), normalise=hard)


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
    control="hard attention whose loss is summed exactly over all places, each with its chance, instead of sampled.",
    measure=measure,
    draw=draw,
)
