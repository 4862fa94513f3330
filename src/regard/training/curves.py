"""The curves of a run, drawn from its metrics."""

from pathlib import Path
from typing import Any

Records = list[dict[str, Any]]


def draw_curves(records: Records, path: Path) -> None:
    """Loss and validation score over updates, side by side. Nothing is drawn from nothing."""
    trained = [record for record in records if record["kind"] == "train"]
    validated = [record for record in records if record["kind"] == "validation"]
    if not trained:
        return
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(*_series(trained, "loss"), label="training", linewidth=1)
    if validated:
        left.plot(*_series(validated, "loss"), label="validation", marker="o", markersize=3)
        right.plot(*_series(validated, "score"), marker="o", markersize=3)
    left.set(title="loss", xlabel="update")
    right.set(title="validation score", xlabel="update")
    left.legend(frameon=False)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "regard"}):
        FigureCanvasSVG(figure).print_figure(path, format="svg", metadata={"Date": None})


def _series(records: Records, key: str) -> tuple[list[int], list[float]]:
    known = [record for record in records if key in record]
    return [record["update"] for record in known], [record[key] for record in known]
