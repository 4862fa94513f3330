"""Scenes are learned, whatever is asked of them; what does not fit the training data is told with its place."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.config import merge
from regard.data.batches import Share
from regard.data.corpora.world import write_world
from regard.data.scenes import Scene, read_scenes, scene_of
from regard.errors import BundleError, ConfigError, DataError, LimitError
from regard.evaluation.entities import _numbers
from regard.insight.map import MAP
from regard.tasks.answers import Answers, brief
from regard.tasks.features import Features
from regard.tasks.predictor import Predictor
from regard.training import probes
from regard.training.settings import resolve
from regard.training.start import prepare
from tests.runs import Silent, run_tree

Row = dict[str, Any]
Ask = Callable[[list[Row], list[list[int]]], Any]
COLOURS = ("red", "green", "blue")


def red_in_sight(things: list[Row], relation: list[list[int]]) -> list[str]:
    """Of each one, whether it sees something red, be it itself."""
    red = [thing["colour"] == "red" for thing in things]
    return [
        "seen" if any(sees and is_red for sees, is_red in zip(row, red, strict=True)) else "not" for row in relation
    ]


ASKED: dict[str, Ask] = {
    "classes of each": red_in_sight,
    "numbers of each": lambda things, relation: [100.0 + 10 * thing["size"] for thing in things],
    "a class of the whole": lambda things, relation: any(thing["colour"] == "red" for thing in things),
    "a number of the whole": lambda things, relation: sum(thing["size"] for thing in things) / len(things),
}


def row(draw: random.Random, asked: Ask) -> Row:
    """Things of a colour and a size; some see some others."""
    things = [
        {"colour": draw.choice(COLOURS), "size": round(draw.uniform(-1, 1), 3)} for _ in range(draw.randint(1, 5))
    ]
    lonely = draw.random() < 0.5
    relation = [
        [int(i == j or (not lonely and draw.random() < 0.5)) for j in range(len(things))] for i in range(len(things))
    ]
    return {"entities": things, "relation": relation, "target": asked(things, relation)}


def written(path: Path, count: int, seed: int, asked: str = "classes of each") -> str:
    draw = random.Random(seed)
    path.write_text("".join(json.dumps(row(draw, ASKED[asked])) + "\n" for _ in range(count)), encoding="utf-8")
    return str(path)


def shuffled(scene: Scene, order: Sequence[int]) -> Row:
    """The same things in another order."""
    assert scene.relation is not None
    relation = scene.relation[order][:, order].astype(int).tolist()
    return {"entities": [scene.entities[i] for i in order], "relation": relation}


def tree_of(directory: Path, asked: str = "classes of each", **training: Any) -> dict[str, Any]:
    return {
        "task": "entities",
        "model": {"width": 16, "heads": 2, "hidden": 32, "layers": 1},
        "batch": {"tokens": 128},
        "data": {
            "train": [written(directory / "train.jsonl", 300, 1, asked)],
            "val": [written(directory / "val.jsonl", 60, 2, asked)],
        },
        "training": {
            "updates": 150,
            "warmup": 5,
            "learning_rate": 1e-2,
            "validate_every": 75,
            "average": 0.0,
            "threads": 1,
            **training,
        },
    }


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that says who sees something red."""
    directory = tmp_path_factory.mktemp("entities")
    run_tree(tree_of(directory), directory / "out")
    return directory


@pytest.fixture
def model(trained: Path) -> Predictor:
    loaded: Predictor = regard.load(trained / "out")
    return loaded


@pytest.mark.parametrize("asked", list(ASKED)[1:])
def test_numbers_and_the_whole_are_learned(tmp_path: Path, asked: str) -> None:
    run_tree(tree_of(tmp_path, asked), tmp_path / "out")
    score = regard.bundle.read_card(tmp_path / "out")["scores"]["val"]["score"]
    assert score > 0.95
    said = regard.load(tmp_path / "out").predict([row(random.Random(7), ASKED[asked])])[0]
    assert isinstance(said.target, list) == (asked == "numbers of each")


