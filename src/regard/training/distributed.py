"""Several processes that train one model: each takes its share of every batch, and all make the same update.

torchrun starts them, on one machine or on several, and tells each its rank; without it a run is alone in its world.
"""

import os
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar
from uuid import uuid4

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import PrefixStore  # type: ignore[attr-defined]
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel

from regard.data.batches import Share
from regard.errors import LimitError

T = TypeVar("T")
PATIENCE = timedelta(days=1)
"""How long the others wait while the first process validates and writes."""


@dataclass(frozen=True)
class World:
    """Who takes part: `rank` is this process, `size` how many there are, `local` its number on this machine."""

    rank: int = 0
    size: int = 1
    local: int = 0
    device: str = "cpu"

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes and speaks."""
        return self.rank == 0

    def shares(self, parts: int) -> list[Share]:
        """What this process computes of each batch, one part after the other."""
        return [Share(self.rank + self.size * part, self.size * parts) for part in range(parts)]

    def wrapped(self, module: nn.Module) -> nn.Module:
        """The module, its gradients averaged over all processes on the way back."""
        if self.size == 1:
            return module
        places = [self.device] if self.device.startswith("cuda") else None
        with warnings.catch_warnings():  # newer torch calls it forward_sync_buffers, older ones only this
            warnings.simplefilter("ignore", FutureWarning)
            return DistributedDataParallel(
                module, device_ids=places, broadcast_buffers=False, gradient_as_bucket_view=True
            )

    def held_back(self, module: nn.Module) -> AbstractContextManager[None]:
        """Inside this `with` gradients stay here: more parts are to come."""
        return module.no_sync() if isinstance(module, DistributedDataParallel) else nullcontext()

    def summed(self, numbers: Mapping[str, float]) -> dict[str, float]:
        """Each number summed over all processes. All call it, with the same keys."""
        if self.size == 1:
            return dict(numbers)
        tensor = torch.tensor(list(numbers.values()), dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor)
        return dict(zip(numbers, tensor.tolist(), strict=True))

    def told(self, make: Callable[[], T]) -> T:
        """What the first process makes; all get it, or fail with the same error."""
        if self.size == 1:
            return make()
        box: list[Any] = [None, None]
        if self.leads:
            try:
                box[0] = make()
            except Exception as error:
                box[1] = error
        dist.broadcast_object_list(box, src=0, device=torch.device(self.device))
        if box[1] is not None:
            raise box[1]
        made: T = box[0]
        return made

    def in_turn(self, make: Callable[[], T]) -> T:
        """What each process makes, the first one on a machine before the others: they find what it has left on disk."""
        if self.size == 1:
            return make()
        made: list[T] = []
        failed = None
        if self.local == 0:
            try:
                made.append(make())
            except Exception as error:
                failed = error
        lost = self.summed({"failed": float(failed is not None)})["failed"]
        if failed is not None:
            raise failed
        if lost:
            raise LimitError("Another process of this training could not begin.", do="see what it says")
        return made[0] if made else make()


ALONE = World()


def join(device: str) -> World:
    """The world that torchrun made for this process; alone where there is none. device: cpu, cuda, …"""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or "RANK" not in os.environ:
        return World(device=device)
    rank, size, local = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    if device == "cuda":
        device = f"cuda:{local}"
        torch.cuda.set_device(local)
    if not dist.is_initialized():
        options: dict[str, Any] = {"device_id": torch.device(device)} if device.startswith("cuda") else {}
        store, *_ = next(iter(rendezvous("env://", rank, size, timeout=PATIENCE)))
        ours = PrefixStore(_meeting(store, rank, size), store)
        backend = "nccl" if options else "gloo"
        dist.init_process_group(backend, store=ours, rank=rank, world_size=size, timeout=PATIENCE, **options)
    return World(rank, size, local, device)


def _meeting(store: dist.Store, rank: int, size: int) -> str:
    """A name for this meeting that all processes of this attempt share, and none of an earlier one.

    torchrun keeps its store when it starts lost workers again, with the addresses of the dead still in it: who reads
    them waits for ever. So the first process makes up a name, and the others believe in one only when their own secret
    comes back under it.
    """
    secret = uuid4().hex
    if rank == 0:
        store.set("meeting", secret)
        for other in range(1, size):
            store.set(f"{secret}/seen/{other}", store.get(f"{secret}/here/{other}"))
        return secret
    while True:
        name: str = store.get("meeting").decode()
        store.set(f"{name}/here/{rank}", secret)
        answer = f"{name}/seen/{rank}"
        if store.check([answer]) and store.get(answer).decode() == secret:
            return name
        time.sleep(0.05)


def leave() -> None:
    """Takes leave of the others, if there are any."""
    if dist.is_initialized():
        dist.destroy_process_group()


def restarted() -> bool:
    """Whether torchrun has started this process again after one of them was lost."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0
