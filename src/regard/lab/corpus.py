"""The built-in corpus as ordinary files, so that everything after this is what anybody can do with theirs."""

from collections.abc import Sequence
from pathlib import Path

from regard.data.corpora import Corpus, Pair
from regard.data.corpora.links import possible
from regard.evaluation.challenges import Challenge, write_challenges
from regard.files import write_text

TEXTS = {
    "en.txt": ("source", "\n\n"),
    "en.marked.txt": ("source", "<|endoftext|>"),
    "zh.txt": ("target", "\n\n"),
}
"""Endings of files with one language of the training pairs, every sentence a document: which side, and what stands
between two documents (BERT's way, GPT-2's)."""


def corpus_files(directory: Path) -> dict[str, list[str]]:
    """The pairs of each split."""
    return {split: [str(directory / f"{split}.tsv")] for split in ("train", "val", "test")}


def write_corpus(corpus: Corpus, directory: Path) -> dict[str, list[str]]:
    """train, val and test as .tsv; their words (source ||| target) and gold links; the challenge sets."""
    directory.mkdir(parents=True, exist_ok=True)
    splits = {"train": corpus.train, "val": corpus.validation, "test": corpus.test}
    for split, pairs in splits.items():
        write_text(directory / f"{split}.tsv", "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
        if split != "train":
            _write_links(directory / split, pairs)
    contrasts = [contrast for pairs in corpus.challenges.values() for contrast in pairs]
    write_challenges(directory / "challenges.jsonl", map(Challenge.of, contrasts))
    return corpus_files(directory)


def write_texts(corpus: Corpus, directory: Path) -> None:
    """What there is to read in one language alone: see TEXTS."""
    for ending, (side, between) in TEXTS.items():
        texts = (f"{getattr(pair, side)}{between}" for pair in corpus.train)
        write_text(directory / f"train.{ending}", "".join(texts))


def _write_links(path: Path, pairs: Sequence[Pair]) -> None:
    words = (f"{' '.join(pair.source_words)} ||| {' '.join(pair.target_words)}\n" for pair in pairs)
    links = (" ".join(_drawn(pair)) + "\n" for pair in pairs)
    write_text(path.with_suffix(".words"), "".join(words))
    write_text(path.with_suffix(".links"), "".join(links))


def _drawn(pair: Pair) -> list[str]:
    """Sure links as 1-2, possible ones as 1-2p."""
    sure, loose = set(pair.alignment), possible(pair)
    return [f"{i}-{j}" if (i, j) in sure else f"{i}-{j}p" for i, j in sorted(sure | loose)]
