"""What the card of a translator says of its languages."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from regard.data.corpora import sentences
from regard.tasks import translation
from regard.text.detection import detect, profile
from regard.training.start import prepare
from tests.runs import Silent, tiny_tree

PAIRS = [(pair.source, pair.target) for pair in islice(sentences(1), 400)]
HELD_OUT = [(pair.source, pair.target) for pair in islice(sentences(2), 100)]


def card(directory: Path, langs: tuple[str, str] = ("en", "zh")) -> dict[str, Any]:
    """That of a run which has not begun."""
    tree = tiny_tree(directory)
    (directory / "train.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    tree["data"]["langs"] = list(langs)
    tree["tokenizer"] = {"kind": "bpe", "size": 600}
    tree["model"]["limit"] = tree["batch"]["tokens"] = 400
    told: dict[str, Any] = prepare(tree, directory / "out", Silent()).task.card()
    return told


def test_it_knows_each_language_by_its_letters(tmp_path: Path) -> None:
    told = card(tmp_path)["language_profile"]
    assert told == {"en": profile(source for source, _ in PAIRS), "zh": profile(target for _, target in PAIRS)}
    for english, chinese in HELD_OUT:
        assert detect(english, told)[0][0] == "en"
        assert detect(chinese, told)[0][0] == "zh"


def test_it_is_always_the_same(tmp_path: Path) -> None:
    once, again = card(tmp_path), card(tmp_path)
    assert [list(one.items()) for one in once["language_profile"].values()] == [
        list(one.items()) for one in again["language_profile"].values()
    ]


def test_of_many_pairs_some_are_looked_at_evenly_spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "PROFILED", 4)
    some = [PAIRS[number] for number in (0, 133, 266, 399)]
    assert card(tmp_path)["language_profile"]["zh"] == profile(target for _, target in some)


def test_languages_without_a_name_are_not_told_apart(tmp_path: Path) -> None:
    assert "language_profile" not in card(tmp_path, ("", ""))
