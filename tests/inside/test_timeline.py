"""What was chosen at each step, what else could have been, and what another word would have led to."""

from math import exp, log
from typing import Any

import numpy as np
import pytest
import torch

from regard.data.batches import Sentences
from regard.decoding import Distribution
from regard.errors import ConfigError, DataError, LimitError
from regard.inside import timeline
from regard.tasks.searching import Search
from tests.inside.models import ENGLISH, loaded

TRANSLATORS = ["transformer, pre-norm", "bahdanau", "luong, local-p, general", "rnn"]
DRAWN: list[dict[str, Any]] = [
    {"temperature": 0.0},
    {"temperature": 0.8, "seed": 3},
    {"temperature": 1.3, "top_k": 9, "seed": 4},
    {"temperature": 1.0, "top_p": 0.7, "min_p": 0.02, "repetition_penalty": 1.3, "seed": 5},
]


def log_probs(name: str, ids: tuple[int, ...]) -> torch.Tensor:
    """Of the token after some, by the model's own steps."""
    model = loaded(name)
    if hasattr(model, "generate"):
        text = [*model.tokenizer.encode("The river"), *ids]
        state = model.model.start(None, torch.tensor([text[:-1]]))
        return torch.as_tensor(model.model.step(torch.tensor([text[-1]]), state)[0][0])
    source, start = model.tokenizers.source, model.tokenizers.target.start
    tokens = torch.tensor([[*source.encode(ENGLISH), source.end]])
    written = [start, *ids]
    with torch.inference_mode():
        state = model.model.start(
            Sentences(tokens, torch.tensor([tokens.shape[1]])), torch.tensor([written[:-1]]).long()
        )
        return torch.as_tensor(model.model.step(torch.tensor([written[-1]]), state)[0][0])


def check(name: str, found: Any) -> None:
    ids = tuple(moment.chosen.id for moment in found.moments)
    total = 0.0
    for step, moment in enumerate(found.moments):
        shares = log_probs(name, ids[:step]).double().exp().numpy()
        order = np.argsort(-shares, kind="stable")
        assert moment.chosen.probability == pytest.approx(shares[ids[step]], abs=1e-5)
        assert moment.rank == 1 + int((shares > shares[ids[step]]).sum())
        assert moment.entropy == pytest.approx(-(shares * np.log(shares)).sum(), abs=1e-4)
        assert [option.probability for option in moment.options] == pytest.approx(shares[order[:4]].tolist(), abs=1e-5)
        total += log(moment.chosen.probability)
    assert found.log_prob == pytest.approx(total, abs=1e-3)
    assert found.ids == (ids[:-1] if found.ending == "end" else ids)


@pytest.mark.parametrize("name", TRANSLATORS)
@pytest.mark.parametrize("beam", [None, 1, 3])
def test_a_translation_is_told_step_by_step(name: str, beam: int | None) -> None:
    model = loaded(name)
    found = timeline(model, ENGLISH, beam=beam, top=4)
    how = {} if beam is None else {"beam": beam}
    (wanted,) = model.translations([ENGLISH], model.search(**how))[0]
    assert (found.text, found.ending == "end") == (wanted.text, wanted.finished)
    assert found.log_prob == pytest.approx(wanted.log_prob, abs=1e-3)
    check(name, found)


@pytest.mark.parametrize("how", DRAWN, ids=str)
def test_a_continuation_is_the_one_that_generate_gives(how: dict[str, Any]) -> None:
    model = loaded("gpt2")
    found = timeline(model, "The river", top=4, max_new_tokens=12, **how)
    wanted = model.generate("The river", max_new_tokens=12, **how)[0]
    assert (found.text, found.ids, found.ending) == (wanted.text, wanted.tokens, wanted.ending)
    assert found.log_prob == pytest.approx(wanted.log_prob, abs=1e-4)
    check("gpt2", found)


