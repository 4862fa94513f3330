"""How fast are our engines, beside CTranslate2 called directly and transformers' generate with the same weights?

Text to text, two cores: a Transformer of 3 + 3 layers, 256 wide, trained here for some minutes on Multi30k (or on the
built-in corpus), and one of the base size that writes the same; 1,000 validation sentences at once, and some of them
one by one; greedy and with a beam of 5. Each contestant is a process of its own; they take turns, another one going
first from round to round, the others wait. Batch sizes of the others are tried first, and the best is taken. The round
before the first is not counted: there the texts are compared.

    .venv-bench/bin/python bench/engines.py [--rounds N] [--texts N] [--single N] [--contestants NAME …]
        [--scratch DIR] [--json FILE]
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch

from racing import in_turn, spread, started
from regard.data.corpora import build
from runs import MULTI30K

INT8, FLOAT, TORCH = "regard int8", "regard float32", "regard torch"
DIRECT, PEER = "ctranslate2 int8", "transformers"
OURS = {INT8: "ctranslate2-int8", FLOAT: "ctranslate2", TORCH: "torch"}
MODELS = ("small", "base")
TRIED, TRIAL = (16, 32, 64, 128), 256
"""Batch sizes of the others, and texts of a trial."""
ALIKE, APART = 0.99, 0.5
"""How many texts of float32 are to be those of torch, and how far BLEU of int8 may be from torch's."""
Translate = Callable[[list[str], int, int], list[str]]
"""Texts, beam, batch size (0: its own) → translations."""


class Cell(NamedTuple):
    """One comparison. single: one sentence at a time."""

    model: str
    beam: int
    single: bool

    def __str__(self) -> str:
        search = "greedy" if self.beam == 1 else f"beam {self.beam}"
        return f"{self.model}, {search}, {'single' if self.single else 'batch'}"


CELLS = [Cell(model, beam, single) for model in MODELS for single in (False, True) for beam in (1, 5)]


@dataclass(frozen=True)
class Turn:
    """What a contestant did: seconds, CPU seconds, and what it wrote."""

    seconds: float
    cpu_seconds: float
    texts: list[str]


def aims(cell: Cell) -> dict[tuple[str, str], float]:
    """How many times as fast as another one is to be."""
    over_peer = 7.0 if cell.single else 3.0 if cell.model == "small" and cell.beam == 1 else 2.2
    return {
        (INT8, DIRECT): 0.95,
        (INT8, PEER): over_peer,
        (TORCH, PEER): 1.2 if cell.beam == 1 else 1.4,
    }


def ours(directory: Path, threads: int, engine: str) -> Translate:
    from regard import engines

    translator = engines.load(directory, engine)

    def translate(texts: list[str], beam: int, size: int) -> list[str]:
        found: list[str] = translator.translate(texts, beam=beam)
        return found

    return translate


def direct(directory: Path, threads: int) -> Translate:
    """As its documentation advises: batches sorted by length, a thread each."""
    import ctranslate2

    import regard
    from regard.engines.conversion import specified, words_of

    loaded = regard.load(directory)
    converted = directory / "direct"
    if not converted.exists():
        converted.mkdir()
        specified(loaded).save(str(converted))
    source, target = loaded.tokenizers.source, loaded.tokenizers.target
    end = words_of(loaded)[0].end
    translator = ctranslate2.Translator(
        str(converted), device="cpu", compute_type="int8", inter_threads=threads, intra_threads=1
    )

    def translate(texts: list[str], beam: int, size: int) -> list[str]:
        tokens = [[*one.tokens, end] for one in source.backend.encode_batch(texts, add_special_tokens=False)]
        found = translator.translate_batch(tokens, beam_size=beam, max_batch_size=size)
        rows = [[target.backend.token_to_id(token) for token in one.hypotheses[0]] for one in found]
        return [str(text) for text in target.backend.decode_batch(rows)]

    return translate


