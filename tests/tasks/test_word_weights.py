"""Where words look: in a batch as alone, whatever the tokens."""

from dataclasses import replace

import numpy as np
import pytest

from regard import capture, catalogue
from regard.bundle import build_model
from regard.errors import ConfigError, LimitError
from regard.insight import Token, Trace
from regard.tasks.translator import Translator
from regard.tasks.word_texts import WordPair, WordText
from regard.tasks.word_weights import cut, word_weights
from tests.tasks.aligners import LIMIT, diagonal, tokenizers, transformer
from tests.text.corpus import CHINESE, ENGLISH, KINDS

PAIRS = [
    WordPair.of_texts(ENGLISH[0], CHINESE[0]),
    WordPair.of_texts("The unseen lion.", "看不见的狮子。"),
    WordPair.of_texts("", "看"),
    WordPair.of_texts("A cat", "一只猫追狗"),
]
CHINESE_WORDS = ("那只", "斑马", "听见", "一只", "鸟")
CROSS = ["decoder.0.cross", "decoder.1.cross", "decoder.2.cross"]


def part(token: Token, first: int, last: int) -> float:
    """How much of a token lies in text[first:last]; a lone space, which has no width, is at the start of its word."""
    if token.special or token.start == token.end:
        return float(not token.special and token.start == first)
    return max(0, min(last, token.end) - max(first, token.start)) / (token.end - token.start)


def alone(trace: Trace, name: str, head: int, pair: WordPair) -> np.ndarray:
    """From a trace of tokens to words, one weight at a time."""
    asks, reads = trace.rows_of(name)
    sums = np.zeros((len(pair.target.spans), len(pair.source.spans)))
    for word, span in enumerate(pair.target.spans):
        rows = [row for row, token in enumerate(asks.tokens) if part(token, *span)]
        for column, place in enumerate(pair.source.spans):
            for s, token in enumerate(reads.tokens):
                sums[word, column] += part(token, *place) * np.mean(trace.weights[name][head, rows, s])
    return sums


def by_reach(translator: Translator, pair: WordPair) -> Trace:
    """A trace whose weights are multiplied by the length of what each head would add to the sum."""
    with capture(translator.model, keep=("values",)) as recording:
        trace = translator.attention(pair.source.text, pair.target.text)
    matrices = {name: tensor.numpy() for name, tensor in translator.model.state_dict().items()}
    weights = dict(trace.weights)
    for layer, name in enumerate(CROSS):
        values = recording.last(name, "values")[0].numpy()
        output, width = matrices[f"decoder.{layer}.cross_attention.output.weight"], values.shape[-1]
        for head, words in enumerate(values):
            added = words @ output[:, head * width : (head + 1) * width].T
            weights[name] = weights[name].copy()
            weights[name][head] *= np.linalg.norm(added, axis=-1)
    return replace(trace, weights=weights)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("shift", ["predicts", "reads"])
def test_weights_in_a_padded_batch_are_those_of_a_trace_of_one_pair(kind: str, shift: str) -> None:
    translator = transformer(kind)
    found = dict(word_weights(translator, PAIRS))
    assert sorted(found) == [0, 1, 3]  # an empty side is passed over
    for number, weights in found.items():
        pair = PAIRS[number]
        trace = by_reach(translator, pair)
        assert weights.heads == dict.fromkeys(CROSS, 2)
        trace = trace if shift == "predicts" else trace.shifted()
        for name in CROSS:
            for head in (0, 1):
                expected = alone(trace, name, head, pair)
                np.testing.assert_allclose(weights.of(name, head, shift), expected, atol=2e-6)


def test_a_lone_space_goes_with_the_word_after_it() -> None:
    translator, pair = transformer("bpe"), WordPair.of_words(["Qat", "Qu"], ["猫"])
    pieces = translator.tokenizers.source.pieces(pair.source.text)
    lone = [number for number, piece in enumerate(pieces) if not pair.source.text[piece.start : piece.end].strip()]
    ((_, weights),) = word_weights(translator, [pair])
    assert len(lone) == 2
    assert weights.columns[lone].tolist() == [[1, 0], [0, 1]]


