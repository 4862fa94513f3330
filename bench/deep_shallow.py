"""Deep where it reads and shallow where it writes: as good as the plain shape of its size, and how much faster?

Both are trained on Multi30k en-de by one recipe, configs/multi30k-en-de.toml, to its end (the deep one with less
dropout), and translate the validation sentences in turns with each engine. Runs that are there already are not made
again: the two can be trained side by side, each with --learn and one thread, before a third start times them alone.

    .venv-bench/bin/python bench/deep_shallow.py [--learn SHAPE] [--rounds N] [--beam N …]
        [--engine NAME …] [section.key=value …]
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch

from racing import in_turn, spread
from regard import engines
from runs import MULTI30K, lines, trained

RECIPE = Path(__file__).resolve().parents[1] / "configs" / "multi30k-en-de.toml"
SHAPES = {
    "plain": ("model.preset=tiny",),
    "deep-shallow": ("model.preset=deep-shallow", "model.dropout=0.2"),
}
"""4 + 4 layers, and 7 + 2, which have the same size, since a layer that writes has one attention more. What goes
through seven layers is disturbed seven times: with the recipe's 0.3 the deep one learns too slowly."""
ENGINES = ("torch", "ctranslate2", "ctranslate2-int8")
AIM, NEAR = 1.4, 0.3
"""Times as fast, and how far BLEU may be apart."""


def learned(shape: str, out: Path, settings: list[str]) -> dict[str, Any]:
    """The card of one of them."""
    files = [word for name in ("train", "val") for lang in ("en", "de") for word in _file(name, lang)]
    command = ["--config", str(RECIPE), *files, "--langs", "en-de", *SHAPES[shape], *settings]
    return trained(command, out / shape)


def _file(name: str, lang: str) -> list[str]:
    return [f"--{name}", str(MULTI30K / f"{name}.{lang}.gz")]


def race(out: Path, engine: str, texts: list[str], beam: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of each round."""
    ready: dict[str, Callable[[], Any]] = {}
    for shape in SHAPES:
        translator = engines.load(out / shape, engine)
        ready[shape] = lambda it=translator: it.translate(texts, beam=beam)
        ready[shape]()
    seconds: dict[str, list[float]] = {shape: [] for shape in SHAPES}
    for number in range(rounds):
        for shape in in_turn(SHAPES, number):
            began = time.perf_counter()
            ready[shape]()
            seconds[shape].append(time.perf_counter() - began)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--beam", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--engine", choices=ENGINES, nargs="+", default=ENGINES)
    parser.add_argument("--out", type=Path, default=Path("runs/deep-shallow"))
    parser.add_argument("settings", nargs="*", help="section.key=value … of the training")
    parser.add_argument("--learn", choices=SHAPES, help="train this one and do nothing else")
    options = parser.parse_args()
    if options.learn:
        learned(options.learn, options.out, options.settings)
        return
    cards = {shape: learned(shape, options.out, options.settings) for shape in SHAPES}
    scores = {shape: float(card["scores"]["val"]["bleu"]) for shape, card in cards.items()}
    apart = scores["deep-shallow"] - scores["plain"]
    for shape, card in cards.items():
        print(f"{shape}: {card['parameters']:,} parameters, val BLEU {scores[shape]:.2f}")
    print(f"apart {apart:+.2f}; at most {NEAR} below was asked: {'kept' if apart >= -NEAR else 'not kept'}")
    texts = lines(MULTI30K / "val.en.gz")
    print(f"\n{len(texts)} sentences, {torch.get_num_threads()} threads, {options.rounds} rounds in turns", flush=True)
    for engine in options.engine:
        for beam in options.beam:
            seconds = race(options.out, engine, texts, beam, options.rounds)
            faster = [plain / deep for plain, deep in zip(seconds["plain"], seconds["deep-shallow"], strict=True)]
            speeds = ", ".join(f"{shape} {len(texts) / median(found):.0f}/s" for shape, found in seconds.items())
            told = "reached" if median(faster) >= AIM else "not reached"
            print(f"{engine}, beam {beam}: {spread(faster, '.2f')} times as fast ({AIM}: {told}); {speeds}", flush=True)


if __name__ == "__main__":
    main()
