"""Somebody who follows the pages: types every command and runs every snippet, in order, in one directory."""

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from tests.docs.blocks import ROOT, Block, blocks

SECONDS = 7200
AGAIN = """
import contextlib, io, sys
with contextlib.redirect_stdout(io.StringIO()):
    exec(sys.argv[1])
exec(sys.argv[2])
"""
"""What a page has defined before is still there, but says nothing again."""
LINES = re.compile(r"(?<=-n )(\+?)(\d+)")
"""How many lines `head` and `tail` give."""
Shorten = Callable[[list[str]], list[str]]
"""The words of a `regard` command, as they are to be run."""


def follow(pages: Sequence[str], run: Callable[[Block], str], *, soak: bool) -> int:
    """Runs what the pages show; output that a page promises must come. Gives the number of blocks that were run; all
    that went wrong is told at once."""
    count, wrong = 0, []
    for page in pages:
        said = ""
        for block in blocks(page):
            if block.language == "text" and said.strip() != block.text.strip():
                wrong.append(f"{block.place} promises another output than\n{said}")
            elif block.language in ("sh", "python") and (not block.when or (soak and block.when == "soak")):
                try:
                    said, count = run(block), count + 1
                except Exception as error:
                    wrong.append(f"{block.place}: {str(error) or repr(error)}")
    assert not wrong, "\n\n".join(wrong)
    return count


class Shell:
    """A terminal, as a newcomer has it: each block is given to bash or Python as it stands."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.before: dict[str, str] = {}

    def run(self, block: Block) -> str:
        if block.language == "python":
            before = self.before.get(block.page, "")
            self.before[block.page] = before + block.text
            return self._call([sys.executable, "-c", AGAIN, before, block.text], block)
        return self._call(["bash", "-e", "-o", "pipefail", "-c", block.text], block)

    def _call(self, command: list[str], block: Block) -> str:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"}
        with (
            TemporaryFile("w+") as out,
            TemporaryFile("w+") as err,
            subprocess.Popen(
                command, cwd=self.directory, env=environment, stdout=out, stderr=err, start_new_session=True
            ) as process,
        ):
            try:
                code = process.wait(SECONDS)
            finally:
                _end(process.pid)
            said, complaints = _read(out), _read(err)
        assert code == 0, f"{block.text}\n{said}\n{complaints}"
        return said


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def _end(group: int) -> None:
    """Nothing that a block has started outlives it, such as a server."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


class Hurried:
    """The same in one process, with little training and a tenth of the lines, so that it takes seconds: what is wrong
    with a command, a name or a file is found all the same."""

    def __init__(self, regard: Callable[..., tuple[int, str, str]], shorten: Shorten, shell: Shell) -> None:
        self.regard, self.shorten, self.shell = regard, shorten, shell
        self.names: dict[str, dict[str, Any]] = {}

    def run(self, block: Block) -> str:
        if block.language == "python":
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(block.text, block.place, "exec"), self.names.setdefault(block.page, {}))
            return said.getvalue()
        if "regard serve" in block.text:  # its lines belong together
            return self.shell.run(block)
        return "".join(self._line(line, block) for line in _commands(block.text))

    def _line(self, line: str, block: Block) -> str:
        if not line.startswith("regard "):
            return self.shell.run(Block(block.page, block.line, "sh", LINES.sub(_tenth, line)))
        code, out, err = self.regard(*self.shorten(shlex.split(line, comments=True)[1:]))
        assert code == 0, f"{line}\n{out}\n{err}"
        return out


def _tenth(match: re.Match[str]) -> str:
    """A tenth of so many lines; behind a plus, the line to begin with."""
    plus, count = match.groups()
    return f"{plus}{(int(count) - bool(plus)) // 10 + bool(plus)}"


def _commands(text: str) -> list[str]:
    """One a line, but for what `cat` is given up to END."""
    joined: list[str] = []
    inside = False
    for line in text.replace("\\\n", " ").splitlines():
        if inside:
            joined[-1] += f"\n{line}"
            inside = line != "END"
        elif line.strip() and not line.startswith("#"):
            joined.append(line)
            inside = "<<'END'" in line
    return joined
