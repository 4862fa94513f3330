"""What is drawn from, beside Hugging Face's processors and beside the formulas in plain Python."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor
from transformers import (
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from regard.decoding import Distribution
from regard.decoding.distribution import best, min_p, repetition_penalty, temperature, tokens_in, top_k, top_p
from regard.errors import ConfigError
from tests.decoding.foreign import END, PAD, network
from tests.draws import assert_near, normal, words

INFINITY = float("inf")
ROWS, WORDS = 40, 37

SCORES = {
    "logits": 4 * normal(ROWS, WORDS, seed=1, dtype=torch.float32) - 2,
    "log-probabilities": (3 * normal(ROWS, WORDS, seed=2, dtype=torch.float32)).log_softmax(-1),
    "ties": words(ROWS, WORDS, below=9, seed=3).float() / 2 - 2,
    "many ties": words(ROWS, WORDS, below=2, seed=4).float(),
    "in float64": 4 * normal(ROWS, WORDS, seed=5),
    "with impossible tokens": normal(ROWS, WORDS, seed=6, dtype=torch.float32).masked_fill(
        words(ROWS, WORDS, below=3, seed=7) == 0, -INFINITY
    ),
    "a large vocabulary": 3 * normal(3, 5_003, seed=8, dtype=torch.float32),
    "a large vocabulary with ties": (3 * normal(3, 5_003, seed=9, dtype=torch.float32)).round(decimals=1),
}
every_kind = pytest.mark.parametrize("kind", SCORES)


def assert_same_distribution(found: Tensor, wanted: Tensor) -> None:
    """The same tokens are possible, and their probabilities are the same."""
    assert torch.equal(found.isfinite(), wanted.isfinite())
    assert_near(found.softmax(-1), wanted.softmax(-1))


def warped(warper: Callable[[Any, Tensor], Tensor], scores: Tensor) -> Tensor:
    """By one of Hugging Face's, which need no text."""
    return warper(None, scores.clone())


# Hugging Face


@every_kind
@pytest.mark.parametrize("value", [0.1, 0.7, 1.0, 1.9])
def test_temperature_is_that_of_hugging_face(kind: str, value: float) -> None:
    assert_same_distribution(temperature(SCORES[kind], value), warped(TemperatureLogitsWarper(value), SCORES[kind]))


@every_kind
@pytest.mark.parametrize("count", [1, 2, 5, 36, 37, 1000, 10_000])
def test_top_k_is_that_of_hugging_face(kind: str, count: int) -> None:
    assert torch.equal(top_k(SCORES[kind], count), warped(TopKLogitsWarper(count), SCORES[kind]))


@every_kind
@pytest.mark.parametrize("share", [0.01, 0.123, 0.5001, 0.777, 0.9, 0.95, 0.9917])
def test_top_p_is_that_of_hugging_face(kind: str, share: float) -> None:
    found, wanted = top_p(SCORES[kind], share), warped(TopPLogitsWarper(share), SCORES[kind])
    assert torch.equal(found.sort().values, wanted.sort().values)  # which of equals it keeps is luck there
    if "ties" not in kind:
        assert torch.equal(found, wanted)


@every_kind
@pytest.mark.parametrize("ratio", [0.001, 0.05, 0.3, 1.0])
def test_min_p_is_that_of_hugging_face(kind: str, ratio: float) -> None:
    assert torch.equal(min_p(SCORES[kind], ratio), warped(MinPLogitsWarper(ratio), SCORES[kind]))


