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

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn

FEW = 4
"""From so many rows on it pays."""


@contextmanager
def packed(model: nn.Module) -> Iterator[None]:
    """Inside the `with`, linear layers compute some rows at a time with packed copies of their matrices. Nothing else
    changes, but the order in which floats are added up; the weights must not change meanwhile."""
    layers = [layer for layer in model.modules() if isinstance(layer, nn.Linear) and _suits(layer)]
    for layer in layers:
        vars(layer)["forward"] = partial(_product, layer.forward, layer, _laid_out(layer))
    try:
        yield
    finally:
        for layer in layers:
            vars(layer).pop("forward", None)  # another thread may have been faster


def _suits(layer: nn.Linear) -> bool:
    known = layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32
    usable: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return known and usable and "forward" not in vars(layer)


def _laid_out(layer: nn.Linear) -> Tensor:
    with torch.no_grad():
        laid_out: Tensor = torch.ops.mkldnn._reorder_linear_weight(layer.weight, 2 * FEW)
    return laid_out


def _product(plain: Callable[[Tensor], Tensor], layer: nn.Linear, matrix: Tensor, x: Tensor) -> Tensor:
    if x.numel() < FEW * layer.in_features or torch.is_grad_enabled():
        return plain(x)
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, matrix, layer.bias, "none", [], "")
    return product
