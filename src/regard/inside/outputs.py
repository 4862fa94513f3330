"""What the parts of a network give while it reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import get_ident
from typing import Any

import torch
from torch import Tensor, nn

INNER = ("project", "expand", "contract", "input", "recurrent", "gates", "candidate")
"""Parts of parts, of which a chart has no use and which are large."""


@dataclass
class Outputs:
    """By the name of a part ("" is all of it), a tensor (rows, …) for each call. One sentence is read."""

    calls: dict[str, list[Tensor]] = field(default_factory=dict)
    states: dict[str, list[Any]] = field(default_factory=dict)
    """Of recurrent layers: the state of each after its last call."""

    def rows(self, name: str, count: int) -> Tensor:
        """The last rows that a part gave, over all its calls: what one pass gives at once, another gives step by
        step."""
        return torch.cat(self.calls[name])[-count:]

    def first(self, name: str) -> Tensor:
        """What it gave in its first call."""
        return self.calls[name][0]


@contextmanager
def outputs(network: nn.Module) -> Iterator[Outputs]:
    """Keeps what the parts of a network give inside the `with`, in this thread alone."""
    found, owner = Outputs(), get_ident()

    def keep(name: str, module: nn.Module, given: Any, result: Any) -> None:
        if get_ident() != owner:
            return
        tensor, *rest = result if isinstance(result, tuple) else (result,)
        if rest and isinstance(rest[0], list):
            found.states[name] = rest[0]
        if isinstance(tensor, Tensor):
            found.calls.setdefault(name, []).append(tensor[0] if tensor.dim() == 3 else tensor)

    parts = [
        (name, part)
        for name, part in network.named_modules(remove_duplicate=False)
        if name.rpartition(".")[2] not in INNER
    ]
    handles = [part.register_forward_hook(partial(keep, name)) for name, part in parts]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()
