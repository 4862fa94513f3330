"""Sampling by statistics, by seed, and beside greedy search and Hugging Face."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from regard.data.batches import Sentences
from regard.decoding import Distribution, Draw, Hypothesis, Penalised, Request, beam, greedy, sample, steps
from regard.decoding.sampling import drawn, lot
from tests.decoding import foreign
from tests.decoding.chain import END, START, Chain, asked, chain
from tests.decoding.foreign import Foreign
from tests.decoding.test_distribution import by_formula
from tests.draws import normal, words
from tests.models import small as network
from tests.models.small import SEARCHED, ready, sentences

DRAWS = 20_000
VOCABULARY = 14
LOGITS = 1.3 * normal(VOCABULARY, seed=11)
LUCK = 1e-3
"""A fit that is worse than this by luck is not believed."""

OPTIONS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.5},
    {"temperature": 2.0},
    {"top_k": 5},
    {"top_p": 0.8},
    {"min_p": 0.2},
    {"temperature": 1.5, "top_k": 9},
    {"temperature": 0.7, "top_p": 0.9},
    {"top_k": 8, "top_p": 0.85, "min_p": 0.15},
    {"temperature": 1.8, "min_p": 0.3},
    {"repetition_penalty": 1.6},
    {"repetition_penalty": 1.3, "temperature": 1.2, "top_k": 10, "top_p": 0.95, "min_p": 0.05},
]


def flat() -> Chain:
    """A stepper that says the same whatever was said."""
    return Chain(LOGITS.log_softmax(-1).expand(1, 1, VOCABULARY, VOCABULARY, VOCABULARY))


def said(*prefix: int, count: int = 1) -> tuple[Tensor, Tensor]:
    """A source (of kind 0) and a prefix, that many times."""
    return torch.zeros(count, 1, dtype=torch.long), torch.tensor([prefix] * count)


def counts(options: dict[str, Any], *, seed: int = 0) -> np.ndarray:
    """How often each token comes first in that many sentences."""
    request = Request(*said(START, 9, 4, count=DRAWS), END, torch.ones(DRAWS, dtype=torch.long))
    (step,) = steps(flat(), request, choose=Draw(Distribution(**options), seed))
    return np.bincount(step.tokens.numpy(), minlength=VOCABULARY)


def wanted(options: dict[str, Any]) -> np.ndarray:
    """Its probability in plain Python."""
    return np.array(by_formula(LOGITS.log_softmax(-1).tolist(), [START, 9, 4], Distribution(**options)))


def fit(found: np.ndarray, p: np.ndarray) -> float:
    """How likely a fit as bad as this one is, by chi-square; what was drawn though it cannot be is no fit."""
    possible = p > 0
    if found[~possible].any():
        return 0.0
    return float(stats.chisquare(found[possible], p[possible] * found.sum()).pvalue)


# Statistics


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_frequencies_are_those_of_the_distribution(options: dict[str, Any]) -> None:
    assert fit(counts(options), wanted(options)) > LUCK


@pytest.mark.parametrize("options", OPTIONS[1:8:3], ids=str)
def test_the_statistics_would_notice_another_distribution(options: dict[str, Any]) -> None:
    nearly = {**options, "temperature": 1.1 * options.get("temperature", 1.0)}
    assert fit(counts(nearly), wanted(options)) < LUCK


def test_frequencies_along_a_text_are_those_of_the_distribution() -> None:
    """One sentence of many steps, where the others are many sentences of one."""
    request = Request(*said(START), -1, torch.tensor([2_000]))
    (found,) = sample(flat(), request, choose=Draw(Distribution(top_k=6), 3))
    assert len(found.tokens) == 2_000
    assert fit(np.bincount(found.tokens, minlength=VOCABULARY), wanted({"top_k": 6})) > LUCK
    pairs = np.zeros((VOCABULARY, VOCABULARY))
    np.add.at(pairs, (found.tokens[:-1], found.tokens[1:]), 1)
    used = pairs.any(0)
    assert stats.chi2_contingency(pairs[used][:, used]).pvalue > LUCK  # a token says nothing about the next


@pytest.mark.parametrize("changing", ["seed", "number", "step"])
def test_lots_are_even_whatever_they_are_numbered_by(changing: str) -> None:
    lots = [lot(**{"seed": 5, "number": 3, "step": 8, changing: i}) for i in range(DRAWS)]
    assert min(lots) >= 0
    assert max(lots) < 1
    assert len(set(lots)) == DRAWS
    assert stats.kstest(lots, "uniform").pvalue > LUCK
    assert abs(stats.pearsonr(lots[:-1], lots[1:]).statistic) < 0.03


def test_a_lot_falls_on_a_token_that_is_possible_even_at_the_ends() -> None:
    scores = torch.tensor([[0.0, 0.25, 0.0, 0.75, 0.0]]).log()
    lots = {0.0: 1, 0.2499: 1, 0.25: 3, 0.9999: 3, 1 - 2**-53: 3}
    found = drawn(scores.expand(len(lots), -1), torch.tensor(list(lots), dtype=torch.float64))
    assert found.tolist() == list(lots.values())
    for scale in (0.1, 3.0, 40.0):  # sums of probabilities that are not quite 1
        many = scale * normal(50, 1_001, seed=1, dtype=torch.float32)
        many[:, 900:] = -float("inf")
        assert drawn(many, torch.full((50,), 1 - 2**-53, dtype=torch.float64)).max() < 900


# Seeds


def texts(found: Sequence[Hypothesis]) -> list[tuple[int, ...]]:
    return [one.tokens for one in found]


def test_the_same_seed_gives_the_same_text_and_another_another() -> None:
    request = asked(30, 30, 30)
    found = [texts(sample(chain(1), request, choose=Draw(Distribution(), seed))) for seed in (1, 1, 2, 3)]
    assert found[0] == found[1]
    assert found[0] != found[2] != found[3]


def test_torchs_own_randomness_is_neither_used_nor_touched() -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = sample(chain(1), asked(30, 30), choose=Draw(Distribution(), 1))
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert sample(chain(1), asked(30, 30), choose=Draw(Distribution(), 1)) == first


def test_sentences_with_the_same_start_get_texts_of_their_own_unless_they_share_a_number() -> None:
    same = Request(*said(START, count=6), -1, torch.full((6,), 20))
    assert len(set(texts(sample(chain(1), same, choose=Draw(Distribution(), 0))))) == 6
    shared = sample(chain(1), same, choose=Draw(Distribution(), 0, numbers=[4, 7, 4, 7, 4, 9]))
    assert len(set(texts(shared))) == 3
    assert shared[0].tokens == shared[2].tokens == shared[4].tokens


@pytest.mark.parametrize("options", [{}, {"top_p": 0.8, "repetition_penalty": 1.5}], ids=str)
def test_a_text_does_not_depend_on_what_else_is_in_the_batch(options: dict[str, Any]) -> None:
    limits = (7, 2, 30, 12)
    left = set()
    for seed in range(8):
        tables = chain(seed, kinds=4).tables
        together = sample(Chain(tables), asked(*limits), choose=Draw(Distribution(**options), seed))
        for kind, limit in enumerate(limits):
            alone = Draw(Distribution(**options), seed, numbers=[kind])
            (found,) = sample(Chain(tables[kind : kind + 1]), asked(limit), choose=alone)
            assert found.tokens == together[kind].tokens
            assert found.finished == together[kind].finished
        left.add(tuple(len(one.rows) for one in together))
    assert len(left) > 1


@pytest.mark.parametrize("name", SEARCHED)
def test_a_text_of_any_model_does_not_depend_on_what_else_is_in_the_batch(name: str) -> None:
    model, choice = ready(name), Distribution(temperature=1.3, top_k=9, top_p=0.95, repetition_penalty=1.2)
    source, lengths = sentences(7, 2, 6, 4)
    prefix, limits = torch.tensor([[network.START, 5, 3]] * 4), torch.tensor([9, 20, 4, 14])

    def told(rows: list[int], seed: int) -> list[Hypothesis]:
        longest = int(lengths[rows].max())
        request = Request(Sentences(source[rows, :longest], lengths[rows]), prefix[rows], network.END, limits[rows])
        return sample(model, request, choose=Draw(choice, seed, numbers=rows))

    for seed in range(3):
        together = told([0, 1, 2, 3], seed)
        for rows in ([0], [1], [3], [3, 1], [2, 0, 1]):
            for row, found in zip(rows, told(rows, seed), strict=True):
                assert found.tokens == together[row].tokens
                assert found.log_prob == pytest.approx(together[row].log_prob, abs=1e-4)


# Greedy search


@pytest.mark.parametrize("seed", range(6))
def test_without_temperature_sampling_is_greedy_search(seed: int) -> None:
    request = asked(8, 1, 5)
    cold = Distribution(temperature=0.0, top_k=3, top_p=0.5, min_p=0.2)
    found, searched = sample(chain(seed), request, choose=Draw(cold, seed)), greedy(chain(seed), request)
    for one, other in zip(found, searched, strict=True):
        assert (one.tokens, one.finished, one.rows) == (other.tokens, other.finished, other.rows)
        assert (one.log_prob, one.score) == pytest.approx((other.log_prob, other.score), abs=1e-5)


@pytest.mark.parametrize("name", SEARCHED)
def test_without_temperature_sampling_is_greedy_search_for_every_model(name: str) -> None:
    source, lengths = sentences(7, 2, 6, 4)
    prefix = torch.full((4, 1), network.START)
    request = Request(Sentences(source, lengths), prefix, network.END, torch.tensor([9, 4, 7, 12]))
    for options in ({"temperature": 0.0}, {"top_k": 1}, {"min_p": 1.0}, {"top_p": 1e-6}):
        found = sample(ready(name), request, choose=Draw(Distribution(**options), 1))
        assert texts(found) == texts(greedy(ready(name), request))


# The repetition penalty, beside Hugging Face


PROMPTS = words(6, 5, below=foreign.WORDS, seed=4)
LENGTH = 30


def generated(model: Any, end: int, **options: Any) -> list[tuple[int, ...]]:
    return foreign.generated(model, PROMPTS, end, max_new_tokens=LENGTH, **options)


@pytest.mark.parametrize("penalty", [1.0, 1.3, 2.0])
def test_on_logits_the_penalised_best_is_that_of_hugging_face(penalty: float) -> None:
    request = Request(None, PROMPTS, foreign.END, torch.full((len(PROMPTS),), LENGTH))
    unlike = 0
    for seed in range(3):
        model, choice = foreign.network(seed), Distribution(temperature=0.0, repetition_penalty=penalty)
        found = texts(sample(Foreign(model, logits=True), request, choose=Draw(choice, 0)))
        assert found == generated(model, foreign.END, repetition_penalty=penalty)
        unlike += found != texts(greedy(Foreign(model, logits=False), request))
    assert bool(unlike) == (penalty != 1)


@pytest.mark.parametrize("penalty", [1.0, 1.3, 2.0])
def test_a_penalised_beam_search_is_that_of_hugging_face(penalty: float) -> None:
    """Without an end mark: what the limit cuts off and what has ended compete there, and here the ended go first."""
    request = Request(None, PROMPTS, -1, torch.full((len(PROMPTS),), LENGTH))
    unlike = 0
    for seed in range(2):
        stepper = Foreign(foreign.network(seed), logits=False)
        found = [one.tokens for (one,) in beam(Penalised(stepper, penalty), request, size=3)]
        assert found == generated(stepper.network, -1, num_beams=3, repetition_penalty=penalty)
        unlike += found != [one.tokens for (one,) in beam(stepper, request, size=3)]
    assert bool(unlike) == (penalty != 1)


@pytest.mark.parametrize("padded", [(5, 5, 9, 4), (END, END, 9, 4)])
def test_prompts_are_penalised_as_they_are_given_and_not_as_they_are_padded(padded: tuple[int, ...]) -> None:
    """The prompt is 9 4; what fills the prefix in front of it is nothing that was said."""
    choice = Distribution(repetition_penalty=50.0)
    filled = Request(*said(*padded), END, torch.tensor([1]))
    bare = Request(*said(9, 4), END, torch.tensor([1]))
    for seed in range(30):
        prompts = Draw(choice, seed, prompts=[[9, 4]])
        assert sample(flat(), filled, choose=prompts) == sample(flat(), bare, choose=Draw(choice, seed))
    found = Penalised(flat(), 50.0, prompts=[[9, 4]])
    log_probs, _ = found.step(filled.prefix[:, -1], found.start(filled.source, filled.prefix[:, :-1]))
    assert (log_probs[0] != flat().tables[0, 0, 0, 0]).nonzero().flatten().tolist() == [4, 9]
