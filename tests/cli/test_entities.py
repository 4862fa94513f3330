"""regard world, train --task entities, predict, evaluate, look."""

import json
import shlex
from pathlib import Path

import regard
from tests.commands import Run

SETTINGS = [
    "training.updates=30", "training.warmup=5", "training.validate_every=30", "training.average=0",
    "training.threads=1", "model.width=16", "model.heads=2", "model.hidden=32", "model.layers=1",
]  # fmt: skip


def test_a_user_makes_a_world_trains_asks_scores_and_looks(tmp_path: Path, run: Run) -> None:
    world, out = tmp_path / "a world", str(tmp_path / "out")
    code, said, err = run("world", "--out", world, "--scenes", 100, "--seed", 3)
    assert code == 0, err
    for split in ("val", "test"):  # fewer: a user has time, a test has not
        path = world / f"{split}.jsonl"
        path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:40]), encoding="utf-8")
    _, *words = shlex.split(said)
    assert words[:3] == ["train", "--task", "entities"]
    words[words.index("--out") + 1] = out
    code, said, err = run(*words, *SETTINGS)
    assert code == 0, err
    assert "test: accuracy" in said
    assert "100 scenes of" in err
    assert "with x, y, kind; 5 classes of each" in err

    scenes = world / "test.jsonl"
    code, said, err = run("predict", out, "--input", scenes)
    assert code == 0, err
    first = json.loads(scenes.read_text(encoding="utf-8").splitlines()[0])
    assert len(said.splitlines()) == 40
    assert len(json.loads(said.splitlines()[0])) == len(first["entities"])
    code, said, err = run("predict", out, json.dumps(first), "--json")
    assert code == 0, err
    assert set(json.loads(said)["probabilities"][0]) == {"→", "↑", "←", "↓", "·"}
    assert json.loads(said)["target"] == regard.load(out).predict([first])[0].target

    picture, answers = tmp_path / "confusion.svg", tmp_path / "said.jsonl"
    code, said, err = run("evaluate", out, "--data", scenes, "--confusion", picture, "--outputs", answers)
    assert code == 0, err
    assert said.startswith("accuracy ")
    assert "· " in said
    assert picture.read_text().startswith("<?xml")
    assert len(answers.read_text().splitlines()) == 40
    code, said, err = run("evaluate", out, "--data", scenes, "--json")
    assert json.loads(said)["accuracy"] == regard.bundle.read_card(Path(out))["scores"]["test"]["accuracy"]

    code, said, err = run("look", out, "--input", scenes, "--line", 2, "--out", tmp_path / "map.png")
    assert code == 0, err
    second = json.loads(scenes.read_text(encoding="utf-8").splitlines()[1])
    assert said.split() == regard.load(out).predict([second])[0].target
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    for suffix in ("svg", "html", "json"):
        code, said, err = run("look", out, json.dumps(second), "--out", tmp_path / f"map.{suffix}")
        assert code == 0, err
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps(second) + '\n{"entities": [{"kind": "fox", "x": 1, "y": 1}]}\n{"entities":\n')
    for line, wrong in ((2, "the kind of entity 1 does not occur"), (3, "not JSON")):
        code, _, err = run("look", out, "--input", bad, "--line", line, "--out", tmp_path / "bad.svg")
        assert (code, f"{bad}, line {line}: {wrong}" in err) == (1, True), err
        code, _, err = run("predict", out, *bad.read_text(encoding="utf-8").splitlines()[0 : line : line - 1])
        assert (code, f"scene 2: {wrong}" in err) == (1, True), err
    code, _, err = run("look", out, json.dumps(second), "--head", 9, "--out", tmp_path / "head.html")
    assert (code, "has no head 9" in err, (tmp_path / "head.html").exists()) == (1, True, False)
    code, _, err = run("align", out, "--data", scenes)
    assert (code, "does not translate, so it links no words" in err) == (1, True)
    for option in (["--challenges", scenes], ["--baseline", scenes], ["--beam", 4], ["--truncate"]):
        code, _, err = run("evaluate", out, "--data", scenes, *option)
        assert (code, f"{option[0]} does nothing for {out}" in err, "wanted: a translator" in err) == (1, True, True)
    code, _, err = run("evaluate", out, "--data", scenes, "--stride", 3)
    assert (code, "wanted: a language model" in err) == (1, True)
    crowd = tmp_path / "crowd.jsonl"
    crowd.write_text(json.dumps({"entities": [{"kind": "hider", "x": i, "y": 0} for i in range(300)]}) + "\n")
    code, _, err = run("look", out, "--input", crowd, "--out", tmp_path / "crowd.svg")
    assert (code, f"{crowd}, line 1" in err, "train a model with a larger model.limit" in err) == (1, True, True)
    code, said, err = run("look", out, "--probe", 1, "--out", tmp_path / "probe.svg")
    assert code == 0, err
    assert "hunter 1" in said
    code, said, err = run("info", out)
    assert code == 0, err
    assert said.startswith("model       entities for entities\n")
    assert run("runs", tmp_path)[0] == 0


def test_a_number_of_the_whole_is_learned_said_and_scored(tmp_path: Path, run: Run) -> None:
    world, out = tmp_path / "world", str(tmp_path / "out")
    assert run("world", "--out", world, "--goal", "chance", "--scenes", 50)[0] == 0
    files = [f"--train={world / 'train.jsonl'}", f"--val={world / 'val.jsonl'}"]
    code, said, err = run("train", "--task", "entities", *files, "--out", out, *SETTINGS)
    assert code == 0, err
    assert "val: R² " in said
    blank = tmp_path / "blank.jsonl"
    scene = (world / "val.jsonl").read_text(encoding="utf-8").splitlines()[0]
    blank.write_text(f"{scene}\n\n{scene}\n", encoding="utf-8")
    code, said, err = run("predict", out, "--input", blank)
    assert code == 0, err
    first, between, last = said.splitlines()
    assert between == ""
    assert float(first) == float(last)
    code, said, err = run("evaluate", out, "--data", blank, "--outputs", tmp_path / "lines.jsonl")
    assert code == 0, err
    assert (tmp_path / "lines.jsonl").read_text().splitlines() == [first, "", last]
    code, said, err = run("evaluate", out, "--data", world / "test.jsonl")
    assert code == 0, err
    assert said.startswith("R² ")
    files = ["--outputs", tmp_path / "said.jsonl", "--confusion", tmp_path / "x.svg"]
    code, _, err = run("evaluate", out, "--data", world / "test.jsonl", *files)
    assert (code, "--confusion is for classes" in err) == (1, True)
    assert not (tmp_path / "said.jsonl").exists()  # refused before anything is done
    code, said, err = run("look", out, scene, "--out", tmp_path / "map.svg")
    assert code == 0, err
    assert f"says {said.strip()}" in (tmp_path / "map.svg").read_text(encoding="utf-8")


def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, run: Run) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"entities": [{"x": 1}], "target": 1}\n{"entities": [{"x": 1}], "relation": [[2]], "target": 1}\n')
    code, _, err = run("train", "--task", "entities", "--train", bad, "--out", tmp_path / "out")
    assert code == 1
    assert f"{bad}, line 2: the relation is not of 0 and 1" in err
    assert "do this:" in err
    code, _, err = run("look", tmp_path / "out", "--input", bad, "--line", 3)
    assert (code, "has no line 3" in err) == (1, True)
    code, _, err = run("predict", tmp_path / "out")
    assert (code, "nothing to predict" in err) == (1, True)
    code, _, err = run("predict", tmp_path / "out", '{"entities": [[1]]}', "--input", bad)
    assert (code, "given twice" in err) == (1, True)
