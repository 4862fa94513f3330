from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from regard.attention import softmax
from regard.lab.claim import Setting
from regard.lab.claims import hard as claim
from regard.lab.claims.hard import (
    LEARNED,
    LESSON,
    course,
    gradients,
    noise,
    noisier,
    others,
    sampled,
    summed,
    without_baseline,
)
from regard.lab.recall import Finder, Riddle, answered, riddles
from regard.lab.shop import Shop

RIDDLE = riddles(6, torch.Generator().manual_seed(1))


def test_what_could_be_expected_is_the_mean_of_the_others() -> None:
    assert others(torch.tensor([1.0, 2.0, 6.0])).tolist() == [4.0, 3.5, 1.5]


def test_noise_is_variance_over_the_square_of_the_mean() -> None:
    assert noise(torch.tensor([[1.0, 2.0], [3.0, 2.0]])) == pytest.approx(2 / 8)
    assert noise(torch.ones(5, 3)) == 0.0


def exact(finder: Finder, riddle: Riddle) -> torch.Tensor:
    """The loss that is to be expected if the place is drawn: all places, each with its chance."""
    found = []
    for place in range(riddle.names.shape[1]):
        chances: list[torch.Tensor] = []

        def looks(scores: torch.Tensor, mask: torch.Tensor | None, place: int = place) -> torch.Tensor:
            chances.append(softmax(scores)[:, 0, 0, place])  # noqa: B023
            return F.one_hot(torch.full(scores.shape[:-1], place), scores.shape[-1]).float()

        losses = F.cross_entropy(finder(riddle, normalise=looks), riddle.answer, reduction="none")
        found.append(chances[0] * losses)
    return torch.stack(found).sum(0).mean()


def test_the_sum_over_all_places_is_the_loss_that_is_to_be_expected() -> None:
    finder = Finder(4, seed=1)
    wanted, found = (torch.autograd.grad(loss(finder, RIDDLE), finder.looking()) for loss in (exact, summed))
    torch.testing.assert_close(summed(finder, RIDDLE), exact(finder, RIDDLE))
    torch.testing.assert_close(found, wanted)


def test_who_has_not_learned_is_not_noisier_but_wrong() -> None:
    assert noisier(4.0, solved=LEARNED) == 4.0
    assert noisier(4.0, solved=LEARNED - 0.01) == 0.0


@pytest.mark.parametrize("loss", [sampled, without_baseline])
def test_sampling_is_right_on_average(loss: object) -> None:
    """The mean of many sampled gradients is the gradient of the expected loss, with and without a baseline."""
    finder = Finder(4, seed=1)
    wanted = torch.cat([part.flatten() for part in torch.autograd.grad(exact(finder, RIDDLE), finder.looking())])
    many = riddle_many(1000)
    torch.manual_seed(0)
    drawn = [torch.autograd.grad(loss(finder, many), finder.looking()) for _ in range(40)]  # type: ignore[operator]
    mean = torch.stack([torch.cat([part.flatten() for part in one]) for one in drawn]).mean(0)
    assert float((mean - wanted).norm() / wanted.norm()) < 0.15


def riddle_many(times: int) -> Riddle:
    return Riddle(*(part.repeat(times, *[1] * (part.dim() - 1)) for part in RIDDLE))


def test_drawing_places_adds_noise_to_the_gradient() -> None:
    finder = Finder(8, seed=1)
    soft, drawn = (noise(gradients(finder, loss, 1, 30)) for loss in (answered, sampled))
    assert drawn > soft


def test_a_course_is_examined_after_every_lesson() -> None:
    assert len(course(sampled, seed=1, updates=2 * LESSON + 1)) == 2


@pytest.mark.parametrize(("solved", "value"), [(0.9, 5.0), (0.4, 0.0)])
def test_sampling_is_judged_and_the_exact_sum_controls_it(
    solved: float, value: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Made-up noise; what was taught by sampling has learned or not."""
    noises = {answered: 2.0, sampled: 10.0, without_baseline: 90.0, summed: 1.0}
    monkeypatch.setattr(claim, "taught", lambda finder, **how: finder)
    monkeypatch.setattr(claim, "gradients", lambda finder, loss, seed, batches: loss)
    monkeypatch.setattr(claim, "noise", noises.__getitem__)
    monkeypatch.setattr(claim, "course", lambda loss, seed, updates: [solved if loss is sampled else 1.0])
    monkeypatch.setattr(claim, "softly_then_hard", lambda seed, updates: 1.0)
    found = claim.measure(Setting(1, True, Shop(tmp_path)))
    assert (found.value, found.control) == (value, 0.5)
