"""A SentencePiece model in a backend of HF `tokenizers`: the same tokens, with their places in the text.

The numbers of the tokens are given apart (Marian has them in vocab.json), and the two lists may differ. What has a
number but is no piece of this model gets spaces round its name: " >>fra<< ". A normalised text has no spaces (they
have become ▁) but those that are put round a language code at its beginning, and round a run of unknown characters. So
a code is one token, and an unknown run is looked up as a whole, as transformers' MarianTokenizer does; nothing else
with such a name can be met. What is a piece but has no number stands behind the others (see `BEYOND`).

Differs from SentencePiece: scores are added up in double precision. Of two spellings that are equally good but for
rounding (such as those of "aaaaa") it may take another one.
"""

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp
from typing import Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers
from tokenizers import Tokenizer as Backend

from regard.errors import BundleError
from regard.text.spm_charsmap import is_sound
from regard.text.spm_format import Entry, Role, SentencePieces
from regard.text.tokenizer import BEYOND, END, PAD, SPACE, START, UNKNOWN

MARKS = (PAD, END, UNKNOWN)
BEGIN, APART = "\ufdd0", "\ufdd1"
"""Where the sentence begins, which may be behind a language code; what keeps a mark from the letter before it. Neither
is a character: no text has them."""
CODE = r">>[\s\S]*?<<"
MARK = r"(?=[\p{M}\x{200C}\x{200D}])|(?<![\x{FF66}-\x{FF9D}])(?=[\x{FF9E}\x{FF9F}])|(?<=\r)(?=\n)"
"""Before what is taken together with the character before it. (Half-width ﾞ and ﾟ are to become part of katakana.)"""
SPELT = (Role.NORMAL, Role.USER, Role.BYTE)
KINDS = ("unigram", "bpe")
BYTE = re.compile("<0x[0-9A-F]{2}>")


def make_backend(model: SentencePieces, numbers: Mapping[str, int], *, where: str) -> Backend:
    """A backend that spells as the model does and gives these numbers; <unk> is among them. where: for errors."""
    _check(model, where)
    spelt = {entry.text: entry for entry in model.entries if entry.role in SPELT and entry.text not in MARKS}
    names = _names(spelt, numbers)
    build = _unigram if model.kind == "unigram" else _bpe
    backend = Backend(build(names, spelt, byte_fallback=model.byte_fallback))
    codes = [token for token in numbers if re.fullmatch(r">>\S*<<", token)]
    backend.normalizer = normalizers.Sequence(
        [*_begun(), *_mapped(model), *_spaced(model), *_runs(model), *_coded(codes)]
    )
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(" [^ ]* "), "isolated"),
            # "</s>" written in a text would be met as the end of it: cut, it is not
            pre_tokenizers.Split(Regex(f"<(?={'|'.join(mark[1:] for mark in MARKS)})"), "isolated"),
        ]
    )
    unseen = [entry.text for entry in model.entries if entry.role == Role.CONTROL and entry.text in numbers]
    backend.decoder = _decoder([text for text in unseen if text not in MARKS], byte_fallback=model.byte_fallback)
    backend.add_special_tokens([mark for mark in MARKS if mark in numbers])
    return backend


def take_apart(backend: Backend) -> tuple[SentencePieces, dict[str, int]]:
    """The model and the numbers that a backend was made of (what is never used of them is not kept)."""
    parts = json.loads(backend.to_str())
    if not is_sentencepiece(backend):
        raise BundleError("The tokenizer has no form in SentencePiece.", found=str(parts["model"]["type"]))
    steps, held = parts["normalizer"]["normalizers"], _held(parts["model"])
    charsmap = next((step["precompiled_charsmap"] for step in steps if step["type"] == "Precompiled"), "")
    fallback = bool(parts["model"]["byte_fallback"])
    model = SentencePieces(
        parts["model"]["type"].lower(),
        _entries(held, byte_fallback=fallback),
        charsmap=b64decode(charsmap),
        rules="nmt_nfkc" if any(step["type"] == "NFC" for step in steps) else "",
        prefix=any(step.get("content") == BEGIN + SPACE for step in steps),
        squeeze=any(step.get("pattern") == {"String": f"{BEGIN} "} for step in steps),
        byte_fallback=fallback,
    )
    return model, _numbers(list(held))


