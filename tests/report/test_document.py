"""Tables know their best values and their sides; what does not fit is refused."""

from dataclasses import replace

import pytest

from regard.errors import DataError
from regard.report import Cell, Column, Plot, Series, Table
from tests.report.example import plot, table


def test_numbers_are_shown_in_the_format_of_their_column_and_what_is_unknown_as_a_dash() -> None:
    assert [row[:3] for row in table().texts()] == [["one", "31.25", "12"], ["two", "31.30 ± 0.9", "–"]]


def test_columns_with_numbers_are_on_the_right_unless_told_otherwise() -> None:
    assert table().aligns() == ["left", "right", "right", "left"]
    assert Table([Column("n", align="center")], [[1]]).aligns() == ["center"]


def test_the_best_is_the_largest_or_the_smallest_as_the_column_says() -> None:
    columns = [Column("up", best="max"), Column("down", best="min"), Column("plain")]
    assert Table(columns, [[1, 1, 1], [Cell(2, "two"), 2, 2], ["9", None, float("nan")]]).best() == {(1, 0), (0, 1)}


def test_what_looks_equal_is_equally_good() -> None:
    assert Table([Column("x", ".1f", "max")], [[1.04], [0.96], [0.9]]).best() == {(0, 0), (1, 0)}


def test_a_column_without_numbers_has_no_best() -> None:
    assert Table([Column("x", best="max")], [["a"], [None]]).best() == set()


def test_a_row_that_does_not_fit_says_which_and_what_was_wanted() -> None:
    with pytest.raises(DataError, match="Row 2 of the table 't'") as caught:
        Table([Column("a"), Column("b")], [["x", 1], ["y"]], caption="t")
    assert "found: 1 cells" in str(caught.value)
    assert "wanted: 2: a, b" in str(caught.value)


@pytest.mark.parametrize(
    "series",
    [Series("s", [1.0]), Series("s", [1.0, 2.0], low=[0.0, 1.0]), Series("s", [1.0, 2.0], low=[0.0], high=[3.0])],
)
def test_a_series_that_does_not_fit_is_refused(series: Series) -> None:
    with pytest.raises(DataError, match="The series 's' of a plot does not fit its x axis"):
        Plot("lines", ["a", "b"], [series], "x", "y")


def test_a_plot_can_be_read_aloud() -> None:
    assert plot().alt().startswith("BLEU by words in the source. with: 1–10: 30, 11–20: 29, 21+: –. ohne")
    assert replace(plot(), x_title="").alt().startswith("BLEU. with: ")


def test_of_a_long_curve_twelve_points_are_told_of_bars_all() -> None:
    curve = Plot("lines", range(100), [Series("loss", range(100))], "update", "loss")
    assert curve.alt().startswith("loss by update. 12 of 100 points. loss: 0: 0, 9: 9, 18: 18, 27: 27, ")
    assert curve.alt().endswith(", 90: 90, 99: 99.")
    assert ", 98: 98, 99: 99." in replace(curve, kind="bars").alt()
