"""A search for which nobody waits is given up."""

from pathlib import Path
from threading import Thread

import pytest

import regard
from regard.server.work.interest import AbandonedError, Interest


def test_a_search_is_given_up_when_nobody_waits_for_any_of_it(models: dict[str, Path]) -> None:
    translator = regard.load(models["en-de"])
    wanted = translator.translate(["a b c", "d"])
    interest = Interest()
    interest.watch(translator.model)
    interest.begin([1, 2])
    with interest.computing([1, 2]):
        assert translator.translate(["a b c", "d"]) == wanted
        interest.lose([1])
        assert translator.translate(["a b c", "d"]) == wanted  # somebody waits for the other
        interest.lose([2])
        with pytest.raises(AbandonedError):
            translator.translate(["a b c", "d"])
    assert translator.translate(["a b c", "d"]) == wanted


def test_other_threads_go_on(models: dict[str, Path]) -> None:
    translator = regard.load(models["en-de"])
    interest, found = Interest(), []
    interest.watch(translator.model)
    interest.begin([1, 2])
    interest.lose([1])

    def other() -> None:
        with interest.computing([2]):
            found.append(translator.translate("a b"))

    with interest.computing([1]):
        thread = Thread(target=other)
        thread.start()
        thread.join()
        with pytest.raises(AbandonedError):
            translator.translate("a b")
    assert len(found) == 1


def test_what_has_ended_is_not_remembered() -> None:
    interest = Interest()
    interest.begin([1, 2])
    interest.lose([1, 3])
    assert interest.lost([1, 2]) == {1}
    interest.end([2])
    assert interest.lost([1, 3]) == {1}
    interest.end([1])
    assert interest.lost([1]) == set()
