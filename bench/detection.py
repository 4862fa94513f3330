"""How often the language of a held-out sentence is found: profiles from training lines, as a trained model has them.

python bench/detection.py [DATA]          the folder that has multi30k/, tatoeba-en-de/ and tatoeba-en-zh/
"""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

from regard.text.detection import detect, profile

SAMPLE = 5000
"""Training lines that a profile is made of."""


def main() -> None:
    data = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    for name, languages in (("tatoeba", ("de", "en", "zh")), ("all", ("de", "en", "fr", "zh"))):
        sources = {language: _sources(data, language, tatoeba=name == "tatoeba") for language in languages}
        profiles = {language: profile(_lines(sources[language], "train", SAMPLE)) for language in languages}
        right = total = 0
        for language in languages:
            held = list(_lines(sources[language], "val"))
            hits = sum(detect(text, profiles)[0][0] == language for text in held)
            print(f"{name:8} {language}  {hits / len(held):.2%} of {len(held):,} lines")
            right, total = right + hits, total + len(held)
        print(f"{name:8} all {right / total:.2%} of {total:,} lines, profiles of {len(profiles['en']):,} runs")


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
