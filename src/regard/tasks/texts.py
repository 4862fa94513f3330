"""Tasks on single texts: their files, and their one tokenizer."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from regard.config import Tree
from regard.sections import Section
from regard.text import Tokenizer, TokenizerConfig

Place = Callable[[int], str]
"""What a text is called in a message, by its number from 0."""


def numbered(row: int) -> str:
    """The place of a text in a list."""
    return f"Text {row + 1}"


class TextFiles(Section):
    """Where the text is: one file or several of each."""

    train: tuple[str, ...] = Field((), description="files to learn from")
    val: tuple[str, ...] = Field((), description="files that choose the best model")
    test: tuple[str, ...] = Field((), description="files that are scored once at the end")
    language: str = Field("", description="code of the language")


class WordPieceConfig(TokenizerConfig):
    """How text becomes tokens: as BERT does it, if nothing else is said."""

    kind: Literal["bpe", "byte-bpe", "unigram", "wordpiece", "word", "character"] = Field(
        "wordpiece", description="how text is cut into tokens"
    )
    lowercase: bool = Field(True, description="capitals are not told apart")

    @model_validator(mode="before")
    @classmethod
    def _only_wordpiece_lowers(cls, values: Any) -> Any:
        other = isinstance(values, dict) and values.get("kind", "wordpiece") != "wordpiece"
        return {"lowercase": False, **values} if other else values


@dataclass(frozen=True)
class OneTokenizer:
    """The tokenizer of a task that reads one language."""

    tokenizer: Tokenizer

    def save(self, directory: Path) -> None:
        self.tokenizer.save(directory / "tokenizer.json")

    def model_sizes(self) -> dict[str, Any]:
        """What a model must know of the text."""
        return {"vocabulary": len(self.tokenizer)}

    @classmethod
    def load(cls, directory: Path, config: Tree) -> "OneTokenizer":
        return cls(Tokenizer.load(directory / "tokenizer.json"))
