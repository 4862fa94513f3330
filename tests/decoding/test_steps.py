"""Step by step: what each row got, why it left, and what is left behind."""

import gc
import weakref
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.decoding import Choice, Distribution, Draw, Step, greedy, likeliest, sample, steps
from tests.decoding.chain import END, START, WORDS, Chain, State, asked, chain

LIMITS = (9, 3, 7)


def draws(seed: int, **options: Any) -> Draw:
    return Draw(Distribution(**options), seed)


def chosen(seed: int, *, alternatives: int = 0, **options: Any) -> list[list[Choice]]:
    """The choices of each sentence, drawn with that seed."""
    found: list[list[Choice]] = [[] for _ in LIMITS]
    for step in steps(chain(1), asked(*LIMITS), choose=draws(seed, **options)):
        for choice in step.choices(alternatives):
            found[choice.sentence].append(choice)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_steps_of_a_sentence_are_its_hypothesis(seed: int) -> None:
    hypotheses = sample(chain(1), asked(*LIMITS), choose=draws(seed))
    for choices, hypothesis, limit in zip(chosen(seed), hypotheses, LIMITS, strict=True):
        tokens = tuple(choice.token for choice in choices)
        assert tokens == (*hypothesis.tokens, END)[: len(hypothesis.rows)]
        assert [choice.ending for choice in choices[:-1]] == [None] * (len(choices) - 1)
        assert choices[-1].ending == ("end" if hypothesis.finished else "limit")
        assert hypothesis.finished or len(tokens) == limit
        assert hypothesis.log_prob == pytest.approx(sum(choice.log_prob for choice in choices), abs=1e-5)
        assert hypothesis.score == pytest.approx(hypothesis.log_prob / len(tokens), abs=1e-6)


@pytest.mark.parametrize("options", [{}, {"top_k": 2, "temperature": 0.4}, {"repetition_penalty": 3.0}], ids=str)
def test_probability_rank_and_alternatives_are_the_models_own(options: dict[str, Any]) -> None:
    ranks = set()
    for seed in range(5):
        for kind, choices in enumerate(chosen(seed, alternatives=3, **options)):
            text = [START]
            for choice in choices:
                after = chain(1).after(kind, tuple(text))
                order = sorted(range(WORDS), key=lambda word: -after[word])
                assert choice.log_prob == pytest.approx(after[choice.token], abs=1e-6)
                assert choice.rank == 1 + order.index(choice.token)
                assert [token for token, _ in choice.alternatives] == order[:3]
                wanted = [after[word] for word in order[:3]]
                assert [log_prob for _, log_prob in choice.alternatives] == pytest.approx(wanted, abs=1e-6)
                ranks.add(choice.rank)
                text.append(choice.token)
    assert ranks == {1, 2} if "top_k" in options else len(ranks) > 2


def test_alternatives_are_no_more_than_there_are() -> None:
    (step, *_) = steps(chain(1), asked(2), choose=likeliest)
    assert [len(step.choices(count)[0].alternatives) for count in (0, 1, WORDS, 99)] == [0, 1, WORDS, WORDS]


def test_tokens_of_the_same_probability_have_the_same_rank() -> None:
    log_probs = torch.tensor([[0.2, 0.4, 0.2, 0.2]]).log()
    for token, rank in enumerate((2, 1, 2, 2)):
        assert Step((0,), torch.tensor([token]), log_probs, (None,)).choices()[0].rank == rank


class Logits:
    """The same chain, with another constant added to each row."""

    def __init__(self, chain: Chain) -> None:
        self.chain, self.start, self.reorder = chain, chain.start, chain.reorder

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        log_probs, state = self.chain.step(tokens, state)
        return log_probs + 7 * state.kind[:, None] - 30, state


def test_scores_that_are_logits_give_the_same_texts_and_log_probabilities() -> None:
    for seed in range(4):
        choose = draws(seed, temperature=0.8, top_p=0.9)
        wanted = sample(chain(1), asked(*LIMITS), choose=choose)
        found = sample(Logits(chain(1)), asked(*LIMITS), choose=choose)
        assert [one.tokens for one in found] == [one.tokens for one in wanted]
        assert [one.log_prob for one in found] == pytest.approx([one.log_prob for one in wanted], abs=1e-4)
        for step in steps(Logits(chain(1)), asked(*LIMITS), choose=choose):
            for choice in step.choices(WORDS):
                assert sum(torch.tensor(p).exp() for _, p in choice.alternatives) == pytest.approx(1, abs=1e-4)


# Stopping