@every_kind
@pytest.mark.parametrize("penalty", [0.5, 1.2, 2.0])
def test_the_repetition_penalty_is_that_of_hugging_face(kind: str, penalty: float) -> None:
    scores = SCORES[kind]
    texts = words(len(scores), 12, below=WORDS, seed=9)
    found = repetition_penalty(scores, tokens_in(texts.tolist(), like=scores), penalty)
    assert torch.equal(found, RepetitionPenaltyLogitsProcessor(penalty)(texts, scores.clone()))
    assert not torch.equal(found, scores)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.7},
        {"top_k": 6, "top_p": 0.8},
        {"top_p": 0.9, "temperature": 1.5},
        {"min_p": 0.3, "top_k": 12},
        {"repetition_penalty": 1.4},
        {"repetition_penalty": 1.3, "temperature": 0.6, "top_k": 11, "top_p": 0.85, "min_p": 0.2},
    ],
    ids=str,
)
def test_all_together_are_what_hugging_face_draws_from_while_it_generates(options: dict[str, Any]) -> None:
    model = network(1)
    prompts = words(5, 4, below=model.config.vocab_size, seed=2)
    torch.manual_seed(3)
    with torch.inference_mode():
        theirs = model.generate(
            prompts, attention_mask=torch.ones_like(prompts), do_sample=True, max_new_tokens=8, eos_token_id=None,
            pad_token_id=PAD, return_dict_in_generate=True, output_scores=True, output_logits=True,
            **{"top_k": 0, **options},
        )  # fmt: skip
    possible = set()
    for step, (logits, scores) in enumerate(zip(theirs.logits, theirs.scores, strict=True)):
        texts = theirs.sequences[:, : 4 + step].tolist()
        assert_same_distribution(Distribution(**options)(logits, texts), scores)
        possible.update(scores.isfinite().sum(-1).tolist())
    assert (len(possible) > 1) == ("top_p" in options or "min_p" in options)


# The formulas, in plain Python


def probabilities(scores: Sequence[float]) -> list[float]:
    weights = [math.exp(score - max(scores)) for score in scores]
    return [weight / sum(weights) for weight in weights]


def by_formula(row: Sequence[float], seen: Sequence[int], options: Distribution) -> list[float]:
    """The probabilities of all tokens, those that are cut off with 0."""
    penalty = options.repetition_penalty
    scores = [
        (score / penalty if score > 0 else score * penalty) if token in seen else score
        for token, score in enumerate(row)
    ]
    p = probabilities([score / options.temperature for score in scores])
    order = sorted(range(len(p)), key=lambda token: -p[token])
    order = order[: options.top_k]
    mass, nucleus = 0.0, []
    for token in order:
        if mass / sum(p[one] for one in order) < options.top_p:
            nucleus.append(token)
        mass += p[token]
    kept = [token for token in nucleus if p[token] >= options.min_p * p[order[0]]]
    return [p[token] / sum(p[one] for one in kept) if token in kept else 0.0 for token in range(len(p))]


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    options=st.builds(
        Distribution,
        temperature=st.floats(0.05, 5),
        top_k=st.none() | st.integers(1, 12),
        top_p=st.floats(0.01, 0.999) | st.just(1.0),
        min_p=st.floats(0, 1),
        repetition_penalty=st.floats(0.3, 3),
    ),
)
def test_the_distribution_is_that_of_the_formulas(seed: int, options: Distribution) -> None:
    scores, texts = 2 * normal(4, 10, seed=seed), words(4, 3, below=10, seed=seed).tolist()
    wanted = [by_formula(row, text, options) for row, text in zip(scores.tolist(), texts, strict=True)]
    assert_near(options(scores, texts).softmax(-1), torch.tensor(wanted, dtype=torch.float64), 1e-9)


@settings(max_examples=200, deadline=None)
@given(
    scores=arrays("float64", (3, 8), elements=st.integers(-8, 8).map(float) | st.floats(-20, 20)),
    share=st.floats(0.01, 0.99),
)
def test_the_nucleus_reaches_its_share_and_none_of_its_tokens_can_be_spared(scores: Any, share: float) -> None:
    rows = torch.as_tensor(scores)
    p, kept = rows.softmax(-1), top_p(rows, share).isfinite()
    mass = torch.where(kept, p, 0).sum(-1)
    least = torch.where(kept, p, 2).amin(-1)
    most = torch.where(kept, 0, p).amax(-1)
    assert (mass >= share - 1e-12).all()
    assert (mass - least < share + 1e-12).all()
    assert (least >= most).all()


