"""Score → mask → normalise → mix. Imports torch and nothing else of the package."""

from regard.attention.attend import Tap, attend, per_hypothesis
from regard.attention.capture import Attends, NothingRecordedError, Recording, capture
from regard.attention.masks import both, look_ahead_mask, padding_mask, relation_mask, window_mask
from regard.attention.multihead import Extend, KeysValues, MultiHead
from regard.attention.normalise import NORMALISERS, Normaliser, hard, softmax
from regard.attention.scores import SCORES, Additive, Dot, General, Location, ScaledDot, Score, dot, scaled_dot

__all__ = [
    "NORMALISERS",
    "SCORES",
    "Additive",
    "Attends",
    "Dot",
    "Extend",
    "General",
    "KeysValues",
    "Location",
    "MultiHead",
    "Normaliser",
    "NothingRecordedError",
    "Recording",
    "ScaledDot",
    "Score",
    "Tap",
    "attend",
    "both",
    "capture",
    "dot",
    "hard",
    "look_ahead_mask",
    "padding_mask",
    "per_hypothesis",
    "relation_mask",
    "scaled_dot",
    "softmax",
    "window_mask",
]
