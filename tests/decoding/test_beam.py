"""Beam search against listing everything, against greedy search, and against itself without the early stop."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from regard.data.batches import Sentences
from regard.decoding import Hypothesis, Request, Stepper, beam, greedy
from tests.decoding.chain import END, START, WORDS, Chain, Found, asked, chain, everything
from tests.models import small as network
from tests.models.small import SEARCHED, chosen, ready, sentences

WIDE = 3**3 * 4
"""Room for every hypothesis of up to four words out of four."""

INFINITY = float("inf")
PENALTIES = [0.0, 0.6, 1.0]

every_model = pytest.mark.parametrize("name", SEARCHED)


def assert_same(found: Sequence[Hypothesis], wanted: Sequence[Hypothesis | Found], tolerance: float = 1e-5) -> None:
    assert [one.tokens for one in found] == [one.tokens for one in wanted]
    assert [one.finished for one in found] == [one.finished for one in wanted]
    assert [one.log_prob for one in found] == pytest.approx([one.log_prob for one in wanted], abs=tolerance)
    assert [one.score for one in found] == pytest.approx([one.score for one in wanted], abs=tolerance)


@contextmanager
def never_early() -> Iterator[None]:
    """The search goes on to the limit, whatever was found."""
    with pytest.MonkeyPatch.context() as patch:
        searching = import_module("regard.decoding.beam")  # which `beam`, the function, hides
        patch.setattr(searching, "_done", lambda sentence, live, *_: live.tokens.shape[-1] >= sentence.limit)
        yield


def translations(*lengths: int, limits: Sequence[int], prefix: Sequence[int] = (network.START,)) -> Request:
    source, sizes = sentences(*lengths)
    starts = torch.tensor([list(prefix)] * len(lengths))
    return Request(Sentences(source, sizes), starts, network.END, torch.tensor(limits))


def test_the_chain_is_a_stepper() -> None:
    assert isinstance(chain(0), Stepper)


@every_model
def test_every_model_is_a_stepper(name: str) -> None:
    assert isinstance(ready(name), Stepper)


# Beam 1 and greedy


@pytest.mark.parametrize("seed", range(8))
def test_a_beam_of_one_is_greedy_search(seed: int) -> None:
    request = asked(6, 3, 9)
    found = [answers[0] for answers in beam(chain(seed), request, size=1, penalty=0.0)]
    wanted = greedy(chain(seed), request, penalty=0.0)
    assert_same(found, wanted)
    assert [one.rows for one in found] == [one.rows for one in wanted]


@every_model
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_of_one_is_greedy_search_for_every_model(seed: int, name: str) -> None:
    model, request = chosen(name, seed=seed), translations(7, 2, 6, 4, limits=[9, 4, 7, 12])
    found = [answers[0] for answers in beam(model, request, size=1, penalty=0.0)]
    wanted = greedy(model, request, penalty=0.0)
    assert_same(found, wanted)
    assert [one.rows for one in found] == [one.rows for one in wanted]


# A wide beam and listing everything


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("seed", range(5))
def test_a_wide_beam_finds_what_listing_everything_finds(seed: int, penalty: float) -> None:
    limits = (4, 2, 3)
    answers = beam(chain(seed), asked(*limits), size=WIDE, nbest=12, penalty=penalty)
    for kind, limit in enumerate(limits):
        wanted = everything(chain(seed), kind, limit, penalty)[:12]
        assert_same(answers[kind], wanted)
        assert len(wanted) == 12


@pytest.mark.parametrize("penalty", PENALTIES)
def test_where_too_few_have_finished_the_best_unfinished_ones_follow(penalty: float) -> None:
    (found,) = beam(chain(3), asked(4), size=WIDE, nbest=50, penalty=penalty)
    assert_same(found, everything(chain(3), 0, 4, penalty)[:50])
    assert [one.finished for one in found] == [True] * (1 + 3 + 9 + 27) + [False] * 10


@every_model
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_wide_beam_finds_what_listing_everything_finds_for_every_model(penalty: float, name: str) -> None:
    model, request = chosen(name, seed=4), translations(5, limits=[3])
    vocabulary = network.TARGET_WORDS
    (found,) = beam(model, request, size=vocabulary**3, nbest=20, penalty=penalty)
    words = [word for word in range(vocabulary) if word != network.END]
    listed = [()] + [(a,) for a in words] + [(a, b) for a in words for b in words]
    wanted = [
        Found(tokens, log_prob, log_prob / (len(tokens) + 1) ** penalty, True)
        for size in range(3)
        for tokens, log_prob in forced_together(model, request, [one for one in listed if len(one) == size])
    ]
    assert_same(found, sorted(wanted, key=lambda one: -one.score)[:20])


def forced_together(
    model: Any, request: Request, listed: Sequence[tuple[int, ...]]
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Answers of one length to the first sentence, and the log-probability of each with its end mark."""
    made = torch.tensor([(*tokens, network.END) for tokens in listed])
    prefix = request.prefix[:1].expand(len(made), -1)
    with torch.inference_mode():
        source, lengths = (part[:1].expand(len(made), *part.shape[1:]) for part in request.source)
        hidden = model(source, lengths, torch.cat((prefix, made[:, :-1]), dim=1))
        log_probs = model.output(hidden[:, prefix.shape[1] - 1 :]).log_softmax(-1)
    totals = log_probs.gather(2, made[..., None]).sum((1, 2))
    yield from zip(listed, totals.tolist(), strict=True)


