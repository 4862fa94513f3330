"""What several tasks train well with."""

from typing import Any

from regard.sections import Section


def gentle_rate(model: Section) -> float:
    """The rate for a pretrained model that is to learn something else: the wider it is, the less it takes. 768 wide (as
    BERT is, of whose rates Devlin 2018 recommends 2e-5 to 5e-5) 2.5e-5, 384 wide 1e-4, 128 wide 9e-4."""
    sized: Any = model
    return float(min(2e-3, 1e-4 * (384 / sized.width) ** 2))
