"""How a Marian translator is used to search: its generation_config.json, and what `Habits` calls the same."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.errors import BundleError
from regard.text import Tokenizer
from regard.text.bert_files import read_settings

FILE = "generation_config.json"
NEEDLESS: dict[str, tuple[object, ...]] = {
    "do_sample": (False, None),
    "forced_bos_token_id": (None,),
    "min_length": (0, None),
    "min_new_tokens": (0, None),
    "no_repeat_ngram_size": (0, None),
    "repetition_penalty": (1.0, None),
    "num_beam_groups": (1, None),
    "suppress_tokens": (None, []),
    "begin_suppress_tokens": (None, []),
    "sequence_bias": (None, {}),
}
"""What is not done here unless a user asks for it, and what may be said of it nevertheless."""
HEEDED: dict[str, tuple[tuple[type[float], ...], int]] = {
    "num_beams": ((int,), 1),
    "length_penalty": ((int, float), 0),
    "max_length": ((int,), 2),
    "max_new_tokens": ((int,), 1),
}
"""What is done as it is said: of what kind it is, and the least that it can be."""


def read_habits(directory: Path, config: Mapping[str, Any], target: Tokenizer) -> dict[str, Any]:
    """The habits of a model; an early one tells them in config.json. What is not told is as usual here. Its
    early_stopping is left: a search ends as all of ours do (--patience)."""
    path = directory / FILE
    told = path.exists()
    said = read_settings(path) if told else {"forced_eos_token_id": target.end, **config}
    _check(said, target, path if told else directory / "config.json")
    penalty, longest = said.get("length_penalty"), said.get("max_length")
    habits = {
        "beam": said.get("num_beams"),
        "penalty": None if penalty is None else float(penalty),
        # their max_length counts the mark that a translation begins with
        "limit": said.get("max_new_tokens") or (longest and longest - 1),
        "banned": [token for (token,) in said.get("bad_words_ids") or ()],
        "forced_end": said.get("forced_eos_token_id") is not None,
        "renormalise": bool(said.get("renormalize_logits")),
    }
    return {key: value for key, value in habits.items() if value is not None}


def generation_json(habits: Mapping[str, Any], *, pad: int, end: int, limit: int) -> dict[str, Any]:
    """The generation_config.json of a model with these habits. limit: of its positions."""
    longest = habits["limit"] or limit - 1
    return {
        "bad_words_ids": [[token] for token in sorted({pad, *habits["banned"]})],
        "bos_token_id": end,
        "decoder_start_token_id": pad,
        "eos_token_id": end,
        "forced_eos_token_id": end if habits["forced_end"] else None,
        "length_penalty": habits["penalty"],
        "max_length": longest + 1,
        "num_beams": habits["beam"],
        "pad_token_id": pad,
        "renormalize_logits": habits["renormalise"],
    }


def _check(said: Mapping[str, Any], target: Tokenizer, where: Path) -> None:
    """Refuses what cannot be heeded."""
    marks = {"decoder_start_token_id": target.start, "eos_token_id": target.end, "forced_eos_token_id": target.end}
    for key, values in {**NEEDLESS, **{key: (mark, [mark], None) for key, mark in marks.items()}}.items():
        if (found := said.get(key)) not in values:
            told = f"{where} asks for what is not done here."
            raise BundleError(told, found=f"{key} {found!r}", wanted=str(values[0]), do="correct it, or remove it")
    for key, (kind, least) in HEEDED.items():
        value: Any = said.get(key)
        if value is not None and not (isinstance(value, kind) and value >= least):
            raise BundleError(f"{where} is damaged.", found=f"{key} {value!r}", wanted=f"a number from {least}")
    words = said.get("bad_words_ids") or []
    if not (isinstance(words, list) and all(_is_token(word, len(target)) for word in words)):
        raise BundleError(
            f"{where} bans words in a way that is not known here.",
            found=f"bad_words_ids {words}"[:200],
            wanted=f"lists of one token each, below {len(target)}",
        )


def _is_token(word: object, size: int) -> bool:
    """A list of one number below `size`."""
    return isinstance(word, list) and len(word) == 1 and isinstance(word[0], int) and 0 <= word[0] < size
