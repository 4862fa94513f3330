"""Words become the text that a model reads, and stay where they are in it."""

import gzip
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.corpora import Pair
from regard.errors import DataError
from regard.tasks.word_texts import WordPair, WordText, read_word_pairs

# In a process of its own: there no type checker watches each of the grammar's calls.
WRITE = """
import pickle, sys
from regard.data.corpora import build
corpus = build(5, train=600, validation=50, test=50, contrasts=3)
sys.stdout.buffer.write(pickle.dumps((*corpus.train, *corpus.validation, *corpus.test)))
"""


@pytest.fixture(scope="module")
def corpus() -> tuple[Pair, ...]:
    found = subprocess.run([sys.executable, "-c", WRITE], env={**os.environ}, capture_output=True, check=True)
    pairs: tuple[Pair, ...] = pickle.loads(found.stdout)
    return pairs


def test_the_words_of_the_built_in_corpus_give_back_its_texts(corpus: tuple[Pair, ...]) -> None:
    assert len(corpus) == 700
    for pair in corpus:
        joined = WordPair.of_words(pair.source_words, pair.target_words)
        assert (joined.source.text, joined.target.text) == (pair.source, pair.target)
        assert (joined.source.words, joined.target.words) == (pair.source_words, pair.target_words)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("eu 's pledge for aid", "eu's pledge for aid"),
        ("he did n't go , did he ?", "he didn't go, did he?"),
        ("( reporter ren feng ) said : yes !", "(reporter ren feng) said: yes!"),
        ('the " world bank " and " us " .', 'the "world bank" and "us".'),
        ("the kids ' books", "the kids' books"),
        ("he said ' no ' twice", "he said 'no' twice"),
        ("“ yes , ” she said …", "“yes,” she said…"),
        ("$ 5 is 5 %", "$5 is 5%"),
        ("科学家 一直 猜想 。", "科学家一直猜想。"),
        ("新华社 5月 22日 电 ( 记者 任 峰 ) , 说", "新华社5月22日电(记者任峰),说"),
        ('向 " 世行 基金 " 提供', '向"世行基金"提供'),
        ("他 用 Windows XP 吗 ？", "他用Windows XP吗？"),
        ("東京 へ 行く", "東京へ行く"),
        ("ฉัน กิน ข้าว", "ฉันกินข้าว"),
        ("나는 학교에 간다 .", "나는 학교에 간다."),
        ("", ""),
    ],
)
def test_spaces_go_where_people_put_none(words: str, text: str) -> None:
    joined = WordText.join(words.split())
    assert joined.text == text
    assert list(joined.words) == words.split()


@given(st.lists(st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=5), max_size=8))
def test_whatever_the_words_they_stand_at_their_places_with_at_most_a_space_between(words: list[str]) -> None:
    joined = WordText.join(words)
    assert list(joined.words) == words
    ends = [0, *(end for _, end in joined.spans)]
    assert all(joined.text[end:start] in ("", " ") for end, (start, _) in zip(ends, joined.spans, strict=False))
    assert len(joined.text) == ends[-1]


def test_plain_text_is_split_into_words_and_characters() -> None:
    split = WordText.split("Stop, he said: 河岸!")
    assert split.words == ("Stop", ",", "he", "said", ":", "河", "岸", "!")
    assert split.spans[2] == (6, 8)
    assert WordText.split("  ").spans == ()


def test_the_first_words_of_a_text_are_a_text() -> None:
    text = WordText.join(("no", ",", "no", "."))
    assert text.first(3) == WordText("no, no", ((0, 2), (2, 3), (4, 6)))
    assert text.first(0) == WordText("", ())


def test_a_pair_seen_from_the_other_side() -> None:
    pair = WordPair.of_words(["a"], [], "x, line 1")
    assert pair.empty
    assert pair.swapped() == WordPair.of_words([], ["a"], "x, line 1")


def test_lines_with_a_separator_are_read_and_empty_ones_keep_their_place(tmp_path: Path) -> None:
    path = tmp_path / "words.src-tgt.gz"
    path.write_bytes(gzip.compress("no , no ||| 不 ， 不\n\n ||| 不\na |||\n".encode()))
    pairs = read_word_pairs([str(path)])
    assert [(pair.source.words, pair.target.text) for pair in pairs] == [
        (("no", ",", "no"), "不，不"), ((), ""), ((), "不"), (("a",), ""),
    ]  # fmt: skip
    assert [pair.empty for pair in pairs] == [False, True, True, True]
    assert pairs[2].place == f"{path}, line 3"


def test_words_are_between_spaces_and_tabs_only(tmp_path: Path) -> None:
    path = tmp_path / "x.words"
    path.write_text(" 10\u00a0000  km \t||| 一\u3000 \u2028x \n", encoding="utf-8")
    (pair,) = read_word_pairs([str(path)])
    assert (pair.source.words, pair.target.words) == (("10\u00a0000", "km"), ("一\u3000", "\u2028x"))


def test_ordinary_pairs_are_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("no, no\t不，不\n", encoding="utf-8")
    (tmp_path / "p.csv").write_text("source,target\na,b\n", encoding="utf-8")
    for side, text in (("en", "a b\n"), ("zh", "不\n")):
        (tmp_path / f"p.{side}").write_text(text, encoding="utf-8")
    (table,) = read_word_pairs([str(tmp_path / "p.tsv")])
    assert (table.source.words, table.target.words) == (("no", ",", "no"), ("不", "，", "不"))
    (two,) = read_word_pairs([str(tmp_path / "p.en"), str(tmp_path / "p.zh")])
    assert two.source.words == ("a", "b")
    assert read_word_pairs([str(tmp_path / "p.csv")])[0].place == f"{tmp_path / 'p.csv'}, pair 1"


@pytest.mark.parametrize("line", ["a b c", "a ||| b ||| c", "a|||b", "a\tb"])
def test_a_line_without_one_separator_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.words"
    path.write_text(f"a ||| b\n{line}\n")
    with pytest.raises(DataError, match="x.words, line 2: not a pair") as told:
        read_word_pairs([str(path)])
    assert "wanted: source words ||| target words" in str(told.value)


def test_a_file_without_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.words").write_text("\n\n")
    with pytest.raises(DataError, match=r"is empty(.|\n)*wanted: source words \|\|\| target words on each line"):
        read_word_pairs([str(tmp_path / "x.words")])
