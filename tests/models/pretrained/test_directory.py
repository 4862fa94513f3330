"""Directories as transformers writes them: loaded with equal outputs, or refused with a clear word."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import regard
from regard.errors import BundleError, ConfigError
from regard.models.bert import BertForPretraining
from regard.models.pretrained.networks import FOLLOWS, MASKED, POOLER
from tests.models.pretrained.checkpoints import TEXTS, VOCABULARY, batch, theirs, write, write_words


@pytest.fixture
def pretrained(tmp_path: Path) -> tuple[Any, Path]:
    model = theirs("BertForPreTraining")
    return model, write(tmp_path / "bert", model)


def outputs(model: Any, given: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Hidden states of the real tokens, scores of words and of next sentences."""
    lengths, real = given["attention_mask"].sum(1), given["attention_mask"].bool()
    with torch.inference_mode():
        hidden = model.bert(given["input_ids"], lengths, given["token_type_ids"])
        return hidden[real], model.output(model.guesses(hidden))[real], model.next_sentence(hidden)


@pytest.mark.parametrize("activation", ["gelu", "relu", "gelu_new", "gelu_pytorch_tanh"])
def test_a_model_with_both_heads_gives_their_scores(activation: str, tmp_path: Path) -> None:
    model = theirs("BertForPreTraining", hidden_act=activation)
    directory = write(tmp_path, model)
    given = batch(directory)
    with torch.inference_mode():
        wanted = model(**given, output_hidden_states=True)
    loaded = regard.load(directory)
    assert isinstance(loaded.model, BertForPretraining)
    assert loaded.parts == (POOLER, MASKED, FOLLOWS)
    hidden, words, follows = outputs(loaded.model, given)
    real = given["attention_mask"].bool()
    torch.testing.assert_close(hidden, wanted.hidden_states[-1][real], atol=1e-5, rtol=0)
    torch.testing.assert_close(words, wanted.prediction_logits[real], atol=1e-4, rtol=0)
    torch.testing.assert_close(follows, wanted.seq_relationship_logits, atol=1e-5, rtol=0)


def test_words_are_filled_in_with_their_probabilities(pretrained: tuple[Any, Path]) -> None:
    model, directory = pretrained
    (found,) = regard.load(directory).fill("the [MASK] is", top=3)
    given = batch(directory, ["the [MASK] is"])
    with torch.inference_mode():
        shares = model(**given).prediction_logits[0, 2].softmax(-1)
    best = shares[: len(VOCABULARY)].topk(3)
    assert [word.text for word in found] == [VOCABULARY[id].removeprefix("##") for id in best.indices.tolist()]
    assert [word.probability for word in found] == pytest.approx(best.values.tolist(), abs=1e-5)


def test_a_checkpoint_without_pooler_and_next_sentence_says_so(tmp_path: Path) -> None:
    model = theirs("BertForMaskedLM")
    loaded = regard.load(write(tmp_path, model))
    assert loaded.parts == (MASKED,)
    given = batch(tmp_path)
    real = given["attention_mask"].bool()
    with torch.inference_mode():
        wanted = model(**given).logits[real]
    torch.testing.assert_close(outputs(loaded.model, given)[1], wanted, atol=1e-4, rtol=0)


def test_an_encoder_alone_cannot_fill_in_words(tmp_path: Path) -> None:
    loaded = regard.load(write(tmp_path / "alone", theirs("BertModel")))
    assert loaded.parts == (POOLER,)
    with pytest.raises(ConfigError, match="alone cannot fill in words: it has no head"):
        loaded.fill("a [MASK]")


def test_a_classifier_has_their_scores_and_labels(tmp_path: Path) -> None:
    names = {0: "bad", 1: "fair", 2: "good"}
    model = theirs("BertForSequenceClassification", id2label=names, label2id={name: id for id, name in names.items()})
    loaded = regard.load(write(tmp_path, model))
    given = batch(tmp_path)
    with torch.inference_mode():
        wanted = model(**given).logits.softmax(-1)
    found = loaded.classify(TEXTS)
    assert loaded.labels == ("bad", "fair", "good")
    for row, said in zip(wanted, found, strict=True):
        assert said.label == names[int(row.argmax())]
        np.testing.assert_allclose(list(said.probabilities.values()), row.numpy(), atol=1e-5)