def test_where_no_token_covers_two_words_weights_are_those_of_the_trace_by_words() -> None:
    translator, text = transformer("character"), PAIRS[0]
    ((_, weights),) = word_weights(translator, [text])
    trace = by_reach(translator, text).by_words().without_specials()
    assert trace.rows["prediction"].labels == text.target.words
    for name in CROSS:
        np.testing.assert_allclose(weights.of(name, 1, "predicts"), trace.weights_of(name, 1), atol=2e-6)
        np.testing.assert_allclose(weights.of(name, "mean", "predicts"), trace.weights_of(name, "mean"), atol=2e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_sums_to_what_the_end_mark_was_not_given(kind: str) -> None:
    translator = transformer(kind)
    pair = WordPair.of_words(
        ["The", "zebra", "heard", "a", "bird", ",", "then", "slept", "."], ["那只", "斑马", "听见", "一只", "鸟"]
    )
    ((_, weights),) = word_weights(translator, [pair])
    words = weights.of("decoder.1.cross", 0, "reads")
    tokens = weights.tokens["decoder.1.cross"][0, 1:, :-1]
    np.testing.assert_allclose(words.sum(axis=1), weights.rows @ tokens.sum(axis=1), atol=1e-6)
    assert words.shape == (5, 9)
    assert (words > 0).all()


def test_a_token_over_several_words_is_shared_by_characters() -> None:
    translator = transformer("word")  # "一只猫追狗" is one token
    pair = WordPair.of_words(["A", "cat"], ["一只", "猫", "追", "狗"]).swapped()
    ((_, weights),) = word_weights(translator, [pair])
    assert weights.columns.tolist() == pytest.approx(np.array([[0.4, 0.2, 0.2, 0.2]]))
    ((_, weights),) = word_weights(translator, [pair.swapped()])
    assert weights.rows.tolist() == [[1.0], [1.0], [1.0], [1.0]]  # each target word has the row of that token


def test_the_order_and_company_of_pairs_changes_nothing() -> None:
    translator = transformer()
    many = [WordPair.of_texts(*texts) for texts in zip(ENGLISH, CHINESE, strict=True)]
    there, back = dict(word_weights(translator, many)), dict(word_weights(translator, many[::-1]))
    for number in (0, 7, 40):
        ours, theirs = there[number], back[len(many) - 1 - number]
        np.testing.assert_allclose(ours.of(CROSS[2], 1, "reads"), theirs.of(CROSS[2], 1, "reads"), atol=2e-6)


def test_a_model_that_attends_step_by_step_is_read_as_well() -> None:
    pairs = [WordPair.of_words(["The", "cat", "slept", "."], ["a", "b", "c"]), WordPair.of_words(["The"], ["a"])]
    # the tokenizers know words between spaces only; "." hangs on "slept"
    found = dict(word_weights(diagonal(), pairs))
    assert found[0].heads == {"decoder.align": 1}
    assert found[0].of("decoder.align", 0, "predicts").argmax(1).tolist() == [0, 1, 2]
    assert found[0].of("decoder.align", 0, "reads").shape == (3, 4)
    assert found[1].of("decoder.align", 0, "predicts").argmax(1).tolist() == [0]


@pytest.mark.parametrize("name", catalogue.model_names("translation"))
def test_every_model_is_read_in_a_batch_as_alone_or_has_no_attention(name: str) -> None:
    both = tokenizers()
    presets = catalogue.find(catalogue.model_entry(name, "translation").presets)
    settings = {"name": name, **presets["tiny"], "tie": "target"}
    model = build_model({"task": "translation", "model": settings}, both.model_sizes())
    try:
        found = dict(word_weights(Translator(model, both), PAIRS))
    except ConfigError as error:
        assert "no attention" in str(error)  # noqa: PT017
        return
    ((_, alone),) = word_weights(Translator(model, both), [PAIRS[3]])
    for attention, heads in found[3].heads.items():
        assert heads > 0
        ours, theirs = found[3].of(attention, 0, "reads"), alone.of(attention, 0, "reads")
        np.testing.assert_allclose(ours, theirs, atol=2e-6)


def test_a_model_without_attention_is_told_as_by_attention() -> None:
    with pytest.raises(ConfigError) as ours:
        list(word_weights(diagonal(attends=False), PAIRS))
    with pytest.raises(ConfigError) as theirs:
        diagonal(attends=False).attention("The cat", "猫")
    assert str(ours.value) == str(theirs.value)


def test_a_pair_that_is_too_long_is_named() -> None:
    long = WordPair.of_words(["cat"] * 50, ["猫"], "x.words, line 7")
    with pytest.raises(LimitError, match="x.words, line 7 is longer") as told:
        list(word_weights(diagonal(), [PAIRS[0], long]))
    assert "found: 51 tokens" in str(told.value)
    assert f"wanted: at most {LIMIT}" in str(told.value)
    with pytest.raises(LimitError, match="Pair 1 is longer"):
        list(word_weights(diagonal(), [WordPair.of_words(["cat"], ["a"] * 50)]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_pair_can_be_cut_after_the_last_word_that_fits(kind: str) -> None:
    translator = transformer(kind)
    long = WordPair.of_words(["zebra"] * 50, ["斑马", "a"] * 50, "here")
    (shorter,) = cut(translator, [long])
    assert shorter.source == WordText.join(["zebra"] * len(shorter.source.spans))
    assert 0 < len(shorter.source.spans) < 50
    assert shorter.place == "here"
    assert list(word_weights(translator, [shorter]))
    assert cut(translator, PAIRS) == PAIRS
