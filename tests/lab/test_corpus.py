"""The built-in corpus as files: what is written is read back, gold links included."""

from pathlib import Path

from regard.data.corpora import Corpus, Pair, lexicon
from regard.data.corpora.grammar import finish, frame, unit
from regard.data.corpora.links import possible
from regard.data.corpora.phrases import place
from regard.data.readers import read_pairs
from regard.evaluation.alignment import read_gold
from regard.lab.corpus import corpus_files, write_corpus, write_texts
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


def test_both_halves_of_a_place_may_go_with_its_preposition_and_times_are_linked_word_by_word() -> None:
    when = unit("three/n weeks/w ago/a", "三个/n 星期/w 前/a")
    park = next(where for where in lexicon.PLACES if where.noun.en == "park")
    pair = finish(frame("{where} {when}", "{when} {where}", where=place(park), when=when), "x")
    assert pair.source_words == ("In", "the", "park", "three", "weeks", "ago", ".")
    assert pair.target == "三个星期前在公园里。"
    assert pair.alignment == ((0, 3), (2, 4), (3, 0), (4, 1), (5, 2), (6, 6))
    assert possible(pair) == {(0, 5), (2, 5), (1, 3), (1, 4)}  # In / 里, park / 里, the / 在, the / 公园


def test_every_expression_of_several_words_is_written_without_its_labels() -> None:
    for en, zh in (*lexicon.PAST_TIMES, *lexicon.FUTURE_TIMES, *lexicon.DURATIONS):
        phrase = unit(en, zh)
        assert "/" not in " ".join(phrase.en) + phrase.text
        assert {j for _, j in phrase.links} == set(range(len(phrase.zh)))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    files = write_corpus(Corpus((SEEN,) * 2, (SEEN,), (SEEN,) * 3, {}), tmp_path)
    assert files == corpus_files(tmp_path)
    assert [len(read_pairs(files[split]).sources) for split in ("train", "val", "test")] == [2, 1, 3]
    pairs = read_word_pairs([str(tmp_path / "test.words")])
    assert [(pair.source.text, pair.target.text) for pair in pairs] == [(SEEN.source, SEEN.target)] * 3
    gold = read_gold(str(tmp_path / "test.links"), pairs)
    assert gold[2].sure == set(SEEN.alignment)
    assert gold[2].possible == set(SEEN.alignment) | possible(SEEN)
    assert not (tmp_path / "train.words").exists()


def test_each_language_can_be_read_alone(tmp_path: Path) -> None:
    write_texts(Corpus((SEEN,) * 2, (), (), {}), tmp_path)
    assert (tmp_path / "train.en.txt").read_text(encoding="utf-8") == "The cook saw a bear.\n\n" * 2
    assert (tmp_path / "train.zh.txt").read_text(encoding="utf-8") == "厨师看见了一只熊。\n\n" * 2
