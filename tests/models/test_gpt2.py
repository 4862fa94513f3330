"""GPT-2: what it may know, what it learns, how it starts."""

from math import log, sqrt
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from regard.attention import capture
from regard.errors import ConfigError, LimitError
from regard.models.gpt2 import GPT2, PRESETS, GPT2Config
from regard.weights import put_weights, weights_of
from tests.draws import DTYPES, assert_near, words
from tests.models.gpt2s import CHOICES, LIMIT, PROMPTS, SIZES, WORDS, gpt2

B, T = 4, 7
TOKENS = words(B, T, below=WORDS, seed=1)

every_choice = pytest.mark.parametrize("name", CHOICES)


def loss(model: Any, tokens: Tensor) -> Tensor:
    logits = model.output(model(tokens[:, :-1]))
    return nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


# What it may and may not know


@every_choice
@settings(max_examples=20, deadline=None)
@given(text=st.lists(st.integers(0, WORDS - 1), min_size=2, max_size=9), data=st.data())
def test_a_later_word_never_changes_an_earlier_score(name: str, text: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(text) - 1), label="place")
    other = data.draw(st.integers(0, WORDS - 1).filter(lambda word: word != text[place]), label="other word")
    model = gpt2(**CHOICES[name])
    changed = [*text[:place], other, *text[place + 1 :]]
    with torch.inference_mode():
        before, after = model.output(model(torch.tensor([text, changed])))
    assert_near(after[:place], before[:place], 1e-6)
    assert (after[place:] - before[place:]).abs().amax(-1).min() > 1e-6


@every_choice
@pytest.mark.parametrize("dtype", DTYPES)
def test_padding_behind_a_text_changes_nothing_before_it(name: str, dtype: torch.dtype) -> None:
    model = gpt2(dtype=dtype, **CHOICES[name])
    together = model(TOKENS)
    for b, length in enumerate((7, 2, 6, 1)):
        assert_near(together[b, :length], model(TOKENS[b : b + 1, :length])[0])


def test_every_word_and_its_place_matter() -> None:
    model = gpt2(dtype=torch.float64)
    plain = model(TOKENS[:1])[0, -1]
    for place in range(T):
        changed = TOKENS[:1].clone()
        changed[0, place] = (changed[0, place] + 1) % WORDS
        assert (model(changed)[0, -1] - plain).abs().max() > 1e-6
    same = torch.full((1, 5), 3)
    assert (model(same)[0].diff(dim=0).abs().amax(-1) > 1e-6).all()


@every_choice
def test_its_attentions_are_captured_and_look_back_only(name: str) -> None:
    model = gpt2(**CHOICES[name])
    with torch.inference_mode(), capture(model) as recording:
        model(TOKENS)
    assert recording.names == [f"decoder.{layer}.self" for layer in range(model.config.layers)]
    for one in recording.names:
        weights = recording.last(one)
        assert weights.shape == (B, model.config.heads, T, T)
        assert not weights.triu(1).any()
        assert_near(weights.sum(-1), torch.ones(B, model.config.heads, T))


def test_a_text_longer_than_it_can_look_back_is_refused() -> None:
    model = gpt2()
    assert model(words(1, LIMIT, below=WORDS, seed=0)).shape == (1, LIMIT, 12)
    with pytest.raises(LimitError, match=r"longer than the model can look back.\n  found: 65 tokens\n.*at most 64"):
        model(words(1, LIMIT + 1, below=WORDS, seed=0))


# Learning


@pytest.mark.parametrize("preset", ["char", "tiny"])
def test_the_first_loss_is_that_of_guessing(preset: str) -> None:
    torch.manual_seed(0)
    model = GPT2(GPT2Config.parse(PRESETS[preset]), vocabulary=300)
    with torch.no_grad():
        first = loss(model, words(6, 40, below=300, seed=0)).item()
    assert first == pytest.approx(log(300), rel=0.02)


@every_choice
def test_one_batch_is_learned_by_heart(name: str) -> None:
    torch.manual_seed(0)
    model = GPT2(GPT2Config.parse({**SIZES, "width": 36, "hidden": 72, **CHOICES[name]}), vocabulary=WORDS)
    tokens = words(B, 9, below=WORDS, seed=3)
    tokens[:, 0] = torch.arange(B)  # by which they are told apart
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(150):
        optimizer.zero_grad()
        value = loss(model, tokens)
        value.backward()
        if value.item() < 0.03:
            break
        optimizer.step()
    assert loss(model, tokens).item() < 0.05


@every_choice
def test_every_parameter_gets_a_gradient(name: str) -> None:
    model = gpt2(limit=T, **CHOICES[name]).train()
    loss(model, words(B, T + 1, below=WORDS, seed=2)).backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name
        assert parameter.grad.abs().max() > 0, parameter_name


