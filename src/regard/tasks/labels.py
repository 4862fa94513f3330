"""What a classifier must know of its data besides the weights: its tokenizer, and what its classes are called."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.config import Tree
from regard.data.labelled import Labelled
from regard.errors import BundleError, DataError
from regard.files import write_text
from regard.text import Tokenizer

FILE = "labels.json"
SHOWN = 10


@dataclass(frozen=True)
class LabelledTokenizer:
    """`labels` in their order: the number of a class is its place. `sides`: texts in an example, one or two."""

    tokenizer: Tokenizer
    labels: tuple[str, ...] = ()
    sides: int = 1

    def save(self, directory: Path) -> None:
        self.tokenizer.save(directory / "tokenizer.json")
        kept = {"labels": self.labels, "sides": self.sides}
        write_text(directory / FILE, json.dumps(kept, ensure_ascii=False, indent=2) + "\n")

    def model_sizes(self) -> dict[str, Any]:
        """What a model must know of the data."""
        return {"vocabulary": len(self.tokenizer), "labels": len(self.labels)}

    @property
    def asked(self) -> tuple[str, ...]:
        """What a model with it says."""
        return self.labels

    @classmethod
    def load(cls, directory: Path, config: Tree) -> "LabelledTokenizer":
        """Without labels where the directory holds a model of another task, to begin with."""
        tokenizer = Tokenizer.load(directory / "tokenizer.json")
        try:
            kept = json.loads((directory / FILE).read_text(encoding="utf-8"))
            return cls(tokenizer, tuple(kept["labels"]), int(kept["sides"]))
        except FileNotFoundError:
            return cls(tokenizer, ())
        except (ValueError, KeyError, TypeError) as error:
            raise BundleError(f"{directory / FILE} is damaged.", found=str(error), do="copy it again") from None

    def numbers(self, text: Labelled) -> list[int]:
        """The classes of examples, as numbers; one that was never seen is told with its line."""
        known = {label: number for number, label in enumerate(self.labels)}
        for label, place in zip(text.labels, text.places, strict=True):
            if label not in known:
                more = f" and {len(self.labels) - SHOWN} more" if len(self.labels) > SHOWN else ""
                raise DataError(
                    f"The label {label!r} does not occur in the training data.",
                    found=place,
                    wanted=", ".join(self.labels[:SHOWN]) + more,
                    do="correct the label, or train with examples of it",
                )
        return [known[label] for label in text.labels]


def classes(text: Labelled, paths: Sequence[str]) -> tuple[str, ...]:
    """The labels of the training data, in alphabetical order; one class is none."""
    found = tuple(sorted(set(text.labels)))
    if len(found) < 2:
        raise DataError(
            f"There is only one class in {' and '.join(paths)}.",
            found=f"{found[0]!r} in all {len(text)} rows",
            wanted="at least two different labels in the last column",
        )
    return found
