"""What a model of entities must know of its data besides the weights: their features, and what is asked."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.config import Tree
from regard.errors import BundleError
from regard.files import write_text
from regard.tasks.answers import Answers
from regard.tasks.features import Features, Number, Word

FILE = "entities.json"


@dataclass(frozen=True)
class Fields:
    """For scenes what a tokenizer is for texts. `without`: fields that scenes may have, and that are no features."""

    features: Features
    answers: Answers
    without: tuple[str, ...] = ()

    def save(self, directory: Path) -> None:
        write_text(directory / FILE, json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n")

    def model_sizes(self) -> dict[str, Any]:
        """What a model must know of the data."""
        return {
            "numbers": self.features.columns,
            "categories": self.features.categories,
            "outputs": self.answers.outputs,
            "of_each": self.answers.of_each,
        }

    @property
    def asked(self) -> Answers:
        """What a model with it says."""
        return self.answers

    @classmethod
    def load(cls, directory: Path, config: Tree) -> "Fields":
        path = directory / FILE
        try:
            return _read(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise BundleError(
                f"{path} is missing.", do="give a complete model directory, made by regard train"
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise BundleError(f"{path} is damaged.", found=str(error), do="copy it again") from None


def _read(kept: Mapping[str, Any]) -> Fields:
    numbers = tuple(Number(**number) for number in kept["features"]["numbers"])
    words = tuple(Word(**{**word, "values": tuple(word["values"])}) for word in kept["features"]["words"])
    answers = Answers(**{**kept["answers"], "classes": tuple(kept["answers"]["classes"])})
    return Fields(Features(numbers, words), answers, tuple(kept["without"]))
