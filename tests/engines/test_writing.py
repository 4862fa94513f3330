"""What CTranslate2 writes is what torch writes."""

from pathlib import Path
from typing import Any

import pytest

from regard import engines
from regard.tasks.generator import Generator
from tests.tasks.generators import LIMIT, pair

PROMPTS = ["The cat", "", "a river and", "猫 is", "the"]


@pytest.fixture
def generator() -> Generator:
    """Random, in single precision; the model has rows that no token has."""
    _, found = pair(3, rows=5)
    found.model.float()
    return found


@pytest.mark.parametrize(
    "how",
    [
        {"temperature": 0.0, "max_new_tokens": 30},
        {"beam": 1, "max_new_tokens": 30},
        {"beam": 3, "num": 2, "max_new_tokens": 30},
    ],
    ids=str,
)
def test_texts_are_those_of_torch(how: dict[str, Any], generator: Generator, tmp_path: Path) -> None:
    said: list[str] = []
    ours = generator.generate(PROMPTS, **how)
    fast = engines.use(generator, "ctranslate2", place=tmp_path, say=said.append)
    found = fast.generate(PROMPTS, **how)
    assert [[one.tokens for one in some] for some in found] == [[one.tokens for one in some] for some in ours]
    assert [[(one.text, one.ending) for one in some] for some in found] == [
        [(one.text, one.ending) for one in some] for some in ours
    ]
    for mine, other in zip(ours, found, strict=True):
        assert [one.log_prob for one in other] == [pytest.approx(one.log_prob, abs=2e-2) for one in mine]
    assert said == []
    assert len({one.tokens for some in found for one in some}) > 3


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"temperature": 0.8, "seed": 3}, "what is drawn"),
        ({"temperature": 0.0, "repetition_penalty": 1.2}, "--repetition-penalty"),
        ({"temperature": 0.0, "stop": "e"}, "--stop"),
        ({"temperature": 0.0, "alternatives": 2}, "--explain"),
        ({"temperature": 0.0, "max_new_tokens": LIMIT + 1}, "a text longer than the model can look at"),
    ],
    ids=str,
)
def test_what_it_cannot_do_torch_does_and_that_is_said_once(
    how: dict[str, Any], told: str, generator: Generator, tmp_path: Path
) -> None:
    said: list[str] = []
    wanted = generator.generate(PROMPTS, **how)
    fast = engines.use(generator, "ctranslate2", place=tmp_path, say=said.append)
    for _ in range(2):
        assert fast.generate(PROMPTS, **how) == wanted
    assert said == [f"{told}: computed by torch, ctranslate2 cannot"]


def test_attention_goes_to_torch(generator: Generator, tmp_path: Path) -> None:
    said: list[str] = []
    fast = engines.use(generator, "ctranslate2", place=tmp_path, say=said.append)
    fast.attention("The cat")
    assert said == ["attention: computed by torch, ctranslate2 cannot"]


def test_torch_is_taken_back(generator: Generator, tmp_path: Path) -> None:
    assert engines.use(engines.use(generator, "ctranslate2", place=tmp_path), "torch").engine is None
