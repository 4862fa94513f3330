"""One small trace that the tests share: a bank by the river, read in two layers of three heads."""

import numpy as np

from regard.insight import TokenRow, Trace

SOURCE = TokenRow.from_offsets(
    "the river bank.", [(0, 3), (3, 9), (9, 12), (12, 14), (14, 15), (0, 0)], specials={5: "</s>"}, language="en"
)
PIECES = [(0, 2), (2, 3), (3, 4)]  # 河岸 is one piece
TARGET = TokenRow.from_offsets("河岸边。", [(0, 0), *PIECES], specials={0: "<s>"}, language="zh")
PREDICTION = TokenRow.from_offsets("河岸边。", [*PIECES, (0, 0)], specials={3: "</s>"}, language="zh")
ROWS = {"source": SOURCE, "target": TARGET, "prediction": PREDICTION}
KINDS = {
    "encoder.{}.self": ("source", "source"),
    "decoder.{}.self": ("target", "target"),
    "decoder.{}.cross": ("prediction", "source"),
}


def softmax(seed: int, *shape: int) -> np.ndarray:
    scores = np.exp(2 * np.random.default_rng(seed).normal(size=shape))
    return (scores / scores.sum(axis=-1, keepdims=True)).astype(np.float32)


def example(heads: int = 3, layers: int = 2) -> Trace:
    axes = {name.format(layer): pair for name, pair in KINDS.items() for layer in range(layers)}
    weights = {
        name: softmax(seed, heads, len(ROWS[asks]), len(ROWS[reads]))
        for seed, (name, (asks, reads)) in enumerate(axes.items())
    }
    return Trace(ROWS, weights, axes, {"model": "demo", "score": 0.5})
