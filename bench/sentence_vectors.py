"""Which sentence vectors know what means the same: STS-B's validation pairs, six kinds of vectors, one table.

Spearman's correlation of cosines with what people say. Runs that are there already are not made again.

    .venv/bin/python bench/sentence_vectors.py --bert runs/bert-tiny/model --corpus runs/bert-tiny/text/train.txt
        [--data ../shared/data] [--out DIR] [--seeds 1 2 3]
"""

import argparse
from pathlib import Path
from statistics import mean
from typing import Any

import regard
from regard.evaluation.similarity import score_similarity
from runs import lines, minilm, trained


class Pooled:
    """A model whose vectors are made in a certain way."""

    def __init__(self, model: Any, **how: Any) -> None:
        self.model, self.how = model, how

    def embed(self, texts: Any) -> Any:
        return self.model.embed(texts, truncate=True, **self.how)


def pairs(path: Path) -> tuple[list[str], list[str], list[float]]:
    rows = [line.split("\t") for line in lines(path)]
    return [row[0] for row in rows], [row[1] for row in rows], [float(row[2]) for row in rows]


def row(name: str, found: list[float]) -> None:
    seeds = f" ({', '.join(f'{100 * value:.2f}' for value in found)})" if len(found) > 1 else ""
    print(f"| {name} | **{100 * mean(found):.2f}**{seeds} |", flush=True)


def taught(init: str, data: Path, out: Path, seeds: list[int]) -> list[float]:
    """What sentence-BERTs score that are trained from a model on STS-B's training pairs."""
    files = ["--train", str(data / "train.tsv.gz"), "--val", str(data / "val.tsv.gz")]
    command = ["--task", "similarity", "--init", init, *files]
    cards = [trained([*command, "--seed", str(seed)], out / str(seed)) for seed in seeds]
    return [card["scores"]["val"]["spearman"] for card in cards]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--bert", type=Path, required=True, help="our own pretrained model")
    parser.add_argument("--corpus", type=Path, required=True, help="the text that it was pretrained on")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("runs/sentence-vectors"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    data, out, seeds = options.data / "sts-b", options.out, options.seeds
    held = pairs(data / "val.tsv.gz")

    def scored(model: str | Path, **how: Any) -> list[float]:
        return [score_similarity(Pooled(regard.load(model), **how), *held)["spearman"]]

    print("| vectors | Spearman × 100 |\n|---|---|")
    row("our BERT as pretrained, [CLS]", scored(options.bert, pooling="cls"))
    row("our BERT as pretrained, mean", scored(options.bert, pooling="mean"))
    trained(["--task", "words", "--train", str(options.corpus)], out / "words")
    row("mean of our word2vec", scored(out / "words"))
    row("sentence-BERT from our BERT", taught(str(options.bert), data, out / "from-ours", seeds))
    row("MiniLM as it is", scored(minilm()))
    row("sentence-BERT from MiniLM", taught(minilm(), data, out / "from-minilm", seeds))


if __name__ == "__main__":
    main()
