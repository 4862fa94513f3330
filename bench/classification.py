"""What classifiers score: real sets, three seeds each, from a pretrained model and from scratch.

Where a set has no validation split, every tenth line is held out. Each run is one `regard train`; one that is there
already is not made again, one that was cut short goes on.

    .venv/bin/python bench/classification.py --data ../shared/data [--only sst2-minilm trec-rnn] [--seeds 1 2 3]
"""

import argparse
import shlex
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from runs import lines, minilm, trained

MINILM = "MINILM"
"""In a command: all-MiniLM-L6-v2."""
BERT = "BERT"
"""In a command: our own, of --bert."""

OFTEN = "training.epochs=30 training.learning_rate=2e-3"
"""The best of three rates for either, with few labels."""


@dataclass(frozen=True)
class Experiment:
    """A set, how much of it is learned from (0: all), what else `regard train` is told, and the accuracy to reach."""

    name: str
    corpus: str
    options: str
    aim: float = 0.0
    train: tuple[str, ...] = ("train",)
    most: int = 0


EXPERIMENTS = (
    Experiment("sst2-minilm", "sst2", f"--init {MINILM} training.epochs=1", 0.88, ("train", "train-phrases")),
    Experiment("trec-minilm", "trec", f"--init {MINILM} training.epochs=8", 0.95),
    Experiment("ag-news-minilm", "ag-news", f"--init {MINILM} training.epochs=3 data.too_long=cut", 0.90),
    Experiment("sst2-rnn", "sst2", "--model rnn:small model.pooling=max", 0.80, ("train", "train-phrases")),
    Experiment("trec-rnn", "trec", "--model rnn:small model.pooling=max", 0.86),
    Experiment("zh-titles-rnn", "zh-news-titles", "--model rnn:small model.pooling=max", 0.86),
    Experiment("trec-500-bert", "trec", f"--init {BERT} {OFTEN}", most=500),
    Experiment("trec-500-scratch", "trec", f"--model bert:tiny {OFTEN}", most=500),
)


def prepare(experiment: Experiment, data: Path, out: Path) -> tuple[list[Path], Path]:
    """The files to learn from and to score on: plain, with every tenth line held out where there is no val."""
    folder = data / experiment.corpus
    texts = {name: lines(folder / f"{name}.tsv.gz") for name in experiment.train}
    if (folder / "val.tsv.gz").exists():
        held = lines(folder / "val.tsv.gz")
    else:
        (name,) = experiment.train
        held, texts[name] = texts[name][::10], [line for i, line in enumerate(texts[name]) if i % 10]
    if experiment.most:
        texts = {name: found[: experiment.most] for name, found in texts.items()}
    out.mkdir(parents=True, exist_ok=True)
    for name, found in {**texts, "val": held}.items():
        (out / f"{name}.tsv").write_text("\n".join(found) + "\n", encoding="utf-8")
    return [out / f"{name}.tsv" for name in texts], out / "val.tsv"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("runs/classification"))
    parser.add_argument("--only", nargs="+", choices=[each.name for each in EXPERIMENTS])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--bert", type=Path, help="our own pretrained model")
    options, more = parser.parse_known_args()
    chosen = [each for each in EXPERIMENTS if each.name in (options.only or [each.name])]
    if not options.bert:
        chosen = [each for each in chosen if BERT not in each.options]
    print("| run | command | accuracy | by seed | macro F1 | minutes | aim |\n|---|---|---|---|---|---|---|")
    for experiment in chosen:
        train, val = prepare(experiment, options.data, options.out / "data" / experiment.name)
        places = {MINILM: minilm() if MINILM in experiment.options else "", BERT: str(options.bert)}
        words = [places.get(word, word) for word in shlex.split(experiment.options)] + more
        command = ["--task", "classification", *(w for path in train for w in ("--train", str(path)))]
        command += ["--val", str(val), *words]
        runs = [
            trained([*command, "--seed", str(seed)], options.out / experiment.name / str(seed))
            for seed in options.seeds
        ]
        scores = [run["scores"]["val"] for run in runs]
        accuracies = [score["accuracy"] for score in scores]
        print(
            f"| {experiment.name} | `{experiment.options}` | **{mean(accuracies):.2%}** "
            f"| {', '.join(f'{accuracy:.2%}' for accuracy in accuracies)} "
            f"| {mean(score['macro_f1'] for score in scores):.3f} "
            f"| {mean(run['train_seconds'] for run in runs) / 60:.1f} "
            f"| {f'{experiment.aim:.0%}' if experiment.aim else ''} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
