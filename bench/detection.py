"""How often the language of a held-out sentence is found: profiles from training lines, as a trained model has them;
and from the pieces of a SentencePiece model of these lines, which is all that an OPUS-MT model has.

    .venv/bin/python bench/detection.py [DATA]      the folder that has multi30k/, tatoeba-en-de/ and tatoeba-en-zh/
"""

import gzip
import io
import sys
from collections.abc import Callable, Iterator
from math import exp
from pathlib import Path

import sentencepiece

from regard.text.detection import Profile, detect, profile, profile_of_pieces

SAMPLE = 5000
"""Training lines that a profile is made of."""
SIZE = 4000
"""Pieces of a SentencePiece model; OPUS-MT has 32,000."""
AIM = 0.95


def main() -> None:
    data = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    ways: list[tuple[str, tuple[str, ...], Callable[[Iterator[str]], Profile]]] = [
        ("tatoeba", ("de", "en", "zh"), profile),
        ("all", ("de", "en", "fr", "zh"), profile),
        ("pieces", ("de", "en", "zh"), spelt),
    ]
    for name, languages, made in ways:
        sources = {language: _sources(data, language, tatoeba=name != "all") for language in languages}
        profiles = {language: made(_lines(sources[language], "train", SAMPLE)) for language in languages}
        right = total = 0
        for language in languages:
            held = list(_lines(sources[language], "val"))
            hits = sum(detect(text, profiles)[0][0] == language for text in held)
            print(f"{name:8} {language}  {hits / len(held):.2%} of {len(held):,} lines")
            right, total = right + hits, total + len(held)
        told = "reached" if right / total >= AIM else "not reached"
        print(f"{name:8} all {right / total:.2%} of {total:,} lines ({AIM:.0%}: {told}), {len(profiles['en']):,} runs")


def spelt(lines: Iterator[str]) -> Profile:
    """By the pieces of a unigram model of these lines."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=lines, model_writer=model, vocab_size=SIZE, hard_vocab_limit=False, minloglevel=2
    )
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    numbers = range(3, pieces.get_piece_size())
    return profile_of_pieces((pieces.id_to_piece(i).replace("▁", " "), exp(pieces.get_score(i))) for i in numbers)


def _sources(data: Path, language: str, *, tatoeba: bool) -> list[tuple[Path, int]]:
    """Files (with "train" to be put in) and the column of the language."""
    pairs = {
        "de": [("tatoeba-en-de", 1)],
        "en": [("tatoeba-en-de", 0), ("tatoeba-en-zh", 0)],
        "zh": [("tatoeba-en-zh", 1)],
    }
    found = [(data / folder / "{}.tsv.gz", column) for folder, column in pairs.get(language, [])]
    captions = data / "multi30k" / f"{{}}.{language}.gz"
    return found + ([(captions, 0)] if not tatoeba and Path(str(captions).format("val")).exists() else [])


def _lines(sources: list[tuple[Path, int]], split: str, most: int | None = None) -> Iterator[str]:
    for path, column in sources:
        with gzip.open(str(path).format(split), "rt", encoding="utf-8") as file:
            for number, line in enumerate(file):
                if most is not None and number >= most // len(sources):
                    break
                yield line.rstrip("\n").split("\t")[column]


if __name__ == "__main__":
    main()
