"""Faults that are planted among labelled texts are found, at their place; healthy data has none."""

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from regard.data.labelled import ONE, TWO, read_labelled
from regard.doctor import Problem, check_data
from regard.doctor.labelled import LabelledRows
from regard.doctor.labels import Labels
from regard.doctor.repeats import Split
from regard.errors import ConfigError, DataError
from regard.tasks.classification import LabelledFiles
from regard.tasks.texts import TextFiles
from regard.watching import unwatched
from tests.doctor.corpora import only, shared
from tests.doctor.mails import Rows, held_out, mails, pairs_of_mails, write


def checked(tmp_path: Path, train: Rows, val: Rows | None = None, test: Rows | None = None) -> list[Problem]:
    splits = {"train": train, "val": val, "test": test}
    return check_data(
        LabelledFiles(**{name: (write(tmp_path / f"{name}.tsv", rows),) for name, rows in splits.items() if rows})
    )


def lines(problem: Problem) -> list[int]:
    return [example.line for example in problem.examples]


def kinds(problems: list[Problem]) -> dict[str, str]:
    return {problem.kind: problem.severity for problem in problems}


def test_healthy_texts_and_healthy_pairs_of_texts_have_nothing_wrong(tmp_path: Path) -> None:
    assert checked(tmp_path, mails(), held_out(), mails(60, seed=9, part=2)) == []
    assert checked(tmp_path, pairs_of_mails(), pairs_of_mails(60, seed=11)) == []


def test_one_large_class_is_told_with_what_always_saying_it_brings(tmp_path: Path) -> None:
    rows = [(text, "order" if number % 10 else "praise") for number, (text, _) in enumerate(mails())]
    found = only(checked(tmp_path, rows), "unbalanced")
    assert (found.severity, found.count, found.share) == ("warning", 270, 0.9)
    assert found.what == (
        "train: 'order' has 90.0% of the examples (270), 'praise' 10.0% (30): always saying 'order' is right in 90.0%"
    )
    rows = [(text, "order" if number % 4 else "praise") for number, (text, _) in enumerate(mails())]
    assert checked(tmp_path, rows) == []


def test_a_class_twenty_times_as_large_as_another_is_told(tmp_path: Path) -> None:
    sizes = {"a": 220, "b": 200, "c": 11}
    rows = [(text, label) for (text, _), label in zip(mails(431), Counter(sizes).elements(), strict=True)]
    assert "'c' 2.6% (11)" in only(checked(tmp_path, rows), "unbalanced").what
    assert checked(tmp_path, rows[1:]) == []  # 219 are not


def test_a_class_with_hardly_an_example_is_told_with_its_line(tmp_path: Path) -> None:
    rows = mails()
    rows[7], rows[9], rows[200] = (rows[7][0], "refund"), (rows[9][0], "legal"), (rows[200][0], "refund")
    problems = checked(tmp_path, rows)
    found = only(problems, "rare-classes")
    assert kinds(problems) == {"rare-classes": "warning"}
    assert found.what == "train: 2 classes have fewer than 10 examples: 'legal' (1) and 'refund' (2)"
    assert (found.count, found.share, lines(found)) == (2, 0.4, [10, 8])


def test_many_rare_classes_are_cut_with_a_count_of_the_rest(tmp_path: Path) -> None:
    rows = mails()
    rows[:30] = [(text, f"class {number}") for number, (text, _) in enumerate(rows[:30])]
    found = only(checked(tmp_path, rows), "rare-classes")
    assert (found.count, found.what.endswith(" and 22 more")) == (30, True)


def test_held_out_labels_that_training_lacks_are_an_error(tmp_path: Path) -> None:
    val, test = held_out(), mails(60, seed=9, part=2)
    val[4] = val[4][0], "refund"
    test[5], test[6] = (test[5][0], "refund"), (test[6][0], "legal")
    first, second = sorted(
        (problem for problem in checked(tmp_path, mails(), val, test) if problem.kind == "unseen-labels"),
        key=lambda problem: problem.split,
        reverse=True,
    )
    assert (first.severity, first.count, lines(first)) == ("error", 1, [5])
    assert first.what == "val: the label 'refund' does not occur in the training data (1 example, 1.7%)"
    assert "test: the labels 'legal' and 'refund' do not occur in the training data" in second.what
    assert lines(second) == [6, 7]


