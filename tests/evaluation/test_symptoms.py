"""The numbers by which faults are known, each against a count made by hand or by another way."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.attention import capture
from regard.evaluation.loss import Loss, held_out_loss
from regard.evaluation.symptoms import (
    FEW,
    Outputs,
    attention_entropy,
    constant,
    copied,
    has_loop,
    looped,
    of_outputs,
    sampled,
    with_other_sources,
)
from regard.tasks.pairs import EncodedPairs, Tokenizers
from regard.text import TokenizerConfig
from tests.models.small import chosen

SENTENCES = ["a b c d", "b", "c d", "d a b c a", "b a d", "a a b"]
TOKENIZERS = Tokenizers.train([(text, text) for text in SENTENCES], TokenizerConfig(kind="word", size=11, joint=False))


def encoded(count: int = len(SENTENCES)) -> EncodedPairs:
    texts = (SENTENCES * count)[:count]
    return EncodedPairs.encode(texts, [text[::-1] for text in texts], TOKENIZERS)


def test_a_copy_is_an_output_that_is_its_source_where_the_reference_is_not() -> None:
    made = Outputs(
        ["Hello  World", "a b", "Paris", "no"], ["hello world", "b a", "Paris", "non"], ["x", "y", "Paris", "non"]
    )
    assert copied(made) == pytest.approx(1 / 3)  # Paris is right


def test_where_most_references_are_their_source_copying_means_nothing() -> None:
    assert copied(Outputs(["a", "b", "c"], ["a", "b", "c"], ["a", "b", "x"])) is None


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("aaaa", True),
        ("xaaay", False),
        ("xababababy", True),
        ("abababa", False),
        ("zabcabcabcabc", True),
        ("abcdabcdabcdabcd", True),
        ("abcdeabcdeabcdeabcde", False),  # five tokens
        ("aabbaabbccdd", False),
        ("", False),
    ],
)
def test_a_loop_is_one_to_four_tokens_four_times_in_a_row(text: str, loops: bool) -> None:
    assert has_loop([ord(letter) for letter in text]) == loops


def test_a_loop_that_the_reference_has_too_does_not_count() -> None:
    assert looped([[1] * 5, [1] * 5, [1, 2]], [[1] * 4, [1, 2], [3] * 9]) == pytest.approx(1 / 3)


def test_outputs_are_constant_if_different_sources_get_the_same_wrong_one() -> None:
    assert constant(Outputs("abcd", ["x", "x", "x", "y"], ["1", "2", "x", "4"])) == pytest.approx(2 / 4)
    assert constant(Outputs("aaaa", ["x", "x", "x", "x"], ["1", "2", "3", "4"])) == 1
    assert constant(Outputs("abcd", ["x", "x", "x", "x"], ["x", "x", "x", "x"])) == 0


def test_length_is_counted_in_tokens_of_all_outputs_together() -> None:
    made = Outputs(["a", "b"], ["a b c", "d"], ["a b", "c d a b c d"])
    assert of_outputs(made, TOKENIZERS)["length_ratio"] == pytest.approx(4 / 8)


def test_a_sample_and_the_others_are_all_pairs_and_no_source_comes_twice_in_it() -> None:
    pairs = EncodedPairs([[number % 700] for number in range(1000)], [[number] for number in range(1000)])
    some, others = sampled(pairs)
    assert len({tuple(source) for source in some.sources}) == len(some.sources) == 70
    assert sorted([*some.targets, *others.targets]) == pairs.targets
    few, none = sampled(encoded())
    assert (len(few), len(none)) == (len(SENTENCES), 0)
    assert len(sampled(EncodedPairs(pairs.sources[:90], pairs.targets[:90]))[0]) <= FEW


@pytest.mark.parametrize("count", [2, 3, 6])
def test_no_pair_keeps_its_own_source(count: int) -> None:
    pairs = encoded(count)
    mixed = with_other_sources(pairs)
    assert sorted(mixed.sources) == sorted(pairs.sources)
    assert all(mine != theirs for mine, theirs in zip(pairs.sources, mixed.sources, strict=True))
    assert mixed.targets == pairs.targets


def test_the_losses_of_parts_are_that_of_the_whole() -> None:
    model, pairs = chosen("bahdanau"), encoded()
    parts = [EncodedPairs(pairs.sources[some], pairs.targets[some]) for some in (slice(0, 2), slice(2, None))]
    summed = sum((held_out_loss(model, part, TOKENIZERS) for part in parts), Loss())
    assert summed.per_token == pytest.approx(held_out_loss(model, pairs, TOKENIZERS).per_token)
    assert held_out_loss(model, EncodedPairs([], []), TOKENIZERS) == Loss()


@pytest.mark.parametrize(
    "name", ["transformer, pre-norm", "bahdanau", "luong, dot", "luong, local-m, general", "luong, local-p, general"]
)
def test_the_entropy_is_that_of_the_most_pointed_head(name: str) -> None:
    model, pairs = chosen(name).eval(), encoded()
    each: dict[tuple[str, int], list[float]] = {}
    for row in range(len(pairs)):
        batch = pairs.batch([row], TOKENIZERS)
        with torch.no_grad(), capture(model) as recording:
            model(batch.source, batch.source_lengths, batch.target[:, :-1])
        for attention in recording.names:
            if attention.startswith("decoder") and not attention.endswith("self"):
                for head, weights in enumerate(recording.joined(attention)[0].double().numpy()):
                    each.setdefault((attention, head), []).extend(map(entropy, weights))
    wanted = min(np.mean(values) for values in each.values())
    assert attention_entropy(model, pairs, TOKENIZERS) == pytest.approx(wanted, abs=1e-5)


def entropy(weights: np.ndarray) -> float:
    shares = weights[weights > 0] / weights.sum() if weights.any() else np.ones(1)
    return float(-(shares * np.log(shares)).sum() / np.log(len(weights)))


def test_even_attention_has_entropy_one_and_no_attention_none() -> None:
    model: Any = chosen("bahdanau")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "align.score" in name:
                parameter.zero_()
    assert attention_entropy(model, encoded(), TOKENIZERS) == pytest.approx(1)
    assert attention_entropy(chosen("rnn, gru"), encoded(), TOKENIZERS) is None