def endless() -> Chain:
    tables = chain(0).tables.clone()
    tables[..., END] = -float("inf")
    return Chain(tables)


def test_a_sentence_stops_where_the_caller_says_and_keeps_the_token_that_made_it_so() -> None:
    for seed in range(4):
        whole = sample(endless(), asked(20, 20, 20), choose=draws(seed))
        found = sample(endless(), asked(20, 20, 20), choose=draws(seed), stop=lambda _, made: made[-2:] == [3, 1])
        for one, uncut in zip(found, whole, strict=True):
            pairs = list(zip(uncut.tokens, uncut.tokens[1:], strict=False))
            size = pairs.index((3, 1)) + 2 if (3, 1) in pairs else 20
            assert one.tokens == uncut.tokens[:size]
            assert len(one.rows) == size
            assert not one.finished


def test_steps_say_why_a_sentence_left() -> None:
    endings = {}
    for step in steps(endless(), asked(6, 2, 4), choose=likeliest, stop=lambda _, made: len(made) == 4):
        endings.update(zip(step.sentences, step.endings, strict=True))
    assert endings == {0: "stop", 1: "limit", 2: "stop"}


def test_the_condition_is_asked_about_what_was_made_and_never_about_the_end_mark() -> None:
    asked_about: dict[int, list[tuple[int, ...]]] = {sentence: [] for sentence in range(len(LIMITS))}

    def stop(sentence: int, made: Any) -> bool:
        asked_about[sentence].append(tuple(made))
        return False

    found = sample(chain(1), asked(*LIMITS, prefix=(START, 3, 1)), choose=draws(2), stop=stop)
    assert any(one.finished for one in found)
    for sentence, one in enumerate(found):
        assert asked_about[sentence] == [one.tokens[:size] for size in range(1, len(one.tokens) + 1)]


# Streaming


def test_each_step_is_handed_over_before_the_next_is_computed() -> None:
    stepper = endless()
    for number, step in enumerate(steps(stepper, asked(5, 8), choose=draws(0)), start=1):
        assert stepper.steps == number
        assert step.sentences == ((0, 1) if number <= 5 else (1,))
    assert stepper.steps == 8


class Watched:
    """A stepper whose states are known for as long as anybody holds them."""

    def __init__(self, chain: Chain, fail_at: int = 99) -> None:
        self.chain, self.fail_at = chain, fail_at
        self._given: list[weakref.ref[State]] = []

    def start(self, source: Tensor, prefix: Tensor) -> State:
        return self._watched(self.chain.start(source, prefix))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        assert torch.is_inference_mode_enabled()
        log_probs, state = self.chain.step(tokens, state)
        if self.chain.steps == self.fail_at:
            raise KeyboardInterrupt
        return log_probs, self._watched(state)

    def reorder(self, state: State, rows: Tensor) -> State:
        return self._watched(self.chain.reorder(state, rows))

    def alive(self) -> int:
        gc.collect()
        return sum(given() is not None for given in self._given)

    def _watched(self, state: State) -> State:
        self._given.append(weakref.ref(state))
        return state


@pytest.mark.parametrize("taken", [1, 3])
def test_an_iterator_that_is_closed_early_leaves_nothing_behind(taken: int) -> None:
    stepper = Watched(endless())
    stream = steps(stepper, asked(9, 2, 9), choose=draws(0))
    for _ in range(taken):
        next(stream)
        assert not torch.is_inference_mode_enabled()
    assert stepper.alive() == 1
    stream.close()
    assert stepper.alive() == 0
    assert not torch.is_inference_mode_enabled()
    assert next(stream, None) is None
    assert stepper.chain.steps == taken


def test_an_interrupt_in_the_middle_of_a_step_comes_through_and_leaves_nothing_behind() -> None:
    stepper = Watched(endless(), fail_at=3)
    stream = steps(stepper, asked(9, 2, 9), choose=draws(0))
    made = []
    with pytest.raises(KeyboardInterrupt):
        made.extend(step.tokens.tolist() for step in stream)
    assert stepper.alive() == 0
    assert not torch.is_inference_mode_enabled()
    wanted = sample(endless(), asked(2, 2, 2), choose=draws(0))
    assert list(zip(*made, strict=True)) == [one.tokens for one in wanted]


def test_no_sentences_are_no_steps() -> None:
    nothing = asked(3, 3)
    empty = type(nothing)(nothing.source[:0], nothing.prefix[:0], nothing.end, nothing.limits[:0])
    assert list(steps(chain(0), empty, choose=likeliest)) == []
    assert sample(chain(0), empty, choose=draws(0)) == greedy(chain(0), empty) == []
