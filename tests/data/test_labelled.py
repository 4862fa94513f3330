"""Texts with labels, from tables."""

import json
from pathlib import Path

import pytest

from regard.data import labelled
from regard.data.labelled import read_labelled
from regard.errors import DataError

ONE = [("a good film", "good"), ("a bad film", "bad")]
TWO = [("a cat", "an animal", "follows"), ("a cat", "a car", "not")]

BOTH = (labelled.TWO, labelled.ONE)


def written(path: Path, rows: list[tuple[str, ...]], header: tuple[str, ...] = ()) -> str:
    names = header or (("text", "label") if len(rows[0]) == 2 else ("text", "second", "label"))
    lines = {
        ".tsv": ["\t".join(row) for row in rows],
        ".csv": [",".join(names), *(",".join(row) for row in rows)],
        ".jsonl": [json.dumps(dict(zip(names, row, strict=True))) for row in rows],
    }[path.suffix]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl"])
@pytest.mark.parametrize("rows", [ONE, TWO])
def test_the_first_row_tells_whether_there_are_one_or_two_texts(
    tmp_path: Path, suffix: str, rows: list[tuple[str, ...]]
) -> None:
    read = read_labelled([written(tmp_path / f"a{suffix}", rows)], *BOTH)
    assert [(*texts, label) for texts, label in zip(read.texts, read.labels, strict=True)] == rows
    assert read.sides == len(rows[0]) - 1
    assert read.places[1].endswith(f"a{suffix}, line {3 if suffix == '.csv' else 2}")


def test_the_names_of_others_are_understood(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", TWO, ("sentence1", "sentence2", "label"))
    assert read_labelled([path], *BOTH).texts[0] == ("a cat", "an animal")


def test_several_files_are_one_after_the_other(tmp_path: Path) -> None:
    paths = [written(tmp_path / "a.tsv", ONE), written(tmp_path / "b.jsonl", ONE)]
    assert read_labelled(paths, *BOTH).labels == ("good", "bad", "good", "bad")
    assert read_labelled(paths, *BOTH).fingerprint != read_labelled(paths[:1], *BOTH).fingerprint


def test_pairs_with_one_column_and_rows_of_another_width_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"(?s)wrong number of columns.*2 columns.*3 columns"):
        read_labelled([written(tmp_path / "a.tsv", ONE)], labelled.TWO)
    (tmp_path / "b.tsv").write_text("a\tx\nb\tc\ty\n")
    with pytest.raises(DataError, match=r"(?s)b\.tsv.*line 2.*3 columns"):
        read_labelled([str(tmp_path / "b.tsv")], *BOTH)
    (tmp_path / "c.tsv").write_text("only a text\n")
    with pytest.raises(DataError, match=r"(?s)c\.tsv.*line 1.*1 column.*2 columns"):
        read_labelled([str(tmp_path / "c.tsv")], *BOTH)
    (tmp_path / "d.tsv").write_text("a\t \n")
    with pytest.raises(DataError, match="empty label"):
        read_labelled([str(tmp_path / "d.tsv")], *BOTH)
    (tmp_path / "e.txt").write_text("a\n")
    with pytest.raises(DataError, match="cannot be read as a table"):
        read_labelled([str(tmp_path / "e.txt")], *BOTH)


def test_scores_stand_in_the_last_column(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tb\t4.2\n")
    assert read_labelled([str(tmp_path / "a.tsv")], labelled.SCORED, labelled.PAIRED).labels == ("4.2",)
    (tmp_path / "b.tsv").write_text("a\tb\n")
    pairs = read_labelled([str(tmp_path / "b.tsv")], labelled.SCORED, labelled.PAIRED)
    assert (pairs.texts, pairs.labels, pairs.sides) == ((("a",),), ("b",), 1)


@pytest.mark.parametrize(
    ("tables", "wanted"),
    [
        (BOTH, "rows of text, second, label; or of text, label"),
        ((labelled.ONE,), "rows of text, label"),
        ((labelled.SCORED,), "rows of text, second, score"),
    ],
)
def test_what_an_empty_file_should_hold_is_told(
    tmp_path: Path, tables: tuple[labelled.Table, ...], wanted: str
) -> None:
    (tmp_path / "a.tsv").write_text("\n")
    with pytest.raises(DataError, match=f"is empty(.|\n)*wanted: {wanted}\n"):
        read_labelled([str(tmp_path / "a.tsv")], *tables)
