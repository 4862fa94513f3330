"""Which tests run in one process, and which first.

Those of a file share what the file makes; those of server/ and of page/ share a server. What takes longest begins
first, so that no process is left alone with it in the end. (The mark xdist_group, made for the former, has no effect
with pytest 9.2: pytest-xdist issue 1386.)
"""

from pathlib import PurePosixPath

from xdist.scheduler import LoadScopeScheduling

WHOLE = ("tests/server", "tests/page")
"""Directories that share one thing."""
LONG = (
    "tests/page",
    "tests/server",
    "tests/docs/test_pages.py",
    "tests/cli/test_translate.py",
    "tests/training/test_diagnosis.py",
    "tests/training/test_distributed.py",
    "tests/training/test_resume.py",
    "tests/evaluation/test_without_positions.py",
    "tests/models/pretrained/test_minilm.py",
    "tests/models/pretrained/test_marian_search.py",
    "tests/lab/test_compare.py",
    "tests/lab/test_jobs.py",
    "tests/training/test_run.py",
    "tests/cli/test_doctor.py",
    "tests/data/test_corpora.py",
)
"""The longest first."""


def unit(test: str) -> str:
    """What the test is not parted from, by its path and name: a directory, or its file."""
    file = test.partition("::")[0]
    directory = str(PurePosixPath(file).parent)
    return directory if directory in WHOLE else file


def place(test: str) -> int:
    """The lower, the earlier."""
    return LONG.index(unit(test)) if unit(test) in LONG else len(LONG)


class Together(LoadScopeScheduling):
    """Hands whole units to processes, in the order in which the tests stand."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
