"""When, where and with what something was measured."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from regard import bundle
from regard.config import Tree
from regard.training.launch import cores


def present() -> Tree:
    """Now, here, with this."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"date": now, "cores": cores(), "versions": bundle.versions(), "commit": commit()}


def sound(told: Any) -> TypeGuard[Tree]:
    """Whether this is what `present` gives."""
    return isinstance(told, dict) and {"date", "cores", "versions", "commit"} <= told.keys()


def commit(package: Path = Path(__file__).parents[1]) -> str | None:
    """The last commit of the checkout that a package lies in, as src/regard in ours; None if it lies in none. What was
    changed since is not told."""
    git = package.parents[1] / ".git"
    if git.is_file():  # a worktree: the file names the directory
        git = git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    file = git / "logs" / "HEAD"
    moves = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []
    return moves[-1].split()[1] if moves else None  # each move: old commit, new commit, who, when, what