def test_weights_start_as_in_the_paper_and_what_is_added_starts_smaller() -> None:
    torch.manual_seed(0)
    model = GPT2(GPT2Config(width=128, heads=4, hidden=256, layers=8, limit=32), vocabulary=500)
    small = 0.02 / sqrt(2 * 8)
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            assert torch.equal(parameter, torch.full_like(parameter, float("norm.weight" in name))), name
        else:
            adds = name.endswith(("self_attention.output.weight", "contract.weight"))
            assert parameter.std().item() == pytest.approx(small if adds else 0.02, rel=0.03), name


# Where dropout falls


DROPPED = {
    "the sum of words and positions": ("embedding_dropout", "decoder.0"),
    "what attention adds": ("dropout", "decoder.1.self_residual.dropout"),
    "what the feed-forward network adds": ("dropout", "decoder.1.feed_residual.dropout"),
}


def zeros(model: nn.Module, name: str, *, given: bool) -> float:
    """The share of exact zeros among what a module is given, or gives."""
    seen: list[Tensor] = []
    module = model.get_submodule(name)
    module.register_forward_hook(lambda _, arguments, result: seen.append(arguments[0] if given else result))
    torch.manual_seed(0)
    model(words(60, 6, below=WORDS, seed=2))
    return torch.cat([x.detach().flatten() for x in seen]).eq(0).double().mean().item()


@pytest.mark.parametrize("what", DROPPED)
def test_dropout_falls_on(what: str) -> None:
    setting, place = DROPPED[what]
    given = setting == "embedding_dropout"
    assert zeros(gpt2(**{setting: 0.4}).train(), place, given=given) == pytest.approx(0.4, abs=0.03)
    others = {key: 0.4 for key in ("dropout", "embedding_dropout", "attention_dropout") if key != setting}
    assert zeros(gpt2(**others).train(), place, given=given) == 0


def test_dropout_falls_on_where_it_looks() -> None:
    model = gpt2(attention_dropout=0.4).train()
    with capture(model, keep=("weights", "values")) as recording:
        model(TOKENS)
    first = recording.last("decoder.0.self")
    plain = gpt2().train()
    with capture(plain) as undropped:
        plain(TOKENS)
    assert_near(first, undropped.last("decoder.0.self"))  # what is seen is what was meant
    assert (model(TOKENS) - plain(TOKENS)).abs().amax(-1).min() > 1e-4


def test_the_states_that_speak_are_whole() -> None:
    model = gpt2(dropout=0.4, embedding_dropout=0.4, attention_dropout=0.4).train()
    assert zeros(model, "norm", given=False) == 0


@pytest.mark.parametrize("which", ["dropout", "embedding_dropout", "attention_dropout"])
def test_dropout_acts_in_training_only_and_follows_from_the_seed(which: str) -> None:
    model = gpt2(**{which: 0.3})
    assert torch.equal(model(TOKENS), gpt2()(TOKENS))
    model.train()
    torch.manual_seed(0)
    first = model(TOKENS)
    assert not torch.equal(model(TOKENS), first)
    torch.manual_seed(0)
    assert torch.equal(model(TOKENS), first)


# Sizes and settings


def test_presets_have_the_sizes_of_the_paper_and_of_nanogpt() -> None:
    counts = {"small": (50257, 124_439_808), "medium": (50257, 354_823_168), "char": (65, 804_096)}
    for preset, (vocabulary, count) in counts.items():
        with torch.device("meta"):  # sizes only, no memory
            model = GPT2(GPT2Config.parse(PRESETS[preset]), vocabulary=vocabulary)
        assert sum(parameter.numel() for parameter in model.parameters()) == count, preset
    char = GPT2Config.parse(PRESETS["char"])
    assert (char.layers, char.heads, char.width, char.hidden, char.limit) == (4, 4, 128, 512, 64)
    assert (char.dropout, char.embedding_dropout, char.attention_dropout, char.bias) == (0, 0, 0, False)


def test_the_output_is_the_matrix_of_the_embedding_and_stays_it() -> None:
    model = gpt2().to(torch.float64)
    assert model.output.weight is model.words.weight
    put_weights(model, weights_of(gpt2(seed=5, dtype=torch.float64)), where="a test")
    assert model.output.weight is model.words.weight
    assert "output.weight" not in weights_of(model)


def test_without_biases_there_are_none_and_nothing_else_is_missing() -> None:
    names, fewer = set(weights_of(gpt2())), set(weights_of(gpt2(bias=False)))
    assert {name for name in names if not name.endswith("bias")} == fewer
    assert not any(name.endswith("bias") for name in gpt2(bias=False).state_dict())
    with_zeros = gpt2()
    with torch.no_grad():
        for name, parameter in with_zeros.named_parameters():
            parameter.copy_(
                torch.zeros_like(parameter) if name.endswith("bias") else weights_of(gpt2(bias=False))[name]
            )
    assert_near(gpt2(bias=False)(TOKENS), with_zeros(TOKENS))


def test_a_width_that_heads_do_not_divide_is_refused_naming_both() -> None:
    with pytest.raises(ConfigError, match=r"width 20 is not divisible by heads 8"):
        GPT2Config.parse({"width": 20, "heads": 8}, where="model")


def test_every_prompt_of_these_tests_fits() -> None:
    assert max(map(len, PROMPTS)) + 50 < LIMIT
