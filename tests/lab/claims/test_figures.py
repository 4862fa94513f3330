"""Every figure can be drawn from what is kept of a measurement, with one seed and with several."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from regard.lab.claim import Measured
from regard.lab.claims import find
from regard.lab.claims.hard import WAYS as HARD_WAYS
from regard.lab.claims.parallel import READERS
from regard.report import Plot
from regard.report.plots import draw_plot

MADE_UP: Mapping[str, Mapping[str, Any]] = {
    "bottleneck": {"lengths": ["1–10", "11+"], "rnn": [80.0, 20.0], "bahdanau": [90.0, 88.5]},
    "alignment": {"steps": [0, 100], "errors": [0.9, 0.2], "diagonal": 0.6},
    "meaning": {
        "layers": ["embedding", "layer 1"], "seen": [0.5, 1.0], "blind": [0.5, 0.5],
        "own clue": [0.1, 0.3], "other clue": [0.1, 0.1],
    },
    "budget": {"shares": {"nothing": 0.4, "a second clue": 0.2}, "directions": [0.5, 0.4, 0.0, 0.1]},
    "heads": {
        "rises": [1.0, 1.05, 9.0], "spare": 1, "losses": [1.0, 1.2, 1.0, 1.1],
        "roles": {"the word before": [0.9, 0.2], "who did it and to whom, from the verb": [0.5, 0.2]},
    },
    "positions": {"lengths": ["4–8", "9–16"], "found": {"none": [0.5, 0.5], "waves, added": [1.0, 0.9]}},
    "distance": {"distances": [-2, -1, 1], "found": {"RNN": [0.9, 1.0, 0.5], "Transformer": [1.0, 1.0, 1.0]}},
    "scaling": {
        "gradients": {"without √d": [0.2, 0.2, 0.1, 0.01, 0.0], "with √d": [0.2] * 5},
        "entropies": {"without √d": [0.7, 0.3, 0.1, 0.0, 0.0], "with √d": [0.9] * 5},
        "trained": [16, 64], "learned": {"without √d": [1.0, 0.7], "with √d": [1.0, 1.0]},
    },
    "dot_or_additive": {
        what: {"scaled-dot": values, "dot": values, "additive": values}
        for what, values in (("learned", [0.5, 1.0, 1.0]), ("megabytes", [1.0, 2.0, 4.0]), ("milliseconds", [3.0]))
    },
    "look_ahead": {
        "lengths": [8, 16], "ratio": [4.0, 8.0],
        "curves": {name: [3.0, 2.0, 1.0] for name in ("one pass", "prefix by prefix", "without a mask")},
    },
    "padding": {
        what: {"masked": [1.0] * 4, "not masked": [1.0, 0.9, 0.5, 0.1]}
        for what in ("shares", "bleu", "weights", "wrong")
    },
    "hard": {
        what: {name: [0.5] * count for name in HARD_WAYS}
        for what, count in (("courses", 8), ("noises", 1))
    },
    "parallel": {
        "lengths": [16, 512],
        **{
            threads: {name: [3.0, 9.0] for name in READERS}
            for threads in ("1", "2")
        },
    },
    "directions": {
        "shares": {
            "BERT, both sides": [0.6], "BERT, what follows is hidden": [0.3], "BERT, the text ends there": [0.1],
            "BERT, a full stop ends it": [0.2], "BERT, another text follows": [0.2], "GPT-2, left side": [0.4],
        },
        "places": {"BERT, both sides": [0.4, 0.5, None, 0.6], "GPT-2, left side": [0.1, 0.2, None, 0.4]},
    },
    "sentence_vectors": {"agreements": [0.2, 0.4, 0.5, 0.8, 0.0]},
    "languages": {"shares": [0.01, 0.2, 0.02, 0.8, 0.01]},
    "explanation": {"agreements": [-0.1, 0.3, 0.4], "stays": [0.9, 0.4]},
}  # fmt: skip
"""What each claim's figures are drawn from."""


@pytest.mark.parametrize("name", MADE_UP)
@pytest.mark.parametrize("seeds", [1, 3])
def test_the_figures_of_a_claim_show_what_was_measured(name: str, seeds: int, tmp_path: Path) -> None:
    (claim,) = find([name])
    kept = Measured.of(Measured(1.0, 0.0, series=MADE_UP[name]).record())
    figures = [figure for figure in claim.draw([kept] * seeds) if isinstance(figure, Plot)]
    assert figures
    for number, figure in enumerate(figures):
        assert any(value is not None for one in figure.series for value in one.values)
        assert draw_plot(figure, tmp_path / f"{number}.svg").read_text(encoding="utf-8").startswith("<?xml")
