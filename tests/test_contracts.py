"""What DESIGN.md promises about the source itself."""

import ast
import re
from pathlib import Path

import pytest

import regard
from regard import catalogue

SOURCE = Path(regard.__file__).parent
MODELS = {*catalogue.MODELS, "transformer", "bert", "gpt", "gpt2", "bahdanau", "luong", "rnn", "word2vec", "marian"}


def words_of(code: str) -> set[str]:
    """The words of all names and strings in some code, lower-cased: TransformerConfig gives transformer, config."""
    texts = []
    for node in ast.walk(ast.parse(code)):
        for _, value in ast.iter_fields(node):
            values = value if isinstance(value, list) else [value]
            texts += [text for text in values if isinstance(text, str)]
    pieces = re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*", " ".join(texts))
    return {piece.lower() for piece in pieces} | {piece.lower().rstrip("0123456789") for piece in pieces}


def sources(folder: str) -> list[Path]:
    return sorted((SOURCE / folder).rglob("*.py"))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from regard.models.transformer import State", {"transformer"}),
        ("if isinstance(model, BertModel): pass", {"bert"}),
        ("name = options.get('name', 'gpt2')", {"gpt", "gpt2"}),
        ("is_luong = True", {"luong"}),
        ("def f(*, rnn=None): ...", {"rnn"}),
        ("model.bahdanau.align()", {"bahdanau"}),
        ("print(f'{x} of a GPT')", {"gpt"}),
        ("transformed = liberty + bertha", set()),
    ],
)
def test_a_model_that_is_named_would_be_found(code: str, found: set[str]) -> None:
    assert words_of(code) & MODELS == found


@pytest.mark.parametrize("folder", ["decoding", "training"])
def test_decoding_and_training_name_no_model(folder: str) -> None:
    named = {
        str(path.relative_to(SOURCE)): words_of(path.read_text(encoding="utf-8")) & MODELS for path in sources(folder)
    }
    assert len(named) > 3
    assert {path: models for path, models in named.items() if models} == {}
