"""The built-in corpus as files: what is written is read back, gold links included."""

from pathlib import Path

from regard.data.corpora import Corpus, Pair
from regard.data.corpora.links import possible
from regard.data.readers import read_pairs
from regard.evaluation.alignment import read_gold
from regard.lab.corpus import write_corpus
from regard.tasks.word_texts import read_word_pairs

SEEN = Pair(
    "The cook saw a bear.",
    "厨师看见了一只熊。",
    ("The", "cook", "saw", "a", "bear", "."),
    ("厨师", "看见", "了", "一", "只", "熊", "。"),
    ((1, 0), (2, 1), (3, 3), (4, 5), (5, 6)),
    "example",
)


def test_a_word_without_a_counterpart_may_go_with_its_neighbours() -> None:
    assert possible(SEEN) == {
        (0, 0),  # The cook / 厨师
        (2, 2), (3, 2),  # 了 stands between 看见 (saw) and 一 (a)
        (3, 4), (4, 4),  # 只 between 一 (a) and 熊 (bear)
    }  # fmt: skip


def test_no_link_is_possible_across_a_mark() -> None:
    pair = Pair(
        "Yes, we.", "了，我。", ("Yes", ",", "we", "."), ("了", "，", "我", "。"), ((1, 1), (2, 2), (3, 3)), "x"
    )
    assert possible(pair) == frozenset()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    files = write_corpus(Corpus((SEEN,) * 2, (SEEN,), (SEEN,) * 3, {}), tmp_path)
    assert [len(read_pairs(files[split]).sources) for split in ("train", "val", "test")] == [2, 1, 3]
    pairs = read_word_pairs([str(tmp_path / "test.words")])
    assert [(pair.source.text, pair.target.text) for pair in pairs] == [(SEEN.source, SEEN.target)] * 3
    gold = read_gold(str(tmp_path / "test.links"), pairs)
    assert gold[2].sure == set(SEEN.alignment)
    assert gold[2].possible == set(SEEN.alignment) | possible(SEEN)
    assert not (tmp_path / "train.words").exists()
