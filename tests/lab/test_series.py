from regard.lab.series import over_seeds


def test_one_seed_is_drawn_as_it_is() -> None:
    series = over_seeds("x", [[1.0, 2.0]])
    assert (series.values, series.low, series.high) == ([1.0, 2.0], None, None)


def test_several_seeds_are_drawn_as_their_mean_between_lowest_and_highest() -> None:
    series = over_seeds("x", [[1.0, 2.0], [3.0, 2.0], [2.0, 5.0]])
    assert (series.values, series.low, series.high) == ([2.0, 3.0], [1.0, 2.0], [3.0, 5.0])


def test_where_a_seed_has_nothing_there_is_nothing() -> None:
    series = over_seeds("x", [[1.0, None], [3.0, 2.0]])
    assert (series.values, series.low, series.high) == ([2.0, None], [1.0, None], [3.0, None])
