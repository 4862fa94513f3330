"""The parts that models are made of."""

from regard.layers.block import Block, Residual, Shape
from regard.layers.dropout import Dropout, dropout
from regard.layers.embedding import Embedding
from regard.layers.feedforward import ACTIVATIONS, FeedForward
from regard.layers.positions import POSITIONS, sinusoids

__all__ = [
    "ACTIVATIONS",
    "POSITIONS",
    "Block",
    "Dropout",
    "Embedding",
    "FeedForward",
    "Residual",
    "Shape",
    "dropout",
    "sinusoids",
]
