"""How the learning rate goes."""

import math
from pathlib import Path

import pytest

from regard.errors import ConfigError
from regard.training.loop import learner, steps
from regard.training.schedules import SCHEDULES, factor
from regard.training.settings import TrainingConfig, resolve
from regard.training.start import prepare
from tests.runs import Silent, tiny_tree


def nanogpt(update: int, peak: float, least: float, warmup: int, updates: int) -> float:
    """The formula of its get_lr, updates counted from 1."""
    if update <= warmup:
        return peak * update / warmup
    ratio = (update - warmup) / (updates - warmup)
    return least + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (peak - least)


def test_a_cosine_that_ends_at_a_tenth_is_that_of_nanogpt() -> None:
    for update in (1, 50, 100, 101, 500, 1999, 2000):
        found = 1e-3 * factor(SCHEDULES["cosine"], update, 100, 2000, final=0.1)
        assert found == pytest.approx(nanogpt(update, 1e-3, 1e-4, 100, 2000), rel=1e-9)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_without_a_final_rate_a_schedule_is_what_it_was(schedule: str) -> None:
    shape = SCHEDULES[schedule]
    assert [factor(shape, u, 10, 40, final=0.0) for u in range(1, 41)] == [shape(u, 10, 40) for u in range(1, 41)]


@pytest.mark.parametrize(("schedule", "final"), [("linear", 0.25), ("cosine", 0.1), ("cosine", 1.0)])
def test_a_run_ends_at_its_final_rate(tmp_path: Path, schedule: str, final: float) -> None:
    tree = tiny_tree(tmp_path, schedule=schedule, final_rate=final, learning_rate=1e-2)
    run = prepare(tree, tmp_path / "out", Silent())
    made = steps(learner(run.model, run.config.training), run.task, run.config.training, seed=1)
    rates = [step.learning_rate for step in made]
    assert max(rates) == pytest.approx(1e-2)
    assert rates[-1] == pytest.approx(final * 1e-2)


def test_a_schedule_without_an_end_has_no_final_rate() -> None:
    with pytest.raises(ConfigError, match="final_rate is for the schedules linear and cosine; constant has no end"):
        resolve({"training": {"schedule": "constant", "final_rate": 0.1}})
    assert TrainingConfig().final_rate == 0
