"""GPT-2's tokenizer from files: the same ids and the same text as transformers gives, whatever it is given."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer

from regard.errors import BundleError
from regard.text import Tokenizer
from regard.text.byte_bpe import train_byte_bpe
from regard.text.characters import character_tokenizer
from regard.text.gpt2_files import read_tokenizer, write_tokenizer
from regard.text.tokenizer import END_OF_TEXT
from tests.models.pretrained.checkpoints import write_words

from .corpus import TEXTS

NASTY = [
    "", " ", "  ", "Hello, World! Don't they're I'LL", "The lion chased a bird, then slept.", " leading and trailing ",
    "那只猫看着一只狗,然后睡了。 北京欢迎你", "emoji 😀👩\u200d👩\u200d👧 🇩🇪",
    "tab\tnew\nline\r\n\n\n  z\x0b\x0c\x85\u2028", "\u3000全角　ＡＢＣ\u00a0x", "a\x00b\x07c\u200bd\ufeff\ufffd",
    "1,000.5 ½ ² ① ٣", "x" * 300, "don't $5.00 50% @#^`~|", "Straßenbahn Ünïcödé é́", "def f(x):\n    return x  # é\n",
    f"one{END_OF_TEXT}two {END_OF_TEXT} three", "<|endof text|>",
]  # fmt: skip


def write(directory: Path, size: int = 600, marked: bool = True) -> Path:
    """vocab.json and merges.txt, as the library of tokenizers makes them; the mark comes last, as in GPT-2's."""
    trainer = ByteLevelBPETokenizer()
    trainer.train_from_iterator([*TEXTS, *NASTY], vocab_size=size, min_frequency=2, show_progress=False)
    trainer.save_model(str(directory))
    if marked:
        path = directory / "vocab.json"
        entries = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**entries, END_OF_TEXT: len(entries)}), encoding="utf-8")
    return directory


def assert_same(ours: Tokenizer, theirs: Any) -> None:
    for text in NASTY:
        ids = theirs(text)["input_ids"]
        assert ours.encode(text) == ids, repr(text)
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=True), repr(text)
        assert ours.decode(ids[:-1]) == theirs.decode(ids[:-1], skip_special_tokens=True), repr(text)
    assert ours.encode_all(NASTY) == theirs(NASTY)["input_ids"]


def test_ids_from_vocabulary_and_merges_are_theirs(tmp_path: Path) -> None:
    theirs = transformers.GPT2TokenizerFast.from_pretrained(write(tmp_path))
    ours = read_tokenizer(tmp_path)
    assert len(ours) == len(theirs) > 400
    assert ours.end == theirs.eos_token_id == len(ours) - 1
    assert ours.encode(f"a{END_OF_TEXT}") == [*ours.encode("a"), ours.end]
    assert_same(ours, theirs)


def test_ids_from_a_whole_tokenizer_are_theirs(tmp_path: Path) -> None:
    theirs = transformers.GPT2TokenizerFast.from_pretrained(write(tmp_path))
    theirs.save_pretrained(tmp_path / "whole")
    assert not (tmp_path / "whole" / "merges.txt").exists()
    assert_same(read_tokenizer(tmp_path / "whole"), theirs)


@pytest.mark.parametrize("whole", [False, True])
def test_a_space_before_each_text_is_put_if_so_chosen(whole: bool, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"add_prefix_space": true}')
    theirs = transformers.GPT2TokenizerFast.from_pretrained(tmp_path)
    if whole:
        theirs.save_pretrained(tmp_path)
        assert (tmp_path / "tokenizer.json").exists()
    ours = read_tokenizer(tmp_path)
    assert ours.encode("lion") == ours.encode(" lion")
    assert_same(ours, theirs)


def test_the_choices_beside_a_tokenizer_json_have_the_last_word(tmp_path: Path) -> None:
    transformers.GPT2TokenizerFast.from_pretrained(write(tmp_path)).save_pretrained(tmp_path)
    plain = read_tokenizer(tmp_path).encode("lion")
    choices = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**choices, "add_prefix_space": True}))
    ours = read_tokenizer(tmp_path)
    assert ours.encode("lion") != plain
    assert_same(ours, transformers.GPT2TokenizerFast.from_pretrained(tmp_path))


