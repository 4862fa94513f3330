import torch

from regard.attention import both, look_ahead_mask, padding_mask, relation_mask, window_mask


def drawn(mask: torch.Tensor) -> list[str]:
    """A (T S) mask as a picture: # may look, . may not."""
    return ["".join(".#"[int(cell)] for cell in row) for row in mask]


def test_padding_mask_shows_the_real_tokens_only() -> None:
    mask = padding_mask(torch.tensor([2, 4, 0]), 4)
    assert mask.shape == (3, 1, 1, 4)
    assert drawn(mask[:, 0, 0]) == ["##..", "####", "...."]


def test_look_ahead_mask_hides_the_future() -> None:
    mask = look_ahead_mask(3)
    assert mask.shape == (1, 1, 3, 3)
    assert drawn(mask[0, 0]) == ["#..", "##.", "###"]


def test_with_more_keys_than_queries_the_queries_are_the_last_ones() -> None:
    assert drawn(look_ahead_mask(2, 5)[0, 0]) == ["####.", "#####"]
    assert drawn(look_ahead_mask(1, 4)[0, 0]) == ["####"]


def test_window_mask_shows_a_radius_around_each_centre() -> None:
    mask = window_mask(torch.tensor([[0, 2, 5], [1, 1, 9]]), 6, radius=1)
    assert mask.shape == (2, 1, 3, 6)
    assert drawn(mask[0, 0]) == ["##....", ".###..", "....##"]
    assert drawn(mask[1, 0]) == ["###...", "###...", "......"]


def test_a_window_of_radius_zero_shows_the_centre_alone() -> None:
    assert drawn(window_mask(torch.tensor([[3]]), 5, radius=0)[0, 0]) == ["...#."]


def test_the_centre_of_a_window_may_lie_between_two_places() -> None:
    mask = window_mask(torch.tensor([[2.5, 1.9, -0.5, 6.2, 3.0]]), 6, radius=1)
    assert mask.shape == (1, 1, 5, 6)
    assert drawn(mask[0, 0]) == ["..##..", ".##...", "#.....", "......", "..###."]


def test_relation_mask_takes_one_relation_for_all_sentences_or_one_for_each() -> None:
    relation = torch.tensor([[True, False, True], [False, False, True]])
    shared = relation_mask(relation)
    assert shared.shape == (1, 1, 2, 3)
    assert drawn(shared[0, 0]) == ["#.#", "..#"]
    each = relation_mask(torch.stack([relation, ~relation, relation, relation]))
    assert each.shape == (4, 1, 2, 3)
    assert drawn(each[1, 0]) == [".#.", "##."]


def test_both_masks_must_allow_it_and_none_allows_everything() -> None:
    padding, future = padding_mask(torch.tensor([2, 3]), 3), look_ahead_mask(3)
    joined = both(padding, future)
    assert joined is not None
    assert joined.shape == (2, 1, 3, 3)
    assert drawn(joined[0, 0]) == ["#..", "##.", "##."]
    assert drawn(joined[1, 0]) == ["#..", "##.", "###"]
    assert both(None, future) is future
    assert both(padding, None) is padding
    assert both(None, None) is None
