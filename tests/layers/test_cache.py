"""The cache: what is in it never changes, adding to it copies nothing; and the block that goes on from one."""

from functools import partial
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from regard.attention import KeysValues, look_ahead_mask
from regard.layers import Block, Shape
from regard.layers.cache import ROOM, Cache
from regard.layers.positions import Learned
from tests import oracles
from tests.draws import DTYPES, assert_near, normal

L, R, H, K = 2, 3, 2, 4
LIKE = torch.empty(0, dtype=torch.float64)


def empty(rows: int = R) -> Cache:
    return Cache.empty(LIKE, layers=L, rows=rows, heads=H, width=K)


def added(cache: Cache, steps: int, seed: int) -> tuple[Cache, Tensor]:
    """The cache with some tokens more, and those: (L 2 R H T K)."""
    new = normal(L, 2, cache.rows, H, steps, K, seed=seed)
    longer = cache.longer(steps)
    for layer in range(L):
        longer.extend(layer, KeysValues(*new[layer]))
    return longer, new


def seen(cache: Cache) -> Tensor:
    """All that it holds: adding nothing gives it."""
    nothing = torch.empty(cache.rows, H, 0, K, dtype=torch.float64)
    return torch.stack([torch.stack(cache.extend(layer, KeysValues(nothing, nothing))) for layer in range(L)])


def test_what_was_put_in_comes_out_in_order() -> None:
    cache, parts = empty(), []
    for seed, steps in enumerate((5, 1, 1, ROOM, 1, 3 * ROOM, 2)):
        cache, new = added(cache, steps, seed)
        parts.append(new)
        assert torch.equal(seen(cache), torch.cat(parts, dim=4))
    assert cache.length == 5 + 1 + 1 + ROOM + 1 + 3 * ROOM + 2


def test_a_step_copies_nothing_and_room_is_made_seldom() -> None:
    cache, places = empty(), []
    for step in range(1000):
        cache, _ = added(cache, 1, step)
        places.append(cache.space.entries.data_ptr())
    moves = sum(one != other for one, other in pairwise(places))
    assert moves <= 5  # 64, 130, 260, 520, 1040
    assert cache.space.entries.shape[4] < 2 * 1000 + ROOM


def test_two_that_go_on_from_one_do_not_see_each_other() -> None:
    cache, begun = added(empty(), 3, 0)
    one, first = added(cache, 2, 1)
    other, second = added(cache, 1, 2)
    third, more = added(one, 1, 3)
    assert torch.equal(seen(cache), begun)
    assert torch.equal(seen(one), torch.cat((begun, first), dim=4))
    assert torch.equal(seen(other), torch.cat((begun, second), dim=4))
    assert torch.equal(seen(third), torch.cat((begun, first, more), dim=4))
    assert one.space is cache.space
    assert other.space is not cache.space


@pytest.mark.parametrize("rows", [[2, 0, 1], [1], [0, 0, 1, 1, 2, 2], [2, 2]])
def test_rows_are_chosen_and_the_rest_stays_as_it_was(rows: list[int]) -> None:
    cache, begun = added(empty(), 3, 0)
    chosen = cache.reordered(torch.tensor(rows))
    assert chosen.rows == len(rows)
    longer, new = added(chosen, 1, 1)
    assert torch.equal(seen(longer), torch.cat((begun[:, :, rows], new), dim=4))
    assert torch.equal(seen(cache), begun)


def test_rows_that_stay_as_they_are_are_not_copied() -> None:
    cache, _ = added(empty(), 3, 0)
    assert cache.reordered(torch.arange(R)) is cache
    assert empty().reordered(torch.tensor([1, 1])).rows == 2


# The block


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_block_that_goes_on_from_a_cache_equals_one_that_sees_everything(
    norm: str, bias: bool, dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    block = Block(Shape(width=H * K, heads=H, hidden=11, norm=norm, bias=bias), name="test.0").to(dtype).eval()
    oracles.shake(block, seed=1)
    x = normal(R, 7, H * K, seed=2, dtype=dtype)
    whole, _ = block(x, mask=look_ahead_mask(7))
    cache = Cache.empty(x, layers=1, rows=R, heads=H, width=K)
    found = []
    with torch.inference_mode():
        for part in (x[:, :4], x[:, 4:5], x[:, 5:]):
            cache = cache.longer(part.shape[1])
            mask = look_ahead_mask(part.shape[1], cache.length)
            found.append(block.step(part, extend=partial(cache.extend, 0), mask=mask))
    assert_near(torch.cat(found, dim=1), whole)


def test_a_block_without_biases_has_none_to_learn_and_equals_one_with_zeros() -> None:
    shape = {"width": H * K, "heads": H, "hidden": 11}
    torch.manual_seed(0)
    without, with_zeros = (
        Block(Shape(**shape, bias=False), name="a", cross=True),
        Block(Shape(**shape), name="b", cross=True),
    )
    assert not [name for name, _ in without.named_parameters() if name.endswith("bias")]
    assert not [name for name in without.state_dict() if name.endswith("bias")]
    missing, unexpected = with_zeros.load_state_dict(without.state_dict(), strict=False)
    assert len(missing) == 9  # two for each attention, two of the network, three normalisations
    assert not unexpected
    x, memory = normal(R, 5, H * K, seed=0, dtype=torch.float32), normal(R, 6, H * K, seed=1, dtype=torch.float32)
    one, other = (block(x, memory=block.cross_attention.remember(memory))[0] for block in (without, with_zeros))
    assert_near(one, other)
    one.sum().backward()
    assert all(parameter.grad is not None for parameter in without.parameters())


def test_learned_positions_can_be_asked_for_one_by_one() -> None:
    positions = Learned(9, 5)
    places = torch.tensor([[2, 3], [0, 8]])
    assert torch.equal(positions.at(places), positions.weight[places])
    assert torch.equal(positions.at(torch.arange(3, 7)), positions(3, 4))
