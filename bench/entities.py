"""What the relation is worth: the little world, learned with the line of sight as mask and without it.

Three conditions, equal in everything else: who may look at whom is as the walls allow; everybody may look at everybody;
the same, but the walls are told as entities of their own, with both ends, so that all is there that the line of sight
is computed from. The last shows what a model that is given features instead of a mask has to find out by itself.

    python bench/entities.py --seeds 1 2 3 --out runs/entities
"""

import argparse
import json
import time
from pathlib import Path
from statistics import mean
from typing import Any

from regard.config import merge
from regard.data.corpora.world import Scene, write_world
from regard.training.run import train
from regard.training.start import Nobody, prepare

SPLITS = ("train", "val", "test")
CONDITIONS: dict[str, dict[str, Any]] = {
    "mask: the line of sight": {},
    "no mask": {"entities": {"relation": "all"}},
    "no mask, walls told as entities": {"entities": {"relation": "all"}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/entities"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in CONDITIONS}
    for seed in options.seeds:
        data = write_world(options.out / f"world-{seed}", seed)
        told = _with_walls(data, options.out / f"walls-{seed}")
        for name, settings in CONDITIONS.items():
            files = told if "walls" in name else data
            tree = {"task": "entities", "seed": seed, "data": files, "training": {"threads": options.threads}}
            rows[name].append(_trained(merge(tree, settings), options.out / f"{_short(name)}-{seed}"))
            print(f"seed {seed}, {name}: {rows[name][-1][0]:.2%} in {rows[name][-1][1]:.0f} s", flush=True)
    print(_table(rows, options.seeds))


def _trained(tree: dict[str, Any], out: Path) -> tuple[float, float]:
    """Accuracy on the test scenes, and the seconds that training took."""
    began = time.perf_counter()
    outcome = train(prepare(tree, out, Nobody(), overwrite=True))
    return outcome.card["scores"]["test"]["accuracy"], time.perf_counter() - began


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


def _short(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _table(rows: dict[str, list[tuple[float, float]]], seeds: list[int]) -> str:
    lines = [
        "",
        "| | " + " | ".join(f"seed {seed}" for seed in seeds) + " | mean | seconds |",
        "|---" * (len(seeds) + 3) + "|",
    ]
    for name, found in rows.items():
        cells = [f"{accuracy:.2%}" for accuracy, _ in found] + [f"**{mean(accuracy for accuracy, _ in found):.2%}**"]
        lines.append(f"| {name} | {' | '.join(cells)} | {mean(seconds for _, seconds in found):.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