def likely_pieces(backend: Backend) -> Iterator[tuple[str, float]]:
    """Its pieces of words, with a space before those that begin one, and how likely each is (in BPE's models, which do
    not know it, the earlier it was joined the likelier)."""
    model, _ = take_apart(backend)
    for entry in model.entries:
        if entry.role == Role.NORMAL:
            likely = exp(entry.score) if model.kind == "unigram" else 1 / (1 + abs(entry.score))
            yield entry.text.replace(SPACE, " "), likely


def is_sentencepiece(backend: Backend) -> bool:
    """Whether `make_backend` made it."""
    steps = (json.loads(backend.to_str())["normalizer"] or {}).get("normalizers", [])
    return any(step.get("prepend") == BEGIN for step in steps)


def _check(model: SentencePieces, where: str) -> None:
    """Refuses what cannot be imitated."""
    odd = {
        f"kind {model.kind}": model.kind not in KINDS,
        "pieces that are not to be used": any(entry.role == Role.UNUSED for entry in model.entries),
        "spaces that stand behind words, or stay spaces": not model.usual_spaces,
        "rules for characters that are damaged": bool(model.charsmap) and not is_sound(model.charsmap),
    }
    if found := [what for what, is_so in odd.items() if is_so]:
        told = f"{where} spells in a way that is not known here."
        raise BundleError(told, found=found[0], wanted=" or ".join(KINDS))


def _names(spelt: Mapping[str, Entry], numbers: Mapping[str, int]) -> list[str]:
    """What each row of the backend is called. A number that nothing has gets a name that cannot be met."""
    named = {number: token if token in spelt or token in MARKS else f" {token} " for token, number in numbers.items()}
    rows = [named.get(number, f"{number} ") for number in range(max(named) + 1)]
    beyond = [token for token in spelt if token not in numbers]
    return [*rows, BEYOND, *beyond] if beyond else rows


def _numbers(names: Sequence[str]) -> dict[str, int]:
    """The other way round: the tokens, and their numbers."""
    rows = names.index(BEYOND) if BEYOND in names else len(names)
    return {
        name.strip(" "): number
        for number, name in enumerate(names[:rows])
        if name.startswith(" ") or not name.endswith(" ")
    }


def _entries(held: Mapping[str, float], *, byte_fallback: bool) -> tuple[Entry, ...]:
    """Marks, then pieces. What has a space in its name is none."""
    marks = [Entry(UNKNOWN, 0.0, Role.UNKNOWN), Entry(START, 0.0, Role.CONTROL), Entry(END, 0.0, Role.CONTROL)]
    spelt = [name for name in held if " " not in name and name not in (*MARKS, START)]
    bytewise = {name for name in spelt if byte_fallback and BYTE.fullmatch(name)}
    pieces = [Entry(name, held[name], Role.BYTE if name in bytewise else Role.NORMAL) for name in spelt]
    return (*marks, *pieces)


def _unigram(names: Sequence[str], spelt: Mapping[str, Entry], *, byte_fallback: bool) -> models.Unigram:
    """What a user has defined wins against all other spellings; bytes never do, and leave the lowest score as it is:
    an unknown character costs ten more."""
    scores = [entry.score for entry in spelt.values() if entry.role == Role.NORMAL]
    lowest, highest = min(scores, default=0.0), max(scores, default=0.0)
    special = {
        entry.text: len(entry.text.encode()) * highest - 0.1 if entry.role == Role.USER else lowest
        for entry in spelt.values()
        if entry.role != Role.NORMAL
    }
    scored = [(name, special.get(name, spelt[name].score if name in spelt else 0.0)) for name in names]
    return models.Unigram(scored, unk_id=names.index(UNKNOWN), byte_fallback=byte_fallback)


def _bpe(names: Sequence[str], spelt: Mapping[str, Entry], *, byte_fallback: bool) -> models.BPE:
    """Any two pieces that make up a third are joined, those first whose sum has the best score."""
    normal = {text: entry.score for text, entry in spelt.items() if entry.role == Role.NORMAL}
    merges = [
        (text[:cut], text[cut:])
        for text in sorted(normal, key=lambda text: -normal[text])
        for cut in range(len(text) - 1, 0, -1)
        if text[:cut] in normal and text[cut:] in normal
    ]
    numbered = {name: number for number, name in enumerate(names)}
    return models.BPE(
        numbered, merges, unk_token=UNKNOWN, fuse_unk=True, byte_fallback=byte_fallback, ignore_merges=True
    )


