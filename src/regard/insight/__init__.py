"""What a model looked at: traces, and pictures of them. Imports no tensor library, and matplotlib only to draw."""

from regard.insight.coloured import draw_coloured
from regard.insight.contexts import Contexts, draw_contexts
from regard.insight.fonts import MissingFontError, font_for
from regard.insight.heatmap import alignment, draw, draw_confusion, positions
from regard.insight.map import draw_map
from regard.insight.neighbours import Neighbourhood, draw_neighbourhood
from regard.insight.parts import Coloured, Part
from regard.insight.pictures import picture_of
from regard.insight.rollout import by_norms, rollout
from regard.insight.tags import Tags, tags
from regard.insight.tokens import Token, TokenRow
from regard.insight.trace import Trace

__all__ = [
    "Coloured",
    "Contexts",
    "MissingFontError",
    "Neighbourhood",
    "Part",
    "Tags",
    "Token",
    "TokenRow",
    "Trace",
    "alignment",
    "by_norms",
    "draw",
    "draw_coloured",
    "draw_confusion",
    "draw_contexts",
    "draw_map",
    "draw_neighbourhood",
    "font_for",
    "picture_of",
    "positions",
    "rollout",
    "tags",
]
