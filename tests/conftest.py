"""What tests of commands share."""

import sys

import pytest

from regard.cli.main import main
from tests.commands import Run


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
