"""Readers give back what was written, or say which file, line and byte is wrong and what to do."""

import csv
import gzip
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.readers import BadRow, ParallelText, fingerprint, read_lines, read_pairs
from regard.errors import DataError

Write = Callable[[str, str | bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write_file


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    return lambda content: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def pairs(text: ParallelText) -> list[tuple[str, str]]:
    return list(zip(text.sources, text.targets, strict=True))


def refusal(*paths: str, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        read_pairs(paths, **{"bad_rows": "stop", **options})  # type: ignore[arg-type]
    return str(caught.value)


def says(message: str, *facts: object) -> None:
    missing = [fact for fact in facts if str(fact) not in message]
    assert not missing, f"{missing} not in:\n{message}"


# ---- what is read


def test_tsv_gives_its_two_columns_stripped(write: Write) -> None:
    assert pairs(read_pairs([write("a.tsv", " a cat \t一只猫\na dog\t 一只狗")])) == [
        ("a cat", "一只猫"),
        ("a dog", "一只狗"),
    ]


@pytest.mark.parametrize("name", ["a.TSV", "a.tsv.gz", "a.tsv.GZ"])
def test_suffixes_are_read_whatever_their_case_and_compression(write: Write, name: str) -> None:
    content = b"a\tb\n"
    path = write(name, gzip.compress(content, mtime=0) if name.lower().endswith("gz") else content)
    assert pairs(read_pairs([path])) == [("a", "b")]


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_text(write: Write) -> None:
    assert pairs(read_pairs([write("a.tsv", b"\xef\xbb\xbfa\tb\r\nc\td\r\n")])) == [("a", "b"), ("c", "d")]
    assert read_lines(write("a.txt", b"\xef\xbb\xbfa\r\n\r\nb")) == ["a", "", "b"]


def test_only_a_newline_ends_a_line(write: Write) -> None:
    odd = "a\u2028b\x0bc\x85d\x0ce\x1df\rg"
    assert read_lines(write("a.txt", f"{odd}\n{odd}\n")) == [odd, odd]
    says(refusal(write("a.tsv", f"{odd}\tx\nno tab\n")), "line 2")


def test_standard_input_is_tsv_or_plain_lines(stdin: Callable[[bytes], None]) -> None:
    stdin("a\t一\n".encode())
    assert pairs(read_pairs(["-"])) == [("a", "一")]
    stdin("a\n\n一\n".encode())
    assert read_lines("-") == ["a", "", "一"]


def test_standard_input_can_be_one_of_two_aligned_files(write: Write, stdin: Callable[[bytes], None]) -> None:
    stdin(b"a\nb\n")
    assert pairs(read_pairs(["-", write("t.de", "x\ny\n")])) == [("a", "x"), ("b", "y")]


def test_an_empty_line_stays_an_empty_line(write: Write) -> None:
    assert read_lines(write("a.txt", "\na\n  \n\n")) == ["", "a", "  ", ""]
    assert read_lines(write("none.txt", "")) == []


def test_csv_has_quotes_and_texts_of_several_lines(write: Write) -> None:
    text = '"a, ""b""","c\r\nd"\ne,f\n'
    assert pairs(read_pairs([write("a.csv", text)])) == [('a, "b"', "c\nd"), ("e", "f")]


@pytest.mark.parametrize("header", ["id,Target,SOURCE", "id,zh,EN"])
def test_a_csv_header_names_the_columns(write: Write, header: str) -> None:
    assert pairs(read_pairs([write("a.csv", f"{header}\n1,一,one\n")], langs=("en", "zh"))) == [("one", "一")]


def test_languages_are_words_like_others_where_no_header_was_announced(write: Write) -> None:
    path = write("a.csv", "en,zh\none,一\n")
    assert pairs(read_pairs([path])) == [("en", "zh"), ("one", "一")]


def test_a_csv_header_is_looked_for_in_the_first_row_only(write: Write) -> None:
    assert pairs(read_pairs([write("a.csv", "a,b\ntarget,source\n")])) == [("a", "b"), ("target", "source")]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json-lines"])
@pytest.mark.parametrize(
    "row",
    [
        {"source": "one", "target": "一", "id": 3},
        {"zh": "一", "en": "one"},
        {"translation": {"en": "one", "zh": "一"}},
    ],
)
def test_jsonl_names_its_texts_in_three_ways(write: Write, name: str, row: dict[str, object]) -> None:
    assert pairs(read_pairs([write(name, json.dumps(row) + "\n")], langs=("en", "zh"))) == [("one", "一")]


ODD = "\u2028\u2029\x85\x0b\x0c\x1c\x1e\u200b\u200f\ufeff\u00a0\u3000\u0301שלום猫😀👩‍👩‍👧 \"',;\\|\r\x00"
TEXT = st.text(st.sampled_from(ODD) | st.characters(codec="utf-8", exclude_characters="\t\n"), min_size=1)
BARE = TEXT.filter(
    lambda text: text.strip() and text[0] != "\ufeff"
)  # at the start of a file that is a byte-order mark
ROWS = st.lists(st.tuples(BARE, BARE), min_size=1, max_size=6)


def as_tsv(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [("a.tsv", "".join(f"{source}\t{target}\n" for source, target in rows))]


def as_jsonl(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    lines = [json.dumps({"source": source, "target": target}, ensure_ascii=False) for source, target in rows]
    return [("a.jsonl", "\n".join(lines))]


def as_csv(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([("source", "target"), *rows])
    return [("a.csv", out.getvalue())]


def as_two_files(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [("a.en", "\n".join(source for source, _ in rows)), ("a.he", "\n".join(target for _, target in rows) + "\n")]


@pytest.mark.parametrize("gz", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("layout", [as_tsv, as_csv, as_jsonl, as_two_files])
@given(rows=ROWS)
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_again(
    layout: Callable[[list[tuple[str, str]]], list[tuple[str, str]]], gz: bool, rows: list[tuple[str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, content in layout(rows):
            path = Path(folder) / (name + ".gz" * gz)
            path.write_bytes(gzip.compress(content.encode(), 1) if gz else content.encode())
            paths.append(str(path))
        text = read_pairs(paths)
        assert pairs(text) == [(source.strip(), target.strip()) for source, target in rows]
        assert text.skipped == ()
        assert text.fingerprint == fingerprint(paths)


# ---- rows that are no pair


@pytest.mark.parametrize(("row", "count"), [("a\tb\tc", "3 columns"), ("a b", "1 column"), ("", "1 column")])
def test_a_tsv_row_with_the_wrong_number_of_columns_is_named(write: Write, row: str, count: str) -> None:
    path = write("a.tsv", f"x\ty\n{row}\nz\tz\n")
    says(refusal(path), f"{path}, line 2", f"found: {count}", repr(row), "wanted: 2 columns", "data.bad_rows=skip")


@pytest.mark.parametrize(
    ("row", "why"), [("a\t \u3000", "empty target"), ("\tb", "empty source"), (" \t", "empty source and")]
)
def test_an_empty_side_is_a_bad_row(write: Write, row: str, why: str) -> None:
    path = write("a.tsv", f"x\ty\n{row}\n")
    says(refusal(path), f"{path}, line 2: {why}", "data.bad_rows=skip")


def test_where_rows_cannot_be_skipped_nobody_is_told_to(write: Write) -> None:
    path = write("a.tsv", "a\tb\nno tab\n")
    message = refusal(path, bad_rows=None)
    says(message, f"{path}, line 2", "do this: correct the row")
    assert "bad_rows" not in message
    assert "bad_rows" not in refusal(write("a.csv", "source,target\n"), bad_rows=None)


def test_bad_rows_are_skipped_by_choice_and_listed(write: Write) -> None:
    path = write("a.tsv", b"x\ty\na\tb\tc\nd\t\n\xff\tb\nz\tz\n")
    text = read_pairs([path], bad_rows="skip")
    assert pairs(text) == [("x", "y"), ("z", "z")]
    assert text.skipped[1] == BadRow(path, 3, "empty target", "d\t")
    assert [row.line for row in text.skipped] == [2, 3, 4]
    says(text.skipped[0].why, "3 columns", "wanted 2")
    says(text.skipped[2].why, "UTF-8", "0xFF")


def test_a_long_bad_row_is_shortened_and_its_control_characters_are_not_printed(write: Write) -> None:
    path = write("a.tsv", "\x1b[31m" + "猫" * 5000)
    message = refusal(path)
    assert len(message) < 600
    assert "\x1b" not in message
    assert "猫猫" in message
    assert read_pairs([write("b.tsv", "a\tb\n" + "猫" * 5000)], bad_rows="skip").skipped[0].text == "猫" * 80


def test_blank_lines_before_the_text_are_bad_rows_too(write: Write) -> None:
    text = read_pairs([write("a.en", "\n\na\n"), write("a.de", "x\ny\nz\n")], bad_rows="skip")
    assert pairs(text) == [("a", "z")]
    assert [row.line for row in text.skipped] == [1, 2]


def test_a_csv_row_with_the_wrong_number_of_columns_is_named_by_its_first_line(write: Write) -> None:
    path = write("a.csv", 'x,"y\ny"\na,b,"c\nd"\n')
    says(refusal(path), f"{path}, line 3", "found: 3 columns", "wanted: 2 columns", "header")


def test_a_csv_row_shorter_than_its_header_is_bad(write: Write) -> None:
    says(refusal(write("a.csv", "id,source,target\n1,a\n")), "line 2", "found: 2 columns", "wanted: 3 columns")


def test_an_open_quote_does_not_swallow_the_file_in_silence(write: Write) -> None:
    path = write("a.csv", 'a,b\nc,"d\ne,f\n')
    says(refusal(path), f"{path}, line 2: not CSV", "lines 2 to 3", "close the quotes")
    assert [row.line for row in read_pairs([path], bad_rows="skip").skipped] == [2]


def test_after_a_bad_csv_row_the_next_is_read(write: Write) -> None:
    text = read_pairs([write("a.csv", 'a,b\n"c"d,e\nf,g\n')], bad_rows="skip")
    assert pairs(text) == [("a", "b"), ("f", "g")]
    assert [row.line for row in text.skipped] == [2]


def test_bad_json_is_named_by_line_and_column(write: Write) -> None:
    path = write("a.jsonl", '{"source": "a", "target": "b"}\n{"source": "a", }\n')
    says(refusal(path), f"{path}, line 2: not JSON", "column 17", "data.bad_rows=skip")


@pytest.mark.parametrize(
    ("row", "facts"),
    [
        ('{"src": "a", "tgt": "b"}', ["['src', 'tgt']", '"source" and "target"', "--langs"]),
        ('{"translation": {"en": "a", "zh": "b"}}', ["['translation']", "--langs"]),
        ('["a", "b"]', ["found: a list", '"source" and "target"']),
        ('{"source": "a", "target": 3}', ['"target" is not text', "found: 3", "a string"]),
        ('{"source": "a", "target": null}', ['"target" is not text', "found: null"]),
        ('{"source": "\\ud83d", "target": "b"}', ['"source" is not valid Unicode', "\\ud83d"]),
        ('{"source": "a", "target": ""}', ["empty target"]),
        ("1" * 5000, ["not readable JSON"]),
        ("[" * 100_000, ["not readable JSON"]),
    ],
)
def test_json_without_a_pair_says_what_it_holds(write: Write, row: str, facts: list[str]) -> None:
    says(refusal(write("a.jsonl", row + "\n")), "a.jsonl, line 1", *facts)


def test_a_file_of_bad_rows_leaves_no_pair(write: Write) -> None:
    path = write("a.tsv", "a\nb\n")
    says(refusal(path, bad_rows="skip"), path, "2 bad rows", f"{path}, line 1", "wrong number of columns")


def test_a_header_alone_leaves_no_pair(write: Write) -> None:
    path = write("a.csv", "source,target\n")
    says(refusal(path), path, "only a header")


# ---- bytes


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl", "a.csv"])
def test_invalid_utf8_is_named_by_file_line_and_byte(write: Write, name: str) -> None:
    good = b'{"source": "a", "target": "b"}' if name == "a.jsonl" else b"a\tb" if name == "a.tsv" else b"a,b"
    path = write(name, good + b"\n" + "né".encode() + b"\xe9\tb\n")
    says(refusal(path), f"{path}, line 2", "0xE9", "byte offset 3", "iconv -f", "-t UTF-8", "data.bad_rows=skip")


def test_invalid_utf8_in_a_csv_text_of_several_lines_is_named_by_its_own_line(write: Write) -> None:
    path = write("a.csv", b'a,b\nc,"d\n\xffe"\nf,g\n')
    says(refusal(path), f"{path}, line 3", "0xFF", "byte offset 0")
    assert pairs(read_pairs([path], bad_rows="skip")) == [("a", "b"), ("f", "g")]


def test_invalid_utf8_in_one_of_two_files_names_that_file(write: Write) -> None:
    source, target = write("a.en", "a\nb\n"), write("a.zh", b"x\ny\x80\n")
    says(refusal(source, target), f"{target}, line 2", "0x80", "byte offset 1")


def test_invalid_utf8_in_plain_lines_is_named(write: Write) -> None:
    path = write("a.txt", b"\na\xc3\n")
    with pytest.raises(DataError) as caught:
        read_lines(path)
    says(str(caught.value), f"{path}, line 2", "0xC3", "byte offset 1", "iconv -f")


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        ("a\tb\n".encode("utf-16"), ["UTF-16", "iconv -f UTF-16 -t UTF-8"]),
        ("a\tb\n".encode("utf-16-be").join([b"\xfe\xff", b""]), ["UTF-16"]),
        (gzip.compress(b"a\tb\n", mtime=0), ["gzip", ".gz"]),
        (b"PK\x03\x04...", ["spreadsheet", "CSV"]),
    ],
)
def test_what_is_not_text_is_recognised(write: Write, content: bytes, facts: list[str]) -> None:
    path = write("a.tsv", content)
    says(refusal(path, bad_rows="skip"), path, *facts)


# ---- files


def test_unequal_line_counts_give_both_files_and_both_counts(write: Write) -> None:
    source, target = write("a.en", "a\nb\nc"), write("a.zh", "x\ny\n")
    for options in ({}, {"bad_rows": "skip"}):
        says(refusal(source, target, **options), f"{source} has 3 lines", f"{target} has 2 lines")
    says(refusal(target, source), f"{target} has 2 lines", f"{source} has 3 lines")


def test_an_empty_line_in_one_of_two_files_is_a_bad_row_of_that_file(write: Write) -> None:
    source, target = write("a.en", "a\nb\n\nd\n"), write("a.zh", "x\n\ny\nz\n")
    says(refusal(source, target), f"{target}, line 2: empty target", "data.bad_rows=skip")
    text = read_pairs([source, target], bad_rows="skip")
    assert pairs(text) == [("a", "x"), ("d", "z")]
    assert text.skipped == (BadRow(target, 2, "empty target", "b\t"), BadRow(source, 3, "empty source", "\ty"))


@pytest.mark.parametrize(("content", "found"), [("", "no text"), (" \n\t\n\r\n", "3 lines"), ("\ufeff", "whitespace")])
@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a.tsv.gz"])
def test_a_file_without_text_is_called_empty(write: Write, name: str, content: str, found: str) -> None:
    path = write(name, gzip.compress(content.encode()) if name.endswith("gz") else content)
    for options in ({}, {"bad_rows": "skip"}):
        says(refusal(path, **options), f"{path} is empty", found, "wanted: a pair on each line")


def test_an_empty_one_of_two_files_is_named(write: Write) -> None:
    source, target = write("a.en", "a\n"), write("a.zh", "\n")
    says(refusal(source, target), f"{target} is empty", "wanted: a sentence on each line")


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    says(refusal(str(tmp_path / "none.tsv")), f"{tmp_path}/none.tsv does not exist", "check the path")
    says(refusal(str(tmp_path / "none.tsv.gz")), f"{tmp_path}/none.tsv.gz does not exist")
    (tmp_path / "folder.tsv").mkdir()
    says(refusal(str(tmp_path / "folder.tsv")), f"{tmp_path}/folder.tsv is a directory")
    for read in (read_lines, lambda path: fingerprint([path])):
        with pytest.raises(DataError, match=r"none\.txt does not exist"):
            read(str(tmp_path / "none.txt"))


def test_a_file_that_may_not_be_read_is_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.tsv", "a\tb\n")

    def refuse(*_: object) -> None:
        raise PermissionError(13, os.strerror(13), path)

    monkeypatch.setattr(Path, "open", refuse)  # root reads everything, so that chmod would prove nothing
    says(refusal(path), f"{path} may not be read by you", "Permission denied", "chmod")


def test_gzip_that_is_none_or_is_damaged_is_named(write: Write) -> None:
    whole = gzip.compress(bytes(range(32, 127)) * 50 + b"\ta\n")
    says(refusal(write("a.tsv.gz", "a\tb\n")), "a.tsv.gz is not sound gzip")
    says(refusal(write("b.tsv.gz", whole[:-12])), "b.tsv.gz is a truncated gzip file", "again")
    says(refusal(write("c.tsv.gz", whole[:12] + b"\xff" * 20 + whole[32:])), "c.tsv.gz is a damaged gzip file")
    says(refusal(write("d.tsv.gz", whole[:-8] + bytes(8))), "d.tsv.gz is not sound gzip", "CRC")


@pytest.mark.parametrize("names", [["a.xlsx"], ["a"], [], ["a.en", "a.zh", "a.de"], ["a.tsv", "b.tsv"], ["-", "-"]])
def test_files_that_make_no_parallel_text_get_the_list_of_readable_ones(names: list[str]) -> None:
    message = refusal(*names)
    says(message, f"{len(names)} file", ", ".join(names), ".tsv .csv .jsonl .json-lines", "two line-aligned text files")


# ---- fingerprints


def test_a_fingerprint_is_the_sha256_of_the_decompressed_bytes(write: Write) -> None:
    content = b"\xef\xbb\xbfa\tb\r\nc\td"
    expected = hashlib.sha256(content).hexdigest()
    plain, packed = write("a.tsv", content), write("b.tsv.gz", gzip.compress(content, mtime=0))
    assert [fingerprint([plain]), fingerprint([packed]), read_pairs([packed]).fingerprint] == [expected] * 3


def test_two_files_have_another_fingerprint_in_another_order_or_with_another_border(write: Write) -> None:
    a, b, c, d = (write(name, text) for name, text in [("a", "x\n"), ("b", "y\nz\n"), ("c", "x\ny\n"), ("d", "z\n")])
    assert len({fingerprint([a, b]), fingerprint([b, a]), fingerprint([c, d])}) == 3


def test_standard_input_gets_its_fingerprint_while_it_is_read(stdin: Callable[[bytes], None]) -> None:
    stdin(b"a\tb\n")
    assert read_pairs(["-"]).fingerprint == hashlib.sha256(b"a\tb\n").hexdigest()
    with pytest.raises(DataError, match="only once"):
        fingerprint(["-"])
