"""Faults that are planted are found, at their place; healthy data has none."""

import gzip
from pathlib import Path

import pytest

from regard.doctor import Problem, check_data
from regard.errors import DataError
from regard.tasks.pairs import PairFiles
from tests.doctor.corpora import healthy, held_out, only, shared, table, text


def checked(tmp_path: Path, pairs: list[tuple[str, str]], **others: object) -> list[Problem]:
    return check_data(PairFiles(train=(table(tmp_path / "train.tsv", pairs),), langs=("en", "zh"), **others))  # type: ignore[arg-type]


def lines(problem: Problem) -> list[int]:
    return [example.line for example in problem.examples]


def test_the_built_in_corpus_has_only_a_note_that_it_is_short(tmp_path: Path) -> None:
    val = table(tmp_path / "val.tsv", held_out())
    problems = checked(tmp_path, healthy(), val=(val,))
    assert {(problem.kind, problem.severity) for problem in problems} == {("few-pairs", "note")}


def test_a_lost_line_is_found_and_so_is_the_difference_in_lines(tmp_path: Path) -> None:
    sources, targets = zip(*healthy(), strict=True)
    files = (text(tmp_path / "train.en", sources), text(tmp_path / "train.zh", targets[:1500] + targets[1501:]))
    problems = check_data(PairFiles(train=files, langs=("en", "zh")))
    slip = only(problems, "misaligned")
    assert slip.severity == "error"
    assert "the source of line N belongs to the target of line N − 1" in slip.what
    first = int(slip.what.split("from about line ")[1].split(" ")[0].replace(",", ""))
    assert abs(first - 1501) <= 15
    assert "to line 2,999 " in slip.what
    assert slip.share == pytest.approx(0.5, abs=0.01)
    example = slip.examples[0]
    assert example.text == f"{sources[example.line - 1]} ⇥ {targets[example.line]}"[: len(example.text)]
    assert "3000 lines" in only(problems, "unreadable").what


def test_copies_are_counted_and_shown(tmp_path: Path) -> None:
    pairs = [(source, source if row % 20 == 7 else target) for row, (source, target) in enumerate(healthy())]
    found = only(checked(tmp_path, pairs), "copied")
    assert (found.severity, found.count, found.share) == ("warning", 150, 0.05)
    assert lines(found) == [8, 28, 48]
    pairs = [(source, source if row % 4 == 0 else target) for row, (source, target) in enumerate(healthy())]
    assert only(checked(tmp_path, pairs), "copied").severity == "error"


def test_mojibake_a_long_line_a_wrong_script_and_control_characters_are_found_where_they_are(tmp_path: Path) -> None:
    pairs = healthy()
    pairs[10] = pairs[10][0], pairs[10][1].encode().decode("latin-1")
    pairs[20] = "word " * 10_000, pairs[20][1]
    pairs[30] = pairs[30][0], "Somebody forgot to translate this one."
    pairs[40] = pairs[40][0] + "\x07", pairs[40][1]
    problems = checked(tmp_path, pairs)
    assert {kind: lines(only(problems, kind)) for kind in ("mojibake", "long-line", "wrong-script", "control")} == {
        "mojibake": [11],
        "long-line": [21],
        "wrong-script": [31],
        "control": [41],
    }
    assert only(problems, "mojibake").severity == only(problems, "long-line").severity == "warning"
    assert 21 in lines(only(problems, "length-ratio"))
    assert r"\x07" in only(problems, "control").examples[0].text


def test_repetitions_and_sources_with_many_targets_are_counted(tmp_path: Path) -> None:
    pairs = healthy()
    pairs[100] = pairs[200] = pairs[5]
    pairs[300] = pairs[6][0], "另一个翻译。"
    problems = checked(tmp_path, pairs)
    assert lines(only(problems, "duplicates")) == [101, 201]
    assert lines(only(problems, "many-targets")) == [7]


def test_held_out_pairs_that_are_trained_on_are_an_error(tmp_path: Path) -> None:
    pairs, held = healthy(), held_out()
    held[3] = pairs[70]
    held[4] = pairs[80][0], "另一个翻译。"
    found = only(checked(tmp_path, pairs, val=(table(tmp_path / "val.tsv", held),)), "overlap")
    assert found.what == "val: 2 of 200 sources (1.0%) are also in train, 1 with the same target"
    assert lines(found) == [4, 5]
    assert found.examples[0].file.endswith("val.tsv")
    held[:50] = pairs[:50]
    assert only(checked(tmp_path, pairs, test=(table(tmp_path / "test.tsv", held),)), "overlap").severity == "error"


