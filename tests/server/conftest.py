"""One server with a model of each kind, for all tests that leave it as they find it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.serving import (
    Running,
    another,
    served,
    write_classifier,
    write_encoder,
    write_generator,
    write_translator,
)
from tests.threads import one_thread

__all__ = ["one_thread"]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By name."""
    home = tmp_path_factory.mktemp("served")
    translator = write_translator(home, "en-de", ("en", "de"))
    return {
        "en-de": translator,
        "de-zh": another(translator, "de-zh", ("de", "zh")),
        "writer": write_generator(home / "writer"),
        "encoder": write_encoder(home / "encoder"),
        "sorter": write_classifier(home / "sorter"),
    }


@pytest.fixture(scope="session")
def server(models: dict[str, Path]) -> Iterator[Running]:
    with served(*models.values()) as running:
        yield running