def test_a_class_that_the_validation_data_lacks_is_a_note(tmp_path: Path) -> None:
    val = [row for row in held_out() if row[1] != "praise"]
    problems = checked(tmp_path, mails(), val)
    assert kinds(problems) == {"missing-classes": "note"}
    assert problems[0].what == "val: 1 of 3 classes does not occur: 'praise'"


def test_labels_that_look_alike_are_told_with_their_numbers(tmp_path: Path) -> None:
    train, val = mails(), held_out()
    train[:15] = [(text, "Praise") for text, _ in train[:15]]
    val[3] = val[3][0], "praise "  # the space around a cell is taken off in reading
    val[2] = val[2][0], "praise!"
    problems = checked(tmp_path, train, val)
    found = only(problems, "alike-labels")
    count = sum(label == "praise" for _, label in train)
    assert found.severity == "warning"
    assert f"'praise' ({count} in train, " in found.what
    assert "'Praise' (15 in train)" in found.what
    assert "'praise!' (1 in val)" in found.what
    assert [(Path(example.file).name, example.line) for example in found.examples] == [("val.tsv", 3)]
    assert kinds(problems) == {"unseen-labels": "error", "alike-labels": "warning", "missing-classes": "note"}


def test_a_text_with_two_labels_is_shown_with_both_lines(tmp_path: Path) -> None:
    rows = mails()
    other = "praise" if rows[20][1] != "praise" else "order"
    rows[250] = rows[20][0], other
    problems = checked(tmp_path, rows)
    found = only(problems, "contradictions")
    assert kinds(problems) == {"contradictions": "warning"}
    assert (found.count, lines(found)) == (1, [21, 251])
    assert [example.text.split(" ⇥ ")[1] for example in found.examples] == [rows[20][1], other]


def test_repeated_examples_and_held_out_texts_that_are_trained_on_are_found(tmp_path: Path) -> None:
    rows, val = mails(), held_out()
    rows[100] = rows[200] = rows[5]
    val[30] = rows[70]
    val[40] = rows[80][0], "praise" if rows[80][1] != "praise" else "order"
    problems = checked(tmp_path, rows, val)
    assert kinds(problems) == {"duplicates": "note", "overlap": "warning"}
    assert lines(only(problems, "duplicates")) == [101, 201]
    overlap = only(problems, "overlap")
    assert overlap.what == "val: 2 of 60 texts (3.3%) are also in train, 1 with the same label"
    assert lines(overlap) == [31, 41]


def test_odd_texts_are_found_where_they_are(tmp_path: Path) -> None:
    rows = mails()
    rows[10] = "Das war ein schöner Tag für uns.".encode().decode("latin-1"), rows[10][1]
    rows[20] = "你好，我的包裹在哪里？请告诉我。", rows[20][1]
    rows[30] = rows[30][0] + "\x07", rows[30][1]
    rows[40] = "?", rows[40][1]
    problems = checked(tmp_path, rows)
    assert {problem.kind: (problem.severity, lines(problem)) for problem in problems} == {
        "mojibake": ("warning", [11]),
        "wrong-script": ("note", [21]),
        "control": ("note", [31]),
        "one-character": ("note", [41]),
    }
    assert "hardly a letter is Latin" in only(problems, "wrong-script").what


