"""The parts that models are made of."""

from regard.layers.alignment import Align, Memory, fold, sentences_left
from regard.layers.block import Block, Residual, Shape
from regard.layers.dropout import Dropout, dropout
from regard.layers.embedding import Embedding, embeddings
from regard.layers.feedforward import ACTIVATIONS, FeedForward
from regard.layers.output import log_probabilities, output_layer
from regard.layers.pooling import POOLINGS
from regard.layers.positions import POSITIONS, sinusoids
from regard.layers.recurrent import CELLS, Decoder, Encoder, State, backwards

__all__ = [
    "ACTIVATIONS",
    "CELLS",
    "POOLINGS",
    "POSITIONS",
    "Align",
    "Block",
    "Decoder",
    "Dropout",
    "Embedding",
    "Encoder",
    "FeedForward",
    "Memory",
    "Residual",
    "Shape",
    "State",
    "backwards",
    "dropout",
    "embeddings",
    "fold",
    "log_probabilities",
    "output_layer",
    "sentences_left",
    "sinusoids",
]
