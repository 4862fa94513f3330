"""One server with a model of each kind, and one browser, for all tests of the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.page.browser import Visit, chromium, strangers, visiting
from tests.page.models import write_models
from tests.server.serving import Running, served
from tests.threads import one_thread

__all__ = ["one_thread"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as (_, found):
        yield found


@pytest.fixture(scope="package")
def shown(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The models, by name; made only if there is a browser to show them."""
    return write_models(tmp_path_factory.mktemp("shown"))


@pytest.fixture(scope="package")
def site(shown: dict[str, Path]) -> Iterator[Running]:
    with served(*shown.values()) as running:
        yield running


@pytest.fixture
def visit(browser: Browser, site: Running) -> Iterator[Visit]:
    """A person at the page. Afterwards: nothing was asked of others, nothing went wrong unseen."""
    with visiting(browser, viewport={"width": 1280, "height": 900}) as found:
        yield found
        assert strangers(found.requests, site.address) == []
        assert found.errors == []
