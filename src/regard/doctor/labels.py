"""The labels of a split: which there are, how many of each, where they are, and which may be meant to be the same."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from regard.doctor.repeats import Split

AROUND, BEHIND = re.escape("\"'“”‘’()[]{}「」『』《》【】"), re.escape(".,;:!?。、")
ENDS = re.compile(rf"^[\s_{AROUND}]+|[\s_{AROUND}{BEHIND}]+$")
JOINTS = re.compile(r"(?<=[^\W\d_])[-\s_/.,:;&’'+|]+(?=[^\W\d_])")
"""What may stand between letters; beside a digit it tells -1 from 1."""
SPACES = re.compile(r"(?<!\d)[\s_]+|[\s_]+(?!\d)")


@dataclass(frozen=True)
class Labels:
    """`counts` of the rows that have each, the most frequent first; `codes` are places in it, one for each row."""

    counts: dict[str, int]
    codes: np.ndarray

    @classmethod
    def of(cls, split: Split) -> "Labels":
        names = list(dict.fromkeys(name for survey in split.surveys for name in survey.classes))
        numbers = {name: number for number, name in enumerate(names)}
        parts = [
            np.array([numbers[name] for name in survey.classes])[survey.labels.astype(np.int64)]
            for survey in split.surveys
            if len(survey)
        ]
        codes = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        counts = np.bincount(codes, minlength=len(names)).tolist()
        order = sorted(range(len(names)), key=lambda number: (-counts[number], names[number]))
        places = np.argsort(order)
        return cls({names[number]: counts[number] for number in order}, places[codes] if len(codes) else codes)

    def share(self, label: str) -> float:
        """How many of all rows have it."""
        return self.counts.get(label, 0) / max(1, len(self.codes))

    def rows(self, labels: Iterable[str]) -> np.ndarray:
        """Those that have one of these labels."""
        wanted = set(labels)
        return np.flatnonzero(np.isin(self.codes, [code for code, name in enumerate(self.counts) if name in wanted]))

    def first(self, label: str) -> int:
        """The first row that has it."""
        return int(self.rows([label])[0])


def alike(labels: Iterable[str]) -> list[list[str]]:
    """Those that differ only in case, space or punctuation, together."""
    groups: dict[str, list[str]] = {}
    for label in dict.fromkeys(labels):
        groups.setdefault(folded(label), []).append(label)
    return [group for group in groups.values() if len(group) > 1]


def folded(label: str) -> str:
    """
    >>> folded("Not_Spam!"), folded("not  spam"), folded("-1"), folded("+1"), folded("C"), folded("C++")
    ('notspam', 'notspam', '-1', '+1', 'c', 'c++')
    """
    plain = unicodedata.normalize("NFKC", label).casefold()
    plain = "".join(char for char in plain if unicodedata.category(char) not in ("Cc", "Cf"))
    if not any(map(str.isalnum, plain)):
        return plain.strip()
    return SPACES.sub("", JOINTS.sub("", ENDS.sub("", plain)))
