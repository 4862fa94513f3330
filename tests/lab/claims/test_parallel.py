from pathlib import Path

import pytest
import torch

from regard.lab.claim import Setting
from regard.lab.claims import parallel
from regard.lab.claims.parallel import (
    ATTENTION,
    COMPILED,
    CUT,
    LONG,
    READERS,
    RECURRENT,
    SHORT,
    WIDTH,
    growth,
    least,
    only,
    relative,
    trained,
)
from regard.lab.shop import Shop


def test_growth_is_from_the_first_to_the_last() -> None:
    assert growth([2.0, 9.0, 6.0]) == 3.0


def test_what_slows_down_as_attention_does_grows_by_one() -> None:
    seconds = {ATTENTION: [1.0, 2.0], RECURRENT: [1.0, 8.0], CUT: [3.0, 6.0]}
    assert relative(seconds, RECURRENT) == 4.0
    assert relative(seconds, CUT) == 1.0


def test_the_recurrent_network_that_slows_down_less_is_judged() -> None:
    seconds = {ATTENTION: [1.0, 2.0], RECURRENT: [1.0, 8.0], COMPILED: [1.0, 5.0]}
    assert least(seconds) == 2.5
    assert least({**seconds, COMPILED: [1.0, 9.0]}) == 4.0


def test_all_readers_look_back_only() -> None:
    words = torch.randn(2, 2 * SHORT, WIDTH)
    changed = words.clone()
    changed[:, -1] += 1
    for make in READERS.values():
        reader = make()
        before, after = reader(words), reader(changed)
        torch.testing.assert_close(before[:, :-1], after[:, :-1])
        assert not torch.allclose(before[:, -1], after[:, -1])


def test_a_recurrent_network_that_is_cut_forgets_and_the_whole_one_does_not() -> None:
    words = torch.randn(2, 2 * SHORT, WIDTH)
    changed = words.clone()
    changed[:, 0] += 1
    cut, whole = READERS[CUT](), READERS[RECURRENT]()
    torch.testing.assert_close(cut(words)[:, SHORT:], cut(changed)[:, SHORT:])
    assert not torch.equal(whole(words)[:, SHORT:], whole(changed)[:, SHORT:])


def test_threads_are_given_back() -> None:
    before = torch.get_num_threads()
    with only(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before


def test_time_is_taken() -> None:
    assert 0 < trained(ATTENTION, LONG, seed=1, repeats=1) < 60


@pytest.mark.parametrize("machine", [1, 2])
def test_what_a_second_core_gives_is_told_where_there_is_one(
    machine: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A made-up clock: two threads halve everything, and a long chain takes twice as long."""

    def clock(name: str, length: int, seed: int, repeats: int, texts: int = 1) -> float:
        chain = 2.0 if name in (RECURRENT, COMPILED) and length == LONG and texts == 1 else 1.0
        return chain / torch.get_num_threads()

    monkeypatch.setattr(parallel, "trained", clock)
    monkeypatch.setattr(parallel, "cores", lambda: machine)
    found = parallel.measure(Setting(1, True, Shop(tmp_path)))
    assert (found.value, found.control) == (2.0, 1.0)
    gains = [gain for name, gain in found.numbers.items() if "second core" in name]
    assert gains == ([2.0] * 8 if machine > 1 else [])
    assert found.numbers.get("the statistic with 2 threads") == (2.0 if machine > 1 else None)
