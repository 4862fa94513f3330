"""Every figure can be drawn from what is kept of a measurement, with one seed and with several."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from regard.lab.claim import Measured
from regard.lab.claims import find
from regard.report import Plot
from regard.report.plots import draw_plot

MADE_UP: Mapping[str, Mapping[str, Any]] = {
    "bottleneck": {"lengths": ["1–10", "11+"], "rnn": [80.0, 20.0], "bahdanau": [90.0, 88.5]},
    "alignment": {"steps": [0, 100], "errors": [0.9, 0.2], "diagonal": 0.6},
    "meaning": {
        "layers": ["embedding", "layer 1"], "seen": [0.5, 1.0], "blind": [0.5, 0.5],
        "own clue": [0.1, 0.3], "other clue": [0.1, 0.1],
    },
    "budget": {"shares": {"nothing": 0.4, "a second clue": 0.2}},
    "heads": {"rises": [1.0, 1.05, 9.0], "spare": 1},
    "positions": {"lengths": ["4–8", "9–16"], "found": {"none": [0.5, 0.5], "waves, added": [1.0, 0.9]}},
    "distance": {"distances": [-2, -1, 1], "found": {"RNN": [0.9, 1.0, 0.5], "Transformer": [1.0, 1.0, 1.0]}},
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
