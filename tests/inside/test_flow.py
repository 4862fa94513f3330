"""One step as a chart: its nodes hold what the model computes, and its edges what that is made of."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from regard import catalogue
from regard.data.batches import Sentences
from regard.errors import ConfigError, LimitError
from regard.inside import Flow, flow, trace
from regard.inside.charts import CHARTS
from tests.inside.models import CHINESE, ENGLISH, TEXTS, TRANSLATORS, loaded, pooling

NAMES = [*TEXTS, "rnn"]
texts = {**TEXTS, "rnn": (ENGLISH, CHINESE)}
near = {"atol": 2e-5, "rtol": 1e-5}


def values(found: Flow) -> dict[str, np.ndarray]:
    return {node.id: node.value for node in found.nodes if node.value is not None}


def tensors(found: Flow) -> dict[str, torch.Tensor]:
    return {id: torch.from_numpy(np.ascontiguousarray(value)) for id, value in values(found).items()}


def given(found: Flow, id: str) -> list[str]:
    return [edge.source for edge in found.edges if edge.target == id]


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_made_of_what_stands_before_it(name: str) -> None:
    found = flow(loaded(name), *texts[name], step=1)
    places = {node.id: place for place, node in enumerate(found.nodes)}
    assert all(places[edge.source] < places[edge.target] for edge in found.edges)
    last = max(places, key=places.__getitem__)
    reached, waiting = set(), [last]
    while waiting:
        reached.add(one := waiting.pop())
        waiting += [before for before in given(found, one) if before not in reached]
    assert "reads" in reached or name in ("classifier", "pooling")
    assert all(node.value is None or len(node.axes) == node.value.ndim for node in found.nodes)


@pytest.mark.parametrize("name", [*TRANSLATORS, "rnn"])
@pytest.mark.parametrize("step", [0, 2])
def test_a_translator_gives_what_its_next_step_gives(name: str, step: int) -> None:
    model = loaded(name)
    source, target = model.tokenizers.source, model.tokenizers.target
    ids = torch.tensor([[*source.encode(ENGLISH), source.end]])
    written = [target.start, *target.encode(CHINESE)]
    with torch.inference_mode():
        state = model.model.start(Sentences(ids, torch.tensor([ids.shape[1]])), torch.tensor([written[:step]]).long())
        log_probs, _ = model.model.step(torch.tensor([written[step]]), state)
    found = flow(model, ENGLISH, CHINESE, step=step)
    best = log_probs[0].exp().topk(len(found.top))
    assert [one.id for one in found.top] == best.indices.tolist()
    np.testing.assert_allclose([one.probability for one in found.top], best.values.numpy(), **near)
    np.testing.assert_allclose(tensors(found)["output"].log_softmax(-1), log_probs[0], atol=1e-4)
    rows = trace(model, ENGLISH, CHINESE).rows if name != "rnn" else None
    if rows is not None:
        assert (found.reads, found.writes) == (rows["target"].labels[step], rows["prediction"].labels[step])


@pytest.mark.parametrize("step", [0, 1, 2])
def test_the_letters_of_bahdanau_are_those_of_the_paper(step: int) -> None:
    network = loaded("bahdanau").model
    found = flow(loaded("bahdanau"), ENGLISH, CHINESE, step=step)
    held = tensors(found)
    c, s, y = (held[id][None] for id in ("c", "s_before", "y"))
    with torch.inference_mode():
        scores = network.align.score(s, network.align.score.prepare(held["annotations"]))
        state = network.update(c, s, network.update.project(y[None])[0])
        spoken = network.readout(c[None], state[None], y[None])
    torch.testing.assert_close(held["weights"], scores[0].softmax(-1), **near)
    torch.testing.assert_close(held["c"], held["weights"] @ held["annotations"], **near)
    torch.testing.assert_close(held["s"], state[0], **near)
    torch.testing.assert_close(held["hidden"], spoken[0, 0], **near)
    assert set(given(found, "s")) == {"c", "s_before", "y"}
    assert set(given(found, "hidden")) == {"c", "s", "y"}
    if step:
        before = tensors(flow(loaded("bahdanau"), ENGLISH, CHINESE, step=step - 1))
        torch.testing.assert_close(held["s_before"], before["s"])


@pytest.mark.parametrize("name", [name for name in TRANSLATORS if name.startswith("luong")])
@pytest.mark.parametrize("step", [0, 2])
def test_the_attentional_state_of_luong_is_made_of_context_and_state(name: str, step: int) -> None:
    network = loaded(name).model
    held = tensors(flow(loaded(name), ENGLISH, CHINESE, step=step))
    torch.testing.assert_close(held["c"], held["weights"] @ held["annotations"], **near)
    with torch.inference_mode():
        spoken = torch.tanh(network.combine(torch.cat((held["c"], held["h"]))))
        torch.testing.assert_close(held["hidden"], spoken, **near)
        if network.config.input_feeding and network.config.layers == 1 and network.config.cell == "gru":
            x = torch.cat((held["y"], held["fed"]))[None, None]
            torch.testing.assert_close(network.decoder(x, [(held["before"][None],)])[0][0, 0], held["h"], **near)
    assert ("p" in held) == (network.config.window == "local-p")


def test_a_network_without_attention_shows_the_one_vector_that_it_has() -> None:
    network = loaded("rnn").model
    for step in (0, 2):
        found = flow(loaded("rnn"), ENGLISH, CHINESE, step=step)
        held = tensors(found)
        with torch.inference_mode():
            x = torch.cat((held["y"], held["c"]))[None, None]
            torch.testing.assert_close(network.decoder(x, [(held["before"][None],)])[0][0, 0], held["s"], **near)
            torch.testing.assert_close(
                held["hidden"], torch.tanh(network.readout(torch.cat((held["s"], x[0, 0])))), **near
            )
        assert not [node for node in found.nodes if node.kind == "attention"]


BLOCKS = [name for name in TEXTS if name.startswith("transformer")] + ["gpt2", "bert", "classifier"]


@pytest.mark.parametrize("name", BLOCKS)
def test_sums_are_sums_and_norms_are_norms(name: str) -> None:
    model = loaded(name)
    found = flow(model, *TEXTS[name], step=1)
    held = values(found)
    sums = [node for node in found.nodes if node.kind == "sum" and node.id in held]
    assert len(sums) > 3
    for node in sums:
        np.testing.assert_allclose(held[node.id], sum(held[id] for id in given(found, node.id)), **near)
    norms = [node for node in found.nodes if ".norm" in node.id]
    for node in norms:
        (before,) = given(found, node.id)
        block, part = node.group, node.id.split(".")[2]
        path = block if hasattr(model.model, block.split(".")[0]) else f"bert.{block}"
        norm: Any = model.model.get_submodule(f"{path}.{part}_residual.norm")
        x = torch.from_numpy(held[before]).to(norm.weight.dtype)
        wanted = F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps).detach()
        np.testing.assert_allclose(held[node.id], wanted.numpy(), **near)


@pytest.mark.parametrize("name", BLOCKS)
def test_each_attention_of_a_block_is_in_the_chart(name: str) -> None:
    found = flow(loaded(name), *TEXTS[name], step=1)
    drawn = {node.attention for node in found.nodes if node.attention}
    assert drawn == set(trace(loaded(name), *TEXTS[name]).names)
    if name.startswith("transformer"):
        assert "memory" in given(found, "decoder.0.cross")


def test_a_language_model_gives_what_its_next_step_gives() -> None:
    model = loaded("gpt2")
    ids = model.tokenizer.encode("The river bank")
    for step in (0, len(ids) - 1):
        found = flow(model, "The river bank", step=step)
        state = model.model.start(None, torch.tensor([ids[:step]]).long())
        log_probs, _ = model.model.step(torch.tensor([ids[step]]), state)
        np.testing.assert_allclose(found.top[0].probability, log_probs[0].exp().max(), **near)
    assert found.writes == ""


def test_what_a_language_model_adds_is_made_step_by_step() -> None:
    model = loaded("gpt2")
    seen = trace(model, "The river", generate=4)
    for step, token in enumerate(seen.rows["prediction"].tokens):
        found = flow(model, "The river", generate=4, step=step)
        assert (found.top[0].id,) == token.ids
        assert found.reads == seen.rows["text"].labels[len(seen.rows["text"]) - 4 + step]
        assert found.writes
    assert found.writes == seen.rows["prediction"].labels[-1]
    with pytest.raises(ConfigError, match="wanted: 0 to 3"):
        flow(model, "The river", generate=4, step=4)


def test_bert_guesses_a_token_and_a_classifier_says_its_class() -> None:
    model = loaded("bert")
    found = flow(model, *TEXTS["bert"], step=2)
    with torch.inference_mode():
        hidden = torch.from_numpy(model.hidden(*TEXTS["bert"]))[2]
        wanted = model.model.output(model.model.guesses(hidden))[: len(model.tokenizer)].softmax(-1)
    assert found.top[0].probability == pytest.approx(float(wanted.max()), abs=1e-5)
    for name in ("classifier", "pooling"):
        said = loaded(name).classify([TEXTS[name]])[0]
        top = flow(loaded(name), *TEXTS[name], step=1).top
        assert {one.text: one.probability for one in top} == pytest.approx(said.probabilities, abs=1e-5)


@pytest.mark.parametrize("pool", ["last", "mean", "max"])
@pytest.mark.parametrize("norm", ["", "pre", "post"])
def test_classifiers_of_every_pooling_say_their_class(pool: str, norm: str) -> None:
    if norm:
        model = pooling("transformer", heads=2, hidden=12, norm=norm, pooling="first" if pool == "last" else pool)
    else:
        model = pooling("rnn", pooling=pool)
    said = model.classify(["the cat is in a house ."])[0]
    top = flow(model, "the cat is in a house .", step=1).top
    assert {one.text: one.probability for one in top} == pytest.approx(said.probabilities, abs=1e-5)


def test_a_step_that_is_not_there_is_told() -> None:
    with pytest.raises(ConfigError, match=r"no step 99.\n  wanted: 0 to"):
        flow(loaded("bahdanau"), ENGLISH, CHINESE, step=99)
    with pytest.raises(LimitError, match="longer than the model can take"):
        flow(loaded("gpt2"), "river " * 99)


WITHOUT = ("words", "entities")
"""Tasks whose models read no sentences."""


def test_every_architecture_that_reads_sentences_has_a_chart() -> None:
    entries = [entry for tasks in catalogue.MODELS.values() for task, entry in tasks.items() if task not in WITHOUT]
    missing = {catalogue.find(entry.model) for entry in entries} - set(CHARTS)
    assert missing == set()


def test_nothing_is_left_on_the_model() -> None:
    flow(loaded("gpt2"), "The river bank")
    assert not [part for part in loaded("gpt2").model.modules() if part._forward_hooks]
