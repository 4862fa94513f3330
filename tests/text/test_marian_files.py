"""Marian's spellings without SentencePiece: the same ids, the same text and the places of the pieces."""

import json
import re
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import sentencepiece
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from regard.errors import BundleError
from regard.text import Tokenizer
from regard.text.marian_files import read_langs, read_tokenizers, write_tokenizers
from regard.text.spm_backend import CODE, make_backend
from regard.text.spm_format import Entry, Role, SentencePieces, read_pieces, write_pieces
from tests.models.pretrained.marians import learn, learned, numbered, pieces, sentences, tokenizer, write_spelling

from .corpus import ENGLISH, TEXTS

NASTY = [
    "", " ", "  ", "The lion chased a bird, then slept.", "the  lion   chased", " leading and trailing  ",
    "tab\tnew\nline", "The\r\ncat\u3000slept.\u00a0A\u200bdog\u2028x\ufeff", "那只猫看着一只狗,然后睡了。 北京欢迎你",
    "猫", "猫 狗", "猫狗猫", "The 猫 slept.", "x猫x", "emoji 😀👩\u200d👩\u200d👧 🇩🇪 the cat", "😀", "Die Straße 12",
    "ＴＨＥ ｃａｔ", "ﬁve ﬂat ①②㍿ ½ ²", "ｶﾞ ﾊﾟ ～", "cafe\u0301 e\u0323\u0302", "\u1112\u1161\u11ab か\u3099",
    "ﬁ\u0301 １\u0302", "▁", "▁▁cat", "cat▁", "a ▁ b", "\0", "a\0b\x07", "zzzzzzz", "aaaaaaaaaa", "x" * 300,
    "1,000.5 $5.00 50% @#^`~|", "a" + "\u0301" * 5, "\ud800 half",
    "<s>", "[MASK]", "</s>", "the </s> cat", "<pad>the<unk> cat", "< /s>",
    ">>cmn_Hans<< The cat", ">>cmn_Hans<<The cat", ">>deu<<", ">>deu<< ", ">>deu<<  the", ">>xxx<< the cat",
    ">>a b<<the", " >>deu<< the", "the >>deu<< cat", ">>deu<<>>deu<< the", "＞＞deu＜＜ the", ">>", "<<", ">>deu",
    ">> <<", ">><<", ">><< the",
]  # fmt: skip


def their_ids(theirs: Any, text: str, *, target: bool = False) -> list[int]:
    whole = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    made = theirs(text_target=whole)["input_ids"] if target else theirs(whole)["input_ids"]
    assert made[-1] == theirs.eos_token_id
    return list(made[:-1])


def assert_same(directory: Path, texts: list[str]) -> None:
    """Both sides, both ways."""
    theirs, sides = tokenizer(directory), read_tokenizers(directory)
    for ours, target in zip(sides, (False, True), strict=True):
        for text in texts:
            ids = their_ids(theirs, text, target=target)
            assert ours.encode(text) == ids, (target, repr(text))
            assert [piece.id for piece in ours.pieces(text)] == ids
        assert ours.encode_all(texts) == [their_ids(theirs, text, target=target) for text in texts]
    for text in texts:
        ids = their_ids(theirs, text, target=True)
        assert sides[1].decode(ids) == theirs.decode(ids, skip_special_tokens=True), repr(text)


@pytest.mark.parametrize("leave_out", [0, 7])
@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_ids_and_texts_are_theirs(kind: str, separate: bool, leave_out: int, tmp_path: Path) -> None:
    write_spelling(tmp_path, kind, separate=separate, leave_out=leave_out)
    assert_same(tmp_path, [*NASTY, *TEXTS, *sentences(50)])


@pytest.mark.parametrize(
    "options",
    [
        {"normalization_rule_name": "identity"},
        {"normalization_rule_name": "nmt_nfkc_cf"},
        {"add_dummy_prefix": False},
        {"remove_extra_whitespaces": False},
        {"user_defined_symbols": "ein,猫"},
    ],
    ids=str,
)
def test_the_choices_of_a_spelling_are_heeded(options: dict[str, Any], tmp_path: Path) -> None:
    write_spelling(tmp_path, **options)
    lower = "nmt_nfkc_cf" in options.values()  # there a code with capitals would have none
    assert_same(tmp_path, [text for text in NASTY if not (lower and "_Hans" in text)])


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_unknown_characters_may_be_spelt_in_bytes(kind: str, tmp_path: Path) -> None:
    model = learn(ENGLISH, model_type=kind, byte_fallback=True, vocab_size=350)
    ours, theirs = spelt(model, tmp_path / "x.spm")
    for text in ("The cat", "猫 x", "😀", "The ß", ""):
        assert ours.encode(text) == theirs(text)
        assert ours.decode(ours.encode(text)) == text
    assert [(piece.start, piece.end) for piece in ours.pieces("a 猫")][-3:] == [(2, 3)] * 3