def test_many_texts_of_one_character_are_a_warning(tmp_path: Path) -> None:
    rows = [
        (text if number % 20 else chr(ord("a") + number // 20), label) for number, (text, label) in enumerate(mails())
    ]
    found = only(checked(tmp_path, rows), "one-character")
    assert (found.severity, found.count) == ("warning", 15)


def test_long_texts_are_no_fault_before_a_model_is_chosen(tmp_path: Path) -> None:
    rows = mails()
    rows[3] = "word " * 5000, rows[3][1]
    assert checked(tmp_path, rows) == []


def test_bad_rows_are_an_error_as_in_training(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes(b"good text\ta\nalone\n\tempty\nno label\t \nbad \xff\tb\n" + b"more text\tb\n")
    problems = check_data(LabelledFiles(train=(str(path),)))
    bad = only(problems, "bad-rows")
    assert (bad.severity, bad.count, bad.share) == ("error", 4, 4 / 6)
    assert [(example.line, example.text.split(":")[0]) for example in bad.examples] == [
        (2, "wrong number of columns, found 1 column"),
        (3, "empty text"),
        (4, "empty label"),
    ]
    assert "skip" not in bad.advice  # there is no such setting for labelled texts
    with pytest.raises(DataError, match="line 2: wrong number of columns"):
        read_labelled([str(path)], TWO, ONE)


def test_no_example_and_only_one_class_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("alone\n", encoding="utf-8")
    problems = check_data(LabelledFiles(train=(str(path),)))
    assert set(kinds(problems)) == {"no-examples", "bad-rows"}
    assert "not one of 1 rows is an example" in only(problems, "no-examples").what
    found = only(checked(tmp_path, [(text, "mail") for text, _ in mails()]), "one-class")
    assert (found.severity, found.what) == ("error", "train: there is only one class, 'mail'")


@pytest.mark.parametrize("order", [(1, 0), (2, 0, 1)], ids=["label text", "label text text"])
def test_columns_that_are_swapped_are_an_error_and_nothing_else_is_said_of_the_labels(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    rows = mails() if len(order) == 2 else pairs_of_mails()
    problems = checked(tmp_path, [tuple(row[place] for place in order) for row in rows])
    assert kinds(problems) == {"swapped": "error"}
    assert "different texts, but 300 different labels" in problems[0].what
    assert lines(problems[0]) == [1, 2, 3]


def test_as_many_labels_as_texts_are_not_swapped(tmp_path: Path) -> None:
    problems = checked(tmp_path, [(text, f"a label of its own for each of them, {text}") for text, _ in mails()])
    assert set(kinds(problems)) == {"rare-classes"}


def test_a_header_in_a_tsv_is_told(tmp_path: Path) -> None:
    problems = checked(tmp_path, [("sentence", "label"), *mails()])
    assert lines(only(problems, "header")) == [1]
    assert kinds(problems) == {"header": "warning", "rare-classes": "warning"}
    assert checked(tmp_path, [(text, label.replace("order", "target")) for text, label in mails()]) == []


def test_a_header_in_a_csv_and_keys_in_json_are_no_examples(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("label,text\n" + "".join(f'{label},"{text}"\n' for text, label in mails()))
    (tmp_path / "v.jsonl").write_text(
        "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in held_out())
    )
    assert check_data(LabelledFiles(train=(str(tmp_path / "t.csv"),), val=(str(tmp_path / "v.jsonl"),))) == []


def test_several_files_are_one_training_set(tmp_path: Path) -> None:
    first, second = mails(150), mails(150, seed=4, part=2)
    second[9] = first[4]
    second[11] = first[6][0], "praise" if first[6][1] != "praise" else "order"
    files = write(tmp_path / "a.tsv", first), write(tmp_path / "b.tsv", second)
    problems = check_data(LabelledFiles(train=files))
    found = {
        problem.kind: [(Path(example.file).name, example.line) for example in problem.examples] for problem in problems
    }
    assert found == {"duplicates": [("b.tsv", 10)], "contradictions": [("a.tsv", 7), ("b.tsv", 12)]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.tsv", "one\ta\ntwo\tb\n"),
        ("t.tsv", "one\ttwo\ta\nthree\tfour\tb\n"),
        ("t.csv", "text,label\none,a\ntwo,b\n"),
        ("t.csv", "premise,hypothesis,label\none,two,a\nthree,four,b\n"),
        ("t.csv", "id,sentence,label\n7,one,a\n8,two,b\n"),
        ("t.jsonl", '{"text": "one", "second": "two", "label": "a"}\n{"text": "x", "second": "y", "label": "b"}\n'),
    ],
)
def test_rows_are_read_as_training_reads_them(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (survey,) = LabelledRows(LabelledFiles(train=(str(path),))).surveys(unwatched)
    read = read_labelled([str(path)], TWO, ONE)
    assert (len(survey.distinct), len(survey), survey.bad.count) == (read.sides, len(read), 0)
    assert Labels.of(Split("train", [survey])).counts == dict(Counter(read.labels))


def test_the_first_file_says_how_many_texts_a_row_has(tmp_path: Path) -> None:
    problems = checked(tmp_path, pairs_of_mails(), held_out())
    assert only(problems, "bad-rows").split == "val"
    assert only(problems, "bad-rows").share == 1.0


def test_labels_that_the_model_to_begin_with_knows_may_be_held_out(tmp_path: Path) -> None:
    val = held_out()
    val[4] = val[4][0], "refund"
    files = LabelledFiles(train=(write(tmp_path / "t.tsv", mails()),), val=(write(tmp_path / "v.tsv", val),))
    for known, found in (((), 1), (("order", "praise", "refund", "repair"), 0), (("order", "refund"), 1)):
        rows = LabelledRows(files, known)
        splits = [Split(survey.split, [survey]) for survey in rows.surveys(unwatched)]
        assert sum(finding.problem.kind == "unseen-labels" for finding in rows.found(splits)) == found


def test_a_file_that_ends_too_early_is_told_and_standard_input_left_alone(tmp_path: Path) -> None:
    whole = gzip.compress("".join(f"{text}\t{label}\n" for text, label in mails()).encode())
    (tmp_path / "t.tsv.gz").write_bytes(whole[: len(whole) // 2])
    assert "truncated" in only(check_data(LabelledFiles(train=(str(tmp_path / "t.tsv.gz"),))), "unreadable").what
    assert check_data(LabelledFiles(train=("-",))) == []


def test_what_is_not_there_or_no_table_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        check_data(LabelledFiles(train=(str(tmp_path / "none.tsv"),)))
    (tmp_path / "t.txt").write_text("text\tlabel\n")
    with pytest.raises(DataError, match="cannot be read as a table"):
        check_data(LabelledFiles(train=(str(tmp_path / "t.txt"),)))
    with pytest.raises(ConfigError, match="cannot look at the data of this task"):
        check_data(TextFiles(train=("t.txt",)))


# ---- real data


def there(path: str) -> tuple[list[int], list[int]]:
    """By dictionaries: the lines of examples that came before, the first line of each text with several labels."""
    seen: set[tuple[str, ...]] = set()
    labels: dict[str, set[str]] = defaultdict(set)
    again, firsts = [], {}
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            text, label = map(str.strip, line.rstrip("\n").split("\t"))
            again += [number] if (text, label) in seen else []
            seen.add((text, label))
            labels[text].add(label)
            firsts.setdefault(text, number)
    return again, sorted(firsts[text] for text, found in labels.items() if len(found) > 1)


@pytest.mark.parametrize(
    ("folder", "train", "val", "others"),
    [
        ("trec", "train.tsv.gz", "", {}),
        ("ag-news", "train.tsv.gz", "", {}),
        ("sst2", "train.tsv.gz", "val.tsv.gz", {}),
        ("sst2", "train-phrases.tsv.gz", "val.tsv.gz", {"one-character": ("note", 3)}),
        ("zh-news-titles", "train.tsv.gz", "val.tsv.gz", {"mojibake": ("warning", 33)}),  # � in 33 titles of val
    ],
)
def test_real_labelled_data_has_exactly_what_is_there(
    folder: str, train: str, val: str, others: dict[str, tuple[str, int]]
) -> None:
    paths = shared(folder, *filter(None, (train, val)))
    problems = check_data(LabelledFiles(train=paths[:1], val=paths[1:]))
    expected = {("train", kind): found for kind, found in others.items()}
    if folder == "zh-news-titles":
        expected = {("val", kind): found for kind, found in others.items()}
    for split, path in zip(("train", "val"), paths, strict=False):
        again, contradicted = there(path)
        if again:
            expected[split, "duplicates"] = ("note", len(again))
            assert lines(next(p for p in problems if (p.split, p.kind) == (split, "duplicates"))) == again[:3]
        if contradicted:
            expected[split, "contradictions"] = ("warning", len(contradicted))
            found = next(p for p in problems if (p.split, p.kind) == (split, "contradictions"))
            assert lines(found)[::2] == contradicted[:3]
    assert {(p.split, p.kind): (p.severity, p.count) for p in problems} == expected
