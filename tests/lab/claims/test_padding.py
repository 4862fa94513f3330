import pytest
import torch

from regard.lab.claims.padding import (
    LETTERS,
    LONGEST,
    changed,
    copyist,
    leaked,
    lines,
    masked,
    on_padding,
    padded,
    translated,
    unmasked,
)
from regard.models.transformer import Transformer, TransformerConfig
from regard.tasks.pairs import Tokenizers
from regard.tasks.translator import Translator
from regard.text import TokenizerConfig

TEXTS = ["a b", "a b c d e f", "c"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    torch.manual_seed(1)
    tokenizers = Tokenizers.train([("a b c d e f", "g h i j k")] * 5, TokenizerConfig(size=400))
    sizes = {"width": 16, "heads": 2, "hidden": 16, "encoder_layers": 1, "decoder_layers": 1, "norm": "pre"}
    config = TransformerConfig.parse({**sizes, "dropout": 0.0}, where="model")
    return Translator(Transformer(config, **tokenizers.model_sizes()), tokenizers)


def test_only_what_looks_at_the_source_loses_its_mask() -> None:
    mask = torch.tensor([[True, False]])
    assert unmasked("encoder.0.self", "mask", mask).all()
    assert unmasked("decoder.1.cross", "mask", mask).all()
    assert torch.equal(unmasked("decoder.1.self", "mask", mask), mask)
    assert torch.equal(unmasked("encoder.0.self", "weights", mask), mask)
    assert torch.equal(masked("encoder.0.self", "mask", mask), mask)


def test_the_share_of_changed_texts() -> None:
    assert changed(["a", "b", "c", "d"], ["a", "x", "c", "y"]) == 0.5


def test_what_real_words_give_to_padding() -> None:
    weights = torch.tensor([[[[0.5, 0.3, 0.2], [0.1, 0.5, 0.4], [0.0, 0.0, 1.0]]]])
    assert on_padding(weights, torch.tensor([[False, False, True]])) == pytest.approx(0.3)


def test_padding_stands_behind_the_longest(translator: Translator) -> None:
    plain, more = padded(translator, TEXTS, 0), padded(translator, TEXTS, 5)
    assert more.tokens.shape[1] == plain.tokens.shape[1] + 5 == int(plain.lengths.max()) + 5
    assert torch.equal(more.lengths, plain.lengths)
    assert (more.tokens[:, -5:] == translator.tokenizers.source.pad).all()


def test_masked_padding_gets_nothing_and_changes_nothing(translator: Translator) -> None:
    assert translated(translator, TEXTS, 9, "masked") == [translator.translate(text, beam=1) for text in TEXTS]
    assert leaked(translator, TEXTS, 9, "masked") == 0.0


def test_padding_that_is_not_masked_gets_the_more_the_more_there_is(translator: Translator) -> None:
    little, much = (leaked(translator, TEXTS, extra, "not masked") for extra in (2, 50))
    assert 0 < little < much < 1


def test_lines_are_of_all_lengths_and_new_for_another_seed() -> None:
    drawn = [line.split() for line in lines(300, seed=1)]
    assert {len(line) for line in drawn} == set(range(2, LONGEST + 1))
    assert {letter for line in drawn for letter in line} == set(LETTERS)
    assert lines(300, seed=1) != lines(300, seed=2)


def test_a_network_that_is_taught_without_the_mask_becomes_another_one() -> None:
    def weights(edit: str) -> torch.Tensor:
        taught = copyist(edit, seed=1, updates=2)
        assert not taught.model.training
        return torch.nn.utils.parameters_to_vector(taught.model.parameters())

    with_mask = weights("masked")
    assert torch.equal(weights("masked"), with_mask)
    assert not torch.equal(weights("not masked"), with_mask)