def spelt(model: bytes, path: Path) -> tuple[Tokenizer, Any]:
    """Ours of a model, and SentencePiece with the same numbers."""
    path.write_bytes(model)
    numbers = numbered(pieces(model))
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    ours = Tokenizer(make_backend(read_pieces(path), numbers, where="a test"))
    return ours, lambda text: [numbers.get(piece, 1) for piece in processor.encode(text, out_type=str)]


@cache
def both() -> tuple[Tokenizer, Any]:
    with TemporaryDirectory() as directory:
        return spelt(learn([*TEXTS, *map(chr, range(33, 127))], vocab_size=250), Path(directory) / "x.spm")


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=("Mn", "Mc", "Me", "Cs", "Cn")), max_size=40))
@example("a >><< b")
def test_any_text_gives_their_ids(text: str) -> None:
    """But for several accents in a row in an order that no keyboard makes: there ours are put in order first."""
    assume(not re.match(CODE, text))  # SentencePiece has no codes
    ours, theirs = both()
    assert ours.encode(text) == theirs(text)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*"aeost ", "\u0301", "\u0308", "\u0327"]), max_size=20))
def test_accents_are_joined_with_their_letters_as_theirs_are(letters: list[str]) -> None:
    text = "".join(letters)
    if not any(one != "" and f"{one}{two}" in text for one in "\u0301\u0308\u0327" for two in "\u0301\u0308\u0327"):
        ours, theirs = both()
        assert ours.encode(text) == theirs(text)


def test_pieces_know_their_place_in_the_text(tmp_path: Path) -> None:
    write_spelling(tmp_path)
    source, target = read_tokenizers(tmp_path)
    for text in ("The  lion chased 猫猫 a cat.", "😀 The ＦＩＲＳＴ lion", "  the cat", "x猫", "cafe\u0301 cat"):
        places = [(piece.start, piece.end) for piece in source.pieces(text)]
        assert all(end <= start for (_, end), (start, _) in pairwise(places))
        shown = "".join(text[start:end] for start, end in places)
        assert shown.replace(" ", "") == text.replace(" ", "").replace("\u0301", "")
    text = ">>deu<< The lion"
    assert [text[p.start : p.end].strip() for p in source.pieces(text)] == [">>deu<<", "The", "lion"]
    text = "那只猫"
    assert "".join(text[p.start : p.end] for p in target.pieces(text)) == text


def test_what_is_written_spells_as_before(tmp_path: Path) -> None:
    for kind in ("unigram", "bpe"):
        before = write_spelling(tmp_path / kind, kind, leave_out=9)
        sides = read_tokenizers(tmp_path / kind)
        write_tokenizers(tmp_path / f"{kind} again", sides, joint=True, source_lang="en", target_lang="zh")
        after = tokenizer(tmp_path / f"{kind} again")
        assert after.encoder == before.encoder
        for text in [*NASTY, *TEXTS]:
            assert their_ids(after, text) == their_ids(before, text), repr(text)
            assert their_ids(after, text, target=True) == their_ids(before, text, target=True), repr(text)
        assert read_langs(tmp_path / f"{kind} again") == ("en", "zh")


@pytest.mark.parametrize(
    ("told", "known"),
    [
        (("eng", "zho"), ("en", "zh")),
        (("en", "zh"), ("en", "zh")),
        (("deu", "roa"), ("de", "roa")),
        ((None, None), ("", "")),
    ],
)
def test_languages_have_the_names_that_people_ask_for(
    told: tuple[str | None, str | None], known: tuple[str, str], tmp_path: Path
) -> None:
    choices = dict(zip(("source_lang", "target_lang"), told, strict=True))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(choices), encoding="utf-8")
    assert read_langs(tmp_path) == known


def test_a_tokenizer_of_ours_keeps_its_spelling_and_takes_marks_for_text(tmp_path: Path) -> None:
    write_spelling(tmp_path, leave_out=9)
    source, _ = read_tokenizers(tmp_path)
    source.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert len(again) == len(source)
    assert (again.pad, again.start, again.end) == (source.pad, source.pad, 0)
    unmarked = [text for text in NASTY if not any(mark in text for mark in ("</s>", "<pad>", "<unk>"))]
    assert [again.encode(text) for text in unmarked] == [source.encode(text) for text in unmarked]
    for mark in ("</s>", "<pad>", "the </s> cat"):
        assert not {again.end, again.pad} & set(again.encode(mark))
        assert {source.end, source.pad} & set(source.encode(mark))


