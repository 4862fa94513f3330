"""What a claim of the literature is, as an experiment: a question, a statistic, a threshold, a control, a verdict.

The statistic and its threshold are written down before anything is measured. The same statistic is taken of a negative
control, where the claim is known to be false: if that passed too, the test would be no test.

A claim holds if it holds with every seed, that is with the worst one: what one start in three refutes is nothing to
rely on. For the same reason the control must fail with every seed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isclose, isfinite
from typing import Any, Literal, TypeVar

from regard.lab.shop import Shop
from regard.report import Paragraph, Picture, Pictures, Plot, Table
from regard.report.write import plain

T = TypeVar("T")
Figure = Paragraph | Plot | Table | Picture | Pictures
"""What a claim may show."""


@dataclass(frozen=True)
class Setting:
    """Under what conditions a claim is measured: with which seed, in a hurry or not, with whose models."""

    seed: int
    quick: bool
    shop: Shop

    def of(self, quick: T, full: T) -> T:
        """One of two values: the one for a hurry, or the other."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Measured:
    """What came out with one seed: the statistic of the claim and of its control, further numbers to be told (a row
    each), and whatever the figures are drawn from. All of it as JSON has it: it is kept on disk."""

    value: float
    control: float
    numbers: Mapping[str, float | str] = field(default_factory=dict)
    series: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """As it is kept."""
        found: dict[str, Any] = plain(asdict(self))
        return found

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Measured":
        """From what was kept; no number was kept as null."""
        value, control = (float("nan" if record[key] is None else record[key]) for key in ("value", "control"))
        return cls(value, control, record["numbers"], record["series"])


@dataclass(frozen=True)
class Claim:
    """One claim. `models` are those of the shop that it needs (they are trained beforehand, several at once); `alone`
    says that it measures time, so that nothing else may run meanwhile, and it has one thread unless it takes more."""

    name: str
    title: str
    """The claim, in a sentence."""
    question: str
    source: str
    """Who made it, where."""
    statistic: str
    """What is measured, in a sentence."""
    threshold: float
    control: str
    """Where the same must fail, in a sentence."""
    measure: Callable[[Setting], Measured]
    draw: Callable[[Sequence[Measured]], Sequence[Figure]]
    """The figures, from what each seed has given."""
    side: Literal["at least", "at most"] = "at least"
    models: tuple[str, ...] = ()
    alone: bool = False

    def passes(self, value: float) -> bool:
        """Whether a statistic is on the right side of the threshold, or at it but for the rounding of single precision.
        What is no number is on none."""
        beyond = value >= self.threshold if self.side == "at least" else value <= self.threshold
        return isfinite(value) and (beyond or isclose(value, self.threshold, rel_tol=1e-6))

    def worst(self, values: Sequence[float]) -> float:
        """Of the statistics of several seeds the one that speaks most against the claim."""
        return min(values) if self.side == "at least" else max(values)

    def told(self, value: float) -> str:
        """A statistic in four digits; in eight, if it looked like the threshold and is not."""
        four = f"{value:.4g}"
        return four if self.passes(value) == self.passes(float(four)) else f"{value:.8g}"


@dataclass(frozen=True)
class Verdict:
    """Whether a claim held, and why."""

    held: bool
    reason: str

    def __str__(self) -> str:
        return "held" if self.held else "did not hold"


def judge(claim: Claim, measured: Sequence[Measured]) -> Verdict:
    """The verdict over all seeds."""
    values, controls = [one.value for one in measured], [one.control for one in measured]
    if not all(map(isfinite, [*values, *controls])):
        return Verdict(False, "a statistic is no number")
    wanted = f"{claim.side} {claim.threshold:g}"
    if failed := [value for value in values if not claim.passes(value)]:
        seeds = f" in {len(failed)} of {len(values)} seeds" if len(values) > 1 else ""
        return Verdict(False, f"{claim.told(claim.worst(values))} is not {wanted}{seeds}")
    if any(map(claim.passes, controls)):
        passed = max(controls) if claim.side == "at least" else min(controls)
        return Verdict(False, f"the test is no test: the control is {wanted}, too ({claim.told(passed)})")
    nearest = max(controls) if claim.side == "at least" else min(controls)
    return Verdict(True, f"{claim.told(claim.worst(values))} is {wanted}; the control, {claim.told(nearest)}, is not")
