"""What must hold for every model, whatever its weights are: what it may and may not know."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.layers import POSITIONS
from tests.draws import DTYPES, assert_near, words
from tests.models.small import CHOICES, TARGET_WORDS, chosen, ready, sentences, small

B, T, S = 4, 5, 7
SOURCE, LENGTHS = sentences(7, 2, 6, 4)
TARGET = words(B, T, below=TARGET_WORDS, seed=1)

every_model = pytest.mark.parametrize("name", CHOICES)


@every_model
@settings(max_examples=12, deadline=None)
@given(target=st.lists(st.integers(0, TARGET_WORDS - 1), min_size=2, max_size=7), data=st.data())
def test_a_later_word_never_changes_an_earlier_state(name: str, target: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(target) - 1), label="place")
    other = data.draw(st.integers(0, TARGET_WORDS - 1).filter(lambda word: word != target[place]), label="other word")
    changed = [*target[:place], other, *target[place + 1 :]]
    with torch.inference_mode():
        before, after = ready(name)(SOURCE[[0, 0]], LENGTHS[[0, 0]], torch.tensor([target, changed]))
    assert_near(after[:place], before[:place], 1e-6)
    assert (after[place:] - before[place:]).abs().amax(-1).min() > 1e-6
    assert (after[place] - before[place]).abs().max() > 1e-4


@pytest.mark.parametrize("dtype", DTYPES)
@every_model
def test_a_sentence_alone_equals_the_same_in_a_padded_batch(name: str, dtype: torch.dtype) -> None:
    model = chosen(name, dtype=dtype)
    batch = model(SOURCE, LENGTHS, TARGET)
    for b, length in enumerate(LENGTHS.tolist()):
        one = slice(b, b + 1)
        assert_near(batch[one], model(SOURCE[one, :length], LENGTHS[one], TARGET[one]))


@every_model
@settings(max_examples=6, deadline=None)
@given(length=st.integers(1, 6), extra=st.integers(1, 4), seed=st.integers(0, 1000))
def test_what_stands_in_the_padding_never_matters(name: str, length: int, extra: int, seed: int) -> None:
    real, filling = words(1, length, below=TARGET_WORDS, seed=seed), words(1, extra, below=TARGET_WORDS, seed=seed + 1)
    lengths, model = torch.tensor([length]), ready(name)
    with torch.inference_mode():
        padded = model(torch.cat((real, filling), dim=1), lengths, TARGET[:1])
        assert_near(padded, model(real, lengths, TARGET[:1]))


@every_model
def test_every_word_of_the_source_matters(name: str) -> None:
    """Be it only because the decoder begins with what the encoder ended with: outside a window, that is all."""
    changed = SOURCE[:1].repeat(S + 1, 1)
    for place in range(S):
        changed[place, place] = (changed[place, place] + 1) % TARGET_WORDS
    many = [torch.tensor([S]).expand(S + 1), TARGET[:1].expand(S + 1, -1)]
    *others, plain = chosen(name, dtype=torch.float64)(changed, *many)
    for other in others:
        assert (other - plain).abs().amax(-1).min() > 1e-6


@every_model
def test_dropout_acts_in_training_only_and_follows_from_the_seed(name: str) -> None:
    check_dropout(chosen(name, dropout=0.3), chosen(name))


@pytest.mark.parametrize("positions", POSITIONS)
def test_dropout_acts_in_training_only_whatever_the_positions(positions: str) -> None:
    check_dropout(small(positions=positions, dropout=0.3), small(positions=positions))


def check_dropout(model: torch.nn.Module, without: torch.nn.Module) -> None:
    given = (SOURCE, LENGTHS, TARGET)
    assert torch.equal(model(*given), without(*given))
    model.train()
    torch.manual_seed(0)
    first = model(*given)
    assert not torch.equal(model(*given), first)
    torch.manual_seed(0)
    assert torch.equal(model(*given), first)


@every_model
def test_what_is_computed_is_finite_for_the_shortest_of_sentences(name: str) -> None:
    model = chosen(name).train()
    hidden = model(SOURCE[:, :1], torch.ones(B, dtype=torch.long), TARGET)
    hidden.sum().backward()
    assert hidden.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters() if parameter.grad is not None)