def test_of_equal_tokens_at_the_edge_of_the_nucleus_the_first_stay_and_no_more_than_are_needed() -> None:
    scores = torch.tensor([[0.5, 0.125, 0.125, 0.125, 0.125], [0.25, 0.25, 0.25, 0.25, 0.0]]).log()
    for share, sizes in ((0.5, [1, 2]), (0.51, [2, 3]), (0.75, [3, 3]), (0.76, [4, 4]), (1e-9, [1, 1])):
        kept = top_p(scores, share).isfinite()
        assert kept.tolist() == [[token < size for token in range(5)] for size in sizes], share


def test_on_log_probabilities_the_penalty_raises_p_to_its_power() -> None:
    p = torch.tensor([[0.9, 0.06, 0.04]], dtype=torch.float64)
    found = repetition_penalty(p.log(), torch.tensor([[True, False, True]]), 1.2)
    assert_near(found.exp(), torch.tensor([[0.9**1.2, 0.06, 0.04**1.2]], dtype=torch.float64))
    assert float(found[0, 0].exp()) == pytest.approx(0.88, abs=0.005)


def test_only_the_penalty_tells_logits_from_log_probabilities() -> None:
    logits = SCORES["in float64"]
    texts = words(ROWS, 5, below=WORDS, seed=1).tolist()
    cut = Distribution(temperature=0.8, top_k=9, top_p=0.9, min_p=0.02)
    assert_same_distribution(cut(logits), cut(logits.log_softmax(-1)))
    penalised = Distribution(repetition_penalty=1.5)
    found = [penalised(scores, texts).softmax(-1) for scores in (logits, logits.log_softmax(-1))]
    assert (found[0] - found[1]).abs().max() > 0.01


# Edges


def test_by_default_nothing_is_changed() -> None:
    assert Distribution()(SCORES["ties"]) is SCORES["ties"]


@every_kind
def test_temperature_nought_leaves_the_best_alone(kind: str) -> None:
    scores = SCORES[kind]
    possible = Distribution(temperature=0.0, top_k=3, top_p=0.5, min_p=0.1)(scores).isfinite()
    assert possible.sum(-1).tolist() == [1] * len(scores)
    assert torch.equal(possible.float().argmax(-1), best(scores))
    assert torch.equal(scores.gather(1, best(scores)[:, None])[:, 0], scores.amax(-1))


@pytest.mark.parametrize("value", [1e-3, 1e-30, 1e-300, 5e-324])
def test_hardly_any_temperature_is_as_good_as_none(value: float) -> None:
    found = Distribution(temperature=value)(SCORES["logits"]).softmax(-1)
    assert_near(found, Distribution(temperature=0.0)(SCORES["logits"]).softmax(-1))


def test_the_best_of_equals_is_the_first() -> None:
    assert best(torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])).tolist() == [1, 0]


def test_a_text_without_tokens_is_not_penalised() -> None:
    scores = SCORES["logits"][:2]
    found = Distribution(repetition_penalty=2.0)(scores, [[], [END]])
    assert torch.equal(found[0], scores[0])
    assert (found[1] != scores[1]).nonzero().flatten().tolist() == [END]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -0.1}, "--temperature -0.1 cannot be used.\n  found: -0.1\n  wanted: 0 (always the best"),
        ({"temperature": INFINITY}, "--temperature inf cannot be used."),
        ({"top_k": 0}, "--top-k 0 cannot be used.\n  found: 0\n  wanted: 1 or more"),
        ({"top_k": -3}, "--top-k -3 cannot be used."),
        ({"top_p": 0.0}, "--top-p 0.0 cannot be used.\n  found: 0.0\n  wanted: more than 0, at most 1"),
        ({"top_p": 1.01}, "--top-p 1.01 cannot be used."),
        ({"top_p": float("nan")}, "--top-p nan cannot be used."),
        ({"min_p": -0.01}, "--min-p -0.01 cannot be used.\n  found: -0.01\n  wanted: from 0"),
        ({"min_p": 1.5}, "--min-p 1.5 cannot be used."),
        ({"repetition_penalty": 0.0}, "--repetition-penalty 0.0 cannot be used.\n  found: 0.0\n  wanted: from 0.01"),
        ({"repetition_penalty": -1.0}, "--repetition-penalty -1.0 cannot be used."),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_a_setting_that_cannot_be_used_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        Distribution(**options)
    assert str(error.value).startswith(message)
