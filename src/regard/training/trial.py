"""A few updates on a copy of the model, to learn how long they take."""

import copy
import time
from typing import Any

from torch import nn

from regard.training.distributed import World
from regard.training.loop import learner, steps
from regard.training.settings import RunConfig

WARM_UP, FIRST, MOST = 3, 5, 2000


def seconds_an_update(model: nn.Module, task: Any, config: RunConfig, world: World, *, within: float) -> float:
    """Measured over at least a handful of updates, for about so many seconds. All processes do the same number."""
    endless = config.training.model_copy(update={"updates": 10**9})
    made = steps(learner(copy.deepcopy(model), config.training), task, endless, seed=config.seed, world=world)
    for _ in range(WARM_UP):
        next(made)
    began, count = time.perf_counter(), FIRST
    for _ in range(FIRST):
        next(made)
    each = (time.perf_counter() - began) / FIRST
    more = world.told(lambda: min(MOST, max(0, int(within / each) - FIRST)))
    for _ in range(more):
        next(made)
    count += more
    took = (time.perf_counter() - began) / count
    return world.told(lambda: took)