def test_what_is_in_sight_is_known_from_the_relation_alone(trained: Path, model: Predictor) -> None:
    assert regard.bundle.read_card(trained / "out")["scores"]["val"]["accuracy"] > 0.99
    run_tree({**tree_of(trained), "entities": {"relation": "all"}}, trained / "all")
    assert regard.bundle.read_card(trained / "all")["scores"]["val"]["accuracy"] < 0.95
    two = {"entities": [{"colour": "red", "size": 0}, {"colour": "blue", "size": 0}]}
    (hidden, open_) = model.predict([{**two, "relation": [[1, 0], [0, 1]]}, two])
    assert hidden.target == ["seen", "not"]
    assert open_.target == ["seen", "seen"]
    assert isinstance(hidden.probabilities, list)
    assert hidden.probabilities[0]["seen"] == pytest.approx(1 - hidden.probabilities[0]["not"], abs=1e-6)
    assert regard.load(trained / "all").predict([{**two, "relation": [[1, 0], [0, 1]]}]) == regard.load(
        trained / "all"
    ).predict([two])


@pytest.mark.slow
def test_the_little_world_is_known_with_the_line_of_sight_and_guessed_without(tmp_path: Path) -> None:
    files = write_world(tmp_path / "world", train=2000, val=100, test=400)

    def accuracy(relation: str) -> float:
        tree = {
            "task": "entities",
            "data": files,
            "entities": {"relation": relation},
            "training": {"updates": 150, "threads": 1},
        }
        run_tree(tree, tmp_path / relation)
        return float(regard.bundle.read_card(tmp_path / relation)["scores"]["test"]["accuracy"])

    assert accuracy("given") >= 0.95
    assert accuracy("all") <= 0.8
    model, held_out, draw = regard.load(tmp_path / "given"), read_scenes(files["test"]).rows, np.random.default_rng(1)
    orders = [draw.permutation(len(scene)) for scene in held_out]
    moved = [shuffled(scene, order) for scene, order in zip(held_out, orders, strict=True)]
    for plain, other, order in zip(model.predict(held_out), model.predict(moved), orders, strict=True):
        for place, i in enumerate(order):
            assert other.probabilities[place] == pytest.approx(plain.probabilities[i], abs=1e-6)


def test_shuffling_a_scene_changes_nothing_that_is_said(trained: Path, model: Predictor) -> None:
    scenes = read_scenes([str(trained / "val.jsonl")]).rows
    draw = random.Random(3)
    for scene, plain in zip(scenes[:20], model.predict(scenes[:20]), strict=True):
        order = draw.sample(range(len(scene)), len(scene))
        other = model.predict([shuffled(scene, order)])[0]
        assert isinstance(plain.probabilities, list)
        assert isinstance(other.probabilities, list)
        for place, i in enumerate(order):
            assert other.probabilities[place] == pytest.approx(plain.probabilities[i], abs=1e-6)


def test_attention_tells_who_looks_at_whom_and_never_at_the_hidden(trained: Path, model: Predictor) -> None:
    scene = next(scene for scene in read_scenes([str(trained / "val.jsonl")]).rows if len(scene) == 5)
    trace = model.attention(scene)
    assert scene.relation is not None
    weights = trace.weights["encoder.0.self"]
    assert weights.shape == (2, 5, 5)
    assert (weights[:, ~scene.relation] == 0).all()
    assert np.allclose(weights.sum(-1), 1, atol=1e-6)
    assert trace.rows["entities"].labels == scene.names
    assert list(trace.rows["said"].labels) == model.predict([scene])[0].target
    assert trace.meta[MAP]["kinds"] == [entity["colour"] for entity in scene.entities]


def test_every_validation_keeps_where_it_looks(trained: Path, model: Predictor) -> None:
    traces = probes.read(trained / "out")
    assert probes.updates(trained / "out") == [75, 150]
    scenes = read_scenes([str(trained / "val.jsonl")]).rows[:4]
    assert [trace.rows["entities"].labels for trace in traces] == [scene.names for scene in scenes]


