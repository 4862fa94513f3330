"""Verdicts: statistic against threshold, with the worst seed, and a control that must fail."""

from collections.abc import Sequence
from typing import Any

import pytest

from regard.lab.claim import Claim, Figure, Measured, Setting, judge


def measure(setting: Setting) -> Measured:
    raise AssertionError("these tests judge what was measured, and measure nothing")


def draw(measured: Sequence[Measured]) -> list[Figure]:
    return []


def claim(**how: Any) -> Claim:
    told = dict.fromkeys(("name", "title", "question", "source", "statistic", "control"), "x")
    return Claim(**{**told, "threshold": 0.5, "measure": measure, "draw": draw, **how})


def verdict(values: list[float], controls: list[float], **how: Any) -> tuple[bool, str]:
    found = judge(claim(**how), [Measured(*both) for both in zip(values, controls, strict=True)])
    return found.held, found.reason


def test_a_claim_holds_if_its_number_passes_and_its_control_does_not() -> None:
    assert verdict([0.6], [0.1]) == (True, "0.6 is at least 0.5; the control, 0.1, is not")
    assert verdict([0.5], [0.49])[0]


def test_a_share_that_was_summed_in_single_precision_is_at_the_threshold_or_not() -> None:
    at = [0.5 - 3e-8, 0.5 + 3e-8]
    for side, beyond in (("at least", 0.4), ("at most", 0.6)):
        assert verdict(at, [beyond] * 2, side=side)[0]
        assert not verdict([0.5 + (beyond - 0.5) * 1e-4], [beyond], side=side)[0]


def test_a_number_that_is_not_the_threshold_is_not_told_as_if_it_were() -> None:
    assert verdict([0.499996], [0.1])[1] == "0.499996 is not at least 0.5"
    assert verdict([0.6], [0.499996])[1] == "0.6 is at least 0.5; the control, 0.499996, is not"
    assert verdict([0.6], [0.123456])[1] == "0.6 is at least 0.5; the control, 0.1235, is not"


def test_a_claim_whose_number_does_not_pass_did_not_hold() -> None:
    assert verdict([0.4], [0.1]) == (False, "0.4 is not at least 0.5")


def test_the_worst_seed_decides() -> None:
    assert verdict([0.9, 0.4, 0.8], [0.0] * 3) == (False, "0.4 is not at least 0.5 in 1 of 3 seeds")
    assert verdict([0.9, 0.7, 0.8], [0.0, 0.1, 0.2]) == (True, "0.7 is at least 0.5; the control, 0.2, is not")


def test_a_control_that_passes_makes_the_test_no_test() -> None:
    held, reason = verdict([0.9, 0.9], [0.1, 0.6])
    assert not held
    assert reason == "the test is no test: the control is at least 0.5, too (0.6)"


def test_a_claim_may_want_a_small_number() -> None:
    assert verdict([0.4], [0.9], side="at most") == (True, "0.4 is at most 0.5; the control, 0.9, is not")
    assert verdict([0.4, 0.6], [0.9, 0.9], side="at most")[1] == "0.6 is not at most 0.5 in 1 of 2 seeds"
    assert verdict([0.4], [0.3], side="at most")[1].startswith("the test is no test")


@pytest.mark.parametrize("side", ["at least", "at most"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_holds_nothing(side: str, bad: float) -> None:
    assert verdict([bad], [0.1], side=side) == (False, "a statistic is no number")
    assert verdict([0.5], [bad], side=side) == (False, "a statistic is no number")


def test_what_was_measured_is_kept_as_it_was() -> None:
    measured = Measured(0.25, float("nan"), {"a": 1.5, "b": "c"}, {"x": [1, 2, None]})
    again = Measured.of(measured.record())
    assert again.value == 0.25
    assert again.control != again.control  # not a number, as before
    assert (again.numbers, again.series) == (measured.numbers, measured.series)
