"""regard: train, run and see attention models on your own text and machine."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.attention import attend as attend
    from regard.attention import capture as capture
    from regard.bundle import load as load
    from regard.errors import RegardError as RegardError
    from regard.insight import Trace as Trace

_HOMES = {
    "RegardError": "regard.errors",
    "Trace": "regard.insight",
    "attend": "regard.attention",
    "capture": "regard.attention",
    "load": "regard.bundle",
}
"""Where each public name lives; imported when first used, so that `import regard` is instant."""

__all__ = ["RegardError", "Trace", "__version__", "attend", "capture", "load"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'regard' has no attribute {name!r}")