def test_a_head_that_is_not_ours_leaves_the_encoder(tmp_path: Path) -> None:
    model = theirs("BertForTokenClassification", num_labels=3)
    loaded = regard.load(write(tmp_path, model))
    given = batch(tmp_path, ["the cat"])
    with torch.inference_mode():
        wanted = model.bert(**given).last_hidden_state[0]
    np.testing.assert_allclose(loaded.hidden("the cat"), wanted.numpy(), atol=1e-5)


@pytest.mark.parametrize("layout", ["bin", "shards", "bin shards", "vocab.txt", "half"])
def test_every_layout_gives_the_same_model(layout: str, pretrained: tuple[Any, Path], tmp_path: Path) -> None:
    model, directory = pretrained
    wanted = regard.load(directory).hidden("the cat is in the house .")
    other = shutil.copytree(directory, tmp_path / "other")
    tensors = load_file(other / "model.safetensors")
    if layout == "bin":
        torch.save(tensors, other / "pytorch_model.bin")
        (other / "model.safetensors").unlink()
    elif layout == "shards":
        (other / "model.safetensors").unlink()
        model.save_pretrained(other, max_shard_size="20KB")
        assert len(list(other.glob("model-*.safetensors"))) > 1
    elif layout == "bin shards":
        (other / "model.safetensors").unlink()
        names = sorted(tensors)
        for number, part in enumerate((names[::2], names[1::2])):
            torch.save({name: tensors[name] for name in part}, other / f"pytorch_model-{number}.bin")
        placed = {name: f"pytorch_model-{number % 2}.bin" for number, name in enumerate(names)}
        (other / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": placed}))
    elif layout == "vocab.txt":
        (other / "tokenizer.json").unlink()
        write_words(other)
    else:
        save_file({name: tensor.half() for name, tensor in tensors.items()}, other / "model.safetensors")
    found = regard.load(other).hidden("the cat is in the house .")
    np.testing.assert_allclose(found, wanted, atol=3e-2 if layout == "half" else 1e-6)


def test_old_names_and_a_bias_in_its_other_place_are_known(pretrained: tuple[Any, Path]) -> None:
    _, directory = pretrained
    wanted = regard.load(directory).fill("a [MASK]")
    tensors = load_file(directory / "model.safetensors")
    tensors["cls.predictions.decoder.bias"] = tensors.pop("cls.predictions.bias")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in tensors.items()
    }
    save_file(old, directory / "model.safetensors")
    assert regard.load(directory).fill("a [MASK]") == wanted


