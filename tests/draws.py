"""Random inputs for tests: a function of a seed, never of what ran before."""

import torch
from torch import Tensor

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
"""How far two ways to compute the same thing may be apart."""

DTYPES = tuple(TOLERANCE)


def normal(*shape: int, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def words(*shape: int, below: int, seed: int) -> Tensor:
    """Token ids from 0 up to (not including) `below`."""
    return torch.randint(below, shape, generator=torch.Generator().manual_seed(seed))


def assert_near(found: Tensor, wanted: Tensor, tolerance: float | None = None) -> None:
    """Equal up to the tolerance of their type, in absolute terms; types must agree."""
    near = TOLERANCE[wanted.dtype] if tolerance is None else tolerance
    torch.testing.assert_close(found, wanted, rtol=0, atol=near)
