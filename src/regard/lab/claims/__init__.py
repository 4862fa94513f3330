"""Claims of the literature, a file each: question, experiment, figure, number, verdict. `regard lab` runs them.

A file here imports only what any user can. Its CLAIM says what is measured and what must come out, before it does.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from regard.config import nearest
from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.lab.claim import Claim

CLAIMS: tuple[str, ...] = (
    "bottleneck",
    "alignment",
    "meaning",
    "budget",
    "scaling",
    "dot_or_additive",
    "heads",
    "positions",
    "look_ahead",
    "padding",
    "hard",
    "parallel",
    "distance",
    "directions",
    "sentence_vectors",
    "explanation",
    "languages",
)
"""In the order in which the lab tells them; a name is that of the file."""


def find(names: Sequence[str] = ()) -> "list[Claim]":
    """The claims of these names, all of them if none are given; in the order of the table, each once."""
    for name in names:
        if name not in CLAIMS:
            raise ConfigError(f"There is no claim called {name}.", do=nearest(name, CLAIMS))
    return [_claim(name) for name in CLAIMS if not names or name in names]


def _claim(name: str) -> "Claim":
    claim: Claim = import_module(f"regard.lab.claims.{name}").CLAIM
    if claim.name != name:  # its measurements would be kept among those of the other
        raise ConfigError(f"The claim in {name}.py is called {claim.name}.", do=f'write name="{name}" there')
    return claim