def theirs(directory: Path, threads: int) -> Translate:
    """Sorted by length, in batches; what it writes at most is what ours writes at most."""
    import regard
    from engine_models import pegasus

    loaded = regard.load(directory)
    model, source, target = pegasus(loaded), loaded.tokenizers.source, loaded.tokenizers.target

    def translate(texts: list[str], beam: int, size: int) -> list[str]:
        rows = [[*ids, source.end] for ids in source.encode_all(texts)]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        found: dict[int, str] = {}
        for first in range(0, len(order), size):
            batch = order[first : first + size]
            longest = max(len(rows[i]) for i in batch)
            tokens = torch.tensor([rows[i] + [source.pad] * (longest - len(rows[i])) for i in batch])
            mask = torch.tensor([[1] * len(rows[i]) + [0] * (longest - len(rows[i])) for i in batch])
            with torch.inference_mode():
                made = model.generate(
                    tokens, attention_mask=mask, num_beams=beam, do_sample=False, max_new_tokens=2 * longest + 20,
                    early_stopping=beam > 1,  # as all others here: a search ends when it has as many as the beam
                )  # fmt: skip
            texts_found = target.backend.decode_batch(made.tolist())
            found |= zip(batch, texts_found, strict=True)
        return [found[i] for i in range(len(texts))]

    return translate


def contestant(name: str, directory: Path, threads: int) -> Translate:
    if name in OURS:
        return ours(directory, threads, OURS[name])
    return (direct if name == DIRECT else theirs)(directory, threads)


CONTESTANTS = (*OURS, DIRECT, PEER)


def play(link: Connection, name: str, models: dict[str, Path], trial: list[str], threads: int) -> None:
    """The process of a contestant: it tells the batch sizes it has found best; given a cell and texts, it takes a
    turn."""
    torch.set_num_threads(threads)
    able = {model: contestant(name, place, threads) for model, place in models.items()}
    sizes = {
        (model, beam): 0 if name in OURS else _best(able[model], beam, trial) for model in models for beam in (1, 5)
    }
    link.send(sizes)
    with suppress(EOFError):  # the driver has hung up
        while True:
            cell, texts = link.recv()
            translate, size = able[cell.model], sizes[cell.model, cell.beam]
            began, cpu_began = time.perf_counter(), time.process_time()
            if cell.single:
                found = [translate([text], cell.beam, max(1, size))[0] for text in texts]
            else:
                found = translate(texts, cell.beam, size)
            link.send(Turn(time.perf_counter() - began, time.process_time() - cpu_began, found))


def _best(translate: Translate, beam: int, trial: list[str]) -> int:
    """The fastest of some batch sizes."""
    seconds = {}
    for size in TRIED:
        translate(trial[:size], beam, size)  # warms up
        began = time.perf_counter()
        translate(trial, beam, size)
        seconds[size] = time.perf_counter() - began
    return min(seconds, key=lambda size: seconds[size])


