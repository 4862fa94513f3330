"""The figures of the data: how much there is, and how long the texts are."""

from typing import Any

import numpy as np

from regard.doctor.labels import Labels
from regard.doctor.repeats import Split

BARS = 16


def of_pairs(split: Split) -> dict[str, Any]:
    """Of a split of pairs, as JSON."""
    source, target = (sum(survey.characters[side] for survey in split.surveys) for side in (0, 1))
    return {
        "pairs": len(split),
        "bad_rows": split.bad_rows,
        "target_characters_for_each_of_the_source": round(float(target / source), 3) if source else None,
        "source": of_side(split, 0),
        "target": of_side(split, 1),
    }


def of_labelled(split: Split, labels: Labels, largest: str) -> dict[str, Any]:
    """Of a split of labelled rows, as JSON. largest: the label that one says who always says the same."""
    sides = max(len(survey.distinct) for survey in split.surveys)
    return {
        "examples": len(split),
        "bad_rows": split.bad_rows,
        "classes": labels.counts,
        "always": {"label": largest, "accuracy": round(labels.share(largest), 4)},
        **{name: of_side(split, side) for side, name in enumerate(("text", "second")[:sides])},
    }


def words(split: Split, side: int) -> int:
    """How many words (characters, without spaces) its texts have."""
    return int(sum(survey.lengths[side] @ np.arange(len(survey.lengths[side])) for survey in split.surveys))


def of_side(split: Split, side: int) -> dict[str, Any]:
    """Of the texts of one side; empty if there are none."""
    known = [survey for survey in split.surveys if survey.scripts]
    if not known:
        return {}
    counts = np.sum([survey.lengths[side] for survey in known], axis=0)
    below = np.cumsum(counts)
    longest = int(np.flatnonzero(counts)[-1])
    return {
        "unit": known[0].units[side],
        "total": words(split, side),
        "characters": int(sum(survey.characters[side] for survey in known)),
        "median": int(np.searchsorted(below, below[-1] / 2)),
        "longest": longest,
        "histogram": _histogram(counts, int(np.searchsorted(below, 0.99 * below[-1]))),
    }


def _histogram(counts: np.ndarray, most: int) -> dict[str, list[int]]:
    """Texts by length: `counts[i]` of them have `from[i]` or more, but less than `from[i + 1]`."""
    edges = np.arange(1, most + 1, -(-most // BARS))
    return {"from": edges.tolist(), "counts": np.add.reduceat(counts, edges).tolist()}
