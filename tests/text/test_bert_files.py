"""BERT's tokenizer from files: the same ids as transformers gives, whatever the text."""

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import BundleError
from regard.text import Tokenizer, TokenizerConfig, train_tokenizer
from regard.text.bert_files import read_tokenizer, read_vocabulary, write_tokenizer
from tests.models.pretrained.checkpoints import MARKS, minilm, tokenizer, write_words
from tests.text.corpus import TEXTS

NASTY = [
    "", " ", "Hello, World!", "Ünïcödé é́ ñ ÅÉ ﬁ", "a\u0301e\u0301 \u1e9b\u0323", "北京欢迎你 你好world",
    "\U00020000\U0002f800", "emoji 😀👩\u200d👩\u200d👧 🇩🇪", "a\x00b\x07c\u200bd\u200e\ufeff\ufffd",
    "tab\tnew\nline\r\x0b\x0c\x85\u2028z", "x" * 100, "x" * 101, "sup" + "er" * 60, "[mask] [ MASK ]",
    "The [MASK] of [SEP] the [CLS][PAD] [UNK]river", "don't $5.00 50% @#^`~|", "İstanbul ẞ ß Σίσυφος ΣΑΣ",
    "ไทย हिन्दी العربية 한국어 日本語カタカナ", "‘quoted’ “text” — dash…", "1,000.5 ½ ² ①", "##ing ##",
    "\u3000全角　ＡＢＣ",
]  # fmt: skip


def ids(ours: Tokenizer, text: str) -> list[int]:
    return [ours.start, *ours.encode(text), ours.end]


def assert_same(ours: Tokenizer, theirs: Any) -> None:
    for text in NASTY:
        assert ids(ours, text) == theirs(text)["input_ids"], repr(text)
    assert [ids(ours, text) for text in NASTY] == [[ours.start, *row, ours.end] for row in ours.encode_all(NASTY)]


def test_ids_from_the_vocabulary_of_bert_base_uncased_are_theirs(tmp_path: Path) -> None:
    shutil.copy(minilm() / "vocab.txt", tmp_path)
    ours = read_tokenizer(tmp_path)
    assert len(ours) == 30522
    assert (ours.pad, ours.unknown, ours.start, ours.end, ours.mask) == (0, 100, 101, 102, 103)
    assert ours.encode("The [MASK] of") == [1996, 103, 1997]
    assert_same(ours, transformers.BertTokenizer.from_pretrained(tmp_path))


def test_ids_from_its_tokenizer_json_are_the_same_without_padding_and_truncation() -> None:
    ours = read_tokenizer(minilm())  # this file asks for 128 tokens, always
    assert ids(ours, "hello") == [101, 7592, 102]
    assert len(ours.encode("hello " * 300)) == 300
    assert_same(ours, transformers.BertTokenizer.from_pretrained(minilm()))


CASED = [
    *MARKS,
    "Hello",
    "hello",
    "World",
    ",",
    "!",
    "北",
    "京",
    "你",
    "ß",
    "É",
    "é",
    "E",
    "##é",
    "##e",
    "Å",
    "s",
    "##s",
    "#",
]


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"do_lower_case": False},
        {"do_lower_case": True, "strip_accents": False},
        {"do_lower_case": False, "strip_accents": True},
        {"do_lower_case": False, "tokenize_chinese_chars": False},
    ],
)
def test_the_choices_of_chinese_multilingual_and_cased_models_are_heeded(choices: Any, tmp_path: Path) -> None:
    theirs = tokenizer(tmp_path, CASED, **choices)
    assert_same(read_tokenizer(tmp_path), theirs)
    theirs.save_pretrained(tmp_path / "whole")  # tokenizer.json
    assert (tmp_path / "whole" / "tokenizer.json").exists()
    assert_same(read_tokenizer(tmp_path / "whole"), theirs)


def test_the_choices_of_a_cased_model_make_a_difference(tmp_path: Path) -> None:
    cased = read_tokenizer(write_words(tmp_path / "cased", CASED, do_lower_case=False))
    uncased = read_tokenizer(write_words(tmp_path / "uncased", CASED))
    assert cased.encode("Hello") == [CASED.index("Hello")]
    assert uncased.encode("Hello") == [CASED.index("hello")]


def test_the_choices_beside_a_tokenizer_json_have_the_last_word(tmp_path: Path) -> None:
    tokenizer(tmp_path / "words", CASED).save_pretrained(tmp_path)
    choices = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**choices, "do_lower_case": False}))
    ours = read_tokenizer(tmp_path)
    assert ours.encode("Hello") == [CASED.index("Hello")]
    assert_same(ours, transformers.BertTokenizer.from_pretrained(tmp_path))


def test_lines_of_a_vocabulary_end_at_line_feeds_only(tmp_path: Path) -> None:
    words = [*MARKS, "a\x85b", "\u2028", "x "]
    write_words(tmp_path, words)
    assert read_vocabulary(tmp_path / "vocab.txt")["x"] == 7
    (tmp_path / "vocab.txt").write_bytes("\r\n".join([*MARKS, "a", "b"]).encode() + b"\r\n")
    assert read_vocabulary(tmp_path / "vocab.txt") == {word: id for id, word in enumerate([*MARKS, "a", "b"])}
    assert_same(read_tokenizer(tmp_path), transformers.BertTokenizer.from_pretrained(tmp_path))


@cache
def both() -> tuple[Tokenizer, Any]:
    return read_tokenizer(minilm()), transformers.BertTokenizer.from_pretrained(minilm())


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_gives_their_ids(text: str) -> None:
    ours, theirs = both()
    assert ids(ours, text) == theirs(text)["input_ids"]


@pytest.mark.parametrize("kind", ["wordpiece", "wordpiece, cased", "bpe"])
def test_a_tokenizer_of_ours_is_read_by_transformers(kind: str, tmp_path: Path) -> None:
    name, _, cased = kind.partition(", ")
    chosen = {"kind": name, "size": 400, "lowercase": name == "wordpiece" and not cased}
    ours = train_tokenizer(TEXTS, TokenizerConfig.parse(chosen))
    write_tokenizer(tmp_path, ours, limit=77)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert theirs.model_max_length == 77
    assert (theirs.pad_token_id, theirs.cls_token_id, theirs.sep_token_id) == (ours.pad, ours.start, ours.end)
    for text in ["", "The lion saw the zebra.", "那只斑马 É!", "x" * 200]:
        assert theirs(text)["input_ids"] == ids(ours, text)
    pair = theirs("The lion", "the zebra")
    assert pair["input_ids"] == [*ids(ours, "The lion"), *ids(ours, "the zebra")[1:]]
    assert pair["token_type_ids"] == [0] * len(ids(ours, "The lion")) + [1] * (len(ids(ours, "the zebra")) - 1)
    assert (tmp_path / "vocab.txt").exists() == (name == "wordpiece")


def test_faults_are_named(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"has no tokenizer.*\n.*tokenizer.json or vocab.txt"):
        read_tokenizer(tmp_path)
    write_words(tmp_path, ["only", "words"])
    with pytest.raises(BundleError, match="no mark for pad"):
        read_tokenizer(tmp_path)
    (tmp_path / "vocab.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(BundleError, match=r"vocab.txt is damaged"):
        read_tokenizer(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("[]")
    with pytest.raises(BundleError, match=r"tokenizer_config.json is damaged"):
        read_tokenizer(tmp_path)