class Trap:
    """What a pickle can do to those who trust it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_no_pickle_is_executed(pretrained: tuple[Any, Path], tmp_path: Path) -> None:
    _, directory = pretrained
    (directory / "model.safetensors").unlink()
    with (directory / "pytorch_model.bin").open("wb") as file:
        pickle.dump({"a": Trap(tmp_path / "sprung")}, file)
    with pytest.raises(BundleError, match="holds something else than weights; it was not run"):
        regard.load(directory)
    torch.save({"a": Trap(tmp_path / "sprung")}, directory / "pytorch_model.bin")
    with pytest.raises(BundleError, match="it was not run"):
        regard.load(directory)
    assert not (tmp_path / "sprung").exists()


def edited(directory: Path, **changes: Any) -> None:
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, **changes}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"model_type": "t5"},
            r"known here.\n  found: model_type 't5' in .*config.json\n  wanted: 'bert' or 'gpt2'",
        ),
        ({"model_type": 5}, "found: model_type 5"),
        ({"model_type": ["bert"]}, "found: model_type"),
        ({"quantization_config": {"load_in_8bit": True}}, "rounded in a way that is not known here"),
        ({"hidden_act": "swish"}, "kind of BERT is not known.\n  found: hidden_act 'swish'"),
        ({"position_embedding_type": "relative_key"}, "found: position_embedding_type 'relative_key'"),
        ({"is_decoder": True}, "found: is_decoder True"),
        ({"num_hidden_layers": 4}, r"missing: encoder.layer.3.attention.output.LayerNorm.bias, .* and 13 more"),
        ({"num_hidden_layers": 2}, "do not fit the model"),
        ({"intermediate_size": 44}, r"is \(40, 24\), not \(44, 24\)"),
        ({"vocab_size": 12}, r"tokenizer in .* does not belong|do not fit"),
        ({"num_attention_heads": 5}, "width 24 is not divisible by heads 5"),
        ({"architectures": ["BertForSequenceClassification"]}, "does not tell classes apart.\n  found: 0 outputs"),
    ],
)
def test_a_config_that_cannot_be_served_is_refused(
    changes: dict[str, Any], said: str, pretrained: tuple[Any, Path]
) -> None:
    edited(pretrained[1], **changes)
    with pytest.raises(regard.RegardError, match=said):
        regard.load(pretrained[1])


def test_missing_and_untied_tensors_are_named(pretrained: tuple[Any, Path]) -> None:
    _, directory = pretrained
    tensors = load_file(directory / "model.safetensors")
    for name in ("bert.encoder.layer.1.attention.self.key.bias", "bert.pooler.dense.bias"):
        save_file(
            {other: tensor for other, tensor in tensors.items() if other != name}, directory / "model.safetensors"
        )
        with pytest.raises(BundleError, match=f"missing: {name.removeprefix('bert.')}\n"):
            regard.load(directory)
    untied = tensors["bert.embeddings.word_embeddings.weight"] + 1
    save_file({**tensors, "cls.predictions.decoder.weight": untied}, directory / "model.safetensors")
    with pytest.raises(BundleError, match=r"decoder.weight differs from the embedding's matrix"):
        regard.load(directory)


def test_a_head_for_one_number_or_for_many_labels_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "one", theirs("BertForSequenceClassification", num_labels=1))
    with pytest.raises(BundleError, match="found: 1 outputs"):
        regard.load(tmp_path / "one")
    kind = "multi_label_classification"
    write(tmp_path / "many", theirs("BertForSequenceClassification", num_labels=3, problem_type=kind))
    with pytest.raises(BundleError, match=kind):
        regard.load(tmp_path / "many")


def test_files_that_are_missing_or_damaged_are_named(pretrained: tuple[Any, Path], tmp_path: Path) -> None:
    _, directory = pretrained
    whole = (directory / "model.safetensors").read_bytes()
    (directory / "model.safetensors").write_bytes(whole[:1000])
    with pytest.raises(BundleError, match=r"model.safetensors is damaged"):
        regard.load(directory)
    (directory / "model.safetensors").unlink()
    with pytest.raises(BundleError, match=r"has no weights.\n  wanted: model.safetensors or pytorch_model.bin"):
        regard.load(directory)
    (directory / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(BundleError, match=r"pytorch_model.bin is damaged"):
        regard.load(directory)
    torch.save([1, 2], directory / "pytorch_model.bin")
    with pytest.raises(BundleError, match="not a checkpoint of a model"):
        regard.load(directory)
    (directory / "pytorch_model.bin").unlink()
    for content in ({"weight_map": {"a": "../x.bin"}}, {"weight_map": 5}, {"weight_map": {"a": "x.exe"}}):
        (directory / "pytorch_model.bin.index.json").write_text(json.dumps(content))
        with pytest.raises(BundleError, match="a weight_map with the names of files beside it"):
            regard.load(directory)
    (directory / "pytorch_model.bin.index.json").write_text('{"weight_map": {"a": "gone.bin"}}')
    with pytest.raises(BundleError, match=r"gone.bin is missing"):
        regard.load(directory)


def test_a_directory_that_is_neither_ours_nor_known_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"layers": 3}')
    with pytest.raises(BundleError, match=r"no model that regard has made.\n.*found: no format .*\n.*model_type bert"):
        regard.load(tmp_path)
    (tmp_path / "config.json").unlink()
    with pytest.raises(BundleError, match=r"config.json is missing"):
        regard.load(tmp_path)
