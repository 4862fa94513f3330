"""Score → mask → normalise → mix. Imports torch and nothing else of the package."""

from regard.attention.attend import Tap, attend
from regard.attention.capture import Attends, NothingRecordedError, Recording, capture
from regard.attention.masks import both, look_ahead_mask, padding_mask, relation_mask, window_mask
from regard.attention.multihead import KeysValues, MultiHead
from regard.attention.normalise import NORMALISERS, softmax
from regard.attention.scores import SCORES, dot, scaled_dot

__all__ = [
    "NORMALISERS",
    "SCORES",
    "Attends",
    "KeysValues",
    "MultiHead",
    "NothingRecordedError",
    "Recording",
    "Tap",
    "attend",
    "both",
    "capture",
    "dot",
    "look_ahead_mask",
    "padding_mask",
    "relation_mask",
    "scaled_dot",
    "softmax",
    "window_mask",
]