def race(
    links: dict[str, Connection], texts: list[str], alone: int, rounds: int
) -> Iterator[dict[Cell, dict[str, Turn]]]:
    """One works at a time. The round before the first warms up."""
    some = texts[:: max(1, len(texts) // alone)][:alone]
    for number in range(rounds + 1):
        found: dict[Cell, dict[str, Turn]] = {}
        for cell in CELLS:
            found[cell] = {}
            for name in in_turn(links, number):
                links[name].send((cell, some if cell.single else texts))
                found[cell][name] = links[name].recv()
        yield found


def material(data: Path, scratch: Path) -> tuple[dict[str, list[str]], str, str]:
    """Files to train on and to translate, their languages, and what they are."""
    files = {name: [str(data / f"{name}.{lang}.gz") for lang in ("en", "de")] for name in ("train", "val")}
    if all(Path(file).exists() for pair in files.values() for file in pair):
        return files, "en-de", "Multi30k en-de"
    corpus = build(1, train=20_000, validation=1_000, test=10)
    files = {"train": _written(corpus.train, scratch / "train"), "val": _written(corpus.validation, scratch / "val")}
    return files, "en-zh", "the built-in corpus (no Multi30k)"


def _written(pairs: Sequence[Any], stem: Path) -> list[str]:
    sides = {stem.with_suffix(".en"): "source", stem.with_suffix(".zh"): "target"}
    for path, side in sides.items():
        path.write_text("".join(f"{getattr(pair, side)}\n" for pair in pairs), encoding="utf-8")
    return list(map(str, sides))


def check(turns: dict[Cell, dict[str, Turn]], references: list[str]) -> dict[str, Any]:
    """How many texts are those of torch, and what BLEU says of each contestant, batch by batch."""
    from sacrebleu import corpus_bleu

    told: dict[str, Any] = {}
    for cell, found in turns.items():
        if not cell.single and set(OURS) <= set(found):
            for name, turn in found.items():
                same = sum(a == b for a, b in zip(turn.texts, found[TORCH].texts, strict=True)) / len(turn.texts)
                bleu = corpus_bleu(turn.texts, [references]).score
                told[f"{cell}: {name}"] = {"as torch": same, "BLEU": bleu}
                print(f"{cell!s:<24}{name:<18} {same:>7.1%} as torch, BLEU {bleu:.2f}")
            truth, float32, int8 = (told[f"{cell}: {name}"] for name in (TORCH, FLOAT, INT8))
            alike, apart = float32["as torch"], int8["BLEU"] - truth["BLEU"]
            print(
                f"{cell!s:<24}{FLOAT}: {ALIKE:.0%} as torch asked: {'' if alike >= ALIKE else 'not '}reached; ", end=""
            )
            print(f"{INT8}: {apart:+.2f} BLEU, {APART} asked: {'' if abs(apart) <= APART else 'not '}reached")
    return told


def table(rounds: Sequence[dict[Cell, dict[str, Turn]]]) -> None:
    """Sentences a second: medians and quartiles of the rounds."""
    print(f"\n{'sentences/s, median [quartiles]':<34}{'':<18}{'a second':>24}{'cores had':>11}")
    for cell in CELLS:
        for name in rounds[0][cell]:
            mine = [turns[cell][name] for turns in rounds]
            speeds = [len(turn.texts) / turn.seconds for turn in mine]
            cores = median(turn.cpu_seconds / turn.seconds for turn in mine)
            print(f"{cell!s:<34}{name:<18}{spread(speeds):>24}{cores:>11.2f}")


def verdict(rounds: Sequence[dict[Cell, dict[str, Turn]]]) -> dict[str, float]:
    """How many times as fast, compared round by round, beside what is aimed at."""
    told = {}
    print()
    for cell in CELLS:
        for (one, other), aim in aims(cell).items():
            if not {one, other} <= set(rounds[0][cell]):
                continue
            times = [turns[cell][other].seconds / turns[cell][one].seconds for turns in rounds]
            told[f"{cell}: {one} / {other}"] = median(times)
            reached = "reached" if median(times) >= aim else "not reached"
            print(f"{cell!s:<24}{one} / {other}: {spread(times, '.2f')}; the aim is {aim}: {reached}")
    return told


def main() -> None:
    from engine_models import base, small
    from regard.data.lines import read_lines

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--texts", type=int, default=1_000)
    parser.add_argument("--single", type=int, default=100, help="sentences that are translated one by one")
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS, default=CONTESTANTS, metavar="NAME")
    parser.add_argument("--data", type=Path, default=MULTI30K)
    parser.add_argument("--scratch", type=Path, help="directory for the models (1 GB); what is there is used again")
    parser.add_argument("--json", type=Path, help="also write every round's figures here")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        scratch = options.scratch or Path(temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        files, langs, about = material(options.data, scratch)
        models = {"small": small(files, langs, scratch / "small")}
        models["base"] = base(models["small"], scratch / "base")
        texts, references = (read_lines(file)[: options.texts] for file in files["val"])
        print(f"{len(texts):,} sentences of {about}; {options.threads} threads; ", end="")
        print(f"load before the start {load:.1f} on {os.cpu_count()} cores", flush=True)
        with started(options.contestants, play, models, texts[:TRIAL], options.threads) as links:
            for name, link in links.items():
                print(f"{name}: batch sizes {link.recv()}", flush=True)
            rounds = race(links, texts, options.single, max(1, options.rounds))
            alike = check(next(rounds), references)
            turns = list(rounds)
    table(turns)
    figures = verdict(turns)
    if options.json:
        told = [
            {f"{cell}: {name}": asdict(turn) for cell, some in each.items() for name, turn in some.items()}
            for each in turns
        ]
        run = {"threads": options.threads, "load": load, "alike": alike, "times": figures}
        options.json.write_text(json.dumps({**run, "rounds": told}, indent=2) + "\n")


if __name__ == "__main__":
    main()
