"""What the relation is worth: the little world, learned with the line of sight as mask and without it.

Three conditions, equal in everything else: who may look at whom is as the walls allow; everybody may look at everybody;
the same, but the walls are told as entities of their own, with both ends, so that all is there that the line of sight
is computed from. The last shows what a model that is given features instead of a mask has to find out by itself.

Of the first it also says what a mask and no positions promise: how much the answers change if the entities of a scene
change places (the largest difference of a probability), and the largest weight that a hidden one gets from anybody.

    python bench/entities.py --seeds 1 2 3 --out runs/entities
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import numpy as np

import regard
from regard.config import Tree, merge
from regard.data.corpora.world import Scene, write_world
from regard.data.scenes import Scene as Seen
from regard.data.scenes import read_scenes
from regard.tasks.predictor import Predictor
from regard.training.run import train
from regard.training.start import Nobody, prepare

SPLITS = ("train", "val", "test")
ALL: Tree = {"entities": {"relation": "all"}}
CONDITIONS: dict[str, tuple[str, Tree]] = {
    "mask": ("the line of sight as mask", {}),
    "none": ("no mask", ALL),
    "walls": ("no mask, walls told as entities", ALL),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/entities"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--conditions", nargs="+", choices=CONDITIONS, default=[*CONDITIONS])
    parser.add_argument("--scenes", type=int, default=4000, help="to train on")
    parser.add_argument("--updates", type=int, help="instead of the recipe's epochs")
    options = parser.parse_args()
    training = {"threads": 1, **({"updates": options.updates} if options.updates else {})}
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in options.conditions}
    for seed in options.seeds:
        data = write_world(options.out / f"world-{seed}", seed, train=options.scenes)
        for name in options.conditions:
            files = _with_walls(data, options.out / f"walls-{seed}") if name == "walls" else data
            tree = {"task": "entities", "seed": seed, "data": files, "training": training}
            rows[name].append(_trained(merge(tree, CONDITIONS[name][1]), options.out / f"{name}-{seed}"))
            print(f"seed {seed}, {CONDITIONS[name][0]}: {rows[name][-1][0]:.2%}", flush=True)
        if "mask" in options.conditions:
            model = regard.load(options.out / f"mask-{seed}")
            held_out = read_scenes(data["test"]).rows
            print(f"seed {seed}, {len(held_out)} scenes shuffled: {_shuffled(model, held_out, seed):.1e} at most")
            print(f"seed {seed}, weight of the hidden: {_hidden(model, held_out):g} at most", flush=True)
    print(_table(rows, options.seeds))


def _trained(tree: Tree, out: Path) -> tuple[float, float]:
    """Accuracy on the test scenes, and the seconds of one core that reading, training and scoring took."""
    began = time.process_time()
    outcome = train(prepare(tree, out, Nobody(), overwrite=True))
    return outcome.card["scores"]["test"]["accuracy"], time.process_time() - began


def _shuffled(model: Predictor, scenes: Sequence[Seen], seed: int) -> float:
    """The largest change of a probability if the entities of each scene change places."""
    draw = np.random.default_rng(seed)
    orders = [draw.permutation(len(scene)) for scene in scenes]
    moved = [_moved(scene, order) for scene, order in zip(scenes, orders, strict=True)]
    before, after = ([said.probabilities for said in model.predict(given)] for given in (scenes, moved))
    differences = [
        abs(there[place][name] - here[i][name])
        for here, there, order in zip(before, after, orders, strict=True)
        for place, i in enumerate(order)
        for name in here[i]
    ]
    return max(differences)


def _moved(scene: Seen, order: np.ndarray) -> Scene:
    relation = _relation(scene)[order][:, order].astype(int).tolist()
    return {"entities": [scene.entities[i] for i in order], "relation": relation}


def _hidden(model: Predictor, scenes: Sequence[Seen]) -> float:
    """The largest weight that anybody gives to one that it cannot see, in all heads of all layers."""
    largest = 0.0
    for scene in scenes:
        for weights in model.attention(scene).weights.values():
            largest = max(largest, float(weights[:, ~_relation(scene)].max(initial=0.0)))
    return largest


def _relation(scene: Seen) -> np.ndarray:
    assert scene.relation is not None
    return scene.relation


def _with_walls(files: dict[str, list[str]], directory: Path) -> dict[str, list[str]]:
    """The same scenes with their walls as entities, which everybody sees and of which nothing is asked."""
    directory.mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        lines = Path(files[split][0]).read_text(encoding="utf-8").splitlines()
        told = (json.dumps(_told(json.loads(line)), ensure_ascii=False) + "\n" for line in lines)
        (directory / f"{split}.jsonl").write_text("".join(told), encoding="utf-8")
    return {split: [str(directory / f"{split}.jsonl")] for split in SPLITS}


def _told(scene: Scene) -> Scene:
    walls = [{"kind": "wall", "x": x, "y": y, "to_x": to_x, "to_y": to_y} for x, y, to_x, to_y in scene["walls"]]
    return {"entities": [*scene["entities"], *walls], "target": [*scene["target"], *[None] * len(walls)]}


def _table(rows: dict[str, list[tuple[float, float]]], seeds: list[int]) -> str:
    heads = [f"seed {seed}" for seed in seeds]
    lines = ["", f"| | {' | '.join(heads)} | mean | core seconds each |", "|---" * (len(seeds) + 3) + "|"]
    for name, found in rows.items():
        cells = [f"{accuracy:.2%}" for accuracy, _ in found] + [f"**{mean(accuracy for accuracy, _ in found):.2%}**"]
        lines.append(f"| {CONDITIONS[name][0]} | {' | '.join(cells)} | {mean(seconds for _, seconds in found):.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
