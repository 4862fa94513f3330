"""The vectors that tell a model where a word stands."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32

from regard.errors import ConfigError, LimitError
from regard.layers.positions import Absent, Learned, Sinusoidal

KINDS = (Sinusoidal, Learned, Absent)


@dataclass(frozen=True, eq=False)
class Positions:
    """`kind`: "sinusoidal", "halves" (the same waves, all sines first), "learned" or "none"; a row for each place."""

    kind: str
    limit: int
    numbers: Float32[np.ndarray, "length D"]


@torch.inference_mode()
def positions(model: Any, length: int | None = None) -> Positions:
    """What any loaded model adds to the words at the first places; at all of them, if no length is given."""
    network = model.model
    held: Any = next((part for part in network.modules() if isinstance(part, KINDS)), None)
    if held is None:
        raise ConfigError(
            f"{model.name or 'This model'} has no positions: a recurrent network reads one word after the other.",
            do="take a transformer, bert or gpt2",
        )
    limit = int(model.limit)
    length = limit if length is None else length
    if not 1 <= length <= limit:
        raise LimitError(f"There are no {length} positions.", wanted=f"1 to {limit}")
    rows = held(0, length).expand(length, -1)
    kind = getattr(network.config, "positions", "learned")
    return Positions(kind, limit, rows.float().cpu().numpy())