def test_a_translation_that_is_drawn_is_the_one_that_sampling_gives() -> None:
    model = loaded("bahdanau")
    found = timeline(model, ENGLISH, temperature=0.7, top_k=5, seed=2, top=3)
    (wanted,) = model.translations([ENGLISH], Search(sample=True, temperature=0.7, top_k=5, seed=2))[0]
    assert found.text == wanted.text
    assert {moment.candidates for moment in found.moments} == {5}


def test_what_is_drawn_from_is_told_beside_what_the_model_thinks() -> None:
    model = loaded("gpt2")
    how: dict[str, Any] = {"temperature": 0.7, "top_k": 6, "top_p": 0.9}
    found = timeline(model, "The river", top=10, max_new_tokens=5, seed=1, **how)
    made: tuple[int, ...] = ()
    for moment in found.moments:
        drawn = Distribution(**how)(log_probs("gpt2", made)[None]).softmax(-1)[0]
        assert moment.candidates == int((drawn > 0).sum()) <= 6
        assert [option.drawn for option in moment.options] == pytest.approx(
            [float(drawn[option.id]) for option in moment.options], abs=1e-6
        )
        made += (moment.chosen.id,)
    greedy = timeline(model, "The river", max_new_tokens=3)
    assert [(moment.candidates, moment.chosen.drawn) for moment in greedy.moments] == [(1, 1.0)] * 3


@pytest.mark.parametrize(("name", "beam"), [("gpt2", None), ("gpt2", 3), ("bahdanau", None), ("bahdanau", 1)])
def test_another_word_is_forced_and_the_rest_follows_from_it(name: str, beam: int | None) -> None:
    how = {"beam": beam}
    model, text = loaded(name), "The river" if name == "gpt2" else ENGLISH
    plain = timeline(model, text, max_new_tokens=8, **how)
    other = next(option.id for option in plain.moments[2].options if option.id != plain.moments[2].chosen.id)
    forced = [*plain.ids[:2], other]
    found = timeline(model, text, forced=forced, max_new_tokens=8, top=4, **how)
    assert list(found.ids[:3]) == forced
    assert [moment.forced for moment in found.moments] == [True] * 3 + [False] * (len(found.moments) - 3)
    assert len(found.moments) <= 8
    check(name, found)
    same = timeline(model, text, forced=plain.ids[:3], max_new_tokens=8, **how)
    assert same.ids == plain.ids


def test_a_forced_translation_goes_on_as_its_prefix_would() -> None:
    model = loaded("transformer, pre-norm")
    prefix = "狮子"
    forced = model.tokenizers.target.encode(prefix)
    assert timeline(model, ENGLISH, forced=forced).text == model.translate(ENGLISH, prefix=prefix)


@pytest.mark.parametrize(
    ("name", "how", "error", "told"),
    [
        ("gpt2", {"forced": [10**6]}, DataError, "none that the model has"),
        ("gpt2", {"forced": [5] * 100}, LimitError, "longer than the model can take"),
        ("gpt2", {"beam": 3, "temperature": 1.0}, ConfigError, "not searched for"),
        ("bahdanau", {"beam": 3, "temperature": 1.0}, ConfigError, "exclude each other"),
        ("bahdanau", {"forced": [5] * 300}, LimitError, "What is forced is longer"),
        ("bert", {}, ConfigError, "writes no text"),
        ("gpt2", {"top_p": 0.0, "temperature": 1.0}, ConfigError, "cannot be used"),
    ],
)
def test_what_cannot_be_done_is_told(name: str, how: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        timeline(loaded(name), ENGLISH if name == "bahdanau" else "The river", **how)


def test_the_end_mark_is_a_moment_but_no_token_of_the_text() -> None:
    model = loaded("bahdanau")
    end = model.tokenizers.target.end
    found = timeline(model, ENGLISH, forced=[*model.tokenizers.target.encode("狮子"), end], beam=1)
    assert (found.text, found.ending, found.moments[-1].chosen.id) == ("狮子", "end", end)
    assert exp(found.log_prob) < 1
