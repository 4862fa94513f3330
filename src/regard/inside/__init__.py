"""Inside a loaded model: how it came to each weight, word by word and step by step, in its own numbers."""

from regard.inside.scene import trace
from regard.inside.workings import Workings, workings

__all__ = ["Workings", "trace", "workings"]
