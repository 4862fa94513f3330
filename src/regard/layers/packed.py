"""Matrices laid out for products with a few rows, as decoding makes them.

A step of decoding multiplies a handful of rows by every matrix of a model. One row goes as fast as memory can be read;
for some more, MKL, which torch calls, takes two to three times as long, although hardly more is to be done. oneDNN,
which torch brings along too, does not, if a matrix lies in memory as it wants it. At 124 million parameters on two
cores, the products of a step took (in ms, `make bench-generation` has the whole):

    rows          1     2     4     8    12    16    32    64
    as they lie  18    20    36    46    58    42    56    81
    packed       20    21    24    25    28    32    46    68

A layout is made in a third of the time of a step with eight rows, and takes as much memory as the matrix itself.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn

FEW = 4
"""From so many rows on it pays."""
LOOKED_AT = 64
"""Numbers of a matrix, to see if it has changed."""


@contextmanager
def packed(model: nn.Module) -> Iterator[None]:
    """Inside the `with`, linear layers compute some rows at a time with packed copies of their matrices. Nothing else
    changes, but the order in which floats are added up; the weights must not change meanwhile."""
    with Packing(model).used():
        yield


class Packing:
    """The packed copies of a model's matrices, kept from one use to the next; what has changed in between is laid out
    anew. Several threads may use them at a time."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self._kept: dict[nn.Linear, tuple[object, Tensor]] = {}
        self._in_use: list[nn.Linear] = []
        self._users = 0

    def __reduce__(self) -> tuple[type["Packing"], tuple[nn.Module]]:
        """What is copied or sent makes its own: such tensors cannot be copied."""
        return Packing, (self.model,)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Inside, the model computes with them: see `packed`."""
        try:
            with _LOCK:
                self._users += 1
                if self._users == 1:
                    self._put_in()
            yield
        finally:
            with _LOCK:
                self._users -= 1
                if self._users == 0:
                    self._take_out()

    def _put_in(self) -> None:
        layers = [layer for layer in self.model.modules() if isinstance(layer, nn.Linear) and _suits(layer)]
        self._kept = {layer: self._laid_out(layer) for layer in layers}
        self._in_use = layers
        for layer in layers:
            vars(layer)["forward"] = partial(_product, layer.forward, layer, self._kept[layer][1])

    def _take_out(self) -> None:
        for layer in self._in_use:
            vars(layer).pop("forward", None)
        self._in_use = []

    def _laid_out(self, layer: nn.Linear) -> tuple[object, Tensor]:
        """What the matrix looks like now, and its copy."""
        looks, kept = _looks(layer.weight), self._kept.get(layer)
        return kept if kept is not None and kept[0] == looks else (looks, _laid_out(layer))


_LOCK = threading.Lock()


def _suits(layer: nn.Linear) -> bool:
    """Not what computes in another way, or with another's copy."""
    known = layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32
    usable: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return known and usable and type(layer).forward is nn.Linear.forward and "forward" not in vars(layer)


def _looks(weight: Tensor) -> object:
    """Another one when the numbers are others: where they lie, how often torch has seen them change, and, since fused
    optimisers change them unseen, some of them."""
    numbers = weight.detach().flatten()
    some = tuple(numbers[:: max(1, len(numbers) // LOOKED_AT)].tolist())
    return weight.data_ptr(), None if weight.is_inference() else weight._version, some


def _laid_out(layer: nn.Linear) -> Tensor:
    with torch.no_grad():
        laid_out: Tensor = torch.ops.mkldnn._reorder_linear_weight(layer.weight, 2 * FEW)
    return laid_out


def _product(plain: Callable[[Tensor], Tensor], layer: nn.Linear, matrix: Tensor, x: Tensor) -> Tensor:
    if x.numel() < FEW * layer.in_features or torch.is_grad_enabled():
        return plain(x)
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, matrix, layer.bias, "none", [], "")
    return product
