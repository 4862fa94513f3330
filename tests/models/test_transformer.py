"""The Transformer against torch.nn.Transformer, and what must hold whatever its weights are."""

from math import sqrt

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from regard import catalogue
from regard.errors import ConfigError
from regard.layers import POSITIONS, sinusoids
from regard.models.transformer import PRESETS, Transformer, TransformerConfig
from tests import oracles
from tests.draws import DTYPES, assert_near, words
from tests.models.small import SOURCE_WORDS, TARGET_WORDS, sentences, small

B, T, S = 4, 5, 7
SOURCE, LENGTHS = sentences(7, 2, 6, 4)
TARGET = words(B, T, below=TARGET_WORDS, seed=1)


# The same as torch's


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_whole_model_equals_torchs_transformer(norm: str, activation: str, dtype: torch.dtype) -> None:
    ours = small(norm=norm, activation=activation, dtype=dtype)
    theirs, width = oracles.transformer(ours, dtype), ours.config.width
    waves = sinusoids(S, width).to(dtype)
    read = ours.source_embedding.weight[SOURCE] * sqrt(width) + waves
    written = ours.target_embedding.weight[TARGET] * sqrt(width) + waves[:T]
    padding = oracles.padding(LENGTHS, S)
    memory = theirs.encoder(read, src_key_padding_mask=padding)
    expected = theirs(
        read,
        written,
        tgt_mask=oracles.future(T),
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
    real = ~padding
    assert_near(ours.encode(SOURCE, LENGTHS)[real], memory[real])
    assert_near(ours(SOURCE, LENGTHS, TARGET), expected)


def test_only_pre_norm_ends_its_stacks_with_a_norm() -> None:
    assert isinstance(small(norm="pre").encoder_norm, nn.LayerNorm)
    assert isinstance(small(norm="pre").decoder_norm, nn.LayerNorm)
    assert not list(small(norm="post").encoder_norm.parameters())
    assert not list(small(norm="post").decoder_norm.parameters())


# What a model may and may not know

CHOICES = [{"norm": "pre"}, {"norm": "post", "positions": "learned"}, {"norm": "pre", "positions": "none"}]
MODELS = [small(**choice) for choice in CHOICES]


@settings(max_examples=40, deadline=None)
@given(
    model=st.sampled_from(MODELS),
    target=st.lists(st.integers(0, TARGET_WORDS - 1), min_size=2, max_size=9),
    data=st.data(),
)
def test_a_later_word_never_changes_an_earlier_state(
    model: Transformer, target: list[int], data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, len(target) - 1), label="place")
    other = data.draw(st.integers(0, TARGET_WORDS - 1).filter(lambda word: word != target[place]), label="other word")
    changed = [*target[:place], other, *target[place + 1 :]]
    before, after = (model(SOURCE[:1], LENGTHS[:1], torch.tensor([tokens])).detach() for tokens in (target, changed))
    assert_near(after[:, :place], before[:, :place], 1e-6)
    assert (after[:, place] - before[:, place]).abs().max() > 1e-4


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sentence_alone_equals_the_same_in_a_padded_batch(dtype: torch.dtype, norm: str) -> None:
    model = small(norm=norm, dtype=dtype)
    batch, encoded = model(SOURCE, LENGTHS, TARGET), model.encode(SOURCE, LENGTHS)
    for b, length in enumerate(LENGTHS.tolist()):
        alone, size = SOURCE[b : b + 1, :length], LENGTHS[b : b + 1]
        assert_near(encoded[b : b + 1, :length], model.encode(alone, size))
        assert_near(batch[b : b + 1], model(alone, size, TARGET[b : b + 1]))


@settings(max_examples=25, deadline=None)
@given(model=st.sampled_from(MODELS), length=st.integers(1, 6), extra=st.integers(1, 4), seed=st.integers(0, 1000))
def test_what_stands_in_the_padding_never_matters(model: Transformer, length: int, extra: int, seed: int) -> None:
    real, filling = words(1, length, below=TARGET_WORDS, seed=seed), words(1, extra, below=TARGET_WORDS, seed=seed + 1)
    lengths = torch.tensor([length])
    padded = model(torch.cat((real, filling), dim=1), lengths, TARGET[:1]).detach()
    assert_near(padded, model(real, lengths, TARGET[:1]).detach())


