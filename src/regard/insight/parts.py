"""The parts of a text and their values: what is coloured."""

from collections.abc import Sequence
from dataclasses import dataclass

PALETTE = "Oranges"  # one hue, white to dark: safe for every kind of colour vision, and in print
DARK = 0.6
"""From this share of the palette on, letters are white."""


@dataclass(frozen=True)
class Part:
    """text[start:end] and its value; `note`: what else is known of it, for who asks."""

    start: int
    end: int
    value: float
    note: str = ""


@dataclass(frozen=True)
class Coloured:
    """A text, its parts in their order, the value from which on nothing gets darker, and what is said about it all."""

    text: str
    parts: Sequence[Part]
    most: float
    heading: Sequence[str] = ()
    legend: str = ""
    language: str = ""

    def joined(self) -> list[Part]:
        """Parts that share a character (its bytes, for instance) as one, with the sum of their values; those without
        any character are left out."""
        found: list[Part] = []
        for part in self.parts:
            if found and part.start < found[-1].end:
                last = found.pop()
                note = "; ".join(filter(None, (last.note, part.note)))
                part = Part(last.start, max(last.end, part.end), last.value + part.value, note)
            if part.end > part.start:
                found.append(part)
        return found

    def shares(self) -> list[float]:
        """How dark each of the joined parts is, from 0 to 1."""
        return [min(1.0, max(0.0, part.value / self.most)) for part in self.joined()]

    def shares_by_character(self) -> list[float | None]:
        """The same for each character; None where none of the parts is."""
        found: list[float | None] = [None] * len(self.text)
        for part, share in zip(self.joined(), self.shares(), strict=True):
            found[part.start : part.end] = [share] * (part.end - part.start)
        return found
