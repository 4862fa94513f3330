"""A model by its id: from the hub's cache, or a clear word where there is neither cache nor network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub.utils import filter_repo_objects

import regard
from regard import hub
from regard.errors import BundleError
from tests.models.pretrained import marians
from tests.models.pretrained.checkpoints import theirs, write

SHA = "0123456789abcdef0123456789abcdef01234567"


def loaded(cache: Path, *names: str) -> str:
    """What regard.load gives or says in a process without a network: huggingface_hub reads its settings once, at
    import."""
    script = """
import sys, regard
for name in sys.argv[1:]:
    try:
        print(regard.load(name).name)
    except regard.RegardError as error:
        print(error)
"""
    offline = {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script, *names],
        env={**os.environ, **offline}, capture_output=True, text=True, check=True, cwd=cache,
    )  # fmt: skip
    return done.stdout


def snapshot(cache: Path, name: str) -> Path:
    """Where the hub keeps the files of a model."""
    home = cache / f"models--{name}"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text(SHA)
    return home / "snapshots" / SHA


@pytest.mark.parametrize(
    ("name", "is_id"),
    [
        ("google-bert/bert-base-uncased", True),
        ("runs/en-zh", True),
        ("bert-base-uncased", False),
        ("./runs/en-zh", False),
        ("/tmp/x", False),
        ("a/b/c", False),
        ("../x", False),
        ("~/x", False),
    ],
)
def test_an_id_has_an_owner_and_a_name(name: str, is_id: bool) -> None:
    assert hub.is_id(name) == is_id


def test_the_cache_serves_without_a_network_and_what_it_lacks_is_told(tmp_path: Path) -> None:
    write(snapshot(tmp_path, "somebody--small-bert"), theirs("BertModel"))
    marians.write(snapshot(tmp_path, "Helsinki-NLP--opus-mt-en-zh"))
    held = ("somebody/small-bert", "Helsinki-NLP/opus-mt-en-zh")
    said = loaded(tmp_path, *held, "google-bert/bert-base-uncased", "bert-base-uncased")
    assert said.splitlines()[:2] == list(held)
    assert "There is no model directory google-bert/bert-base-uncased, and the hub cannot be reached" in said
    assert "give its directory" in said
    assert "There is no model directory bert-base-uncased." in said
    assert "a model of the hub is written owner/name, such as google-bert/bert-base-uncased" in said


def test_the_files_of_a_bert_a_gpt2_and_a_marian_are_fetched_and_no_others() -> None:
    wanted = ["config.json", "tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "model-00001-of-2.safetensors"]
    wanted += ["source.spm", "target.spm", "generation_config.json"]
    wanted += [f"0_Transformer/{name}" for name in ("config.json", "vocab.txt", "model.safetensors")]
    others = ["pytorch_model.bin", "tf_model.h5", "onnx/decoder_model.onnx", "64.tflite", "README.md"]
    others += ["0_Transformer/pytorch_model.bin", "checkpoint-500/model.safetensors", "optimizer.safetensors"]
    assert [*filter_repo_objects([*wanted, *others], allow_patterns=hub.FILES)] == wanted


def test_a_model_of_another_kind_is_refused_before_its_weights_are_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []

    def download(name: str, allow_patterns: list[str]) -> str:
        fetched.extend(filter_repo_objects(["config.json", "model.safetensors"], allow_patterns=allow_patterns))
        (tmp_path / "config.json").write_text('{"model_type": "llama"}')
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    with pytest.raises(BundleError, match="of a kind that is not known here"):
        regard.load("some/llama")
    assert fetched == ["config.json"]


@pytest.mark.parametrize(
    ("held", "pickled"),
    [
        (["model.safetensors", "pytorch_model.bin"], False),
        (["0_Transformer/model.safetensors", "0_Transformer/pytorch_model.bin"], False),
        (["0_Transformer/pytorch_model.bin"], True),
        (["pytorch_model.bin", "2_Dense/model.safetensors"], True),
    ],
)
def test_pickles_are_fetched_only_where_the_model_has_no_safetensors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: list[str], pickled: bool
) -> None:
    def download(name: str, allow_patterns: list[str]) -> str:
        for file in filter_repo_objects(held, allow_patterns=allow_patterns):
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).touch()
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert any(hub.fetched("some/model").rglob("*.bin")) == pickled
