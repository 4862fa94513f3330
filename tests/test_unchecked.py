"""Shapes are checked in tests, but where one goes without."""

import pytest
import torch
from jaxtyping import TypeCheckError

from regard.attention.masks import padding_mask
from tests.unchecked import unchecked

WRONG = torch.tensor([1.0, 2.0])  # lengths are whole numbers


def test_types_are_checked_before_and_after_one_went_without() -> None:
    with pytest.raises(TypeCheckError, match="lengths"):
        padding_mask(WRONG, 2)
    with unchecked():
        assert padding_mask(WRONG, 2).shape == (2, 1, 1, 2)
    with pytest.raises(TypeCheckError, match="lengths"):
        padding_mask(WRONG, 2)


def test_they_are_checked_again_if_something_fails() -> None:
    with pytest.raises(ZeroDivisionError), unchecked():
        _ = 1 / 0
    with pytest.raises(TypeCheckError, match="lengths"):
        padding_mask(WRONG, 2)
