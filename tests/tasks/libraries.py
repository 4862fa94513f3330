"""A small translator on disk, and lines for it."""

import random
from functools import partial
from pathlib import Path

from regard import bundle
from regard.tasks.searching import Habits
from regard.tasks.translator import Translator
from tests.tasks.aligners import transformer
from tests.text.corpus import NOUNS, VERBS


def lines(count: int, seed: int = 0) -> list[str]:
    """Sentences of different lengths; some lines are empty, or white space."""
    draw = random.Random(seed)
    return [draw.choice(("", "  ")) if draw.random() < 0.05 else _sentence(draw) for _ in range(count)]


def _sentence(draw: random.Random) -> str:
    nouns, verbs = list(NOUNS), list(VERBS)
    deeds = [f"the {draw.choice(nouns)} {draw.choice(verbs)} a {draw.choice(nouns)}" for _ in range(draw.randint(1, 3))]
    return f"{', '.join(deeds)}.".capitalize()


def small(seed: int = 0, kind: str = "bpe", limit: int | None = None) -> Translator:
    """English to Chinese, of a kind; its weights are chance, and large enough to make lines differ. It hardly ever ends
    before `limit` tokens."""
    made = transformer(kind, seed=seed)
    for parameter in made.model.parameters():
        parameter.data *= 1.6
    return Translator(made.model, made.tokenizers, langs=made.langs, name=made.name, habits=Habits(limit=limit))


brief = partial(small, limit=8)
"""One that is soon done; another process can make it, too."""
"""For other processes."""


def write_bundle(directory: Path, translator: Translator) -> Path:
    """As regard train would leave it, but for the card."""
    directory.mkdir(parents=True, exist_ok=True)
    config = {
        "task": "translation",
        "model": {"name": "transformer", **translator.model.config.model_dump(mode="json")},
        "data": {"langs": list(translator.langs)},
        "tokenizer": {"joint": False},
        "habits": {"limit": translator.habits.limit},
    }
    bundle.write_config(directory, config)
    translator.tokenizers.save(directory)
    bundle.write_weights(directory, dict(translator.model.named_parameters()))
    return directory