def test_a_file_says_what_sentencepiece_says_of_it(tmp_path: Path) -> None:
    path = tmp_path / "x.spm"
    path.write_bytes(learned("target"))
    model, processor = read_pieces(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    said = [(processor.id_to_piece(id), processor.get_score(id)) for id in range(processor.get_piece_size())]
    assert [(entry.text, entry.score) for entry in model.entries] == said
    assert (model.kind, model.rules, model.prefix, model.squeeze) == ("unigram", "nmt_nfkc", True, True)
    write_pieces(tmp_path / "y.spm", model)
    assert read_pieces(tmp_path / "y.spm") == model


def test_faults_are_named(tmp_path: Path) -> None:
    write_spelling(tmp_path)
    whole = (tmp_path / "target.spm").read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"\x0f", b"{}", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"):
        (tmp_path / "target.spm").write_bytes(content)
        with pytest.raises(BundleError, match=r"target.spm is damaged or not a SentencePiece model"):
            read_tokenizers(tmp_path)
    (tmp_path / "target.spm").unlink()
    with pytest.raises(BundleError, match=r"target.spm is missing"):
        read_tokenizers(tmp_path)
    (tmp_path / "target.spm").write_bytes(whole)
    for kind in ("char", "word"):
        (tmp_path / "source.spm").write_bytes(learned("source", kind))
        with pytest.raises(BundleError, match=rf"not known here.\n  found: kind {kind}\n  wanted: unigram or bpe"):
            read_tokenizers(tmp_path)
    (tmp_path / "source.spm").write_bytes(learned("source", treat_whitespace_as_suffix=True))
    with pytest.raises(BundleError, match="not known here.\n  found: spaces that stand behind words"):
        read_tokenizers(tmp_path)
    write_pieces(tmp_path / "source.spm", SentencePieces("unigram", (Entry("a", -1.0, Role.UNUSED),)))
    with pytest.raises(BundleError, match="not to be used"):
        read_tokenizers(tmp_path)
    known = json.loads((tmp_path / "vocab.json").read_text(encoding="utf-8"))
    for content, said in (
        ([], "a number for each token"),
        ({**known, "x": -1}, "a number for each token"),
        ({**known, "x": 10**12}, "a number for each token"),
        ({**known, "x": 5}, "two tokens with the same number"),
        ({token: id for token, id in known.items() if token != "<pad>"}, r"vocab.json lacks <pad>"),
    ):
        (tmp_path / "vocab.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(BundleError, match=said):
            read_tokenizers(tmp_path)
    (tmp_path / "vocab.json").unlink()
    with pytest.raises(BundleError, match=r"vocab.json is missing"):
        read_tokenizers(tmp_path)


def test_files_of_two_models_are_told_apart(tmp_path: Path) -> None:
    write_spelling(tmp_path)
    numbers = numbered(f"word {number}" for number in range(200))
    (tmp_path / "vocab.json").write_text(json.dumps(numbers), encoding="utf-8")
    with pytest.raises(
        BundleError, match=r"source.spm and vocab.json do not belong together.\n  found: numbers for 2 of"
    ):
        read_tokenizers(tmp_path)


def test_rules_whose_texts_are_no_texts_are_refused(tmp_path: Path) -> None:
    whole = bytearray(learned("source"))
    rules = read_pieces(_written(tmp_path, whole)).charsmap
    inside = next(place for place in range(len(rules) - 1, 0, -1) if rules[place] & 0xC0 == 0x80)
    whole[whole.find(rules) + inside] = 0
    with pytest.raises(BundleError, match="rules for characters that are damaged"):
        make_backend(read_pieces(_written(tmp_path, whole)), numbered(pieces(learned("source"))), where="x.spm")


def _written(directory: Path, content: bytes) -> Path:
    path = directory / "x.spm"
    path.write_bytes(content)
    return path


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_a_damaged_spelling_is_refused_or_read_but_nothing_else_happens(data: st.DataObject) -> None:
    whole = bytearray(learned("source"))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with TemporaryDirectory() as directory:
        path = Path(directory) / "x.spm"
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))] if data.draw(st.booleans()) else whole)
        with suppress(BundleError):
            backend = make_backend(read_pieces(path), numbered(pieces(learned("source"))), where="x.spm")
            Tokenizer(backend).encode("The lion chased a bird, then slept.")
