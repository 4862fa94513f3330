"""What kind of look a head has, on matrices made for it."""

from math import log

import numpy as np
import pytest

from regard.insight import TokenRow, Trace, tags
from regard.insight.tags import tags_of

N = 6
LATER = np.triu(np.ones((N, N), dtype=bool), 1)


def heads(*matrices: np.ndarray) -> np.ndarray:
    return np.stack(matrices).astype(np.float32)


def shifted(by: int) -> np.ndarray:
    """All weight `by` places further; at the edge on the place itself."""
    places = np.arange(N) + by
    return np.eye(N)[np.where((places >= 0) & (places < N), places, np.arange(N))]


def test_each_kind_of_head_is_known_by_its_tag() -> None:
    first = np.tile(np.eye(N)[0], (N, 1))
    found = tags_of(heads(np.eye(N), shifted(-1), shifted(1), first, np.full((N, N), 1 / N)), itself=True)
    np.testing.assert_allclose(found.diagonal, [1, 0, 1 / 5, 0, 1 / N], atol=1e-6)  # the last has no next
    np.testing.assert_allclose(found.previous, [0, 1, 0, 1 / 5, 1 / N], atol=1e-6)  # before the second is the first
    np.testing.assert_allclose(found.next, [0, 0, 1, 0, 1 / N], atol=1e-6)
    np.testing.assert_allclose(found.first, [0, 1 / 5, 0, 1, 1 / N], atol=1e-6)
    np.testing.assert_allclose(found.entropy, [0, 0, 0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(found.uniform, [0, 0, 0, 0, 1], atol=1e-6)
    assert (found.sink[3], found.sink_at[3]) == (1, 0)


def test_a_sink_may_be_anywhere() -> None:
    third = np.full((N, N), 0.1)
    third[:, 3] = 0.5
    found = tags_of(heads(third), itself=True)
    assert (found.sink_at[0], found.sink[0], found.first[0]) == (3, pytest.approx(0.5), pytest.approx(0.1))


def test_with_look_ahead_even_is_even_over_what_can_be_seen() -> None:
    even = np.where(LATER, 0.0, 1 / np.arange(1, N + 1)[:, None])
    found = tags_of(heads(even), itself=True)
    np.testing.assert_allclose([found.entropy[0], found.uniform[0]], 1, atol=1e-6)
    wanted = np.mean([1 / n for n in range(2, N + 1)])
    np.testing.assert_allclose([found.diagonal[0], found.previous[0], found.first[0]], wanted, atol=1e-6)
    assert found.next[0] == 0


def test_half_and_half_has_the_entropy_of_a_bit() -> None:
    halves = np.zeros((N, N))
    halves[:, [1, 4]] = 0.5
    found = tags_of(heads(halves), itself=True)
    assert found.entropy[0] == pytest.approx(log(2) / log(N), abs=1e-6)
    away = 0.5 * (2 * (0.5 - 1 / N) + (N - 2) / N)
    assert found.uniform[0] == pytest.approx(1 - away / (1 - 1 / N), abs=1e-6)


def test_a_translation_has_its_diagonal_from_corner_to_corner() -> None:
    line = np.zeros((3, N))
    line[[0, 1, 2], [0, 2, 5]] = 1  # 1 · 5/2 is nearest to 2, the even one
    found = tags_of(heads(line), itself=False)
    assert found.diagonal[0] == 1


def test_what_is_written_stands_behind_what_it_has_read() -> None:
    """Three tokens are chosen after a prompt of four."""
    looks = np.zeros((3, N))
    looks[[0, 1, 2], [2, 3, 4]] = 1
    rows = {"text": TokenRow.of(list("abcdef")), "prediction": TokenRow.of(list("efg"))}
    trace = Trace(rows, {"decoder.0.self": heads(looks)}, {"decoder.0.self": ("prediction", "text")})
    assert tags(trace)["decoder.0.self"].previous[0] == 1


def test_a_pooling_stands_nowhere() -> None:
    found = tags_of(heads(np.array([[0.5, 0.5, 0, 0]])), itself=False)
    assert [found.diagonal[0], found.previous[0], found.next[0]] == [0, 0, 0]
    assert (found.first[0], found.entropy[0]) == (0.5, pytest.approx(0.5))


def test_a_window_that_gives_less_than_one_is_scaled() -> None:
    whole, part = np.full((N, N), 1 / N), np.full((N, N), 0.5 / N)
    found = tags_of(heads(whole, part), itself=True)
    np.testing.assert_allclose(found.entropy, 1, atol=1e-6)
    nothing = tags_of(heads(np.zeros((N, N))), itself=True)
    assert nothing.entropy[0] == 0


def test_a_single_token_has_no_tags() -> None:
    found = tags_of(np.ones((2, 1, 1), dtype=np.float32), itself=True)
    assert not any(np.any(numbers) for numbers in vars(found).values())


def test_all_tags_are_between_nothing_and_one() -> None:
    drawn = np.random.default_rng(0).dirichlet(np.full(N, 0.3), size=(50, N)).astype(np.float32)
    for itself in (True, False):
        found = tags_of(drawn, itself=itself)
        for name, numbers in vars(found).items():
            assert name == "sink_at" or ((numbers >= 0) & (numbers <= 1 + 1e-6)).all(), name
