"""Tokens that are forced, how undecided a step was, and a search step by step."""

import numpy as np
import pytest
import torch

from regard.decoding import Choice, Forced, beam, greedy, layers, likeliest, steps
from tests.decoding.chain import END, START, asked, chain
from tests.decoding.test_steps import draws

LIMITS = (9, 3, 7)


def chosen(forced: list[list[int]]) -> list[list[Choice]]:
    found: list[list[Choice]] = [[] for _ in LIMITS]
    for step in steps(chain(1), asked(*LIMITS), choose=Forced(forced, likeliest)):
        for choice in step.choices(2):
            found[choice.sentence].append(choice)
    return found


def test_forced_tokens_come_first_and_have_the_models_probabilities() -> None:
    forced = [[3, 1, 3], [], [1]]
    for kind, (choices, given) in enumerate(zip(chosen(forced), forced, strict=True)):
        assert [choice.token for choice in choices][: len(given)] == given
        text = [START]
        for choice in choices:
            after = chain(1).after(kind, tuple(text))
            assert choice.log_prob == pytest.approx(after[choice.token], abs=1e-6)
            text.append(choice.token)


def test_what_follows_is_what_a_prefix_would_have_led_to() -> None:
    given = [3, 1]
    (wanted,) = greedy(chain(1), asked(7, prefix=(START, *given)))
    found = chosen([given, [], []])[0]
    tokens = [choice.token for choice in found if choice.ending != "end"]
    assert tokens[: 2 + len(wanted.tokens)] == [*given, *wanted.tokens]


def test_nothing_forced_changes_nothing_and_an_end_that_is_forced_ends() -> None:
    plain = [choice.token for choice in chosen([[], [], []])[0]]
    assert plain == [*greedy(chain(1), asked(*LIMITS))[0].tokens, END][: len(plain)]
    ended = chosen([[3, END, 1], [], []])[0]
    assert ([choice.token for choice in ended], ended[-1].ending) == ([3, END], "end")


def test_draws_stay_the_same_behind_what_was_drawn_anyway() -> None:
    drawn = [step.tokens.tolist() for step in steps(chain(1), asked(9), choose=draws(3))]
    first = [token for (token,) in drawn[:2]]
    forced = [step.tokens.tolist() for step in steps(chain(1), asked(9), choose=Forced([first], draws(3)))]
    assert forced == drawn


def test_the_entropy_of_a_step_is_that_of_its_distribution() -> None:
    for step in steps(chain(1), asked(*LIMITS), choose=likeliest):
        shares = step.scores.softmax(-1).numpy()
        wanted = -(shares * np.log(shares)).sum(-1)
        np.testing.assert_allclose(step.entropies().numpy(), wanted, atol=1e-6)
    certain = torch.tensor([[0.0, -torch.inf, -torch.inf]])
    assert type(step)((0,), torch.tensor([0]), certain, (None,)).entropies().item() == 0


@pytest.mark.parametrize("seed", range(8))
def test_the_layers_of_a_search_tell_all_that_it_kept_and_ended(seed: int) -> None:
    """From them alone, its answers are found again."""
    limits, size = (6, 4, 5), 3
    wanted = beam(chain(seed), asked(*limits), size=size)
    texts: dict[int, list[tuple[tuple[int, ...], float]]] = {kind: [((), 0.0)] for kind in range(3)}
    finished: dict[int, list[tuple[tuple[int, ...], float, float]]] = {kind: [] for kind in range(3)}
    with torch.inference_mode():
        for layer in layers(chain(seed), asked(*limits), size=size):
            per = len(texts[layer.sentences[0]])
            for place, kind in enumerate(layer.sentences):
                grown = []
                for log_prob, token, row in zip(
                    *(x[place].tolist() for x in (layer.log_probs, layer.tokens, layer.rows)), strict=True
                ):
                    before, total = texts[kind][row - per * place]
                    if log_prob > -torch.inf:
                        step = chain(seed).after(kind, (START, *before))[token]
                        assert log_prob == pytest.approx(total + step, abs=1e-5)
                    grown.append(((*before, token), log_prob))
                for number in range(min(size, len(grown))):
                    text, log_prob = grown[number]
                    if layer.ended[place, number] and log_prob > -torch.inf:
                        finished[kind].append((text[:-1], log_prob, log_prob / len(text)))
                kept = layer.kept[place].tolist()
                texts[kind] = [grown[n] if not layer.ended[place, n] else (grown[n][0], -torch.inf) for n in kept]
            for kind, (answer,) in layer.answers.items():
                assert answer == wanted[kind][0]
                if answer.finished:
                    best = max(finished[kind], key=lambda one: one[2])
                    assert (best[0], best[1]) == (answer.tokens, pytest.approx(answer.log_prob, abs=1e-5))