def test_a_vocabulary_without_the_mark_gets_it_behind_all_others(tmp_path: Path) -> None:
    theirs = transformers.GPT2TokenizerFast.from_pretrained(write(tmp_path, marked=False))
    ours = read_tokenizer(tmp_path)
    assert ours.end == theirs.eos_token_id == len(ours) - 1
    assert_same(ours, theirs)


def test_a_vocabulary_with_another_mark_for_the_end_gets_none(tmp_path: Path) -> None:
    path = write(tmp_path, marked=False) / "vocab.json"
    entries = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(
        json.dumps({**entries, **{mark: len(entries) + i for i, mark in enumerate(["<s>", "</s>", "<unk>"])}})
    )
    ours = read_tokenizer(tmp_path)
    assert len(ours) == len(entries) + 3
    assert ours.encode("a</s>") == [*ours.encode("a"), ours.end]
    assert ours.end == len(entries) + 1


def test_tokens_that_were_added_keep_their_numbers(tmp_path: Path) -> None:
    size = len(read_tokenizer(write(tmp_path)))
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<BOS>": size}))
    ours = read_tokenizer(tmp_path)
    assert ours.encode("<BOS>hi") == [size, *ours.encode("hi")]


@cache
def both() -> tuple[Tokenizer, Any]:
    with TemporaryDirectory() as directory:
        write(Path(directory))
        return read_tokenizer(Path(directory)), transformers.GPT2TokenizerFast.from_pretrained(directory)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_text_gives_their_ids(text: str) -> None:
    ours, theirs = both()
    assert ours.encode(text) == theirs(text)["input_ids"]
    assert ours.decode(ours.encode(text)) == text


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 400), max_size=12))
def test_any_ids_give_their_text_however_broken(ids: list[int]) -> None:
    ours, theirs = both()
    assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=True)


def test_a_tokenizer_of_ours_is_read_by_transformers(tmp_path: Path) -> None:
    ours = train_byte_bpe(TEXTS, 450)
    write_tokenizer(tmp_path, ours, limit=77)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert isinstance(theirs, transformers.GPT2TokenizerFast)
    assert theirs.model_max_length == 77
    assert (theirs.bos_token_id, theirs.eos_token_id, theirs.unk_token_id) == (ours.end, ours.end, ours.end)
    again = read_tokenizer(tmp_path)
    assert_same(again, theirs)
    (tmp_path / "tokenizer.json").unlink()  # vocab.json and merges.txt say the same
    assert_same(read_tokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(tmp_path))
    assert [again.encode(text) for text in TEXTS] == [ours.encode(text) for text in TEXTS]


def test_characters_of_ours_are_read_by_transformers(tmp_path: Path) -> None:
    ours = character_tokenizer(TEXTS)
    write_tokenizer(tmp_path, ours, limit=77)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert (theirs.eos_token_id, theirs.unk_token_id) == (ours.end, ours.unknown)
    assert not (tmp_path / "vocab.json").exists()
    for text in ("The lion.", "", " 那只 é ж😀"):
        ids = theirs(text)["input_ids"]
        assert ids == ours.encode(text) == read_tokenizer(tmp_path).encode(text)
        assert theirs.decode(ids) == ours.decode(ids)


def test_a_gpt2_with_the_tokenizer_of_bert_is_read_as_berts_are(tmp_path: Path) -> None:
    theirs = transformers.BertTokenizer.from_pretrained(write_words(tmp_path))
    ours = read_tokenizer(tmp_path)
    assert [ours.start, *ours.encode("the cat 猫"), ours.end] == theirs("the cat 猫")["input_ids"]


def test_faults_are_named(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="has no tokenizer"):
        read_tokenizer(tmp_path)
    write(tmp_path)
    merges = (tmp_path / "merges.txt").read_text(encoding="utf-8")
    (tmp_path / "merges.txt").write_text(merges + "neither known\n", encoding="utf-8")
    with pytest.raises(
        BundleError, match=r"merges.txt is damaged, or they do not belong together.\n  found: .*neither"
    ):
        read_tokenizer(tmp_path)
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(
        BundleError, match=r"merges.txt is missing.\n  wanted: tokenizer.json, or vocab.json and merges"
    ):
        read_tokenizer(tmp_path)
    (tmp_path / "vocab.json").write_text("[")
    (tmp_path / "merges.txt").write_text(merges, encoding="utf-8")
    with pytest.raises(BundleError, match="is damaged"):
        read_tokenizer(tmp_path)
