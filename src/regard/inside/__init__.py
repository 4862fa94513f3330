"""Inside a loaded model: how it came to each weight, word by word and step by step, in its own numbers."""

from regard.inside.flow import Flow, flow
from regard.inside.masks import Mask, masks
from regard.inside.positions import Positions, positions
from regard.inside.scene import trace
from regard.inside.workings import Workings, workings

__all__ = ["Flow", "Mask", "Positions", "Workings", "flow", "masks", "positions", "trace", "workings"]
