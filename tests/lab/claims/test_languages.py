from typing import Any

import numpy as np
import torch

from regard.evaluation.alignment import Gold
from regard.lab.claims.languages import (
    APART,
    BEFORE,
    BEHIND,
    CHANCE,
    Means,
    Meeting,
    brought_together,
    dictionary,
    first,
    halves,
    looked,
    places,
    rotated,
    units,
)
from regard.models.transformer import Transformer, TransformerConfig
from regard.tasks.pairs import Tokenizers
from regard.tasks.translator import Translator
from regard.tasks.word_texts import WordPair, WordText
from regard.text import TokenizerConfig, train_tokenizer
from tests.draws import assert_near

RANDOM = np.random.default_rng(1)


def test_a_word_is_found_first_if_its_own_partner_has_the_highest_score() -> None:
    meeting = Meeting(np.eye(4), np.eye(4)[[0, 1, 3, 2]])
    assert first(meeting, [0, 1, 2, 3]) == 0.5
    assert first(meeting, [2]) == 0.0


def test_a_space_that_was_only_turned_is_turned_back_by_half_of_the_dictionary() -> None:
    english = units(RANDOM.normal(size=(60, 8)))
    turn, _ = np.linalg.qr(RANDOM.normal(size=(8, 8)))
    meeting = Meeting(english @ turn, english)
    known, asked = halves(60, seed=1)
    assert first(meeting, asked) < 0.3
    assert first(rotated(meeting, known), asked) == 1.0


def test_no_rotation_lines_up_what_has_nothing_in_common() -> None:
    meeting = Meeting(units(RANDOM.normal(size=(60, 8))), units(RANDOM.normal(size=(60, 8))))
    known, asked = halves(60, seed=1)
    assert first(rotated(meeting, known), asked) < 0.3


def test_units_stand_around_zero_and_are_of_length_one_before_that() -> None:
    found = units(RANDOM.normal(size=(50, 4)) + 7)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    assert np.abs(found.mean(axis=0)).max() < 0.3


def pair(source: str, target: str) -> WordPair:
    return WordPair(WordText.join(source.split()), WordText.join(target.split()))


def test_the_dictionary_has_words_that_prefer_each_other_and_belong_to_no_other() -> None:
    pairs = [pair("The dog runs", "狗 跑 了")] * 4 + [pair("The hound runs", "狗 跑 了")] * 3
    gold = [Gold.of([(0, 0), (1, 0), (2, 1)])] * 2 + [Gold.of([(1, 0), (2, 1)])] * 5
    assert dictionary(pairs, gold) == [("狗", "hound"), ("跑", "runs")]
    assert dictionary(pairs[:2], gold[2:4]) == []  # too rare


def test_halves_are_all_rows_and_have_none_in_common() -> None:
    one, other = halves(11, seed=3)
    assert sorted(one + other) == list(range(11))
    assert abs(len(one) - len(other)) == 1
    assert halves(11, seed=3) == (one, other)


def test_a_word_is_met_at_its_first_piece() -> None:
    tokenizer = train_tokenizer(["the lion sees the lion"] * 10, TokenizerConfig(size=400))
    text = WordText.join(["the", "lion", "sees", "xyz"])
    pieces = tokenizer.pieces(text.text)
    found = places(text, tokenizer)
    assert None not in found
    assert [text.text[pieces[place or 0].start :].lstrip()[:2] for place in found] == ["th", "li", "se", "xy"]


def test_means_are_over_all_times_that_a_word_was_met() -> None:
    means = Means()
    means.add(np.array([[[1.0, 2.0], [8.0, 8.0], [3.0, 4.0]]]), WordText.join(["Lion", "and", "lion"]), [0, 1, 2])
    means.add(np.array([[[5.0, 6.0]]]), WordText.join(["gnu"]), [None])
    assert means.of(["and", "lion"], 0).tolist() == [[8.0, 8.0], [2.0, 3.0]]
    assert "lion" in means
    assert "gnu" not in means


def test_what_cross_attention_adds_is_what_a_decoder_gets_that_looks_at_one_word_only() -> None:
    torch.manual_seed(1)
    tokenizers = Tokenizers.train([("a b c", "d e f")] * 5, TokenizerConfig(size=400))
    sizes = {"width": 8, "heads": 2, "hidden": 8, "encoder_layers": 1, "decoder_layers": 2, "dropout": 0.0}
    model = Transformer(TransformerConfig.parse(sizes, where="model"), **tokenizers.model_sizes())
    said, read = looked(Translator(model, tokenizers), [pair("a b c", "d e")])
    states = torch.from_numpy(read[:, 1])
    cross: Any = model.decoder[-1]
    only_second = torch.arange(states.shape[1])[None, None, None] == 1
    memory = cross.cross_attention.remember(states)
    got = cross.cross_attention.cross_attention(torch.randn(1, 1, 8), memory, mask=only_second)
    assert_near(torch.from_numpy(read[:, 0, 1]), (got[:, 0] - cross.cross_attention.output.bias).detach())
    assert said.shape[:2] == (1, 1)


def test_cross_attention_brings_nothing_together_that_lined_up_when_learned_apart() -> None:
    shares = {BEHIND: 0.8, BEFORE: 0.1, APART: 0.02, CHANCE: 0.004}
    assert brought_together(shares, BEHIND) == 0.8
    assert brought_together(shares, BEFORE) == 0.1
    assert brought_together({**shares, APART: 0.03}, BEHIND) == 0.0
