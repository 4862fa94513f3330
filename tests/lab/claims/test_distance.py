from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from regard.lab.claim import Setting
from regard.lab.claims import distance as claim
from regard.lab.claims.distance import (
    AMBIGUOUS,
    DISTANCES,
    FIRST_CLUE,
    LENGTH,
    NETWORKS,
    Reader,
    accuracy,
    ahead,
    measure,
    place,
    sentences,
)
from regard.lab.shop import Shop


class Knows(nn.Module):
    """Finds the clue to the word in the middle wherever it stands: the oracle."""

    def __init__(self, reach: range) -> None:
        super().__init__()
        self.reach = reach

    def forward(self, words: Tensor) -> Tensor:
        asked = words[:, LENGTH // 2]
        seen = words[:, list(self.reach)]
        counts = [(seen == (FIRST_CLUE + 2 * asked + meaning)[:, None]).sum(1) for meaning in (0, 1)]
        return torch.stack(counts, 1).float()


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_sentence_has_exactly_one_clue_to_the_word_and_it_is_right(distance: int) -> None:
    assert accuracy(Knows(range(LENGTH)), distance) == 1.0
    words = sentences(50, distance, torch.Generator().manual_seed(3)).words
    own = words[:, LENGTH // 2, None]
    clues = (words >= FIRST_CLUE) & (words < 3 * AMBIGUOUS)
    assert ((((words - FIRST_CLUE) // 2 == own) & clues).sum(1) == 1).all()


def test_who_sees_only_what_stands_before_is_at_chance_where_the_clue_comes_after() -> None:
    left = Knows(range(LENGTH // 2))
    assert accuracy(left, -20) == 1.0
    assert 0.4 < accuracy(left, 1) < 0.6


@pytest.mark.parametrize("network", NETWORKS)
def test_one_direction_cannot_know_what_follows_and_all_others_can(network: str) -> None:
    torch.manual_seed(0)
    model = Reader(network).eval()
    words = sentences(4, 5, torch.Generator().manual_seed(1)).words
    other = words.clone()
    other[:, LENGTH // 2 + 5] = FIRST_CLUE
    changed = not torch.equal(model(words), model(other))
    assert changed == (network != "RNN")


def test_the_lead_is_taken_where_the_clue_is() -> None:
    found = {"Transformer": [0.9] * len(DISTANCES), "RNN": [0.5] * len(DISTANCES)}
    found["RNN"][DISTANCES.index(-1)] = 1.0
    assert ahead(found, "Transformer", "RNN", 1) == pytest.approx(0.4)
    assert ahead(found, "Transformer", "RNN", -1) == pytest.approx(-0.1)
    assert [place(-20), place(20)] == ["20 words before", "20 words after"]


@pytest.mark.parametrize(
    ("reaches", "value"),
    [
        ({"RNN": -1, "RNN in two directions": 6}, 0.5),
        ({"RNN": -1, "RNN in two directions": 20}, 0.0),  # it finds what is far, too: the distance decides
        ({"RNN": 20, "RNN in two directions": 6}, 0.0),  # it knows what follows, too: the direction decides
        ({"RNN": -1, "RNN in two directions": 6, "RNN with attention": 6}, 0.0),  # attention helps one of both only
        ({"RNN": -1, "RNN in two directions": 6, "Transformer": -1}, 0.0),
    ],
)
def test_both_direction_and_distance_are_judged_of_both_that_attend(
    reaches: dict[str, int], value: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def right(network: str, distance: int) -> float:
        """One direction reaches all that is before; two as far to both sides."""
        reach = reaches.get(network, 20)
        return 1.0 if (abs(distance) <= reach or (reach < 0 and distance < 0)) else 0.5

    monkeypatch.setattr(claim, "trained", lambda network, **how: network)
    monkeypatch.setattr(claim, "accuracy", right)
    found = measure(Setting(1, True, Shop(tmp_path)))
    assert found.value == value
    assert found.control == 0.0
