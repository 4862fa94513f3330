"""A model on disk: what loads, and what is refused with a clear word."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import regard
from regard import bundle
from regard.errors import BundleError, ConfigError, LimitError
from regard.weights import read_tensors, write_tensors
from tests.runs import run_tiny, run_tree, tiny_tree


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bundle")
    run_tiny(directory, directory / "out")
    return directory / "out"


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    return shutil.copytree(trained, tmp_path / "copy")


def test_the_card_knows_data_seed_versions_and_signatures(model: Path) -> None:
    card = json.loads((model / "card.json").read_text())
    assert card["seed"] == 1
    assert card["versions"]["torch"]
    assert len(card["data"]["train"]) == 64
    assert card["scores"]["val"]["signature"].startswith("nrefs:1")
    assert "BLEU" in (model / "README.md").read_text()


def test_what_was_noticed_in_training_is_told_to_who_reads_the_card(model: Path) -> None:
    card = bundle.read_card(model)
    found = {"what": "overfitting", "evidence": "val loss 2.1, best 1.9", "advice": "stop earlier"}
    bundle.write_card(model, {**card, "diagnoses": [found]})
    assert "- overfitting: val loss 2.1, best 1.9; stop earlier" in (model / "README.md").read_text()
    bundle.write_card(model, {**card, "diagnoses": []})
    assert "noticed" not in (model / "README.md").read_text()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(model: Path, name: str) -> None:
    (model / name).unlink()
    with pytest.raises(BundleError, match=f"{name} is missing"):
        regard.load(model)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_file_is_named(model: Path, name: str) -> None:
    content = (model / name).read_bytes()
    (model / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(BundleError, match=f"{name} is damaged"):
        regard.load(model)


def test_another_format_is_refused(model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "format": 99}))
    with pytest.raises(BundleError, match="format 99"):
        regard.load(model)


@pytest.mark.parametrize(
    ("key", "value"), [("task", 5), ("model", "x"), ("model", {}), ("data", {"langs": ["en"]}), ("tokenizer", None)]
)
def test_a_config_edited_by_hand_is_refused(model: Path, key: str, value: object) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, key: value}))
    with pytest.raises(BundleError, match=key):
        regard.load(model)


def test_half_a_character_does_not_stop_a_translation(model: Path) -> None:
    assert isinstance(regard.load(model).translate("caf\udce9"), str)
    assert regard.load(model).attention("a caf\udce9 b", "a").rows["source"].surfaces[2] == "b"


def test_weights_of_another_size_are_refused(model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    config["model"]["hidden"] = 48
    (model / "config.json").write_text(json.dumps(config))
    with pytest.raises(BundleError, match="do not fit"):
        regard.load(model)


def test_a_tokenizer_of_another_model_is_refused_although_it_is_as_large(model: Path) -> None:
    tokenizer = json.loads((model / "tokenizer.json").read_text())
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))  # written in another way: still its own
    regard.load(model)
    vocabulary = tokenizer["model"]["vocab"]
    *_, one, other = vocabulary
    vocabulary[one], vocabulary[other] = vocabulary[other], vocabulary[one]
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(BundleError, match=r"does not belong to its weights.*\n.*\n.*put back the tokenizer.json"):
        regard.load(model)


def test_weights_of_earlier_versions_do_not_tell_their_tokenizer(model: Path) -> None:
    tensors, note = read_tensors(model / "model.safetensors")
    assert note == bundle.spellings(model)
    write_tensors(model / "model.safetensors", tensors)
    regard.load(model)


def test_empty_texts_stay_empty_and_order_is_kept(model: Path) -> None:
    translator = regard.load(model)
    texts = ["a b c", "", "  ", "b", "a b c d e f"]
    together = translator.translate(texts)
    assert [bool(text) for text in together] == [True, False, False, True, True]
    assert together == [translator.translate(text) for text in texts]
    assert translator.translate([]) == []


def test_a_text_that_is_too_long_is_refused_or_cut(model: Path) -> None:
    translator = regard.load(model)
    with pytest.raises(LimitError, match="longer than the model"):
        translator.translate("a " * 40)
    assert isinstance(translator.translate("a " * 40, truncate=True), str)
    with pytest.raises(LimitError):
        translator.attention("a " * 40)


def test_attention_has_every_layer_and_head_with_rows_that_sum_to_one(model: Path) -> None:
    trace = regard.load(model).attention("a b c", "c b a")
    assert set(trace.names) == {
        "encoder.0.self", "decoder.0.self", "decoder.0.cross", "decoder.1.self", "decoder.1.cross",
    }  # fmt: skip
    assert trace.rows["source"].surfaces == ("a", "b", "c", "</s>")
    assert trace.rows["prediction"].surfaces == ("c", "b", "a", "</s>")
    for name in trace.names:
        np.testing.assert_allclose(trace.weights[name].sum(-1), 1, atol=1e-5)
    assert trace.weights["decoder.1.cross"].shape == (2, 4, 4)
    assert np.triu(trace.weights["decoder.0.self"][0], 1).max() == 0  # nobody looks ahead


def test_without_a_target_the_models_own_translation_is_traced(model: Path) -> None:
    translator = regard.load(model)
    assert translator.attention("a b").rows["prediction"].text == translator.translate("a b")


def test_separate_vocabularies_are_kept_apart_and_cannot_share_one_matrix(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    tree["tokenizer"]["joint"] = False
    with pytest.raises(ConfigError, match="tie=all"):
        run_tree(tree, tmp_path / "out")
    tree["model"]["tie"] = "target"
    run_tree(tree, tmp_path / "out")
    assert isinstance(regard.load(tmp_path / "out").translate("a b"), str)
    (tmp_path / "out" / "tokenizer.target.json").unlink()
    with pytest.raises(BundleError, match="tokenizer.target.json is missing"):
        regard.load(tmp_path / "out")