def teacher_forced(model: Any, request: Request, sentence: int, tokens: Sequence[int]) -> float:
    """Log-probability of the tokens after the request's prefix, by one full pass."""
    one = slice(sentence, sentence + 1)
    prefix = request.prefix[sentence].tolist()
    with torch.inference_mode():
        hidden = model(request.source.tokens[one], request.source.lengths[one], torch.tensor([[*prefix, *tokens[:-1]]]))
        log_probs = model.output(hidden[0, len(prefix) - 1 :]).log_softmax(-1)
    return float(log_probs.gather(1, torch.tensor(tokens)[:, None]).sum())


# A narrow beam and the search of the textbook


def textbook(
    stepper: Chain, kind: int, limit: int, *, size: int, nbest: int, penalty: float, patience: float = INFINITY
) -> list[Found]:
    """In plain lists: of all continuations the best; those that end among the first `size` are answers, and the `size`
    best that do not end go on, until there are enough answers."""
    live, finished = [((START,), 0.0)], []
    for _ in range(limit):
        grown = [
            ((*tokens, word), log_prob + more)
            for tokens, log_prob in live
            for word, more in enumerate(stepper.after(kind, tokens))
        ]
        grown.sort(key=lambda one: -one[1])
        finished += [one for one in grown[:size] if one[0][-1] == END]
        live = [one for one in grown if one[0][-1] != END][:size]
        if len(finished) >= max(nbest, patience * size):
            break
    answers = [Found(tokens[1:-1], p, p / (len(tokens) - 1) ** penalty, True) for tokens, p in finished]
    cut_off = [Found(tokens[1:], p, p / (len(tokens) - 1) ** penalty, False) for tokens, p in live]
    return (sorted(answers, key=lambda one: -one.score) + cut_off)[:nbest]


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_narrow_beam_is_the_search_of_the_textbook(size: int, penalty: float) -> None:
    limits = (7, 1, 4)
    for seed in range(6):
        answers = beam(chain(seed), asked(*limits), size=size, nbest=size, penalty=penalty)
        for kind, limit in enumerate(limits):
            wanted = textbook(chain(seed), kind, limit, size=size, nbest=size, penalty=penalty)
            assert_same(answers[kind], wanted)


@pytest.mark.parametrize("patience", [0.1, 1.0, 2.0])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_with_less_patience_it_ends_when_enough_are_finished(size: int, patience: float) -> None:
    limits, hasty = (9, 1, 6), 0
    for seed in range(6):
        answers = beam(chain(seed), asked(*limits), size=size, penalty=0.6, patience=patience)
        exact = beam(chain(seed), asked(*limits), size=size, penalty=0.6)
        hasty += [found[0].tokens for found in answers] != [found[0].tokens for found in exact]
        for kind, limit in enumerate(limits):
            wanted = textbook(chain(seed), kind, limit, size=size, nbest=1, penalty=0.6, patience=patience)
            assert_same(answers[kind], wanted)
    assert hasty or patience >= 1  # it does make a difference


