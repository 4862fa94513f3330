"""How fast our word2vec reads, and how well its vectors agree with people, beside gensim's on the same text.

All see the same known words in the same stretches of text, with the same width, window, negatives and subsampling, for
as many epochs. They take turns, an epoch each, another one going first from epoch to epoch, so that all have the
machine as it is. What is left to each is how it learns and what it keeps: ours AdamW on large batches with a linear
schedule and averaged weights (regard's defaults), and the sum of a word's two vectors; gensim's plain SGD from 0.025
down to 0.0001, and the first of the two. A third one has our words, windows and noise, and gensim's way to learn and
keep: it tells what comes of the one and what of the other.

    .venv-bench/bin/python bench/words.py [--corpus FILE] [--similarity DIR] [--epochs N] [--seeds N] [--json FILE]
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import Any

import gensim
import torch
from gensim.models import KeyedVectors
from gensim.models import Word2Vec as Gensim

from racing import in_turn
from regard.bundle import build_model
from regard.evaluation.words import Compares, word_similarity
from regard.memory import keep_freed_memory
from regard.seeds import derive
from regard.tasks.skip_grams import WordBatch
from regard.tasks.word_vectors import WordVectors
from regard.tasks.words import WordsTask
from regard.text.words import words_of
from regard.training.loop import learner, steps
from regard.training.settings import RunConfig, resolve

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
OURS, PLAIN, PEER = "regard", "regard, SGD", "gensim"
AIM = -0.02
"""What ours minus gensim's correlation should at least be, in the mean of all seeds."""
ALPHAS = 0.025, 0.0001
TOGETHER = 4
"""Groups of words that plain SGD takes a step from."""


@dataclass(frozen=True)
class Turn:
    """An epoch of one contestant."""

    name: str
    seconds: float
    cpu_seconds: float


class Player:
    """One that is asked for an epoch at a time, and for its vectors at the end."""

    def __init__(self, name: str, epochs: Iterator[None], vectors: Callable[[], Compares]) -> None:
        self.name, self.epochs, self.vectors = name, epochs, vectors

    def turn(self) -> Turn:
        began, cpu_began = time.perf_counter(), time.process_time()
        next(self.epochs)
        return Turn(self.name, time.perf_counter() - began, time.process_time() - cpu_began)


def configure(corpus: Path, epochs: int, seed: int) -> tuple[RunConfig, WordsTask]:
    """The run of ours, as many updates as the epochs have, and its data."""
    tree: dict[str, Any] = {"task": "words", "seed": seed, "data": {"train": [str(corpus)]}}
    settings: Any = resolve(tree).settings
    task = WordsTask(settings, model=resolve(tree).model, seed=seed)
    updates = next(step for step in count() if task.epoch(step) == epochs)
    return resolve({**tree, "training": {"updates": updates}}), task


def ours(config: RunConfig, task: WordsTask) -> Player:
    torch.manual_seed(derive(config.seed, "init"))
    learns = learner(build_model(config.tree(), task.tokenizers.model_sizes()), config.training)
    made = steps(learns, task, config.training, seed=config.seed)

    def epochs() -> Iterator[None]:
        for number in count():
            while learns.updates < config.training.updates and task.epoch(learns.updates) == number:
                next(made)
            yield

    def vectors() -> WordVectors:
        with learns.average.applied():
            return WordVectors(learns.model, task.tokenizers)

    return Player(OURS, epochs(), vectors)


def plain(config: RunConfig, task: WordsTask) -> Player:
    """σ(u·v) goes towards 1 for a word that is near and towards 0 for one of noise, by so much of what it lacks."""
    torch.manual_seed(derive(config.seed, "init"))
    names, width = words_of(task.tokenizers.tokenizer), config.model.width  # type: ignore[attr-defined]
    v, u = (torch.rand(len(names), width) - 0.5) / width, torch.zeros(len(names), width)

    def learn(batch: WordBatch, alpha: float) -> None:
        pairs = torch.zeros(*batch.centres.shape, batch.among.shape[1])
        pairs.view(-1)[batch.places] = 1
        others = torch.cat((batch.among, batch.noise), dim=1)
        counts = torch.cat((pairs, batch.weights[:, :, None].expand(-1, -1, batch.noise.shape[1])), dim=2)
        wanted = torch.cat((pairs, torch.zeros(*pairs.shape[:2], batch.noise.shape[1])), dim=2)
        for some in torch.arange(len(others)).split(TOGETHER):
            from_words, to_words = v[batch.centres[some]], u[others[some]]
            lacks = wanted[some] - torch.sigmoid(from_words @ to_words.mT)
            lacks *= alpha * counts[some]
            v.index_add_(0, batch.centres[some].flatten(), (lacks @ to_words).flatten(0, 1))
            u.index_add_(0, others[some].flatten(), (lacks.mT @ from_words).flatten(0, 1))

    def epochs() -> Iterator[None]:
        updates, step = config.training.updates, 0
        for number in count():
            while step < updates and task.epoch(step) == number:
                if batch := task.batch(step):
                    learn(batch, ALPHAS[0] + (ALPHAS[1] - ALPHAS[0]) * step / updates)
                step += 1
            yield

    return Player(PLAIN, epochs(), lambda: Keyed(_keyed(names, v)))