def test_a_stopped_run_that_goes_on_ends_with_the_same_bytes(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, updates=12, validate_every=6, save_every=3)

    class Crash(Silent):
        def stepped(self, step: Any, seconds: float) -> None:
            if step.number == 8:
                raise RuntimeError("crash")

    run_tree(tree, tmp_path / "whole")
    with pytest.raises(RuntimeError, match="crash"):
        run_tree(tree, tmp_path / "broken", Crash())
    run_tree(tree, tmp_path / "broken")
    for name in ("model.safetensors", "entities.json"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_shares_of_a_batch_are_the_batch(tmp_path: Path) -> None:
    task = prepare(tree_of(tmp_path), tmp_path / "out", Silent()).task
    whole, parts = task.batch(3), [task.batch(3, Share(part, 2)) for part in range(2)]
    assert task.counts(whole)["classes"] == sum(task.counts(part)["classes"] for part in parts)
    assert task.size(whole) == sum(task.size(part) for part in parts) <= 128


def test_fine_tuning_goes_on_with_the_features_and_may_ask_for_something_else(trained: Path, tmp_path: Path) -> None:
    watcher = Silent()
    tree = tree_of(tmp_path, "a number of the whole", updates=5, warmup=1)
    del tree["model"]
    run = prepare({**tree, "init": str(trained / "out")}, tmp_path / "out", watcher)
    assert "new: answer.weight, answer.bias, pool." in watcher.words[0]
    assert run.task.tokenizers.features == regard.load(trained / "out").fields.features
    assert not run.task.tokenizers.answers.of_each


def begun(tmp_path: Path, first: list[Any], second: list[Any]) -> tuple[Any, list[str]]:
    """A run that begins with a model of some targets and has others, and what was said."""
    draw = random.Random(1)

    def data(name: str, targets: list[Any]) -> Row:
        rows = [{"entities": [{"size": draw.random()}], "target": draw.choice(targets)} for _ in range(40)]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return {"train": [str(tmp_path / name)]}

    tree = {**tree_of(tmp_path, updates=2, warmup=1), "data": data("first.jsonl", first)}
    run_tree(tree, tmp_path / "first")
    del tree["model"]
    again = {**tree, "data": data("second.jsonl", second), "init": str(tmp_path / "first")}
    return prepare(again, tmp_path / "second", watcher := Silent()), watcher.words


def test_other_classes_get_a_new_head_even_if_they_are_as_many(tmp_path: Path) -> None:
    run, said = begun(tmp_path, ["cat", "dog"], ["dog", "zebra"])
    assert run.task.tokenizers.answers.classes == ("dog", "zebra")
    assert "new: answer.weight, answer.bias" in said[0]
    assert "pool" not in said[0]
    before, after = regard.load(tmp_path / "first").model.answer.weight, run.model.answer.weight
    assert not torch.allclose(before, after)


def test_numbers_of_another_size_are_measured_anew_and_those_of_the_same_as_before(tmp_path: Path) -> None:
    run, said = begun(tmp_path, [0.1, 0.9], [100_000, 900_000])
    assert run.task.tokenizers.answers.mean > 1e5
    assert "new: answer.weight, answer.bias" in said[0]
    known = Answers(False, (), 0.5, 0.4)
    assert known.fits(Answers(False, (), 0.7, 0.2))
    assert not known.fits(Answers(False, (), 0.5, 40.0))
    assert not known.fits(Answers(True, (), 0.5, 0.4))


def test_lists_have_as_many_numbers_in_all_scenes(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f'{{"entities": [{entity}], "target": 1}}\n' for entity in ("[1, 2]", "[3, 4]", "[5]")))
    with pytest.raises(
        DataError, match=r"rows\.jsonl, line 3: .*another number of numbers(.|\n)*1 here, 2 in .*line 2"
    ):
        Features.of(read_scenes([str(rows)]).rows)


def test_a_number_that_no_network_can_hold_is_refused_as_a_target() -> None:
    asked = Answers.of([scene_of({"entities": [[1]], "target": target}) for target in (0.1, 0.9)])
    with pytest.raises(DataError, match=r"a target is too far(.|\n)*1e\+90(.|\n)*about 0\.5, give or take 0\.4"):
        asked.encode(scene_of({"entities": [[1]], "target": 1e90}))


def test_no_relation_is_drawn_where_the_model_uses_none(trained: Path) -> None:
    fields, model = regard.load(trained / "out").fields, regard.load(trained / "out").model
    scene = {"entities": [{"colour": "red", "size": 1}, {"colour": "blue", "size": 2}], "relation": [[1, 0], [0, 1]]}
    for relation, seen in (("given", [[True, False], [False, True]]), ("all", None)):
        assert Predictor(model, fields, relation=relation).attention(scene).meta[MAP]["seen"] == seen


def test_a_field_that_some_do_not_have_is_told_apart_from_zero(tmp_path: Path) -> None:
    draw = random.Random(1)
    rows = []
    for _ in range(200):
        told = [draw.choice([{"kind": "a"}, {"kind": "a", "size": 0}, {"kind": "a", "size": 2}]) for _ in range(3)]
        rows.append({"entities": told, "target": ["none" if "size" not in one else "some" for one in told]})
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tree = {**tree_of(tmp_path), "data": {split: [str(tmp_path / "rows.jsonl")] for split in ("train", "val")}}
    run_tree(tree, tmp_path / "out")
    said = regard.load(tmp_path / "out").predict(
        [{"entities": [{"kind": "a", "size": None}, {"kind": "a", "size": 0}]}]
    )
    assert said[0].target == ["none", "some"]


