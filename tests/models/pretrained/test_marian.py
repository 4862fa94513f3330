"""Marian directories as transformers writes them: the same scores here, everything works on them, and back again."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor

import regard
from regard.errors import BundleError, ConfigError
from regard.models.pretrained.export import export_hf
from regard.tasks.pairs import EncodedPairs
from regard.tasks.translator import Habits, Translator
from tests.commands import Run
from tests.draws import assert_near
from tests.models.pretrained import marians
from tests.models.pretrained.marians import CODES, OPUS, OPUS_SIZE, sentences, tokenizer, write, write_spelling
from tests.runs import Silent, run_tree
from tests.text.corpus import CHINESE, ENGLISH

PAIRS = list(zip(ENGLISH, CHINESE, strict=True))
TEXTS = ["The lion chased a bird, then slept.", "a", "the 猫 😀 dog", f"{CODES[1]} The zebra"]
TARGETS = ["那只狮子", "Ein Straßenhund ist naß.", "鸟", ""]


def their_logits(model: Any, spells: Any, sources: list[str], targets: list[str]) -> tuple[Tensor, Tensor]:
    """For each step of each target the scores of all words; and which steps there are."""
    given = spells(sources, text_target=targets, padding=True, return_tensors="pt")
    labels = given.pop("labels")
    with torch.inference_mode():
        logits = model(**given, decoder_input_ids=model.prepare_decoder_input_ids_from_labels(labels)).logits
    return logits, labels != spells.pad_token_id


def our_logits(translator: Translator, sources: list[str], targets: list[str]) -> Tensor:
    pairs = EncodedPairs.encode(sources, targets, translator.tokenizers)
    batch = pairs.batch(range(len(sources)), translator.tokenizers)
    model: Any = translator.model
    with torch.inference_mode():
        scores: Tensor = model.output(model(batch.source, batch.source_lengths, batch.target[:, :-1]))
    return scores


def assert_same_logits(translator: Translator, model: Any, spells: Any, tolerance: float) -> None:
    wanted, real = their_logits(model, spells, TEXTS, TARGETS)
    found = our_logits(translator, TEXTS, TARGETS)
    assert wanted[real].std() > 0.5
    assert_near(found[real], wanted[real], tolerance)


# The same scores


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"activation_function": "relu"},
        {"activation_function": "gelu", "scale_embedding": False},
        {"tie_word_embeddings": False},
        {"encoder_layers": 1, "decoder_layers": 4, "d_model": 30},
    ],
    ids=str,
)
def test_scores_are_theirs(settings: dict[str, Any], tmp_path: Path) -> None:
    model, spells = write(tmp_path, **settings)
    translator = regard.load(tmp_path)
    translator.model.double()
    assert_same_logits(translator, model.double(), spells, 1e-5)


@pytest.mark.parametrize("tied", [True, False])
def test_scores_with_a_vocabulary_for_each_language_are_theirs(tied: bool, tmp_path: Path) -> None:
    spells = write_spelling(tmp_path, separate=True)
    model = marians.marian(spells, tie_word_embeddings=tied)
    model.save_pretrained(tmp_path)
    translator = regard.load(tmp_path)
    assert translator.model.source_embedding is not translator.model.target_embedding
    assert translator.tokenizers.source.encode("The cat") != translator.tokenizers.target.encode("The cat")
    assert_same_logits(translator, model, spells, 1e-4)


@pytest.mark.slow
def test_scores_of_the_shape_of_opus_mt_are_theirs(tmp_path: Path) -> None:
    model, spells = write(tmp_path, size=OPUS_SIZE, **OPUS)
    translator = regard.load(tmp_path)
    parameters = sum(parameter.numel() for parameter in translator.model.parameters())
    assert parameters == 44_138_496 + OPUS_SIZE * (512 + 1)
    assert_same_logits(translator, model, spells, 1e-4)


def test_a_checkpoint_in_half_precision_is_read(tmp_path: Path) -> None:
    model, spells = write(tmp_path)
    model.half().save_pretrained(tmp_path)
    translator = regard.load(tmp_path)
    assert translator.model.output.weight.dtype == torch.float32
    theirs = transformers.MarianMTModel.from_pretrained(tmp_path, dtype=torch.float32)  # its positions are not rounded
    assert_same_logits(translator, theirs.eval(), spells, 1e-4)


def test_a_pickled_checkpoint_with_its_positions_is_read(tmp_path: Path) -> None:
    """So are the early ones: with every name of a shared matrix, with positions, and with some names less."""
    model, spells = write(tmp_path)
    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    assert {"model.encoder.embed_positions.weight", "lm_head.weight", "final_logits_bias"} <= tensors.keys()
    (tmp_path / "model.safetensors").unlink()
    torch.save(tensors, tmp_path / "pytorch_model.bin")
    assert_same_logits(regard.load(tmp_path), model, spells, 1e-4)
    torch.save({**tensors, "model.decoder.embed_positions.weight": torch.rand(64, 24)}, tmp_path / "pytorch_model.bin")
    with pytest.raises(BundleError, match="positions in .* are of another kind"):
        regard.load(tmp_path)
    torch.save(
        {name: tensor for name, tensor in tensors.items() if name != "final_logits_bias"},
        tmp_path / "pytorch_model.bin",
    )
    assert not regard.load(tmp_path).model.output.bias.any()


# Everything works on it


def test_where_it_looks_is_where_theirs_looks(tmp_path: Path) -> None:
    model, spells = write(tmp_path)
    model.set_attn_implementation("eager")
    source, target = TEXTS[0], TARGETS[0]
    given = spells([source], text_target=[target], return_tensors="pt")
    begun = model.prepare_decoder_input_ids_from_labels(given.pop("labels"))
    with torch.inference_mode():
        wanted = model(**given, decoder_input_ids=begun, output_attentions=True)
    trace = regard.load(tmp_path).attention(source, target)
    for i, (cross, own) in enumerate(zip(wanted.cross_attentions, wanted.decoder_attentions, strict=True)):
        np.testing.assert_allclose(trace.weights[f"decoder.{i}.cross"], cross[0].numpy(), atol=1e-5)
        np.testing.assert_allclose(trace.weights[f"decoder.{i}.self"], own[0].numpy(), atol=1e-5)
    shown = [token.surface for token in trace.rows["source"].tokens]
    assert "".join(shown) == source.replace(" ", "") + "</s>"
    assert trace.rows["source"].language == "en"


def test_commands_take_it(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "marian")
    pairs = written(tmp_path / "pairs.tsv", PAIRS[:5])
    loaded = regard.load(tmp_path / "marian")
    code, out, _ = run("translate", tmp_path / "marian", *ENGLISH[:2])
    assert (code, out.splitlines()) == (0, loaded.translate(ENGLISH[:2]))
    assert run("look", tmp_path / "marian", ENGLISH[0], CHINESE[0], "--out", tmp_path / "x.svg")[0] == 0
    code, out, _ = run("align", tmp_path / "marian", "--data", pairs, "--layer", "0", "--head", "0")
    assert (code, len(out.splitlines())) == (0, 5)
    code, out, _ = run("evaluate", tmp_path / "marian", "--data", pairs, "--json")
    assert (code, json.loads(out)["sentences"]) == (0, 5)


def test_commands_train_it_on_and_give_it_back(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "marian")
    pairs = written(tmp_path / "pairs.tsv", PAIRS)
    tuned = ("--init", tmp_path / "marian", "--train", pairs, "--val", pairs, "--out", tmp_path / "tuned")
    code, _, said = run("train", *tuned, "training.updates=4", "training.threads=1", "batch.tokens=400")
    assert code == 0, said
    (tmp_path / "lines.txt").write_text("".join(f"{text}\n" for text in ENGLISH), encoding="utf-8")
    code, out, said = run("translate", tmp_path / "tuned", "--input", tmp_path / "lines.txt", "--engine", "torch")
    assert (code, out.splitlines()) == (0, regard.load(tmp_path / "tuned").translate(ENGLISH)), said
    assert run("look", tmp_path / "tuned", ENGLISH[0], "--out", tmp_path / "x.svg")[0] == 0
    code, out, said = run("export", tmp_path / "tuned", "--to", "hf", "--out", tmp_path / "back")
    assert (code, out) == (0, f"{tmp_path / 'back'}: MarianMTModel\n"), said
    again, spells = transformers.MarianMTModel.from_pretrained(tmp_path / "back"), tokenizer(tmp_path / "back")
    assert_same_logits(regard.load(tmp_path / "tuned"), again.eval(), spells, 1e-4)


def written(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path


def run_settings(directory: Path, init: Path, **training: Any) -> dict[str, Any]:
    pairs = str(written(directory / "pairs.tsv", PAIRS))
    return {
        "init": str(init),
        "data": {"train": [pairs], "val": [pairs]},
        "batch": {"tokens": 400},
        "training": {"updates": 4, "warmup": 1, "validate_every": 4, "threads": 1, "average": 0.0, **training},
    }


@pytest.mark.parametrize("separate", [False, True])
def test_a_run_begins_with_it_and_goes_back(separate: bool, tmp_path: Path) -> None:
    spells = write_spelling(tmp_path / "marian", separate=separate, leave_out=9)
    model = marians.marian(spells)
    model.save_pretrained(tmp_path / "marian")
    run_tree(run_settings(tmp_path, tmp_path / "marian", learning_rate=1e-12), tmp_path / "run")
    trained = regard.load(tmp_path / "run")
    assert trained.langs == ("en", "zh")
    assert trained.habits == regard.load(tmp_path / "marian").habits != Habits()
    assert_same_logits(trained, model, spells, 1e-3)
    written = export_hf(trained, tmp_path / "back")
    assert written == "MarianMTModel"
    again, respells = transformers.MarianMTModel.from_pretrained(tmp_path / "back"), tokenizer(tmp_path / "back")
    assert_same_logits(trained, again.eval(), respells, 1e-4)
    assert [respells(text)["input_ids"] for text in TEXTS] == [spells(text)["input_ids"] for text in TEXTS]


def test_it_learns(tmp_path: Path) -> None:
    write(tmp_path / "marian", dropout=0.0)
    watcher = Silent()
    settings = run_settings(tmp_path, tmp_path / "marian", updates=40, learning_rate=5e-3, log_every=1)
    run_tree(settings, tmp_path / "run", watcher)
    assert watcher.losses[-1] < 0.6 * watcher.losses[0]
    again = {**settings, "init": str(tmp_path / "run")}
    run_tree({**again, "training": {**again["training"], "updates": 2}}, tmp_path / "next")
    assert regard.load(tmp_path / "next").tokenizers.target is not regard.load(tmp_path / "next").tokenizers.source


def test_what_is_exported_unchanged_is_what_it_was(tmp_path: Path) -> None:
    model, spells = write(tmp_path / "marian")
    assert export_hf(regard.load(tmp_path / "marian"), tmp_path / "back") == "MarianMTModel"
    again, respells = transformers.MarianMTModel.from_pretrained(tmp_path / "back"), tokenizer(tmp_path / "back")
    for name, tensor in model.state_dict().items():
        if "embed_positions" not in name:
            assert torch.equal(tensor, again.state_dict()[name]), name
    assert respells.get_vocab() == spells.get_vocab()
    for key, value in model.generation_config.to_diff_dict().items():
        if key != "transformers_version":
            assert getattr(again.generation_config, key) == value, key
    found = again.generate(**respells(ENGLISH[:3], padding=True, return_tensors="pt"))
    wanted = model.generate(**spells(ENGLISH[:3], padding=True, return_tensors="pt"))
    assert torch.equal(found, wanted)


def test_a_transformer_of_another_origin_has_no_form_there(tmp_path: Path) -> None:
    write(tmp_path / "marian")
    loaded = regard.load(tmp_path / "marian")
    other = loaded.model.config.model_copy(update={"positions": "sinusoidal"})
    loaded.model.config = other
    with pytest.raises(ConfigError, match=r"no form in transformers.\n  found: Transformer with positions=sinusoidal"):
        export_hf(loaded, tmp_path / "x")


# Faults


def edited(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("marian")
    write(directory)
    return directory


@pytest.fixture
def directory(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "copy"))


@pytest.mark.parametrize("name", ["vocab.json", "source.spm", "target.spm"])
def test_a_missing_file_is_named(name: str, directory: Path) -> None:
    (directory / name).unlink()
    with pytest.raises(BundleError, match=rf"{name} is missing"):
        regard.load(directory)


def test_a_vocabulary_that_does_not_fit_the_weights_is_refused(directory: Path) -> None:
    path = directory / "vocab.json"
    known = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**known, "one more": len(known)}), encoding="utf-8")
    with pytest.raises(
        BundleError, match=rf"does not belong to its model.\n  found: a token with the number {len(known)}"
    ):
        regard.load(directory)
    path.write_text(json.dumps({**known, "<pad>": known["<unk>"], "<unk>": known["<pad>"]}), encoding="utf-8")
    with pytest.raises(BundleError, match="vocabulary in .* does not belong to its model.\n  found: pad_token_id"):
        regard.load(directory)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"activation_function": "tanh"}, "not known.\n  found: activation_function 'tanh'\n  wanted: swish or silu"),
        ({"normalize_before": True}, "found: normalize_before True\n  wanted: False"),
        ({"normalize_embedding": True}, "found: normalize_embedding True"),
        ({"static_position_embeddings": False}, "found: static_position_embeddings False\n  wanted: True"),
        ({"decoder_ffn_dim": 44}, "found: decoder_ffn_dim 44\n  wanted: 40"),
        ({"decoder_attention_heads": 4}, "found: decoder_attention_heads 4\n  wanted: 3"),
        ({"encoder_attention_heads": 5, "decoder_attention_heads": 5}, "width 24 is not divisible by heads 5"),
        ({"encoder_layers": 3}, r"missing: model.encoder.layers.2.fc1.bias, .* more"),
        ({"encoder_ffn_dim": 44, "decoder_ffn_dim": 44}, r"is \(40, 24\), not \(44, 24\)"),
        ({"vocab_size": 30}, "do not fit the model"),
        ({"decoder_start_token_id": 5}, "found: decoder_start_token_id 5"),
        ({"eos_token_id": 7}, "found: eos_token_id 7"),
    ],
    ids=str,
)
def test_a_config_that_cannot_be_served_is_refused(changes: dict[str, Any], said: str, directory: Path) -> None:
    edited(directory / "config.json", **changes)
    with pytest.raises(regard.RegardError, match=said):
        regard.load(directory)


def test_embeddings_that_are_not_shared_as_told_are_refused(directory: Path) -> None:
    tensors = load_file(directory / "model.safetensors")
    other = tensors["model.shared.weight"] + 1
    save_file({**tensors, "lm_head.weight": other}, directory / "model.safetensors")
    with pytest.raises(BundleError, match=r"model.shared.weight differs from lm_head.weight"):
        regard.load(directory)


def test_sentences_that_are_too_long_are_told(directory: Path) -> None:
    with pytest.raises(regard.RegardError, match="at most 64"):
        regard.load(directory).translate(" ".join(sentences(20)))