def _keyed(names: Sequence[str], vectors: torch.Tensor) -> KeyedVectors:
    keyed = KeyedVectors(vectors.shape[1])
    keyed.add_vectors(names, vectors.numpy())
    return keyed


class Keyed:
    """gensim's vectors behind the two verbs that the comparison asks for."""

    def __init__(self, vectors: Any) -> None:
        self.vectors = vectors

    def __contains__(self, word: object) -> bool:
        return str(word).lower() in self.vectors

    def similarity(self, a: str, b: str) -> float:
        return float(self.vectors.similarity(a.lower(), b.lower()))


def theirs(config: RunConfig, task: WordsTask, epochs: int, threads: int) -> Player:
    settings: Any = config.settings
    names = words_of(task.tokenizers.tokenizer)
    text = task.texts["train"]
    sentences = [[names[id] for id in text.column[row].tolist()] for row in range(len(text))]
    model = Gensim(
        vector_size=config.model.width,  # type: ignore[attr-defined]
        window=settings.words.window,
        negative=settings.words.negatives,
        sample=settings.words.subsample,
        min_count=1,
        sg=1,
        workers=threads,
        seed=config.seed,
    )
    model.build_vocab(sentences)
    first, last = ALPHAS
    alphas = [first + (last - first) * done / epochs for done in range(epochs + 1)]

    def turns() -> Iterator[None]:
        for done in range(epochs):
            between = {"start_alpha": alphas[done], "end_alpha": alphas[done + 1]}
            model.train(sentences, total_examples=len(sentences), epochs=1, **between)
            yield

    return Player(PEER, turns(), lambda: Keyed(model.wv))


def race(players: Sequence[Player], epochs: int) -> list[Turn]:
    """One works at a time."""
    turns = []
    for number in range(epochs):
        turns += [player.turn() for player in in_turn(players, number)]
    return turns


def score(player: Player, files: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """What its vectors make of each file."""
    vectors = player.vectors()
    return {file.name.removesuffix(".txt.gz"): word_similarity(vectors, str(file)) for file in files}


def table(turns: Sequence[Turn], words: int, scores: Sequence[dict[str, dict[str, Any]]]) -> None:
    """Speeds in words of running text, and the rank correlations, the mean of all seeds."""
    files = list(scores[0][OURS])
    print(f"\n{'':<14}{'words/s':>10}{'words/CPU s':>13}" + "".join(f"{file:>16}" for file in files))
    for name in (OURS, PLAIN, PEER):
        mine = [turn for turn in turns if turn.name == name]
        speeds = [words * len(mine) / sum(getattr(turn, kind) for turn in mine) for kind in ("seconds", "cpu_seconds")]
        found = [fmean(score[name][file]["spearman"] for score in scores) for file in files]
        print(f"{name:<14}{speeds[0]:>10,.0f}{speeds[1]:>13,.0f}" + "".join(f"{value:>16.3f}" for value in found))
    known = [f"{scores[0][OURS][file]['known']}/{scores[0][OURS][file]['pairs']}" for file in files]
    print(f"{'pairs whose words are known':<37}" + "".join(f"{of:>16}" for of in known))


def verdict(scores: Sequence[dict[str, dict[str, Any]]]) -> dict[str, float]:
    """By how much ours is above the peer's on each file, beside what is aimed at."""
    found = {}
    print()
    for file in scores[0][OURS]:
        above = [score[OURS][file]["spearman"] - score[PEER][file]["spearman"] for score in scores]
        found[file] = fmean(above)
        told = "reached" if fmean(above) >= AIM else "not reached"
        seeds = ", ".join(f"{value:+.3f}" for value in above)
        print(f"ours - {PEER}, {file}: {fmean(above):+.3f} ({seeds}); the aim is {AIM:+.3f} or more: {told}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=SHARED / "wikipedia" / "enwik8-first-20MB.xml.gz")
    parser.add_argument("--similarity", type=Path, default=SHARED / "word-similarity", help="files: word word score")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=1, help="how many runs of both")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(options.threads)
    load, files = os.getloadavg()[0], sorted(options.similarity.glob("*.txt.gz"))
    print(f"regard, torch {torch.__version__}; gensim {gensim.__version__}; {options.threads} threads; ", end="")
    print(f"load before the start {load:.1f} on {os.cpu_count()} cores", flush=True)
    turns, scores, words = [], [], 0
    for seed in range(1, options.seeds + 1):
        config, task = configure(options.corpus, options.epochs, seed)
        words = len(task.texts["train"].column.ids)
        print(f"seed {seed}: {task.describe()}, {config.training.updates:,} updates", flush=True)
        players = ours(config, task), plain(config, task), theirs(config, task, options.epochs, options.threads)
        turns += race(players, options.epochs)
        scores.append({player.name: score(player, files) for player in players})
    table(turns, words, scores)
    above = verdict(scores)
    if options.json:
        run = {"load": load, "words": words, "ours_above": above}
        figures = {**run, "scores": scores, "turns": [vars(turn) for turn in turns]}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
