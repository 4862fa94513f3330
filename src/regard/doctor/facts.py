"""The figures of the data: how much there is, and how long the texts are."""

from typing import Any

import numpy as np

from regard.doctor.repeats import Split

BARS = 16


def of_split(split: Split) -> dict[str, Any]:
    """Of one split, as JSON."""
    source, target = (sum(survey.characters[side] for survey in split.surveys) for side in (0, 1))
    return {
        "pairs": len(split),
        "bad_rows": split.bad_rows,
        "target_characters_for_each_of_the_source": round(float(target / source), 3) if source else None,
        "source": _side(split, 0),
        "target": _side(split, 1),
    }


def _side(split: Split, side: int) -> dict[str, Any]:
    known = [survey for survey in split.surveys if survey.scripts]
    if not known:
        return {}
    counts = np.sum([survey.lengths[side] for survey in known], axis=0)
    sizes = np.arange(len(counts))
    below = np.cumsum(counts)
    longest = int(np.flatnonzero(counts)[-1])
    return {
        "unit": known[0].units[side],
        "total": int(counts @ sizes),
        "characters": int(sum(survey.characters[side] for survey in known)),
        "median": int(np.searchsorted(below, below[-1] / 2)),
        "longest": longest,
        "histogram": _histogram(counts, int(np.searchsorted(below, 0.99 * below[-1]))),
    }


def _histogram(counts: np.ndarray, most: int) -> dict[str, list[int]]:
    """Texts by length: `counts[i]` of them have `from[i]` or more, but less than `from[i + 1]`."""
    edges = np.arange(1, most + 1, -(-most // BARS))
    return {"from": edges.tolist(), "counts": np.add.reduceat(counts, edges).tolist()}
