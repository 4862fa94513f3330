"""regard demo"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.config import Tree

if TYPE_CHECKING:
    from regard.evaluation.challenges import Challenge
    from regard.insight import Trace
    from regard.tasks.translator import Translator

SETTINGS: Tree = {
    "task": "translation",
    "model": {"name": "transformer", "preset": "tiny", "encoder_layers": 3, "decoder_layers": 3},
    "tokenizer": {"size": 2000},
    "batch": {"tokens": 2048},
    "training": {
        "updates": 2400,
        "learning_rate": 3e-3,
        "warmup": 200,
        "average": 0.99,
        "validate_every": 600,
        "validate_sentences": 500,
    },
}
"""How it was chosen: docs/log.md."""
SHOWN = 4


def demo(
    out: Annotated[Path, typer.Option(help="Directory for everything it makes.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Same seed, same model.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an earlier demo stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Start anew in --out.")] = False,
) -> None:
    """Train a Transformer on the built-in English–Chinese corpus, score it, and see where it looks."""
    from regard.bundle import load
    from regard.cli.train import run
    from regard.data.corpora import build
    from regard.evaluation.challenges import evaluate_challenges, read_challenges
    from regard.lab.corpus import write_corpus
    from regard.tasks.translator import Search
    from regard.training import directory

    directory.claim(out / "model", resume=resume, overwrite=overwrite)
    data = write_corpus(build(seed), out / "data")
    tree = {**SETTINGS, "seed": seed, "data": {**data, "langs": ["en", "zh"]}}
    run(tree, out / "model", resume=resume, overwrite=overwrite)
    translator = load(out / "model")
    challenges = read_challenges(out / "data" / "challenges.jsonl")
    sys.stdout.write("\nChallenge sets: pairs that differ in one thing, both sentences exactly right\n")
    for name, figures in evaluate_challenges(translator, challenges, Search()).items():
        sys.stdout.write(f"  {name:<18} {figures['exact']:>6.1%} of {figures['pairs']}\n")
    banks = [challenge for challenge in challenges if challenge.phenomenon == "bank"]
    _show(translator, sorted(banks, key=lambda c: "river" not in c.first.source)[:20], out)  # the river comes first
    sys.stdout.write(f'\nNow try:  regard translate {out / "model"} "The lion chased the zebra and ate it."\n')


def _show(translator: "Translator", challenges: "list[Challenge]", out: Path) -> None:
    """Pairs of the bank set: source, output, what *bank* looked at in the head that looks most at the clue, and what
    its translation looked at."""
    from regard.evaluation.challenges import clue_head, clues

    pairs = [(c, zip((c.first, c.second), clues(c), strict=True)) for c in challenges]
    sides = [(c.word, side, deciders) for c, both in pairs for side, deciders in both]
    traces = [translator.attention(side.source).by_words() for _, side, _ in sides]
    found = clue_head(traces, [(word, deciders) for word, _, deciders in sides])
    last = traces[0].select("cross")[-1]
    sys.stdout.write(
        f"\nWhere *bank* looks: {found.name}, head {found.head} "
        f"(of all encoder heads the one that gives the clue most: {found.weight:.2f}, mean of {len(sides)} sentences)\n"
        f"Where its translation looks: {last}, mean of its heads\n"
    )
    for (word, side, _), trace in list(zip(sides, traces, strict=True))[:SHOWN]:
        sys.stdout.write(f"  {side.source}\n  {trace.rows['prediction'].text}\n")
        sys.stdout.write(f"    {trace.sentence(found.name, found.head, word)}\n")
        if side.key in trace.rows["prediction"].labels:
            sys.stdout.write(f"    {trace.sentence(last, 'mean', side.key)}\n")
    _draw(traces[0], found.name, found.head, out)


def _draw(trace: "Trace", name: str, head: int, out: Path) -> None:
    """The head, the alignment and the positions, as PNG where the system has a Chinese font and as SVG where not."""
    from regard.insight import MissingFontError, alignment, draw, positions
    from regard.layers import sinusoids

    for suffix in (".png", ".svg"):
        try:
            pictures = [draw(trace, name=name, head=head, path=out / f"bank{suffix}")]
            pictures.append(alignment(trace, out / f"alignment{suffix}"))
            pictures.append(positions(sinusoids(100, 128).numpy(), out / f"positions{suffix}"))
        except MissingFontError as error:
            sys.stderr.write(f"regard: {error}\nregard: drawing SVG instead\n")
            continue
        sys.stdout.write("\nPictures: " + ", ".join(map(str, pictures)) + "\n")
        return
