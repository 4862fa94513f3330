"""A search as a tree, and where the model looked along its branches."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import capture
from regard.errors import ConfigError, LimitError
from regard.inside import Tree, beams, following
from regard.tasks.translator import Translator
from tests.inside.models import ENGLISH, loaded, translator

NAMES = ["transformer, pre-norm", "bahdanau", "luong, local-p, general", "luong, local-m, dot without feeding", "gpt2"]


def text_of(name: str) -> str:
    return "The river" if name == "gpt2" else ENGLISH


def answer(name: str, size: int) -> tuple[str, float]:
    model = loaded(name)
    if name == "gpt2":
        found = model.generate("The river", beam=size, max_new_tokens=9)[0]
        return found.text, found.log_prob
    best = model.translations([ENGLISH], model.search(beam=size))[0][0]
    return best.text, best.log_prob


def grown(name: str, **how: Any) -> Tree:
    more = {"max_new_tokens": 9} if name == "gpt2" else {}
    return beams(loaded(name), text_of(name), **more, **how)


@pytest.mark.parametrize("name", [*NAMES, "rnn"])
@pytest.mark.parametrize("size", [1, 3, 5])
def test_the_best_branch_is_what_the_search_gives(name: str, size: int) -> None:
    tree = grown(name, beam=size)
    text, log_prob = answer(name, size)
    assert tree.found[0].text == text
    assert tree.found[0].log_prob == pytest.approx(log_prob, abs=1e-4)
    assert [one.score for one in tree.found] == sorted((one.score for one in tree.found), reverse=True)


@pytest.mark.parametrize("name", NAMES)
def test_every_twig_hangs_on_one_that_was_kept(name: str) -> None:
    tree = grown(name, beam=4)
    for number, twig in enumerate(tree.twigs):
        assert twig.number == number
        parent = None if twig.parent is None else tree.twigs[twig.parent]
        assert (twig.step == 0) == (parent is None)
        if parent is not None:
            assert (parent.step, parent.state) == (twig.step - 1, "kept")
            assert twig.log_prob <= parent.log_prob + 1e-6
        assert twig.score == pytest.approx(twig.log_prob / (twig.step + 1) ** tree.penalty, abs=1e-6)
    for step in range(tree.twigs[-1].step + 1):
        states = [twig.state for twig in tree.twigs if twig.step == step]
        assert states.count("kept") <= 4
        assert len(states) <= 8
    for one in tree.found:
        path = [tree.twigs[number] for number in one.path]
        assert [twig.parent for twig in path] == [None, *one.path[:-1]]
        assert (path[-1].state == "finished") == one.finished


def teacher(name: str, ids: tuple[int, ...]) -> dict[str, np.ndarray]:
    """The weights of one pass over the same tokens."""
    model = loaded(name)
    with torch.inference_mode(), capture(model.model) as recording:
        if name == "gpt2":
            model.model(torch.tensor([[*model.tokenizer.encode("The river"), *ids]]))
        else:
            source, target = model.tokenizers.source, model.tokenizers.target
            tokens = torch.tensor([[*source.encode(ENGLISH), source.end]])
            model.model(tokens, torch.tensor([tokens.shape[1]]), torch.tensor([[target.start, *ids]]))
    return {attention: recording.joined(attention)[0].float().numpy() for attention in recording.names}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("forced", [0, 2])
def test_attention_follows_a_hypothesis(name: str, forced: int) -> None:
    more = {"max_new_tokens": 9} if name == "gpt2" else {}
    given = grown(name, beam=4).found[0].ids[:forced]
    for number in (0, 1):
        tree, seen = following(loaded(name), text_of(name), beam=4, number=number, forced=given, **more)
        found = tree.found[number]
        wanted = teacher(name, found.ids)
        rows = len(found.ids) + found.finished
        assert set(seen.names) == set(wanted)
        for attention, weights in seen.weights.items():
            whole = wanted[attention]
            if name == "gpt2":
                first = len(seen.rows["text"]) - rows
                whole = whole[:, first : first + rows, : first + rows]
            elif not attention.startswith("encoder"):
                whole = whole[:, :rows, : rows if attention.endswith("self") else None]
            np.testing.assert_allclose(weights, whole, atol=1e-5)
        if "\ufffd" not in found.text:  # broken bytes may be spelt in two ways
            assert seen.rows["prediction"].text == found.text
        assert found.ids[:forced] == given


def test_what_is_forced_begins_every_hypothesis() -> None:
    forced = loaded("bahdanau").tokenizers.target.encode("狮子")
    tree = grown("bahdanau", beam=3, forced=forced)
    assert all(one.ids[: len(forced)] == tuple(forced) for one in tree.found)
    assert tree.found[0].text == loaded("bahdanau").translate(ENGLISH, prefix="狮子", beam=3)


def hasty(name: str) -> Translator:
    """A translator that would rather end than go on."""
    model = translator(name)
    network: Any = model.model
    plain, end = network.step, model.tokenizers.target.end

    def step(tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        scores, state = plain(tokens, state)
        return (scores + 4.0 * (torch.arange(scores.shape[-1]) == end)).log_softmax(-1), state

    network.step = step
    return model


@pytest.mark.parametrize("name", ["transformer, pre-norm", "bahdanau", "luong, local-p, general"])
def test_a_beam_of_one_ends_with_the_first_end_mark_as_the_translation_does(name: str) -> None:
    model = hasty(name)
    (wanted,) = model.translations([ENGLISH], model.search(beam=1))[0]
    tree = beams(model, ENGLISH, beam=1)
    assert wanted.finished
    assert [(one.text, one.score) for one in tree.found] == [(wanted.text, pytest.approx(wanted.score, abs=1e-5))]


def test_a_beam_that_is_not_said_is_five_and_compares_probabilities() -> None:
    tree = beams(loaded("gpt2"), "The river", beam=None, max_new_tokens=3)
    assert tree == beams(loaded("gpt2"), "The river", max_new_tokens=3)
    assert tree.size == 5
    assert all(twig.log_prob <= 0 for twig in tree.twigs)


def test_a_search_that_is_cut_off_shows_what_it_had() -> None:
    tree = beams(loaded("bahdanau"), ENGLISH, beam=3, max_new_tokens=2)
    assert tree.found
    assert not [twig for twig in tree.twigs if twig.step > 1]


def test_what_cannot_be_followed_is_told() -> None:
    with pytest.raises(ConfigError, match="no hypothesis 99"):
        following(loaded("bahdanau"), ENGLISH, number=99)
    with pytest.raises(LimitError, match="with what is to be added, is longer"):
        following(loaded("gpt2"), "The river", max_new_tokens=100)
    with pytest.raises(ConfigError, match="no attention"):
        following(loaded("rnn"), ENGLISH)
