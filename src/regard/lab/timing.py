"""What something costs: seconds, and memory that is kept for the way back."""

import time
from collections.abc import Callable

import torch
from torch import Tensor


def fastest(work: Callable[[], object], repeats: int = 3) -> float:
    """Seconds, at best: what others do meanwhile only ever adds to it."""
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


def kept_bytes(work: Callable[[], object]) -> int:
    """How much of what is computed is kept until the gradient comes back, each tensor counted once."""
    kept: dict[int, int] = {}

    def count(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        result = work()  # noqa: F841  # held, so that no place in memory is used twice
    return sum(kept.values())
