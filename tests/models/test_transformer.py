"""The Transformer against torch.nn.Transformer, and what holds for it alone."""

from math import sqrt

import pytest
import torch
from torch import Tensor, nn

from regard.data.batches import Sentences
from regard.errors import ConfigError
from regard.layers import sinusoids
from regard.models.transformer import PRESETS, Transformer, TransformerConfig
from tests import oracles
from tests.draws import DTYPES, assert_near, words
from tests.models.small import TARGET_WORDS, sentences, small

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


def test_embeddings_are_scaled_and_words_have_a_bias_only_if_so_chosen() -> None:
    plain, scaled = small(scaled=False), small(scaled=True)
    assert_near(scaled.source_embedding(SOURCE), plain.source_embedding(SOURCE) * sqrt(plain.config.width))
    assert_near(scaled.target_embedding(TARGET), plain.target_embedding(TARGET) * sqrt(plain.config.width))
    assert small().output.bias is None
    biased = small(output_bias=True)
    state = biased.start(Sentences(SOURCE, LENGTHS), TARGET[:, :2])
    scores, _ = biased.step(TARGET[:, 2], state)
    assert_near(scores, biased.output(biased(SOURCE, LENGTHS, TARGET[:, :3]))[:, -1].log_softmax(-1))


# What it may and may not know


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sentence_is_encoded_alone_as_in_a_padded_batch(dtype: torch.dtype, norm: str) -> None:
    model = small(norm=norm, dtype=dtype)
    encoded = model.encode(SOURCE, LENGTHS)
    for b, length in enumerate(LENGTHS.tolist()):
        one = slice(b, b + 1)
        assert_near(encoded[one, :length], model.encode(SOURCE[one, :length], LENGTHS[one]))


def test_without_positions_the_encoder_only_follows_a_permutation() -> None:
    order = torch.tensor([3, 0, 6, 5, 1, 4, 2])
    lengths = torch.full((B,), S)
    blind = small(positions="none", dtype=torch.float64)
    assert_near(blind.encode(SOURCE[:, order], lengths), blind.encode(SOURCE, lengths)[:, order])
    seeing = small(positions="sinusoidal", dtype=torch.float64)
    difference = seeing.encode(SOURCE[:, order], lengths) - seeing.encode(SOURCE, lengths)[:, order]
    assert difference.abs().amax(-1).max() > 0.1


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


def test_what_belongs_to_the_sentence_is_not_copied_for_its_hypotheses() -> None:
    model = small()
    state = model.start(Sentences(SOURCE, LENGTHS), TARGET[:, :2])
    spread = model.reorder(state, torch.arange(B).repeat_interleave(5))
    assert spread.rows == 5 * B
    assert spread.past is not None
    assert spread.past[0].keys.shape[0] == 5 * B
    for mine, original in zip(spread.memory, state.memory, strict=True):
        assert mine.keys.data_ptr() == original.keys.data_ptr()
        assert mine.keys.shape[0] == B


# Settings


def test_a_width_that_heads_do_not_divide_is_refused_naming_both() -> None:
    with pytest.raises(ConfigError, match=r"width 20 is not divisible by heads 8.*that fit: 1, 2, 4"):
        TransformerConfig.parse({"width": 20, "heads": 8}, where="model")


def test_every_preset_shares_its_width_equally_between_its_heads() -> None:
    for values in PRESETS.values():
        config = TransformerConfig.parse(values)
        assert config.width % config.heads == 0


def test_the_base_preset_has_the_sizes_of_the_paper() -> None:
    base = TransformerConfig.parse(PRESETS["base"])
    assert (base.encoder_layers, base.decoder_layers) == (6, 6)
    assert (base.width, base.hidden, base.heads, base.dropout) == (512, 2048, 8, 0.1)
    assert (base.norm, base.activation, base.positions, base.tie) == ("post", "relu", "sinusoidal", "all")
    big = TransformerConfig.parse(PRESETS["big"])
    assert (big.width, big.hidden, big.heads, big.dropout) == (1024, 4096, 16, 0.3)
    assert (big.encoder_layers, big.decoder_layers, big.norm) == (6, 6, "post")


def test_the_deep_shallow_preset_is_as_large_as_the_tiny_one() -> None:
    sizes, layers = [], []
    for preset in ("tiny", "deep-shallow"):
        config = TransformerConfig.parse(PRESETS[preset])
        with torch.device("meta"):
            model = Transformer(config, source_vocabulary=100, target_vocabulary=100)
        sizes.append(sum(parameter.numel() for parameter in model.parameters()))
        layers.append((config.encoder_layers, config.decoder_layers))
    assert sizes[0] - sizes[1] == 128  # biases: those of an attention more, those of a feed-forward less
    assert layers == [(4, 4), (7, 2)]


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
