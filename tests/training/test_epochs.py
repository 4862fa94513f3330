"""How long a run is when it is told in epochs, and what each task takes for granted."""

from pathlib import Path

import pytest

from regard.catalogue import TASKS, find, task_entry
from regard.errors import ConfigError
from regard.training.settings import TrainingConfig, resolve
from regard.training.start import in_updates, prepare
from tests.runs import Silent, tiny_tree


def test_epochs_are_saved_as_updates(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    tree["training"] = {"epochs": 2.5}
    run = prepare(tree, tmp_path / "out", Silent())
    step, epochs = 0, []
    while not epochs or epochs[-1] < 3:
        epochs.append(run.task.epoch(step))
        step += 1
    assert run.config.training.updates == round(2.5 * epochs.count(0))
    assert run.config.training.validate_every == epochs.count(0)
    assert run.config.tree()["training"]["epochs"] == 0


def test_what_is_given_stays(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    tree["training"] = {"epochs": 3, "warmup": 2, "validate_every": 7}
    training = prepare(tree, tmp_path / "out", Silent()).config.training
    assert (training.warmup, training.validate_every) == (2, 7)


class Endless:
    """A task whose epochs have so many updates."""

    def __init__(self, updates: int) -> None:
        self.updates = updates

    def epoch(self, step: int) -> int:
        return step // self.updates


@pytest.mark.parametrize("updates", [1, 2, 3, 64, 1000])
def test_the_length_of_an_epoch_is_found(updates: int) -> None:
    found = in_updates(TrainingConfig(epochs=3.0), Endless(updates))
    assert found.updates == 3 * updates
    assert found.validate_every == min(500, updates)


def test_updates_and_epochs_exclude_each_other() -> None:
    with pytest.raises(ConfigError, match="say the same thing"):
        resolve({"training": {"updates": 10, "epochs": 1}})


@pytest.mark.parametrize("task", TASKS)
def test_updates_win_over_what_a_task_takes_for_granted(task: str) -> None:
    assert resolve({"task": task, "training": {"updates": 7}}).training.epochs == 0


@pytest.mark.parametrize("task", TASKS)
def test_a_trained_model_goes_on_more_carefully(task: str) -> None:
    recipes = find(task_entry(task).task)
    fresh, begun = resolve({"task": task}).training, resolve({"task": task, "init": "somewhere"}).training
    assert fresh.epochs == recipes.recipe.get("epochs", 0)
    assert task == "words" or begun.learning_rate < fresh.learning_rate