def test_every_word_of_the_source_matters() -> None:
    model = small()
    plain = model(SOURCE[:1], LENGTHS[:1], TARGET[:1])
    for place in range(S):
        changed = SOURCE[:1].clone()
        changed[0, place] = (changed[0, place] + 1) % TARGET_WORDS
        assert (model(changed, LENGTHS[:1], TARGET[:1]) - plain).abs().amax(-1).min() > 1e-4


def test_without_positions_the_encoder_only_follows_a_permutation() -> None:
    order = torch.tensor([3, 0, 6, 5, 1, 4, 2])
    lengths = torch.full((B,), S)
    blind = small(positions="none", dtype=torch.float64)
    assert_near(blind.encode(SOURCE[:, order], lengths), blind.encode(SOURCE, lengths)[:, order])
    seeing = small(positions="sinusoidal", dtype=torch.float64)
    difference = seeing.encode(SOURCE[:, order], lengths) - seeing.encode(SOURCE, lengths)[:, order]
    assert difference.abs().amax(-1).max() > 0.1


@pytest.mark.parametrize("positions", POSITIONS)
def test_dropout_acts_in_training_only_whatever_the_positions(positions: str) -> None:
    model = small(positions=positions, dropout=0.3)
    assert torch.equal(model(SOURCE, LENGTHS, TARGET), model(SOURCE, LENGTHS, TARGET))
    model.train()
    torch.manual_seed(0)
    first = model(SOURCE, LENGTHS, TARGET)
    assert not torch.equal(model(SOURCE, LENGTHS, TARGET), first)
    torch.manual_seed(0)
    assert torch.equal(model(SOURCE, LENGTHS, TARGET), first)


def test_dropout_falls_on_the_sum_of_embeddings_and_positions() -> None:
    model = small(dropout=0.4).train()
    for stack in (model.encoder, model.decoder):
        stack[0].register_forward_pre_hook(lambda _, given: seen.append(given[0].detach()))
    seen: list[Tensor] = []
    torch.manual_seed(0)
    model(SOURCE, LENGTHS, TARGET)
    model.eval()(SOURCE, LENGTHS, TARGET)
    for dropped, whole in ((seen[0], seen[2]), (seen[1], seen[3])):
        kept = dropped != 0
        assert_near(dropped[kept], whole[kept] / 0.6)
        assert 0.3 < 1 - kept.float().mean() < 0.5


# Settings


def addresses(model: Transformer) -> tuple[int, int, int]:
    matrices = (model.source_embedding.weight, model.target_embedding.weight, model.output.weight)
    return tuple(matrix.data_ptr() for matrix in matrices)


@pytest.mark.parametrize(("tie", "different"), [("all", 1), ("target", 2), ("none", 3)])
def test_tied_matrices_share_their_storage_and_others_do_not(tie: str, different: int) -> None:
    model = small(tie=tie)
    source, target, output = addresses(model)
    assert len({source, target, output}) == different
    assert (target == output) == (tie != "none")
    assert (source == target) == (tie == "all")
    assert model.source_embedding.weight.shape[0] == (TARGET_WORDS if tie == "all" else SOURCE_WORDS)
    assert model.output.weight.shape == (TARGET_WORDS, model.config.width)


def test_tied_matrices_stay_tied_when_moved_and_loaded() -> None:
    model = small(tie="all").to(torch.float64)
    assert len(set(addresses(model))) == 1
    model.load_state_dict(small(tie="all", seed=9).state_dict())
    assert len(set(addresses(model))) == 1


def test_one_matrix_for_two_vocabularies_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"(?s)model\.tie.*13 source tokens, 11 target tokens.*model\.tie=target"):
        Transformer(TransformerConfig(), source_vocabulary=13, target_vocabulary=11)


