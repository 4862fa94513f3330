"""What a Marian writes is what transformers' generate writes with the same weights, in double precision; its
generation_config.json is heeded."""

import json
from math import inf
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.errors import BundleError
from regard.tasks.searching import Asked, Habits, Searcher
from regard.tasks.translator import Translator
from tests.models.pretrained.marians import LENGTH, OPUS, OPUS_SIZE, sentences, write

BEAM = 4


def hypotheses(translator: Translator, texts: list[str], **asked: Any) -> list[list[tuple[int, ...]]]:
    """The tokens of our best translations, with the end mark where it was reached. Nothing better can come then, if
    nothing else is asked."""
    source, end = translator.tokenizers.source, translator.tokenizers.target.end
    search = translator.search(**{"patience": inf, **asked})
    searcher = Searcher(translator.model, translator.tokenizers, translator.habits, search)
    rows = [Asked((*ids, source.end)) for ids in source.encode_all(texts)]
    return [[(*one.tokens, *[end] * one.finished) for one in found] for found in searcher._found(rows)]


def generated(model: Any, spells: Any, texts: list[str], **how: Any) -> list[list[tuple[int, ...]]]:
    """Theirs, without the mark that they begin with; with a beam they never stop early, if nothing else is asked."""
    given = spells(texts, padding=True, return_tensors="pt")
    end, count = spells.eos_token_id, how.get("num_return_sequences", 1)
    with torch.inference_mode():
        rows = model.generate(**given, do_sample=False, **{"early_stopping": "never", **how})[:, 1:].tolist()
    whole = [tuple(row[: row.index(end) + 1] if end in row else row) for row in rows]
    return [whole[first : first + count] for first in range(0, len(whole), count)]


def assert_same(directory: Path, model: Any, spells: Any, texts: list[str], nbest: int) -> list[list[tuple[int, ...]]]:
    translator = regard.load(directory)
    translator.model.double()
    found = hypotheses(translator, texts, nbest=nbest)
    assert found == generated(model.double(), spells, texts, num_return_sequences=nbest)
    return found


@pytest.mark.parametrize("renormalise", [False, True])
@pytest.mark.parametrize("penalty", [0.6, 1.0])
def test_two_hundred_translations_are_theirs(penalty: float, renormalise: bool, tmp_path: Path) -> None:
    model, spells = write(tmp_path, seed=9)
    model.generation_config.update(length_penalty=penalty, renormalize_logits=renormalise)
    model.generation_config.save_pretrained(tmp_path)
    found = assert_same(tmp_path, model, spells, sentences(200), BEAM)
    lengths = {len(row) for rows in found for row in rows}
    assert len(lengths) >= 8
    assert len({row for rows in found for row in rows}) > 400


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, pytest.param(OPUS_SIZE, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])])
def test_two_hundred_translations_in_the_shape_of_opus_mt_are_theirs(size: int, tmp_path: Path) -> None:
    """Also with as many tokens as OPUS-MT has, in `make soak`."""
    model, spells = write(tmp_path, seed=9, size=size, **OPUS)
    model.generation_config.update(max_length=12, renormalize_logits=True)
    model.generation_config.save_pretrained(tmp_path)
    found = assert_same(tmp_path, model, spells, sentences(200), 1)
    assert len({row for rows in found for row in rows}) > 100


def test_a_search_that_ends_with_as_many_as_the_beam_is_theirs_that_stops_early(tmp_path: Path) -> None:
    model, spells = write(tmp_path, seed=9)
    translator, texts = regard.load(tmp_path), sentences(100)
    translator.model.double()
    found = hypotheses(translator, texts, patience=1.0)
    assert found == generated(model.double(), spells, texts, early_stopping=True)
    assert found != hypotheses(translator, texts)


def test_the_texts_are_theirs(tmp_path: Path) -> None:
    model, spells = write(tmp_path, seed=9)
    texts = sentences(30, seed=1)
    translator = regard.load(tmp_path)
    translator.model.double()
    rows = generated(model.double(), spells, texts)
    wanted = [spells.decode(list(row), skip_special_tokens=True) for (row,) in rows]
    assert translator.translate(texts, patience=inf) == wanted
    assert len(set(wanted)) > 20


def test_padding_is_never_written_and_the_last_token_ends(tmp_path: Path) -> None:
    """Without these habits the same model writes padding, and is cut off."""
    model, spells = write(tmp_path)
    pad, end = spells.pad_token_id, spells.eos_token_id
    model.final_logits_bias[0, pad], model.final_logits_bias[0, end] = 12.0, -30.0
    model.save_pretrained(tmp_path)
    translator, texts = regard.load(tmp_path), sentences(5)
    assert translator.habits == Habits(beam=4, limit=LENGTH - 1, banned=(pad,), forced_end=True)
    for rows in hypotheses(translator, texts, nbest=BEAM):
        assert all(pad not in row and len(row) == LENGTH - 1 and row[-1] == end for row in rows)
    free = Translator(translator.model, translator.tokenizers)
    assert any(pad in row and end not in row for rows in hypotheses(free, texts) for row in rows)


def test_an_early_model_tells_its_habits_in_its_config(tmp_path: Path) -> None:
    _, spells = write(tmp_path)
    (tmp_path / "generation_config.json").unlink()
    path, pad = tmp_path / "config.json", spells.pad_token_id
    said = {"num_beams": 6, "max_length": 40, "bad_words_ids": [[pad], [5]]}
    path.write_text(json.dumps({**json.loads(path.read_text()), **said}))
    habits = regard.load(tmp_path).habits
    assert habits == Habits(beam=6, limit=39, banned=(pad, 5), forced_end=True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bad_words_ids": [[3, 4]]}, r"bans words in a way .*\n  found: bad_words_ids \[\[3, 4\]\]"),
        ({"bad_words_ids": [[10**6]]}, r"bans words in a way .*\n  found: bad_words_ids \[\[1000000\]\]"),
        ({"bad_words_ids": 5}, "bans words in a way"),
        ({"forced_eos_token_id": 9}, "not done here.\n  found: forced_eos_token_id 9\n  wanted: 0"),
        ({"eos_token_id": [0, 9]}, r"not done here.\n  found: eos_token_id \[0, 9\]\n  wanted: 0"),
        ({"decoder_start_token_id": 0}, "not done here.\n  found: decoder_start_token_id 0"),
        ({"num_beams": "four"}, "is damaged.\n  found: num_beams 'four'\n  wanted: a number from 1"),
        ({"num_beams": 0}, "is damaged.\n  found: num_beams 0"),
        ({"max_length": 1}, "is damaged.\n  found: max_length 1\n  wanted: a number from 2"),
        ({"length_penalty": -1.0}, "is damaged.\n  found: length_penalty -1.0"),
        ({"do_sample": True}, "asks for what is not done here.\n  found: do_sample True"),
        ({"no_repeat_ngram_size": 3}, "found: no_repeat_ngram_size 3"),
    ],
    ids=str,
)
def test_what_cannot_be_heeded_is_refused(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "generation_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(BundleError, match=said):
        regard.load(tmp_path)


def test_what_is_asked_for_goes_before_habit(tmp_path: Path) -> None:
    model, spells = write(tmp_path)
    translator, texts = regard.load(tmp_path), sentences(20)
    translator.model.double()
    found = hypotheses(translator, texts, beam=1)
    assert found == generated(model.double(), spells, texts, num_beams=1)
    assert found != hypotheses(translator, texts)
