"""Seconds and bytes."""

import time

import torch

from regard.lab.timing import fastest, kept_bytes


def test_the_fastest_of_several_is_told() -> None:
    naps = iter((0.05, 0.0, 0.05))
    assert fastest(lambda: time.sleep(next(naps))) < 0.04


def test_what_the_way_back_needs_is_counted_once() -> None:
    x, y = torch.ones(10, requires_grad=True), torch.ones(10, requires_grad=True)
    assert kept_bytes(lambda: x * y) == 80  # both factors
    assert kept_bytes(lambda: x * x) == 40
    assert kept_bytes(lambda: x + y) == 0