def test_a_field_of_which_nothing_is_known_is_as_good_as_none(tmp_path: Path) -> None:
    rows = [row(random.Random(seed), ASKED["classes of each"]) for seed in range(20)]
    for each in rows:
        each["entities"] = [{**thing, "team": None} for thing in each["entities"]]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    tree = {**tree_of(tmp_path, updates=2, warmup=1), "data": {"train": [str(tmp_path / "rows.jsonl")]}}
    run_tree(tree, tmp_path / "out")
    model = regard.load(tmp_path / "out")
    assert model.predict([{"entities": [{"colour": "red", "size": 1, "team": None}]}])
    with pytest.raises(DataError, match="has a field team that the training data does not have"):
        model.predict([{"entities": [{"colour": "red", "size": 1, "team": "ours"}]}])


def test_scenes_that_ask_nothing_at_first_do_not_end_the_training(tmp_path: Path) -> None:
    asked = row(random.Random(1), ASKED["a number of the whole"])
    rows = [{**asked, "target": target} for target in (0.0, 1.0, *[None] * 98)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    tree = {**tree_of(tmp_path, updates=60, average=0.0), "data": {"train": [str(tmp_path / "rows.jsonl")]}}
    watcher = Silent()
    assert run_tree(merge(tree, {"batch": {"tokens": 16}}), tmp_path / "out", watcher).finished
    assert watcher.losses[0] == 0 < max(watcher.losses)


def test_small_and_large_numbers_are_told_where_there_is_little_room() -> None:
    assert [brief(value) for value in (0.003, 0.5, 12.3456, 0.0, 1e12, "flee")] == [
        "0.003", "0.50", "12.35", "0.00", "1e+12", "flee",
    ]  # fmt: skip


def test_fields_can_be_left_out(tmp_path: Path) -> None:
    tree = {**tree_of(tmp_path, updates=2, warmup=1), "entities": {"without": ["size"]}}
    run_tree(tree, tmp_path / "out")
    model = regard.load(tmp_path / "out")
    first, second = model.predict([{"entities": [{"colour": "red", "size": size}]} for size in (0, 9)])
    assert first == second
    assert model.fields.features.numbers == ()
    with pytest.raises(DataError, match=r"No entity has a field sice(.|\n)*did you mean size"):
        prepare({**tree, "entities": {"without": ["sice"]}}, tmp_path / "other", Silent())
    begun = {**tree, "init": str(tmp_path / "out")}
    assert prepare(begun, tmp_path / "same", Silent()).task.tokenizers.without == ("size",)
    with pytest.raises(ConfigError, match=r"cannot be changed(.|\n)*found: colour(.|\n)*wanted: size"):
        prepare({**begun, "entities": {"without": ["colour"]}}, tmp_path / "other", Silent())


GOOD = {"entities": [{"colour": "red", "size": 1}, {"colour": "blue", "size": 2}], "target": ["seen", "not"]}
UNFIT: dict[str, tuple[Row, list[str]]] = {
    "a field more": ({"entities": [{"colour": "red", "size": 1, "sizes": 1}]}, ["a field sizes", "did you mean size?"]),
    "a field less": ({"entities": [{"colour": "red"}]}, ["entity 1 has no size", "found: colour"]),
    "a word for a number": (
        {"entities": [{"colour": "red", "size": "big"}]},
        ["size of entity 1", "'big'", "a number"],
    ),
    "a number for a word": (
        {"entities": [{"colour": 3, "size": 1}]},
        ["colour of entity 1", "3.0", "blue, green, red"],
    ),
    "a number from another world": (
        {"entities": [{"colour": "red", "size": 1e30}]},
        ["the size of entity 1 is too far", "1e+30", "give or take 0.5"],
    ),
    "a new word": (
        {"entities": [{"colour": "pink", "size": 1}]},
        ["the colour of entity 1 does not occur", "'pink'", "blue, green, red"],
    ),
    "a new class": ({**GOOD, "target": ["gone", None]}, ["the class 'gone' does not occur", "not, seen"]),
    "a number as target": ({**GOOD, "target": [1, 2]}, ["another kind", "1.0", "one of not, seen"]),
    "a target of the whole": ({**GOOD, "target": "seen"}, ["another kind", "classes of each entity"]),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_does_not_fit_the_training_data_is_told_with_its_place(tmp_path: Path, name: str) -> None:
    bad, words = UNFIT[name]
    tree = tree_of(tmp_path)
    path = tmp_path / "val.jsonl"
    path.write_text(json.dumps(GOOD) + "\n" + json.dumps(bad) + "\n")
    with pytest.raises(DataError) as caught:
        prepare(tree, tmp_path / "out", Silent())
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert [word for word in words if word not in str(caught.value)] == []


UNLEARNABLE: dict[str, tuple[list[Row], list[str]]] = {
    "no target": ([{"entities": [{"x": 1}]}], ["line 1: no scene has a target"]),
    "one class": ([{"entities": [{"x": 1}], "target": "a"}], ["only one class", "'a' in all"]),
    "classes and numbers": (
        [{"entities": [{"x": 1}], "target": target} for target in ("a", 2, "b", 3)],
        ["jsonl, line 2: the targets differ in kind", "numbers of the whole here", "classes of the whole in"],
    ),
    "of each and of the whole": (
        [{"entities": [{"x": 1}], "target": [1]}, {"entities": [{"x": 1}], "target": 2}],
        ["line 2: the targets differ in kind", "numbers of each entity in"],
    ),
    "a field of two kinds": (
        [{"entities": [{"x": 1}], "target": 1}, {"entities": [{"x": "far"}], "target": 2}],
        ["line 2: x is 'far' here, and of another kind", "line 1"],
    ),
    "no features": ([{"entities": [{"name": "Bo"}], "target": 1}, {"entities": [{}], "target": 2}], ["no features"]),
}


@pytest.mark.parametrize("name", UNLEARNABLE)
def test_data_that_cannot_be_learned_from_is_refused(tmp_path: Path, name: str) -> None:
    rows, words = UNLEARNABLE[name]
    tree = tree_of(tmp_path)
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError) as caught:
        prepare(tree, tmp_path / "out", Silent())
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize("same", [0.1, 0.0, -3e50, 1e-30])
def test_a_number_that_is_always_the_same_is_no_measure_of_others(same: float) -> None:
    scenes = [scene_of({"entities": [{"x": same}, {"x": same * (1 + 1e-16)}], "target": 1}) for _ in range(3)]
    (field,) = Features.of(scenes).numbers
    assert field.scale >= 1.0
    assert abs(field.encode(same)[0]) < 0.1


def test_of_equal_numbers_nothing_can_be_explained() -> None:
    labels = torch.full((3,), 0.1, dtype=torch.float64)
    found = _numbers(Answers(of_each=False, scale=2.0), torch.zeros(3, 1), labels)
    assert (found["r2"], found["mean_absolute_error"]) == (0.0, pytest.approx(0.2))
    assert found["root_mean_squared_error"] == pytest.approx(0.2)
    assert found["loss"] == pytest.approx(0.01)


def test_a_crowd_is_refused_with_its_place(tmp_path: Path, model: Predictor) -> None:
    tree = tree_of(tmp_path)
    crowd = {"entities": [{"colour": "red", "size": 1}] * 300, "target": ["not"] * 300}
    with (tmp_path / "train.jsonl").open("a") as file:
        file.write(json.dumps(crowd) + "\n")
    with pytest.raises(LimitError, match=r"line 301: more entities(.|\n)*300(.|\n)*at most 256(.|\n)*model\.limit"):
        prepare(tree, tmp_path / "out", Silent())
    with pytest.raises(LimitError, match="more entities than the model can take"):
        model.predict([crowd])


def test_what_cannot_be_done_is_said(tmp_path: Path, model: Predictor) -> None:
    with pytest.raises(DataError, match="No training data"):
        prepare({"task": "entities"}, tmp_path / "out", Silent())
    with pytest.raises(DataError, match="predict takes a list of scenes"):
        model.predict(json.dumps(GOOD))
    with pytest.raises(ConfigError, match="no section called tokenizer"):
        resolve({"task": "entities", "tokenizer": {"size": 10}})
    assert model.predict([]) == []


def test_a_bundle_without_its_fields_is_incomplete(trained: Path, tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((trained / "out" / name).read_bytes())
    with pytest.raises(BundleError, match=r"entities\.json is missing"):
        regard.load(tmp_path)
    (tmp_path / "entities.json").write_text("{}")
    with pytest.raises(BundleError, match=r"entities\.json is damaged"):
        regard.load(tmp_path)
