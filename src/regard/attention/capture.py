"""Getting at the weights: `with capture(model) as recording:` sees every attention of any model.

A capture belongs to the context (thread, task) that opened it, not to the modules, so two requests at once do not
see each other and nothing is left behind on a model.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock

import torch
from torch import Tensor, nn

from regard.attention.attend import Tap

Edit = Callable[[str, str, Tensor], Tensor]
"""edit(name, what, tensor) -> tensor: replaces what passes, e.g. to prune a head. `name` is "decoder.0.cross"."""


KINDS = ("queries", "keys", "scores", "mask", "focus", "weights", "values")
"""What passes: see `Tap`."""


class NothingRecordedError(LookupError):
    """A capture ended without having heard any attention: silence would look like success."""


class Attends(nn.Module):
    """The base of every module that attends: it has the name under which it is captured, such as "encoder.0.self"."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def tap(self) -> Tap | None:
        """Who listens to this module in this context; None if nobody does."""
        if torch.compiler.is_compiling():  # a capture runs uncompiled; without it, asking would break the graph here
            return None
        listeners = [capture for capture in _active.get() if id(self) in capture.modules]
        if not listeners:
            return None

        def listen(what: str, tensor: Tensor, /) -> Tensor:
            for listener in listeners:
                tensor = listener.hear(self.name, what, tensor)
            return tensor

        return listen


@dataclass
class Recording:
    """What passed, in order: calls["weights", "decoder.0.cross"] is a list with one tensor (B H T S) per call."""

    calls: dict[tuple[str, str], list[Tensor]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for _, name in self.calls))

    def last(self, name: str, what: str = "weights") -> Tensor:
        """What passed in the last call of the attention called `name`."""
        return self.all(name, what)[-1]

    def joined(self, name: str, what: str = "weights") -> Tensor:
        """All calls as one, along the queries: attending step by step then looks like attending at once."""
        return torch.cat(self.all(name, what), dim=2)

    def all(self, name: str, what: str = "weights") -> list[Tensor]:
        """What passed in every call: one in a forward pass, one a step in decoding."""
        if (what, name) not in self.calls:
            recorded = ", ".join(f"{kind} of {known}" for kind, known in self.calls) or "nothing"
            raise KeyError(f"no {what} of {name!r} were recorded; recorded: {recorded}")
        return self.calls[what, name]


@dataclass
class _Capture:
    modules: frozenset[int]
    keep: frozenset[str]
    edit: Edit | None
    recording: Recording = field(default_factory=Recording)

    def hear(self, name: str, what: str, tensor: Tensor) -> Tensor:
        if self.edit is not None:
            tensor = self.edit(name, what, tensor)
        if what in self.keep:
            self.recording.calls.setdefault((what, name), []).append(tensor.detach())
        return tensor


_active: ContextVar[tuple[_Capture, ...]] = ContextVar("regard_captures", default=())


class _Uncompiled:
    """Compiled models run uncompiled while any capture is open. torch keeps one stance for all threads, so the first
    capture sets it and the last one takes it back; each restoring what it found would leave it wrong."""

    def __init__(self) -> None:
        self._lock, self._stance, self._open = Lock(), ExitStack(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._open == 0 and "torch._dynamo" in sys.modules:  # otherwise nothing is compiled, and it loads slowly
                self._stance.enter_context(torch.compiler.set_stance("force_eager"))
            self._open += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._open -= 1
            if self._open == 0:
                self._stance.close()


_uncompiled = _Uncompiled()


@contextmanager
def capture(model: nn.Module, *, keep: Sequence[str] = ("weights",), edit: Edit | None = None) -> Iterator[Recording]:
    """Records what every attention of `model` does inside the `with`.

    keep: any of KINDS.  edit: may replace any of them on the way.
    A compiled model runs uncompiled meanwhile (a compiled graph has no place to listen); a wrapped one, such as
    DistributedDataParallel, is seen through. Raises NothingRecordedError if no attention was called.
    """
    if unknown := set(keep) - set(KINDS):
        raise ValueError(f"keep has {', '.join(sorted(unknown))}; there is {', '.join(KINDS)}")
    modules = frozenset(id(module) for module in model.modules() if isinstance(module, Attends))
    listener = _Capture(modules, frozenset(keep), edit)
    token = _active.set((*_active.get(), listener))
    try:
        with _uncompiled:
            yield listener.recording
    finally:
        _active.reset(token)
    if not listener.recording.calls and listener.keep:
        raise NothingRecordedError(
            f"capture recorded nothing: {len(modules)} attentions in {type(model).__name__}, none was called inside "
            "the 'with'. Call the model inside it; a model without attention has nothing to record."
        )