# The early stop


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    size=st.integers(1, 4),
    data=st.data(),
    penalty=st.floats(0, 2),
    limits=st.lists(st.integers(1, 9), min_size=1, max_size=3),
)
def test_stopping_early_never_changes_the_answer(
    seed: int, size: int, data: st.DataObject, penalty: float, limits: list[int]
) -> None:
    nbest = data.draw(st.integers(1, size), label="nbest")
    early = beam(chain(seed), asked(*limits), size=size, nbest=nbest, penalty=penalty)
    with never_early():
        late = beam(chain(seed), asked(*limits), size=size, nbest=nbest, penalty=penalty)
    for found, wanted in zip(early, late, strict=True):
        assert_same(found, wanted, tolerance=0)


@every_model
@pytest.mark.parametrize("penalty", PENALTIES)
def test_stopping_early_never_changes_the_answer_of_any_model(penalty: float, name: str) -> None:
    request = translations(7, 2, 6, limits=[12, 9, 15])
    for seed in range(3 if "transformer" in name else 1):
        early = beam(chosen(name, seed=seed), request, size=3, nbest=2, penalty=penalty)
        with never_early():
            late = beam(chosen(name, seed=seed), request, size=3, nbest=2, penalty=penalty)
        for found, wanted in zip(early, late, strict=True):
            assert_same(found, wanted)


def test_the_search_does_stop_early() -> None:
    likely_end = torch.full((1, 1, WORDS, WORDS, WORDS), 0.01)
    likely_end[..., END] = 0.97
    for penalty, most in ((0.0, 1), (1.0, 2)):
        stepper = Chain(likely_end.log())
        beam(stepper, asked(50), size=3, penalty=penalty)
        assert stepper.steps <= most, f"penalty {penalty}"
        stepper = Chain(likely_end.log())
        with never_early():
            beam(stepper, asked(50), size=3, penalty=penalty)
        assert stepper.steps == 50


def test_a_longer_answer_that_is_better_per_token_is_waited_for() -> None:
    """Ending at once costs 1.2; saying word 1 five times and then ending costs 4.05, which is 0.675 per token."""
    table = torch.full((1, 1, WORDS, WORDS, WORDS), -INFINITY)
    table[..., 0, END], table[..., 0, 1] = -1.2, -1.25
    table[..., 1, 1], table[..., 1, END] = -0.1, -2.4
    hasty = beam(Chain(table), asked(6), size=2, penalty=0.0)[0][0]
    patient = beam(Chain(table), asked(6), size=2, penalty=1.0)[0][0]
    assert hasty.tokens == ()
    assert patient.tokens == (1, 1, 1, 1, 1)


# What every answer satisfies, for any table

TABLES = arrays(
    "float32",
    (2, 3, 3),
    elements=st.one_of(st.floats(-5, 5, width=32), st.just(-INFINITY)),
)