def test_a_width_that_heads_do_not_divide_is_refused_naming_both() -> None:
    with pytest.raises(ConfigError, match=r"width 20 is not divisible by heads 8.*that fit: 1, 2, 4"):
        TransformerConfig.parse({"width": 20, "heads": 8}, where="model")


def test_every_preset_makes_its_config_and_is_in_the_catalogue() -> None:
    assert tuple(PRESETS) == catalogue.MODELS["transformer"].preset_names
    for values in PRESETS.values():
        config = TransformerConfig.parse(values)
        assert config.width % config.heads == 0
        assert config.model_dump().items() >= values.items()


def test_the_base_preset_has_the_sizes_of_the_paper() -> None:
    base = TransformerConfig.parse(PRESETS["base"])
    assert (base.encoder_layers, base.decoder_layers) == (6, 6)
    assert (base.width, base.hidden, base.heads, base.dropout) == (512, 2048, 8, 0.1)
    assert (base.norm, base.activation, base.positions, base.tie) == ("post", "relu", "sinusoidal", "all")
    big = TransformerConfig.parse(PRESETS["big"])
    assert (big.width, big.hidden, big.heads, big.dropout) == (1024, 4096, 16, 0.3)
    assert (big.encoder_layers, big.decoder_layers, big.norm) == (6, 6, "post")


def test_the_base_model_has_44_million_parameters_in_its_blocks() -> None:
    width, hidden = 512, 2048
    attention, norm = 4 * (width * width + width), 2 * width
    feed = width * hidden + hidden + hidden * width + width
    expected = 6 * (attention + feed + 2 * norm) + 6 * (2 * attention + feed + 3 * norm)
    with torch.device("meta"):  # sizes only, no memory
        model = Transformer(
            TransformerConfig.parse(PRESETS["base"]), source_vocabulary=37_000, target_vocabulary=37_000
        )
    blocks = sum(parameter.numel() for stack in (model.encoder, model.decoder) for parameter in stack.parameters())
    assert blocks == expected == 44_138_496
    assert (
        sum(parameter.numel() for parameter in model.parameters()) == expected + 37_000 * width
    )  # the paper's 65 million


# Learning


def loss(model: Transformer, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
    logits = model.output(model(source, lengths, target[:, :-1]))
    return nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("tie", ["all", "target", "none"])
def test_the_first_loss_is_that_of_guessing(tie: str, norm: str) -> None:
    vocabulary = 1000
    torch.manual_seed(0)
    config = TransformerConfig.parse({**PRESETS["tiny"], "tie": tie, "norm": norm})
    model = Transformer(config, source_vocabulary=vocabulary, target_vocabulary=vocabulary)
    source, target = words(6, 9, below=vocabulary, seed=0), words(6, 11, below=vocabulary, seed=1)
    first = loss(model, source, torch.full((6,), 9), target).item()
    assert first == pytest.approx(torch.tensor(vocabulary).log().item(), rel=0.15)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_one_batch_is_learned_by_heart(norm: str) -> None:
    torch.manual_seed(0)
    config = TransformerConfig(
        width=32, heads=4, hidden=48, encoder_layers=1, decoder_layers=2, dropout=0.0, norm=norm, limit=12
    )
    model = Transformer(config, source_vocabulary=TARGET_WORDS, target_vocabulary=TARGET_WORDS)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    target = words(B, 8, below=TARGET_WORDS, seed=3)
    target[:, 0] = 1  # all start alike: what follows is known from the source alone
    for _ in range(150):
        optimizer.zero_grad()
        value = loss(model, SOURCE, LENGTHS, target)
        value.backward()
        optimizer.step()
    assert loss(model, SOURCE, LENGTHS, target).item() < 0.05


def test_every_parameter_gets_a_gradient() -> None:
    model = small(positions="learned", tie="none").train()
    loss(model, SOURCE, LENGTHS, TARGET).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name
