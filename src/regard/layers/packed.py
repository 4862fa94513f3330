"""Matrices laid out for products with a few rows, as decoding makes them.

A step of decoding multiplies a handful of rows by every matrix of a model, so that it goes as fast as memory can be
read, at best. MKL, which torch calls, is far from that for some rows, and for a single one where the processor is not
Intel's. Two layouts are faster: for some rows that of oneDNN, which torch brings along, too; for one row, a part of the
matrix for each thread, read along the longer side. At 124 million parameters on two cores, the products of a step took
(in ms, `make bench-generation` has the whole):

    rows                   1     2     4     8    12    16    32    64
    Intel  as they lie    18    20    36    46    58    42    56    81
           SomeRows       20    21    24    25    28    32    46    68
    AMD    as they lie    36    68    60    55    58    64    88   136
           SomeRows       21    24    17    21    23    27    45    82
           OneRow         18    24    25    29    34    39    58    94

A layout takes about as much memory as the matrix itself, and is made in the time of ten (SomeRows) or twenty steps.
"""

import mmap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

HINT = 8
"""Rows that oneDNN is told to expect; others go as well."""
LINE, LARGE_PAGE = 16, 2**21
"""Numbers that the processor reads at once; bytes of a page."""
LOOKED_AT = 64
"""Numbers of a matrix, to see if it has changed."""


@runtime_checkable
class Layout(Protocol):
    """A matrix as it is laid out."""

    def __init__(self, weight: Tensor) -> None: ...

    def product(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """What the linear layer gives for x."""
        ...


class SomeRows:
    """As oneDNN wants it."""

    def __init__(self, weight: Tensor) -> None:
        self.matrix: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, HINT)

    def product(self, x: Tensor, bias: Tensor | None) -> Tensor:
        return _product(x, self.matrix, bias)


class OneRow:
    """In as many parts as there are threads: of the inputs, where there are fewer of them than outputs (then the
    products of the parts are added up), else of the outputs. More rows go as the matrix lies."""

    def __init__(self, weight: Tensor) -> None:
        outputs, inputs = weight.shape
        self.weight, self.of_inputs = weight, inputs < outputs
        copy = _copied(weight.T if self.of_inputs else weight)
        parts = copy.view(_parts(len(copy)), -1, copy.shape[1])
        self.parts = parts if self.of_inputs else parts.mT

    def product(self, x: Tensor, bias: Tensor | None) -> Tensor:
        if x.numel() > x.shape[-1]:
            return _product(x, self.weight, bias)
        count = len(self.parts)
        row = x.reshape(count, 1, -1) if self.of_inputs else x.reshape(1, 1, -1).expand(count, -1, -1)
        each = torch.bmm(row, self.parts)
        addends = [*each[:, 0]] if self.of_inputs else [each.flatten()]
        return reduce(torch.add, addends if bias is None else [*addends, bias]).view(*x.shape[:-1], -1)


def _parts(side: int) -> int:
    """Of equal size, at most one for each thread."""
    return next(count for count in range(torch.get_num_threads(), 0, -1) if side % count == 0)


def _copied(matrix: Tensor) -> Tensor:
    """With rows that begin where the processor likes to read from."""
    rows, columns = matrix.shape
    room = -(-columns // LINE) * LINE
    return _numbers(rows * room).view(rows, room)[:, :columns].copy_(matrix)


def _numbers(count: int) -> Tensor:
    """Room for so many floats, on large pages where there are such: small ones take a look-up for every four kilobytes
    that are read."""
    if 4 * count < LARGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return torch.empty(count)
    pages = -(-4 * count // LARGE_PAGE)
    memory = mmap.mmap(-1, pages * LARGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(memory, dtype=torch.float32, count=count)


def _product(x: Tensor, matrix: Tensor, bias: Tensor | None) -> Tensor:
    found: Tensor = torch.ops.mkldnn._linear_pointwise(x, matrix, bias, "none", [], "")
    return found


@contextmanager
def packed(model: nn.Module, layout: type[Layout] = SomeRows) -> Iterator[None]:
    """Inside the `with`, linear layers compute with copies of their matrices in a layout. Nothing else changes, but the
    order in which floats are added up; the weights must not change meanwhile."""
    with Packing(model, layout).used():
        yield


class Packing:
    """The packed copies of a model's matrices, kept from one use to the next; what has changed in between is laid out
    anew. Several threads may use them at a time."""

    def __init__(self, model: nn.Module, layout: type[Layout] = SomeRows) -> None:
        self.model, self.layout = model, layout
        self._kept: dict[nn.Linear, tuple[object, Layout]] = {}
        self._in_use: list[nn.Linear] = []
        self._users = 0

    def __reduce__(self) -> tuple[type["Packing"], tuple[nn.Module, type[Layout]]]:
        """What is copied or sent makes its own: such tensors cannot be copied."""
        return Packing, (self.model, self.layout)

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
            vars(layer)["forward"] = partial(_forward, layer.forward, layer, self._kept[layer][1])

    def _take_out(self) -> None:
        for layer in self._in_use:
            vars(layer).pop("forward", None)
        self._in_use = []

    @torch.no_grad()
    def _laid_out(self, layer: nn.Linear) -> tuple[object, Layout]:
        """What the matrix looks like now, and how it is laid out."""
        looks, kept = _looks(layer.weight), self._kept.get(layer)
        return kept if kept is not None and kept[0] == looks else (looks, self.layout(layer.weight))


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


def _forward(plain: Callable[[Tensor], Tensor], layer: nn.Linear, matrix: Layout, x: Tensor) -> Tensor:
    if torch.is_grad_enabled() or not x.numel():
        return plain(x)
    return matrix.product(x, layer.bias)
