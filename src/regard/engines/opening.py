"""What engines of CTranslate2 share: a converted model, opened when it is first needed, and what is said of torch."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from regard.attention.capture import Attends
from regard.engines.installed import library
from regard.errors import BundleError

Precision = Literal["float32", "int8"]
NAMES: dict[Precision, str] = {"float32": "ctranslate2", "int8": "ctranslate2-int8"}
Say = Callable[[str], None]


@dataclass
class Converted:
    """A model of CTranslate2: `reader` is its class, "Translator". askers: so many threads may ask at a time, and none
    waits for another. together: threads compute one batch together, not a batch each."""

    directory: Path
    reader: str
    precision: Precision
    askers: int = 1
    together: bool = False
    _opened: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self) -> Any:
        """With as many threads for each asker as torch has when it is first called: a process of many has one."""
        with self._lock:
            if self._opened is None:
                threads = torch.get_num_threads()
                inter, intra = (1, threads) if self.together else (threads, 1)
                self._opened = self._read(self.askers * inter, intra)
                torch.set_num_threads(threads)  # CTranslate2 has set its own for all that compute here
            return self._opened

    def _read(self, inter: int, intra: int) -> Any:
        try:
            return getattr(library(), self.reader)(
                str(self.directory),
                device="cpu",
                compute_type=self.precision,
                inter_threads=inter,
                intra_threads=intra,
            )
        except RuntimeError as error:
            raise BundleError(
                f"The converted model in {self.directory} cannot be read.",
                found=str(error)[:200],
                do="delete that directory: it is made again",
            ) from None


def attends(model: nn.Module) -> list[Attends]:
    """The places where a model attends: where one is watched, torch computes, so that there is something to see."""
    return [module for module in model.modules() if isinstance(module, Attends)]


@dataclass
class Aside:
    """Tells what torch does instead, once for each thing."""

    name: str
    say: Say
    _told: set[str] = field(default_factory=set)

    def __call__(self, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self.say(f"{what}: computed by torch, {self.name} cannot")
