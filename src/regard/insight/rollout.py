"""Weights seen otherwise: followed through the layers (rollout), or by what they bring (norms).

Rollout (Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3): a layer passes on half of what
it reads by its residual connection, so what a token of layer l has of the tokens of the text is

    R(l) = ½ (A(l) + I) · R(l−1),    R(0) = I,    A the mean of the heads.

Norms (Kobayashi 2020, "Attention is Not Only a Weight"): a weight on a short vector brings little, so a weight counts
by the length of what it multiplies, ‖α v W^O‖.

Neither is an explanation of what a model says; each corrects one way in which raw weights mislead.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Float32

from regard.errors import ConfigError
from regard.insight.trace import Trace, Weights

Square = Float32[np.ndarray, "S S"]


def rollout(trace: Trace) -> Trace:
    """Where all layers together look: each attention has one head. Where a text looks at itself, layer by layer as
    above; where something looks at a text that has looked at itself (cross-attention, pooling), A · R of its last
    layer."""
    through: dict[str, Square] = {}
    found: dict[str, Weights] = {}
    for name, (asks, reads) in trace.axes.items():
        mean = trace.weights_of(name, "mean")
        if asks == reads:
            so_far = through.get(reads, np.eye(mean.shape[1], dtype=np.float32))
            through[reads] = (mean + np.eye(len(mean), dtype=np.float32)) / 2 @ so_far
            found[name] = through[reads][None]
        elif reads in through:
            found[name] = (mean @ through[reads])[None]
        else:
            raise ConfigError(
                f"There is nothing to roll out in {name}: what it reads has not looked at itself.",
                found=f"{asks} looks at {reads}",
                wanted="layers of self-attention over a whole text",
                do="look at the weights themselves",
            )
    return replace(trace, weights=found, meta={**trace.meta, "seen": "rollout"})


def by_norms(trace: Trace, lengths: Mapping[str, Float32[np.ndarray, "H S"]]) -> Trace:
    """What each weight brings, as a share of its row. lengths: for each attention how long a vector a weight of 1 would
    add, by head and place (see `regard.inside.norms`). meta["brings"]: the sum of a row before it was made to be 1, by
    head, on average over the rows: what a share is a share of."""
    found, brings = {}, {}
    for name, weights in trace.weights.items():
        brought = weights * lengths[name][:, None]
        total = brought.sum(axis=2, keepdims=True)
        found[name] = np.divide(brought, total, out=np.zeros_like(brought), where=total > 0)
        brings[name] = [round(float(mean), 6) for mean in total.mean(axis=(1, 2))] if total.size else []
    return replace(trace, weights=found, meta={**trace.meta, "seen": "norms", "brings": brings})
