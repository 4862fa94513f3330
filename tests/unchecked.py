"""In a test every call checks the shapes of what it is given, which makes a training half as slow again. One that only
makes something to look at, with a model whose shapes other tests check, goes without."""

from collections.abc import Iterator
from contextlib import contextmanager

from jaxtyping import config


@contextmanager
def unchecked() -> Iterator[None]:
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        config.update("jaxtyping_disable", before)
