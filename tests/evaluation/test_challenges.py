"""Pairs that differ in one thing."""

import json
from pathlib import Path

import numpy as np
import pytest

from regard.errors import DataError
from regard.evaluation.challenges import (
    Challenge,
    Side,
    clue_head,
    clues,
    read_challenges,
    score_challenges,
    write_challenges,
)
from regard.insight import TokenRow, Trace

RIVER = Side(source="He rowed a boat to the bank.", target="他划船去了河岸。", key="河岸")
MONEY = Side(source="He drove a car to the bank.", target="他开车去了银行。", key="银行")
BANK = Challenge(phenomenon="bank", word="bank", first=RIVER, second=MONEY)


@pytest.mark.parametrize(
    ("outputs", "exact", "key"),
    [
        ((RIVER.target, MONEY.target), 1, 1),
        (("他划船去河岸。", MONEY.target), 0, 1),  # the sense is right, the sentence is not
        ((RIVER.target, RIVER.target), 0, 0),
        ((RIVER.target, "他开车去了银行和河岸。"), 0, 0),  # both keys: it did not decide
        ((MONEY.target, RIVER.target), 0, 0),
    ],
)
def test_a_pair_counts_only_if_both_are_right(outputs: tuple[str, str], exact: float, key: float) -> None:
    assert score_challenges([BANK], [outputs]) == {"bank": {"pairs": 1, "exact": exact, "key": key}}


def test_each_phenomenon_has_its_own_score() -> None:
    other = BANK.model_copy(update={"phenomenon": "other"})
    right, wrong = (RIVER.target, MONEY.target), (RIVER.target, "")
    figures = score_challenges([BANK, BANK, other], [right, wrong, right])
    assert figures["bank"] == {"pairs": 2, "exact": 0.5, "key": 0.5}
    assert figures["other"]["exact"] == 1


def test_challenges_are_read_as_they_were_written(tmp_path: Path) -> None:
    write_challenges(tmp_path / "c.jsonl", [BANK, BANK])
    assert read_challenges(tmp_path / "c.jsonl") == [BANK, BANK]


@pytest.mark.parametrize("line", ["{", "[]", "3", '{"phenomenon": "x"}', json.dumps({"frist": 1})])
def test_a_line_that_is_no_challenge_is_named(tmp_path: Path, line: str) -> None:
    write_challenges(tmp_path / "c.jsonl", [BANK])
    with (tmp_path / "c.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(DataError, match="line 2"):
        read_challenges(tmp_path / "c.jsonl")


def test_an_empty_file_holds_no_challenge(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text("")
    with pytest.raises(DataError, match="no challenge"):
        read_challenges(tmp_path / "c.jsonl")


def test_the_clues_are_the_words_by_which_the_sentences_differ() -> None:
    assert clues(BANK) == ({"rowed", "boat"}, {"drove", "car"})


def test_the_head_that_looks_from_the_word_to_its_clue_is_found() -> None:
    row = TokenRow.of(("He", "rowed", "to", "the", "bank"), "en")
    weights = np.full((3, 5, 5), 0.2, dtype=np.float32)
    weights[1, 4] = (0, 0.9, 0, 0, 0.1)
    even = np.full((3, 5, 5), 0.2, dtype=np.float32)
    trace = Trace(
        {"source": row},
        {"encoder.0.self": even, "encoder.1.self": weights},
        {"encoder.0.self": ("source", "source"), "encoder.1.self": ("source", "source")},
    )
    found = clue_head([trace, trace], [("bank", {"rowed"}), ("bank", {"rowed"})])
    assert (found.name, found.head) == ("encoder.1.self", 1)
    assert found.weight == pytest.approx(0.9)
