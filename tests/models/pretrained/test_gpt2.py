"""GPT-2 equals Hugging Face's, with the same weights, in both directions."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file

from regard.attention import capture
from regard.decoding import Request, greedy
from regard.errors import BundleError, ConfigError
from regard.models.gpt2 import GPT2, PRESETS, GPT2Config
from regard.models.pretrained import gpt2 as names
from regard.models.pretrained.checkpoint import read_checkpoint
from regard.text.bert_files import read_settings
from regard.text.byte_bpe import train_byte_bpe
from regard.text.characters import character_tokenizer
from regard.text.gpt2_files import read_tokenizer
from regard.weights import weights_of
from tests.models import gpt2s
from tests.text.corpus import ENGLISH, TEXTS

SIZES = {
    "vocab_size": 50, "n_positions": 20, "n_embd": 24, "n_layer": 3, "n_head": 3, "n_inner": 40,
    "bos_token_id": 49, "eos_token_id": 49,
}  # fmt: skip
TOKENS = torch.randint(50, (3, 9), generator=torch.Generator().manual_seed(0))
NEAR = {torch.float32: 1e-4, torch.float64: 1e-10}


def random(architecture: str = "GPT2LMHeadModel", **config: Any) -> Any:
    """A random model of transformers."""
    torch.manual_seed(3)
    model = getattr(transformers, architecture)(transformers.GPT2Config(**{**SIZES, **config})).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return model


def read(theirs: Any) -> GPT2:
    model = names.read_gpt2(theirs.config.to_dict(), theirs.state_dict(), where="a test").model
    assert isinstance(model, GPT2)
    assert not model.training
    return model


def logits(model: GPT2, tokens: torch.Tensor = TOKENS) -> torch.Tensor:
    with torch.inference_mode():
        return model.output(model(tokens))


def their_logits(model: Any, tokens: torch.Tensor = TOKENS) -> torch.Tensor:
    with torch.inference_mode():
        found: torch.Tensor = model(tokens).logits
        return found


def assert_near(found: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(found, wanted, rtol=0, atol=NEAR[wanted.dtype])


VARIANTS: dict[str, dict[str, Any]] = {
    "as GPT-2": {},
    "gelu": {"activation_function": "gelu"},
    "relu": {"activation_function": "relu"},
    "gelu by torch's tanh": {"activation_function": "gelu_pytorch_tanh"},
    "four times as wide inside": {"n_inner": None},
    "another epsilon": {"layer_norm_epsilon": 1e-2},
    "one layer, one head": {"n_layer": 1, "n_head": 1},
}


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("variant", VARIANTS)
def test_logits_are_theirs(variant: str, dtype: torch.dtype) -> None:
    theirs = random(**VARIANTS[variant])
    assert_near(logits(read(theirs).to(dtype)), their_logits(theirs.to(dtype)))


def test_activations_and_epsilon_make_a_difference() -> None:
    plain = their_logits(random())
    for change in ({"activation_function": "gelu"}, {"activation_function": "relu"}, {"layer_norm_epsilon": 1e-2}):
        assert (their_logits(random(**change)) - plain).abs().max() > 1e-4


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("name", gpt2s.CHOICES)
def test_a_model_of_ours_has_the_same_logits_in_transformers(name: str, dtype: torch.dtype, tmp_path: Path) -> None:
    ours = gpt2s.gpt2(**gpt2s.CHOICES[name])
    tokenizer = character_tokenizer(["abcdefghijklmno"])
    assert len(tokenizer) == gpt2s.WORDS
    assert names.write_gpt2(ours, tokenizer, tmp_path) == "GPT2LMHeadModel"
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    assert isinstance(theirs, transformers.GPT2LMHeadModel)
    tokens = TOKENS % gpt2s.WORDS
    assert_near(their_logits(theirs.to(dtype), tokens), logits(ours.to(dtype), tokens))
    assert (theirs.config.eos_token_id, theirs.config.n_positions) == (tokenizer.end, ours.config.limit)


def test_what_is_written_is_read_again_as_it_was(tmp_path: Path) -> None:
    ours = gpt2s.gpt2(dropout=0.2, embedding_dropout=0.3, attention_dropout=0.4, epsilon=1e-6)
    names.write_gpt2(ours, character_tokenizer(["abcdefghijklmno"]), tmp_path)
    tensors, path = read_checkpoint(tmp_path)
    network = names.read_gpt2(read_settings(tmp_path / "config.json"), tensors, where=str(path))
    assert (network.task, network.settings) == ("lm", ours.config.model_dump())
    for name, tensor in weights_of(ours).items():
        assert torch.equal(tensor, weights_of(network.model)[name]), name


@pytest.mark.parametrize("layout", ["safetensors", "bin", "bin with masks", "bare", "half"])
def test_every_layout_of_a_directory_gives_the_same_model(layout: str, tmp_path: Path) -> None:
    theirs = random("GPT2Model" if layout == "bare" else "GPT2LMHeadModel")
    theirs.save_pretrained(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    assert ("wte.weight" in tensors) == (layout == "bare")
    if layout.startswith("bin"):
        if "masks" in layout:  # as the first checkpoints had them
            tensors |= {f"transformer.h.{i}.attn.bias": torch.ones(1, 1, 20, 20).tril() for i in range(3)}
            tensors |= {f"transformer.h.{i}.attn.masked_bias": torch.tensor(-1e4) for i in range(3)}
            tensors["lm_head.weight"] = tensors["transformer.wte.weight"]
        torch.save(tensors, tmp_path / "pytorch_model.bin")
        (tmp_path / "model.safetensors").unlink()
    if layout == "half":
        theirs.half().save_pretrained(tmp_path)
        theirs.float()
    found, path = read_checkpoint(tmp_path)
    ours = names.read_gpt2(read_settings(tmp_path / "config.json"), found, where=str(path)).model
    assert weights_of(ours)["words.weight"].dtype is torch.float32
    inner = theirs if layout == "bare" else theirs.transformer
    with torch.inference_mode():
        assert_near(ours(TOKENS), inner(TOKENS).last_hidden_state)


@pytest.mark.slow
def test_the_shape_of_the_real_gpt2_gives_their_logits() -> None:
    theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config()).eval()
    ours = read(theirs)
    assert ours.config == GPT2Config.parse(PRESETS["small"])
    assert sum(parameter.numel() for parameter in ours.parameters()) == theirs.num_parameters() == 124_439_808
    tokens = torch.randint(50257, (1, 16), generator=torch.Generator().manual_seed(0))
    assert_near(logits(ours, tokens), their_logits(theirs, tokens))
    far = torch.randint(50257, (1, 1024), generator=torch.Generator().manual_seed(1))
    assert_near(logits(ours, far)[:, -3:], their_logits(theirs, far)[:, -3:])


@pytest.mark.slow
def test_the_shape_of_the_real_gpt2_writes_their_fifty_tokens() -> None:
    torch.manual_seed(0)
    theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config()).eval()
    with torch.no_grad():
        theirs.transformer.wpe.weight *= 30  # or it would write one word again and again
    prompt = torch.randint(50257, (1, 9), generator=torch.Generator().manual_seed(2))
    request = Request(None, prompt, 50256, torch.tensor([50]))
    (found,) = greedy(read(theirs), request)
    with torch.inference_mode():
        wanted = theirs.generate(prompt, do_sample=False, max_new_tokens=50, pad_token_id=50256)[0, 9:].tolist()
    assert list(found.tokens) == wanted
    assert len(set(wanted)) > 5


def test_attention_is_theirs() -> None:
    theirs = random(attn_implementation="eager")
    ours = read(theirs)
    with torch.inference_mode():
        wanted = theirs(TOKENS, output_attentions=True).attentions
        with capture(ours) as recording:
            ours(TOKENS)
    assert recording.names == ["decoder.0.self", "decoder.1.self", "decoder.2.self"]
    for layer, weights in enumerate(wanted):
        assert_near(recording.last(f"decoder.{layer}.self"), weights)


def test_model_and_tokenizer_of_ours_write_the_same_text_in_transformers(tmp_path: Path) -> None:
    tokenizer = train_byte_bpe(TEXTS, 400)
    torch.manual_seed(0)
    ours = GPT2(GPT2Config(width=24, heads=3, hidden=40, layers=2, limit=64), vocabulary=len(tokenizer)).eval()
    names.write_gpt2(ours, tokenizer, tmp_path)
    reads = transformers.AutoTokenizer.from_pretrained(tmp_path)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    given = reads(ENGLISH[0], return_tensors="pt").input_ids
    assert given[0].tolist() == tokenizer.encode(ENGLISH[0]) == read_tokenizer(tmp_path).encode(ENGLISH[0])
    assert_near(logits(ours, given), their_logits(theirs, given))


# What is refused


def test_other_architectures_and_kinds_are_refused() -> None:
    with pytest.raises(BundleError, match="not a GPT-2.\n  found: model_type 'bert'\n  wanted: 'gpt2'"):
        names.settings({"model_type": "bert"})
    odd = {
        "activation_function": "silu",
        "scale_attn_weights": False,
        "scale_attn_by_inverse_layer_idx": True,
        "reorder_and_upcast_attn": True,
        "add_cross_attention": True,
    }
    for key, value in odd.items():
        with pytest.raises(BundleError, match=f"kind of GPT-2 is not known.\n  found: {key} {value!r}\n  wanted: "):
            names.settings({**transformers.GPT2Config(**SIZES).to_dict(), key: value})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n_layer": 4}, r"lacks weights .*\n  found: missing: h.3.ln_1.weight, .* and 9 more"),
        ({"n_layer": 2}, "do not fit the model"),
        ({"n_inner": 44}, r"is \(40, 24\), not \(44, 24\)"),
        ({"vocab_size": 51}, r"words.weight is \(50, 24\), not \(51, 24\)"),
        ({"n_head": 5}, "width 24 is not divisible by heads 5"),
        ({"n_embd": "wide"}, "model.width cannot be used"),
    ],
)
def test_a_config_that_does_not_fit_its_weights_is_refused(changes: dict[str, Any], said: str) -> None:
    theirs = random()
    with pytest.raises((BundleError, ConfigError), match=said):
        names.read_gpt2({**theirs.config.to_dict(), **changes}, theirs.state_dict(), where="here")


def test_missing_tensors_and_a_head_of_its_own_are_named() -> None:
    theirs = random()
    tensors = dict(theirs.state_dict())
    fewer = {name: tensor for name, tensor in tensors.items() if name != "transformer.h.1.mlp.c_fc.bias"}
    with pytest.raises(BundleError, match=r"here lacks weights.*\n  found: missing: h.1.mlp.c_fc.bias\n"):
        names.read_gpt2(theirs.config.to_dict(), fewer, where="here")
    untied = {**tensors, "lm_head.weight": tensors["lm_head.weight"] + 1}
    with pytest.raises(BundleError, match=r"head in here is of another kind.\n  found: lm_head.weight differs"):
        names.read_gpt2(theirs.config.to_dict(), untied, where="here")
