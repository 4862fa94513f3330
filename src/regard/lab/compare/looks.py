"""Where the models of a comparison look: how well their links fit those that people drew, and one sentence in each."""

from pathlib import Path
from statistics import mean
from typing import Any

from regard import bundle
from regard.errors import LimitError
from regard.insight import draw
from regard.lab.compare import directory, material
from regard.lab.compare.plan import Plan
from regard.lab.compare.results import Results, spread
from regard.report import Column, Picture, Pictures, Section, Table


def alignments(plan: Plan, results: Results, out: Path) -> Section | None:
    """Error rates where people drew links, and the alignment matrix of one sentence in every model side by side."""
    attending = {model: figures for model, figures in results.items() if "head" in figures[0]}
    if not attending:
        return None
    blocks: list[Any] = []
    if all("alignment" in figures[0] for figures in attending.values()):
        rows = [
            [
                model,
                spread([one["alignment"]["aer"] for one in figures], 3, 3),
                *(mean(one["alignment"][key] for one in figures) for key in ("precision", "recall")),
                _head(figures[0]["head"]),
            ]
            for model, figures in attending.items()
        ]
        columns = [
            Column("model"),
            Column("alignment error rate", ".3f", best="min"),
            Column("precision", ".3f"),
            Column("recall", ".3f"),
            Column("read from (first seed)"),
        ]
        how = "its gold links" if "val" in plan.gold else "the agreement of its readings"
        blocks.append(Table(columns, rows, notes=[f"The head is chosen on the validation set, by {how}."]))
    drawn = [_picture(plan, model, figures[0], out) for model, figures in attending.items()]
    if pictures := [picture for picture in drawn if picture is not None]:
        blocks.append(Pictures(pictures))
    return Section("Where they look", blocks) if blocks else None


def _picture(plan: Plan, model: str, figures: dict[str, Any], out: Path) -> Picture | None:
    """How one model aligns the sentence with its own translation; nothing if it does not come to an end with it."""
    run = out / "runs" / model / f"seed-{figures['seed']}"
    with directory.advised(run):
        translator = bundle.load(run)
    try:
        trace = translator.attention(plan.sentence or _typical(plan))
    except LimitError:
        return None
    head = figures["head"]
    trace = (trace.shifted() if head["shift"] == "reads" else trace).by_words()
    path = draw(trace, name=head["name"], head=head["head"], path=run / "alignment.svg")
    text = trace.rows["prediction"].text
    return Picture(path, f"alignment matrix of {model}: {text}", f"{model}: {_head(head)}")


def _typical(plan: Plan) -> str:
    """A sentence of the test set that is neither short nor long."""
    return min(material.read_text(plan, "test").sources, key=lambda source: abs(len(source.split()) - 11))


def _head(head: dict[str, Any]) -> str:
    return f"{head['name']}, head {head['head']}, at the step that {head['shift']} the word"
