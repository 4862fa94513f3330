"""How tests are shared out."""

from pathlib import Path

from tests.order import LONG, WHOLE, place, unit

ROOT = Path(__file__).parents[1]


def test_what_shares_a_server_or_a_file_is_not_parted() -> None:
    assert (
        unit("tests/server/test_a.py::test_x[tests/page/]") == unit("tests/server/test_b.py::test_y") == "tests/server"
    )
    assert unit("tests/data/test_a.py::test_x") == unit("tests/data/test_a.py::test_y[::]") == "tests/data/test_a.py"


def test_the_longest_begin_first_and_are_there() -> None:
    assert [unit(f"{one}/test_a.py::test_x") for one in WHOLE] == list(WHOLE)
    assert all((ROOT / one).exists() for one in LONG)
    places = [place(f"{one}/test_a.py" if one in WHOLE else f"{one}::test_x") for one in LONG]
    assert places == list(range(len(LONG)))
    assert place("tests/test_order.py::test_x") == len(LONG)
