"""CTranslate2, which is there only if it was asked for (the extra `fast`)."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from regard.errors import ConfigError

PACKAGE = "ctranslate2"


def is_installed() -> bool:
    """Whether it can be imported; it is not, yet."""
    return find_spec(PACKAGE) is not None


@cache
def library(part: str = "") -> Any:
    """The package, or a part of it such as "specs"."""
    try:
        return import_module(f"{PACKAGE}.{part}" if part else PACKAGE)
    except ImportError as error:
        raise ConfigError(
            "CTranslate2 is not installed.", found=str(error), do="pip install 'regard[fast]', or take --engine torch"
        ) from None
