"""What the user is told when something cannot go on.

Every message says what happened, what was found, what was wanted and what to do. The command line prints the message
alone; a traceback is for faults of ours.
"""

from typing import Self


class RegardError(Exception):
    """The parent of every error that a user can cause and mend."""

    def __init__(self, what: str, *, found: str = "", wanted: str = "", do: str = "") -> None:
        self.what, self.found, self.wanted, self.do = what, found, wanted, do
        super().__init__(self._text())

    def at(self, place: str) -> Self:
        """The same, told with the place where it was found, if it has one."""
        what = f"{place}: {self.what}" if place else self.what
        return type(self)(what, found=self.found, wanted=self.wanted, do=self.do)

    def instead(self, do: str) -> Self:
        """The same with other advice."""
        return type(self)(self.what, found=self.found, wanted=self.wanted, do=do)

    def _text(self) -> str:
        lines = [self.what]
        lines += [f"  {label}: {text}" for label, text in (("found", self.found), ("wanted", self.wanted)) if text]
        lines += [f"  do this: {self.do}"] if self.do else []
        return "\n".join(lines)


class DataError(RegardError):
    """A file of text, pairs or labels is not what it should be."""


class ConfigError(RegardError):
    """A setting is unknown, impossible, or contradicts another."""


class BundleError(RegardError):
    """A model directory is missing, incomplete, damaged or of another kind."""


class LimitError(RegardError):
    """An input is longer than the model can take, or a resource is used up."""
