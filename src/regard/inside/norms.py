"""Weights by what they bring: what the vectors are long that they multiply."""

from typing import Any

import torch

from regard.inside.scene import attention_of, scene
from regard.inside.workings import reach_of
from regard.insight import Trace, by_norms


@torch.inference_mode()
def norms(model: Any, text: str, second: str | None = None, *, generate: int = 0) -> Trace:
    """Where any loaded model looks, each weight counted by the length of the vector that it adds to the sum of the
    heads (Kobayashi 2020), in a recurrent model to the context; shares of a row sum to 1."""
    seen = scene(model, text, second, generate=generate, keep=("values",))
    lengths = {}
    for name in seen.trace.names:
        values = seen.recording.last(name, "values")
        lengths[name] = reach_of(attention_of(model, name), values)[0].float().cpu().numpy()
    return by_norms(seen.trace, lengths)