@settings(max_examples=150, deadline=None)
@given(
    logits=TABLES,
    size=st.integers(1, 30),
    data=st.data(),
    penalty=st.sampled_from([0.0, 0.6, 1.0, 1.7]),
    limits=st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_answers_are_possible_sorted_distinct_and_within_the_limits(
    logits: object, size: int, data: st.DataObject, penalty: float, limits: tuple[int, int]
) -> None:
    """Impossible words (log-probability -∞) included; word 2 ends, and can always be said."""
    tables = torch.as_tensor(logits).clone()
    tables[..., END] = tables[..., END].clamp(min=-5)
    stepper = Chain(tables.log_softmax(-1)[:, None, None].expand(2, 1, 3, 3, 3))
    nbest = data.draw(st.integers(1, size), label="nbest")
    for kind, found in enumerate(beam(stepper, asked(*limits), size=size, nbest=nbest, penalty=penalty)):
        possible = {(one.tokens, one.finished): one for one in everything(stepper, kind, limits[kind], penalty)}
        assert 1 <= len(found) <= nbest
        assert len({one.tokens for one in found}) == len(found)
        assert [one.finished for one in found] == sorted((one.finished for one in found), reverse=True)
        for state in (True, False):
            scores = [one.score for one in found if one.finished is state]
            assert scores == sorted(scores, reverse=True)
        for one in found:
            assert len(one.tokens) + one.finished <= limits[kind]
            assert len(one.rows) == len(one.tokens) + one.finished
            assert END not in one.tokens
            wanted = possible[one.tokens, one.finished]
            assert (one.log_prob, one.score) == pytest.approx((wanted.log_prob, wanted.score), abs=1e-4)
        if size >= 24:  # wide enough for all: nothing better was missed
            best = everything(stepper, kind, limits[kind], penalty)[: len(found)]
            assert [one.score for one in found] == pytest.approx([one.score for one in best], abs=1e-4)
            assert len(found) == min(nbest, len(possible))


# Limits, prefixes, batches


def test_each_sentence_keeps_to_its_own_limit_and_what_is_cut_off_is_marked() -> None:
    endless = torch.zeros(3, 1, WORDS, WORDS, WORDS)
    endless[..., END] = -INFINITY
    stepper = Chain(endless.log_softmax(-1))
    for answers in (beam(stepper, asked(5, 1, 3), size=4, nbest=3), [[one] for one in greedy(stepper, asked(5, 1, 3))]):
        for found, limit in zip(answers, (5, 1, 3), strict=True):
            assert found
            assert all(len(one.tokens) == limit and not one.finished for one in found)


def test_the_limit_counts_the_end_mark() -> None:
    (found,) = beam(chain(0), asked(1), size=WORDS, nbest=WORDS)
    assert sorted((one.tokens, one.finished) for one in found) == [
        ((), True),
        ((0,), False),
        ((1,), False),
        ((3,), False),
    ]


@pytest.mark.parametrize("prefix", [(0, 3), (0, 1, 1), (0, 3, 2, 1)])
def test_a_prefix_is_forced_and_not_part_of_the_answer(prefix: tuple[int, ...]) -> None:
    answers = beam(chain(1), asked(4, 3, prefix=prefix), size=WIDE, nbest=7, penalty=0.6)
    for kind, limit in enumerate((4, 3)):
        assert_same(answers[kind], everything(chain(1), kind, limit, 0.6, prefix)[:7])
    plain = everything(chain(1), 0, 4, 0.6)[0]
    assert answers[0][0].log_prob != pytest.approx(plain.log_prob, abs=1e-4)


@every_model
def test_log_probabilities_are_those_of_a_full_pass_after_the_prefix(name: str) -> None:
    model, request = chosen(name, seed=2), translations(7, 2, 6, limits=[6, 8, 5], prefix=[network.START, 5, 3, 9])
    for sentence, found in enumerate(beam(model, request, size=4, nbest=4, penalty=0.6)):
        assert len(found) == 4
        for one in found:
            made = (*one.tokens, network.END) if one.finished else one.tokens
            assert one.log_prob == pytest.approx(teacher_forced(model, request, sentence, made), abs=1e-4)
            assert one.score == pytest.approx(one.log_prob / len(made) ** 0.6, abs=1e-6)


@every_model
@pytest.mark.parametrize("size", [1, 4])
def test_a_batch_of_unequal_lengths_equals_each_sentence_alone(size: int, name: str) -> None:
    model, limits = chosen(name, seed=3), [6, 9, 3, 12]
    request = translations(7, 2, 6, 4, limits=limits)
    together = beam(model, request, size=size, nbest=size)
    tokens, lengths = request.source
    for i, length in enumerate(lengths.tolist()):
        one = slice(i, i + 1)
        source = Sentences(tokens[one, :length], lengths[one])
        alone = Request(source, request.prefix[one], request.end, request.limits[one])
        assert_same(together[i], beam(model, alone, size=size, nbest=size)[0])


def test_sentences_of_a_batch_do_not_disturb_each_other() -> None:
    limits = (7, 2, 5)
    together = beam(chain(5), asked(*limits), size=3, nbest=3)
    for kind, limit in enumerate(limits):
        tables = chain(5).tables[kind : kind + 1]
        assert_same(together[kind], beam(Chain(tables), asked(limit), size=3, nbest=3)[0])


def test_a_wider_beam_never_scores_worse_when_it_holds_everything() -> None:
    widest = beam(chain(6), asked(4, 4, 4), size=WIDE, penalty=0.0)
    for size in (1, 2, 3):
        for narrow, wide in zip(beam(chain(6), asked(4, 4, 4), size=size, penalty=0.0), widest, strict=True):
            assert narrow[0].score <= wide[0].score + 1e-6 or not narrow[0].finished
