"""Inside a loaded model: how it came to each weight, word by word and step by step, in its own numbers."""

from regard.inside.beams import Tree, beams
from regard.inside.courses import How
from regard.inside.flow import Flow, flow
from regard.inside.following import following
from regard.inside.masks import Masks, masks
from regard.inside.norms import norms
from regard.inside.positions import Positions, positions
from regard.inside.scene import trace
from regard.inside.timeline import Timeline, timeline
from regard.inside.workings import Workings, workings

__all__ = [
    "Flow",
    "How",
    "Masks",
    "Positions",
    "Timeline",
    "Tree",
    "Workings",
    "beams",
    "flow",
    "following",
    "masks",
    "norms",
    "positions",
    "timeline",
    "trace",
    "workings",
]
