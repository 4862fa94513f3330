"""The built-in corpus as ordinary files, so that everything after this is what anybody can do with theirs."""

from collections.abc import Sequence
from pathlib import Path

from regard.data.corpora import Corpus, Pair
from regard.data.corpora.links import possible
from regard.data.readers import read_pairs
from regard.evaluation.challenges import Challenge, write_challenges
from regard.files import write_text


def corpus_files(directory: Path, ending: str = "tsv") -> dict[str, list[str]]:
    """The pairs of each split; with another ending, one of its languages (see `write_language`)."""
    return {split: [str(directory / f"{split}.{ending}")] for split in ("train", "val", "test")}


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


def write_language(directory: Path, language: str, between: str, ending: str) -> None:
    """One language of each split as running text, every sentence a document: `between` is what ends a document."""
    for split, (path,) in corpus_files(directory).items():
        side = read_pairs([path]).sources if language == "en" else read_pairs([path]).targets
        write_text(directory / f"{split}.{ending}", "".join(f"{sentence}{between}" for sentence in side))


def _write_links(path: Path, pairs: Sequence[Pair]) -> None:
    words = (f"{' '.join(pair.source_words)} ||| {' '.join(pair.target_words)}\n" for pair in pairs)
    links = (" ".join(_drawn(pair)) + "\n" for pair in pairs)
    write_text(path.with_suffix(".words"), "".join(words))
    write_text(path.with_suffix(".links"), "".join(links))


def _drawn(pair: Pair) -> list[str]:
    """Sure links as 1-2, possible ones as 1-2p."""
    sure, loose = set(pair.alignment), possible(pair)
    return [f"{i}-{j}" if (i, j) in sure else f"{i}-{j}p" for i, j in sorted(sure | loose)]