def test_bad_rows_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes(b"a\tb\nalone\n\tempty\nc\xff\td\n" + b"e f g h i\te f g h i\n" * 3)
    problems = check_data(PairFiles(train=(str(path),)))
    bad = only(problems, "bad-rows")
    assert (bad.severity, bad.count, bad.share) == ("error", 3, 3 / 7)  # training would stop
    assert [(example.line, example.text.split(":")[0]) for example in bad.examples] == [
        (2, "wrong number of columns, found 1 column"),
        (3, "empty source"),
        (4, "invalid UTF-8, found byte 0xFF at byte offset 1 of the line"),
    ]
    assert lines(only(problems, "copied")) == [5, 6, 7]
    assert only(check_data(PairFiles(train=(str(path),), bad_rows="skip")), "bad-rows").severity == "warning"


def test_lines_are_named_as_the_file_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('source,target\n"two\nlines",b\nsame,same\n', encoding="utf-8")
    assert lines(only(check_data(PairFiles(train=(str(path),))), "copied")) == [4]


def test_several_corpora_are_compared_with_each_other(tmp_path: Path) -> None:
    first, second = healthy()[:1000], healthy()[1000:2000]
    second[9] = first[4]
    corpora = [{"path": table(tmp_path / "a.tsv", first)}, {"path": table(tmp_path / "b.tsv", second), "weight": 2.0}]
    found = only(check_data(PairFiles.parse({"train": corpora})), "duplicates")
    assert [(Path(example.file).name, example.line) for example in found.examples] == [("b.tsv", 10)]


def test_no_pair_at_all_is_an_error_and_no_file_is_the_usual_one(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("alone\n", encoding="utf-8")
    assert {problem.kind for problem in check_data(PairFiles(train=(str(path),)))} == {"no-pairs", "bad-rows"}
    with pytest.raises(DataError, match="does not exist"):
        check_data(PairFiles(train=(str(tmp_path / "none.tsv"),)))


def test_a_file_that_ends_too_early_is_told(tmp_path: Path) -> None:
    whole = gzip.compress("".join(f"{source}\t{target}\n" for source, target in healthy()).encode())
    (tmp_path / "t.tsv.gz").write_bytes(whole[: len(whole) // 2])
    assert "truncated" in only(check_data(PairFiles(train=(str(tmp_path / "t.tsv.gz"),))), "unreadable").what


def test_standard_input_is_left_to_the_training() -> None:
    assert check_data(PairFiles(train=("-",))) == []


@pytest.mark.parametrize(("source", "target", "ambiguous"), [("en", "de", 6), ("de", "en", 22)])
def test_multi30k_has_no_error_and_exactly_what_is_there(source: str, target: str, ambiguous: int) -> None:
    """Texts are compared as they are, without the space around them. A repetition is a pair that was there before; a
    held-out source counts if it is in train, whatever its target there."""
    train = shared("multi30k", f"train.{source}.gz", f"train.{target}.gz")
    val = shared("multi30k", f"val.{source}.gz", f"val.{target}.gz")
    problems = check_data(PairFiles(train=train, val=val, langs=(source, target)))
    assert {problem.kind: (problem.severity, problem.count) for problem in problems} == {
        "duplicates": ("note", 3),
        "many-targets": ("note", ambiguous),
        "overlap": ("note", 1),
        "length-ratio": ("note", 2),  # two captions whose German is "@@"
    }
    assert sorted(lines(only(problems, "length-ratio"))) == [16510, 16664]


@pytest.mark.parametrize("folder", ["tatoeba-en-zh", "captions-en-zh"])
def test_real_chinese_data_has_neither_errors_nor_warnings(folder: str) -> None:
    train, val = shared(folder, "train.tsv.gz", "val.tsv.gz")
    problems = check_data(PairFiles(train=(train,), val=(val,), langs=("en", "zh")))
    assert {problem.severity for problem in problems} == {"note"}
