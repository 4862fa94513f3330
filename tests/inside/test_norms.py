"""Weights by what they bring, and rolled out, beside the models' own numbers."""

import numpy as np
import pytest
import torch

from regard.attention import MultiHead, capture
from regard.inside import norms, trace
from regard.inside.reading import read
from regard.inside.scene import script
from regard.insight import rollout, tags
from tests.inside.models import TEXTS, loaded

STACKS = [name for name in TEXTS if name.startswith(("transformer", "gpt2", "bert", "classifier"))]


@pytest.mark.parametrize("name", TEXTS)
def test_a_weight_counts_by_the_length_of_what_it_adds(name: str) -> None:
    model, texts = loaded(name), TEXTS[name]
    found, plain = norms(model, *texts), trace(model, *texts)
    given = script(model, *texts)
    with capture(model.model, keep=("values",)) as recording:
        read(model, given)
    parts = {part.name: part for part in model.model.modules() if isinstance(part, MultiHead)}
    for attention in found.names:
        values = recording.last(attention, "values")[0].double()
        if attention in parts:
            output = parts[attention].output.weight.detach().double()
            values = torch.stack([v @ w.T for v, w in zip(values, output.chunk(len(values), dim=1), strict=True)])
        brought = plain.weights[attention][..., None] * values.numpy()[:, None]
        lengths = np.linalg.norm(brought, axis=-1)
        totals = lengths.sum(-1, keepdims=True)
        wanted = np.divide(lengths, totals, out=np.zeros_like(lengths), where=totals > 0)
        np.testing.assert_allclose(found.weights[attention], wanted, atol=1e-5)
        np.testing.assert_allclose(found.meta["brings"][attention], totals.mean(axis=(1, 2)), atol=1e-4)


def test_what_is_written_has_norms_too() -> None:
    found = norms(loaded("gpt2"), "The river", generate=3)
    for weights in found.weights.values():
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("name", STACKS)
def test_a_rollout_is_the_product_of_the_layers(name: str) -> None:
    plain = trace(loaded(name), *TEXTS[name])
    found = rollout(plain)
    so_far: dict[str, np.ndarray] = {}
    for attention, weights in plain.weights.items():
        asks, reads = plain.axes[attention]
        mean = weights.astype(float).mean(0)
        if asks == reads:
            mean = 0.5 * mean + 0.5 * np.eye(len(mean))
            so_far[asks] = mean @ so_far.get(asks, np.eye(len(mean)))
            mean = so_far[asks]
        else:
            mean = mean @ so_far[reads]
        np.testing.assert_allclose(found.weights[attention][0], mean, atol=1e-5)
        np.testing.assert_allclose(found.weights[attention].sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("name", TEXTS)
def test_every_head_of_every_model_has_tags(name: str) -> None:
    plain = trace(loaded(name), *TEXTS[name])
    for attention, found in tags(plain).items():
        heads = len(plain.weights[attention])
        for tag, numbers in vars(found).items():
            assert numbers.shape == (heads,)
            assert tag == "sink_at" or ((numbers >= 0) & (numbers <= 1 + 1e-6)).all()
