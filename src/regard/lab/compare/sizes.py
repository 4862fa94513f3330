"""Equal numbers of parameters: every width of a model grows or shrinks together until they fit."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from regard import bundle
from regard.config import Tree, merge
from regard.errors import ConfigError
from regard.training.settings import resolve
from regard.training.start import parameters

WIDTHS = ("width", "hidden", "embedding", "alignment", "readout")
STEPS = (16, 4)
"""Widths are multiples of these: processors and heads like them. The finer one is for small models."""
TOLERANCE = 0.1


def count(tree: Tree, vocabulary: Mapping[str, Any]) -> int:
    """The parameters of the model that these settings mean; nothing is computed or kept."""
    with torch.device("meta"):
        return parameters(bundle.build_model(resolve(tree).tree(), vocabulary))


def fit(tree: Tree, wanted: int, vocabulary: Mapping[str, Any]) -> Tree:
    """The same settings with the widths at which the number of parameters is nearest to what is wanted."""
    best, found = tree, count(tree, vocabulary)
    for step in STEPS:
        for candidate in _wider(tree, step):
            try:
                size = count(candidate, vocabulary)
            except ConfigError:  # not every width can be shared by the heads
                continue
            if abs(size - wanted) < abs(found - wanted):
                best, found = candidate, size
            if size > 2 * wanted:
                break
        if abs(found - wanted) <= TOLERANCE * wanted:
            return best
    raise ConfigError(
        f"The model {tree['model']['name']} cannot be given {wanted:,} parameters.",
        found=f"{found:,} at best",
        wanted=f"a number within {TOLERANCE:.0%}",
        do="choose another --parameters, another preset, or a smaller tokenizer.size",
    )


def _wider(tree: Tree, step: int) -> Iterator[Tree]:
    """The settings with all widths in proportion, from the narrowest up."""
    model = resolve(tree).model.model_dump()
    for width in range(step, 16 * model["width"], step):
        share = width / model["width"]
        yield merge(
            tree,
            {"model": {key: max(step, round(model[key] * share / step) * step) for key in WIDTHS if model.get(key)}},
        )
