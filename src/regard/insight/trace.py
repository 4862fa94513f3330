"""Who looked where: the weights of every attention of one pass, with the tokens that they belong to.

A trace is what a picture, a page or a test reads; it knows no model and no tensor library.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float32

from regard.errors import ConfigError, DataError
from regard.insight.tokens import TokenRow

if TYPE_CHECKING:
    from regard.insight.html import Shown

Head = int | Literal["mean"] | None
Weights = Float32[np.ndarray, "_ _ _"]  # (H, T, S)


@dataclass(frozen=True, eq=False)
class Trace:
    """Weights by attention name, and the rows of tokens that ask and are read."""

    rows: Mapping[str, TokenRow]
    """"source"; "target": what the decoder read (<s>, y1 … yn); "prediction": what it predicted (y1 … yn, </s>)."""
    weights: Mapping[str, Weights]
    """Name ("encoder.0.self", "decoder.1.cross", "decoder.align") → (H, T, S)."""
    axes: Mapping[str, tuple[str, str]]
    """Name → (the row that asks, the row it reads from)."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """The model's name, the score, …: whatever JSON can hold."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "meta", _plain(self.meta))
        if self.weights.keys() != self.axes.keys():
            raise DataError(
                "A trace must say for every attention which rows it joins.",
                found=f"weights of {_listed(self.weights)}; axes of {_listed(self.axes)}",
                wanted="the same names in both",
            )
        for name in self.names:
            self._check(name)

    def _check(self, name: str) -> None:
        missing = [row for row in self.axes[name] if row not in self.rows]
        if missing:
            raise DataError(
                f"{name} refers to a row that the trace does not have.",
                found=_listed(missing),
                wanted=f"one of {_listed(self.rows)}",
            )
        asks, reads = self.axes[name]
        sizes = (len(self.rows[asks]), len(self.rows[reads]))
        weights = self.weights[name]
        if weights.ndim != 3 or weights.shape[1:] != sizes or weights.dtype != np.float32:
            raise DataError(
                f"The weights of {name} do not fit its tokens.",
                found=f"{weights.dtype} of shape {weights.shape}",
                wanted=f"float32 of shape (heads, {sizes[0]} of {asks}, {sizes[1]} of {reads})",
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        same = (self.rows, self.axes, self.meta) == (other.rows, other.axes, other.meta)
        return same and all(np.array_equal(self.weights[name], other.weights[name]) for name in self.names)

    __hash__ = None  # type: ignore[assignment]  # arrays can change

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.weights)

    def select(self, name: str | None = None, layer: int | None = None) -> tuple[str, ...]:
        """The attentions of a name and a layer. Part of a name is enough: "cross", "encoder", "decoder.self"."""
        names = tuple(n for n in self.names if n == name) or tuple(n for n in self.names if _is_part(name, n))
        if not names:
            raise ConfigError(f"There is no attention called {name!r}.", wanted=f"one of {_listed(self.names)}")
        chosen = tuple(n for n in names if layer is None or str(layer) in n.split("."))
        if not chosen:
            raise ConfigError(f"There is no layer {layer} to look at.", wanted=f"a layer of {_listed(names)}")
        return chosen

    def weights_of(self, name: str, head: Head = None) -> Float32[np.ndarray, "*H T S"]:
        """All heads of an attention (H, T, S), or one head or the mean of all (T, S)."""
        if name not in self.weights:
            raise ConfigError(f"There is no attention called {name!r}.", wanted=f"one of {_listed(self.names)}")
        weights = self.weights[name]
        if head is None:
            return weights
        if head == "mean":
            return np.asarray(weights.mean(axis=0))
        if not 0 <= head < len(weights):
            raise ConfigError(
                f"{name} has no head {head}.", found=f"{len(weights)} heads", wanted=f"0 to {len(weights) - 1}, or mean"
            )
        return np.asarray(weights[head])

    def refuse_head(self, names: Sequence[str], head: Head) -> None:
        """Refuses a head that none of these attentions has."""
        self.weights_of(max(names, key=lambda name: len(self.weights[name])), head)

    def rows_of(self, name: str) -> tuple[TokenRow, TokenRow]:
        """The row that asks and the row it reads from."""
        asks, reads = self.axes[name]
        return self.rows[asks], self.rows[reads]

    def by_words(self) -> "Trace":
        """The trace with tokens merged into words.

        A word gives what its tokens give on average and gets what they get in sum, so that rows still sum to 1.
        """
        groups = {row: tokens.words() for row, tokens in self.rows.items()}
        rows = {row: tokens.merged(groups[row]) for row, tokens in self.rows.items()}
        weights = {}
        for name, (asks, reads) in self.axes.items():
            mixed = _sums(self.weights[name], groups[reads], axis=2)
            counts = np.array([len(group) for group in groups[asks]], dtype=np.float32)
            weights[name] = _sums(mixed, groups[asks], axis=1) / counts[:, None]
        return replace(self, rows=rows, weights=weights, meta=self._seen_as("words"))

    def without_specials(self) -> "Trace":
        """The trace without special tokens. Nothing is renormalised: meta["dropped"] says what share each attention
        gave to the special tokens, on average over its heads and the rows that stay."""
        kept = {row: np.array(tokens.regular, dtype=int) for row, tokens in self.rows.items()}
        rows = {row: tokens.only(tokens.regular) for row, tokens in self.rows.items()}
        weights, dropped = {}, {}
        for name, (asks, reads) in self.axes.items():
            before = self.weights[name][:, kept[asks]]
            weights[name] = before[:, :, kept[reads]]
            gone = before.sum(axis=2) - weights[name].sum(axis=2)
            dropped[name] = round(float(gone.mean()), 6) if gone.size else 0.0
        return replace(self, rows=rows, weights=weights, meta={**self._seen_as("without specials"), "dropped": dropped})

    def shifted(self) -> "Trace":
        """The trace whose decoder rows are labelled by the word that each step *reads*, not the one it *predicts*."""
        if self.meta.get("view"):
            raise ConfigError(
                "Steps can only be shifted while every token is there.",
                found=f"a trace already seen as {_listed(self.meta['view'])}",
                do="call shifted() first, then by_words() or without_specials()",
            )
        if "target" not in self.rows or all(asks != "prediction" for asks, _ in self.axes.values()):
            raise ConfigError(
                "This trace has no steps to shift.",
                found=f"rows {_listed(self.rows)}",
                wanted="an attention that asks from prediction, and a target row",
            )
        axes = {name: ("target" if asks == "prediction" else asks, reads) for name, (asks, reads) in self.axes.items()}
        return replace(self, axes=axes)

    def sentence(self, name: str, head: Head, word: int | str) -> str:
        """Where one token looks, in words: '*bank* gives 0.61 to *river*, 0.20 to *the*'."""
        from regard.insight.reading import sentence

        return sentence(self, name, head, word)

    def show(self, *, height: int = 760, **view: Any) -> "Shown":
        """The page on which one moves through a trace, in a notebook; it needs no server and no network. view: what it
        shows first, as the page's address tells it (family="decoder.cross", layer=2, head=1, words=False …)."""
        from regard.insight.html import Shown

        return Shown(self, height, view)

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()

    def save(self, path: Path | str) -> Path:
        """Write .npz or .json, which `load` reads, a picture of everything (.svg or .png), or a page to move through it
        (.html), which needs nothing else."""
        from regard.insight.storage import save

        return save(self, path)

    @classmethod
    def load(cls, path: Path | str) -> "Trace":
        """Read what `save` wrote as .npz or .json."""
        from regard.insight.storage import load

        return load(path)

    def _seen_as(self, view: str) -> dict[str, Any]:
        return {**self.meta, "view": [*self.meta.get("view", []), view]}


def _sums(weights: Weights, groups: Sequence[Sequence[int]], axis: int) -> Weights:
    """Sum the places of each group along an axis. Groups are runs of neighbours that cover the axis."""
    starts = np.array([group[0] for group in groups], dtype=int)
    return np.add.reduceat(weights, starts, axis=axis) if len(starts) else weights


def _is_part(part: str | None, name: str) -> bool:
    pieces = iter(name.split("."))
    return part is None or all(piece in pieces for piece in part.split("."))


def _plain(meta: Mapping[str, Any]) -> Any:
    try:
        return json.loads(json.dumps(dict(meta)))
    except TypeError as error:
        raise DataError("The meta data of a trace must be plain JSON.", found=str(error)) from error


def _listed(names: Any) -> str:
    return ", ".join(str(name) for name in names) or "nothing"
