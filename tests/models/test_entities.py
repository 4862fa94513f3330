"""The model of entities: order means nothing, and what cannot be seen has no weight and no say."""

from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import capture
from regard.errors import ConfigError
from regard.models.entities import Entities, EntitiesConfig
from tests.draws import assert_near, normal, words

F, C, V, OUT = 3, 2, 5, 4
B, N = 3, 6
SMALL = {"width": 12, "heads": 3, "hidden": 20, "layers": 2}


@cache
def ready(*, of_each: bool = True, dtype: torch.dtype = torch.float32, **sizes: Any) -> Entities:
    torch.manual_seed(0)
    config = EntitiesConfig(**{**SMALL, **sizes})
    return Entities(config, numbers=F, categories=V, outputs=OUT, of_each=of_each).to(dtype).eval()


def scenes(
    seed: int, rows: int = B, size: int = N, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor, Tensor]:
    """Numbers, categories, and a relation in which about half may look, some rows nowhere."""
    relation = words(rows, size, size, below=2, seed=seed + 2).bool()
    relation[:, 0] = False
    return normal(rows, size, F, seed=seed, dtype=dtype), words(rows, size, C, below=V + 1, seed=seed + 1), relation


@pytest.mark.parametrize("of_each", [True, False])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), data=st.data())
def test_shuffled_entities_get_the_same_outputs_shuffled_and_the_whole_the_same(
    of_each: bool, seed: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, 8), label="size")
    order = data.draw(st.permutations(range(size)), label="order")
    numbers, categories, relation = scenes(seed, rows=1, size=size)
    lengths, model = torch.tensor([size]), ready(of_each=of_each)
    with torch.inference_mode():
        plain = model(numbers, categories, lengths, relation)
        shuffled = model(numbers[:, order], categories[:, order], lengths, relation[:, order][:, :, order])
    assert_near(shuffled, plain[:, order] if of_each else plain, 1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000))
def test_hidden_entities_have_exactly_zero_weight_in_every_head_of_every_layer(seed: int) -> None:
    numbers, categories, relation = scenes(seed)
    lengths = torch.tensor([N, 3, 1])
    with torch.inference_mode(), capture(ready()) as recording:
        ready()(numbers, categories, lengths, relation)
    may_look = relation & (torch.arange(N) < lengths[:, None])[:, None]
    assert recording.names == ["encoder.0.self", "encoder.1.self"]
    for name in recording.names:
        weights = recording.last(name)
        assert (weights[~may_look[:, None].expand_as(weights)] == 0).all()
        assert_near(weights.sum(-1), may_look.any(-1)[:, None].expand(-1, 3, -1).float(), 1e-6)


def test_what_nobody_can_see_changes_nothing_but_itself() -> None:
    numbers, categories, _ = scenes(1, rows=1)
    relation = torch.ones(1, N, N, dtype=torch.bool)
    relation[:, :, 2] = False
    changed = numbers.clone()
    changed[:, 2] += 5
    lengths = torch.tensor([N])
    with torch.inference_mode():
        before, after = (ready()(given, categories, lengths, relation) for given in (numbers, changed))
        seen = ready()(changed, categories, lengths, None) - ready()(numbers, categories, lengths, None)
    others = [i for i in range(N) if i != 2]
    assert torch.equal(before[:, others], after[:, others])
    assert (before[:, 2] - after[:, 2]).abs().max() > 1e-3
    assert seen[:, others].abs().amax(-1).min() > 1e-4  # it would have mattered


def test_two_layers_carry_what_a_go_between_has_seen() -> None:
    """0 sees 1, 1 sees 2: one layer does not bring 2 to 0, two do."""
    relation = torch.eye(3, dtype=torch.bool)[None].clone()
    relation[0, 0, 1] = relation[0, 1, 2] = True
    numbers, categories, _ = scenes(2, rows=1, size=3)
    changed = numbers.clone()
    changed[:, 2] += 5
    lengths = torch.tensor([3])
    for layers, reaches in ((1, False), (2, True)):
        model = ready(layers=layers)
        with torch.inference_mode():
            moved = model(changed, categories, lengths, relation) - model(numbers, categories, lengths, relation)
        assert (moved[0, 0].abs().max() > 1e-5) == reaches


@pytest.mark.parametrize("of_each", [True, False])
@pytest.mark.parametrize("pooling", ["mean", "max", "attention"])
def test_padding_never_matters(of_each: bool, pooling: str) -> None:
    numbers, categories, relation = scenes(3)
    lengths, model = torch.tensor([N, 4, 2]), ready(of_each=of_each, pooling=pooling)
    with torch.inference_mode():
        batch = model(numbers, categories, lengths, relation)
        for b, n in enumerate(lengths.tolist()):
            one = slice(b, b + 1)
            alone = model(numbers[one, :n], categories[one, :n], lengths[one], relation[one, :n, :n])
            assert_near(batch[one, :n] if of_each else batch[one], alone, 1e-6)


def test_without_a_relation_everybody_sees_everybody() -> None:
    numbers, categories, relation = scenes(4)
    lengths = torch.full((B,), N)
    with torch.inference_mode():
        assert_near(
            ready()(numbers, categories, lengths),
            ready()(numbers, categories, lengths, torch.ones_like(relation)),
            1e-6,
        )


def test_a_category_of_nothing_adds_nothing() -> None:
    none = torch.zeros(B, N, C, dtype=torch.long)
    assert torch.equal(ready().features.categories(none).sum(-2), torch.zeros(B, N, 12))


def test_the_pooling_is_captured_and_counts_only_entities() -> None:
    model = ready(of_each=False)
    numbers, categories, relation = scenes(6)
    with torch.inference_mode(), capture(model) as recording:
        said = model(numbers, categories, torch.tensor([N, 4, 2]), relation)
    weights = recording.last("pooling")
    assert said.shape == (B, OUT)
    assert weights.shape == (B, 1, 1, N)
    assert (weights[1, ..., 4:] == 0).all()
    assert_near(weights.sum(-1), torch.ones(B, 1, 1), 1e-6)


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ConfigError, match="width 12 is not divisible by heads 5"):
        EntitiesConfig.parse({**SMALL, "heads": 5}, where="model")
