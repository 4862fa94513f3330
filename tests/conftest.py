"""What tests of commands share, and how all tests are shared out."""

import signal
import sys
from threading import current_thread, main_thread
from typing import Any

import pytest

from regard.cli.main import main
from tests import order
from tests.commands import Run


def pytest_configure() -> None:
    """A shell that starts the tests in the background has Ctrl-C ignored, in them and in all that they start; what they
    start is to hear it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and current_thread() is main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: order.place(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> order.Together | None:
    """That of `--dist loadgroup`."""
    config.option.loadscopereorder = False
    return order.Together(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`regard …` in this process."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["regard", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as left:
            code = int(left.code or 0)
        return code, *capsys.readouterr()

    return call
