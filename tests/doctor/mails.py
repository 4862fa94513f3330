"""Labelled texts to plant faults in, and files to put them into."""

import random
from collections.abc import Iterable
from pathlib import Path

Rows = list[tuple[str, ...]]
SUBJECTS = {
    "order": ["parcel", "delivery", "invoice", "discount", "basket"],
    "repair": ["screen", "battery", "hinge", "charger", "fan"],
    "praise": ["thanks", "service", "smile", "gift", "visit"],
}


def mails(count: int = 300, seed: int = 1, *, part: int = 0) -> Rows:
    """So many texts of three classes, no two alike: each has a number of its own. Nor are they like those of another
    part, 0 to 4."""
    draw = random.Random(seed)
    rows: Rows = []
    for number in draw.sample(range(1000 + part, 10_000, 5), count):
        label = draw.choice([*SUBJECTS])
        words = draw.choices(SUBJECTS[label], k=draw.randint(1, 8))
        rows.append((f"Dear team, number {number} is about the {' and the '.join(words)}.", label))
    return rows


def held_out() -> Rows:
    """60 more."""
    return mails(60, seed=2, part=1)


def pairs_of_mails(count: int = 300, seed: int = 3) -> Rows:
    """Two texts, and whether they are about the same."""
    first, second = mails(count, seed), mails(count, seed + 1, part=3)
    return [(a, b, "same" if x == y else "other") for (a, x), (b, y) in zip(first, second, strict=True)]


def write(path: Path, rows: Iterable[tuple[str, ...]]) -> str:
    """A TSV file."""
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)
