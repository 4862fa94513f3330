"""What is too long for a model is refused before it costs anything."""

from collections.abc import Sequence

from regard.errors import LimitError

LETTERS = 100
"""No token of a text has so many, on the average."""


def refuse_at_sight(texts: Sequence[str], limit: int | None) -> None:
    """Refuses what is too long at first sight: to count the tokens of a megabyte takes a second, and others wait."""
    letters = sum(map(len, texts))
    if limit is not None and letters > LETTERS * limit:
        raise LimitError(
            "The text is far longer than the model can take.",
            found=f"{letters:,} characters",
            wanted=f"at most {limit} tokens",
            do="split it into parts",
        )


def read_at_most(text: str, limit: int | None) -> str:
    """As much of a text as a limit of tokens can ever take, of a text that may be cut."""
    return text if limit is None else text[: LETTERS * limit]


def short_enough(length: int, limit: int | None, *, cut: bool = False) -> int:
    """The length, or the limit where what is longer is cut."""
    if limit is None or length <= limit:
        return length
    if cut:
        return limit
    raise LimitError(
        "The text is longer than the model can take.",
        found=f"{length} tokens, marks included",
        wanted=f"at most {limit}",
        do="split it into parts",
    )