def _held(model: Mapping[str, Any]) -> dict[str, float]:
    """The names of a backend in the order of their numbers, with scores; those of BPE are ranks."""
    if model["type"] == "Unigram":
        return dict(model["vocab"])
    ranks: dict[str, int] = {}
    for first, second in model["merges"]:
        ranks.setdefault(first + second, len(ranks))
    ordered = sorted(model["vocab"], key=model["vocab"].__getitem__)
    return {name: -float(ranks.get(name, len(ranks) + number)) for number, name in enumerate(ordered)}


def _begun() -> list[Any]:
    """The beginning is marked: that of the text, or of what follows a language code. (Nothing is ever put at the very
    beginning of a text by an empty match: the backend would lose count of the characters.)"""
    return [
        normalizers.Prepend(BEGIN),
        normalizers.Replace(Regex(rf"\A{BEGIN}{CODE}\K"), BEGIN),
        normalizers.Replace(Regex(rf"\A{BEGIN}(?={CODE}{BEGIN})"), ""),
    ]


def _mapped(model: SentencePieces) -> list[Any]:
    """What characters become. The backend's own Precompiled drops an accent behind a character that is mapped, and does
    not put together what is longer than five bytes: so accents are kept apart, and NFC puts them together."""
    if not model.charsmap:
        return []
    mapped = normalizers.Precompiled(model.charsmap)
    if "nfkc" not in model.rules:
        return [mapped]
    apart, joined = normalizers.Replace(Regex(MARK), APART), normalizers.Replace(APART, "")
    return [normalizers.NFC(), apart, mapped, normalizers.NFC(), joined]


def _spaced(model: SentencePieces) -> list[Any]:
    """Spaces become ▁. One stands before the sentence, if there is any."""
    squeezed = [
        normalizers.Replace(Regex(" {2,}"), " "),
        normalizers.Replace(f"{BEGIN} ", BEGIN),
        normalizers.Replace(Regex(rf"[ {SPACE}]+\z"), ""),
    ]
    begun = normalizers.Replace(Regex(rf"{BEGIN}(?=[\s\S])"), BEGIN + SPACE)
    whole = normalizers.Replace(" ", SPACE)
    return [*(squeezed if model.squeeze else []), *([begun] if model.prefix else []), whole]


def _runs(model: SentencePieces) -> list[Any]:
    """Spaces round each run of characters that no piece has, unless such characters are spelt in bytes; none within a
    language code."""
    if model.byte_fallback:
        return []
    known = _class({" ", SPACE, BEGIN}.union(*(entry.text for entry in model.entries if entry.role in SPELT)))
    return [
        normalizers.Replace(Regex(f"(?<=[^{known}])(?![^{known}])"), " "),
        normalizers.Replace(Regex(f"(?<=[{known}])(?=[^{known}])"), " "),
        normalizers.Replace(Regex(rf"\G[^{BEGIN} ]*\K "), ""),
    ]


def _coded(codes: Sequence[str]) -> list[Any]:
    """A known language code gets spaces round it, an unknown one becomes spaces, which are unknown."""
    known = "|".join(re.escape(code[1:]) for code in codes)
    marked = [
        normalizers.Replace(Regex(rf"\A>(?=(?:{known}){BEGIN})"), " >"),
        normalizers.Replace(Regex(rf"\A [^{BEGIN}]*\K{BEGIN}"), " "),
    ]
    unknown = normalizers.Replace(Regex(rf"\A[^{BEGIN} ][^{BEGIN}]*{BEGIN}"), "  ")
    return [*(marked if codes else []), unknown, normalizers.Replace(BEGIN, "")]


def _class(characters: Iterable[str]) -> str:
    r"""The inside of [ ] in a regular expression.

    >>> _class("abcx")
    '\\x{61}-\\x{63}\\x{78}-\\x{78}'
    """
    ranges: list[list[int]] = []
    for code in sorted(map(ord, characters)):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(rf"\x{{{first:X}}}-\x{{{last:X}}}" for first, last in ranges)


def _decoder(unseen: Sequence[str], *, byte_fallback: bool) -> Any:
    """Pieces in a row, ▁ as spaces, none at the ends; `unseen` pieces are left out."""
    return decoders.Sequence(
        [
            *(decoders.Replace(f" {text} ", "") for text in unseen),
            decoders.Replace(" ", ""),
            decoders.Replace(SPACE, " "),
            *([decoders.ByteFallback()] if byte_fallback else []),
            decoders.Fuse(),
            decoders.Replace(Regex(r"\A\s+|\s+\z"), ""),
        ]
    )
