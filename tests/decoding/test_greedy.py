import pytest
import torch

from regard.data.batches import Sentences
from regard.decoding import Request, greedy
from tests.decoding.chain import END, START, asked, chain
from tests.models import small as network
from tests.models.small import SEARCHED, chosen, sentences


def by_hand(kind: int, limit: int, seed: int) -> tuple[tuple[int, ...], float, bool]:
    """The likeliest next word, again and again, until the end mark or the limit."""
    made: list[int] = []
    total = 0.0
    while len(made) < limit:
        log_probs = chain(seed).after(kind, (START, *made))
        word = log_probs.index(max(log_probs))
        total += log_probs[word]
        if word == END:
            return tuple(made), total, True
        made.append(word)
    return tuple(made), total, False


@pytest.mark.parametrize("seed", range(10))
def test_greedy_search_takes_the_likeliest_word_again_and_again(seed: int) -> None:
    limits = (8, 1, 5)
    for kind, found in enumerate(greedy(chain(seed), asked(*limits))):
        tokens, log_prob, finished = by_hand(kind, limits[kind], seed)
        assert (found.tokens, found.finished) == (tokens, finished)
        assert found.log_prob == pytest.approx(log_prob, abs=1e-5)
        assert found.score == pytest.approx(log_prob / len(found.rows), abs=1e-5)


def test_some_of_these_sentences_end_and_others_are_cut_off() -> None:
    finished = {one.finished for seed in range(10) for one in greedy(chain(seed), asked(8, 1, 5))}
    assert finished == {True, False}


def test_rows_follow_a_sentence_as_others_leave_the_batch() -> None:
    limits = (2, 6, 4)
    never_ends = chain(0)
    never_ends.tables = never_ends.tables.clone()
    never_ends.tables[..., END] = -float("inf")
    found = greedy(never_ends, asked(*limits))
    assert [one.rows for one in found] == [(0, 0), (1, 1, 0, 0, 0, 0), (2, 2, 1, 1)]


def test_the_search_ends_with_its_longest_sentence() -> None:
    stepper = chain(4)
    found = greedy(stepper, asked(7, 3, 5))
    assert stepper.steps == max(len(one.rows) for one in found)


@pytest.mark.parametrize("name", SEARCHED)
@pytest.mark.parametrize("size", [1, 3])
def test_a_batch_of_unequal_lengths_equals_each_sentence_alone(size: int, name: str) -> None:
    model = chosen(name, seed=6)
    source, lengths = sentences(7, 2, 6, 4)
    prefix = torch.tensor([[network.START, 5, 3][:size]] * 4)
    limits = torch.tensor([6, 9, 3, 12])
    together = greedy(model, Request(Sentences(source, lengths), prefix, network.END, limits))
    for i, length in enumerate(lengths.tolist()):
        one = slice(i, i + 1)
        (alone,) = greedy(
            model, Request(Sentences(source[one, :length], lengths[one]), prefix[one], network.END, limits[one])
        )
        assert together[i].tokens == alone.tokens
        assert together[i].finished == alone.finished
        assert together[i].log_prob == pytest.approx(alone.log_prob, abs=1e-5)


def test_a_prefix_is_forced_and_not_part_of_the_answer() -> None:
    prefix = (START, 3, 1)
    (found,) = greedy(chain(2), asked(1, prefix=prefix))
    after = torch.tensor(chain(2).after(0, prefix))
    assert found.tokens == (() if after.argmax() == END else (int(after.argmax()),))
    assert found.log_prob == pytest.approx(float(after.max()), abs=1e-6)
