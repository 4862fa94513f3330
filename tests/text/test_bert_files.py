"""BERT's tokenizer from files: the same ids as transformers gives, whatever the text."""

import json
import shutil
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

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
    assert ours.encode("Hello, World!") == [7592, 1010, 2088, 999]
    assert ours.encode("unaffable") == [14477, 20961, 3468]
    assert ours.encode("Héllo 北京") == [7592, 1781, 1755]
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


MIXED = [
    "我在北京大学学习NLP，已经3年了！", "BERT模型（2018年）由Google提出。", "今天天气很好😀，我们去Café喝咖啡吧…",
    "Héllo Wörld, naïve façade & Ångström", "e\u0301te\u0301 n\u0303o", "Straße ÉCOLE Ünïcode İstanbul",
    "価格は¥1,200です。カタカナ ひらがな", "한국어 텍스트", "𠀀𠮷野家", "a你b好c", "U.S.A. don't e-mail@x.org #tag 50%",
    "全角：ＡＢＣ１２３　空格", "“引号”‘单’《书名》、顿号", "emoji 👩\u200d👧 🇩🇪 ok", "tab\there\nnew line\u00a0nbsp",
]  # fmt: skip
UNKNOWN = "咖🇩"


def spelt(texts: list[str]) -> list[str]:
    """A vocabulary of all characters of some texts, cased or not, with accents or without, but for a few."""
    forms = [form for text in texts for form in (text, text.lower())]
    letters = {letter for form in forms for text in (form, unicodedata.normalize("NFD", form)) for letter in text}
    known = sorted(letter for letter in letters if letter.strip() and letter not in UNKNOWN)
    return [*MARKS, "北京", "Hello", "hello", "Caf", "##学", *known, *(f"##{letter}" for letter in known)]


@pytest.mark.parametrize("strip_accents", [None, False, True])
@pytest.mark.parametrize("chinese", [True, False])
@pytest.mark.parametrize("lower", [True, False])
def test_mixed_chinese_and_accents_are_spelt_as_by_their_fast_and_their_slow_tokenizer(
    lower: bool, chinese: bool, strip_accents: bool | None, tmp_path: Path
) -> None:
    choices = {"do_lower_case": lower, "tokenize_chinese_chars": chinese, "strip_accents": strip_accents}
    strip = lower if strip_accents is None else strip_accents
    fast = tokenizer(tmp_path, spelt(MIXED), **choices)
    slow = BertTokenizerLegacy(str(tmp_path / "vocab.txt"), **choices)
    ours = read_tokenizer(tmp_path)
    for text in MIXED:
        assert ids(ours, text) == fast(text)["input_ids"], text
        if strip or unicodedata.is_normalized("NFC", text):  # the slow one composes é, the fast one and Google's do not
            assert ids(ours, text) == slow(text)["input_ids"], text
    known = [id for text in MIXED for id in ours.encode(text)]
    assert known.count(ours.unknown) < len(known) / 10  # or the same ids would say little


GOLDEN = {
    "bert-base-chinese": (
        {"do_lower_case": False},
        {"你": 872, "好": 1962, "吗": 1408, "我": 2769, "很": 2523, "这": 6821, "是": 3221, "，": 8024, "！": 8013},
        {
            "你好吗": [872, 1962, 1408],
            "我很好！": [2769, 2523, 1962, 8013],
            "你好，这是": [872, 1962, 8024, 6821, 3221],
        },
    ),
    "bert-base-multilingual-cased": (
        {"do_lower_case": False},
        {"Hello": 31178, ",": 117, "Bar": 20698, "##k": 10174, "!": 106, "你": 2262, "好": 3240},
        {"Hello, Bark!": [31178, 117, 20698, 10174, 106], "你好Hello": [2262, 3240, 31178], "hello": [100]},
    ),
}
"""Entries of published vocabularies at their lines, and what texts of them become."""


@pytest.mark.parametrize("name", GOLDEN)
def test_entries_of_published_vocabularies_keep_their_numbers(name: str, tmp_path: Path) -> None:
    choices, entries, texts = GOLDEN[name]
    places = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103} | entries
    words = [f"[unused{line}]" for line in range(max(places.values()) + 1)]
    for word, line in places.items():
        words[line] = word
    ours = read_tokenizer(write_words(tmp_path, words, **choices))
    for text, wanted in texts.items():
        assert ids(ours, text) == [101, *wanted, 102]


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


@pytest.mark.parametrize(
    ("file", "choices"),
    [
        ("tokenizer_config.json", {"tokenizer_class": "BertJapaneseTokenizer"}),
        ("config.json", {"tokenizer_class": "BertJapaneseTokenizer"}),
        ("tokenizer_config.json", {"word_tokenizer_type": "mecab"}),
    ],
)
def test_words_that_are_found_by_a_dictionary_are_refused(file: str, choices: dict[str, str], tmp_path: Path) -> None:
    write_words(tmp_path)
    (tmp_path / "tokenizer.json").unlink(missing_ok=True)
    read_tokenizer(tmp_path)
    (tmp_path / file).write_text(json.dumps(choices))
    with pytest.raises(BundleError, match="finds words in a way that is not known here"):
        read_tokenizer(tmp_path)


@pytest.mark.parametrize("where", ["added_tokens.json", "tokenizer_config.json"])
def test_tokens_that_were_added_keep_their_numbers(where: str, tmp_path: Path) -> None:
    write_words(tmp_path)
    (tmp_path / "tokenizer.json").unlink(missing_ok=True)
    size = len(read_tokenizer(tmp_path))
    listed: dict[str, Any] = {"<A>": size, "<B>": size + 1}
    if where == "tokenizer_config.json":
        listed = {"added_tokens_decoder": {str(id): {"content": token} for token, id in listed.items()}}
    (tmp_path / where).write_text(json.dumps(listed))
    ours = read_tokenizer(tmp_path)
    theirs = transformers.BertTokenizer.from_pretrained(tmp_path)
    text = "<A>the cat<B>"
    assert ours.encode(text)[0] == size
    assert ours.encode(text) == theirs(text, add_special_tokens=False)["input_ids"]
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<C>": size + 9}))
    with pytest.raises(BundleError, match="do not fit it"):
        read_tokenizer(tmp_path)
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<C>": "x"}))
    with pytest.raises(BundleError, match="is damaged"):
        read_tokenizer(tmp_path)


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
