"""A real model: all-MiniLM-L6-v2 gives the states of transformers and the vectors of sentence-transformers."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import regard
from regard.errors import BundleError, LimitError
from regard.evaluation.similarity import cosines, score_similarity, spearman
from regard.tasks.encoder import Encoder
from tests.doctor.corpora import shared
from tests.models.pretrained.checkpoints import minilm

TEXTS = [
    "A man is eating food.", "", "Someone is having a meal, isn't he?", "北京 is the capital of China.",
    "The [MASK] of the river", "a " * 90, "Zürich 😀",
]  # fmt: skip


@pytest.fixture(scope="module")
def ours() -> Encoder:
    loaded: Encoder = regard.load(minilm())
    return loaded


@pytest.fixture(scope="module")
def theirs() -> Any:
    return sentences(minilm())


def sentences(directory: Path) -> Any:
    """The model as sentence-transformers loads it."""
    package = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    return package.SentenceTransformer(str(directory), device="cpu", local_files_only=True)


def test_the_states_of_every_layer_are_those_of_transformers(ours: Encoder) -> None:
    model = transformers.AutoModel.from_pretrained(minilm()).eval()
    reads = transformers.AutoTokenizer.from_pretrained(minilm())
    for sides in (("The bank of the river.",), ("",), ("Where is it?", "On the bank, über 北京.")):
        given = reads(*sides, return_tensors="pt", padding=False)
        with torch.inference_mode():
            wanted = model(**given, output_hidden_states=True).hidden_states
        assert len(wanted) == 7
        for layer, states in enumerate(wanted):
            np.testing.assert_allclose(ours.hidden(*sides, layer=layer), states[0].numpy(), atol=1e-5)


def test_vectors_are_those_of_sentence_transformers(ours: Encoder, theirs: Any) -> None:
    found = ours.embed(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, theirs.encode(TEXTS), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_each_pooling_is_theirs(pooling: str, ours: Encoder, theirs: Any) -> None:
    pool = theirs[1]
    before = pool.pooling_mode
    pool.pooling_mode = pooling
    try:
        wanted = theirs.encode(TEXTS)
    finally:
        pool.pooling_mode = before
    np.testing.assert_allclose(ours.embed(TEXTS, pooling=pooling), wanted, atol=1e-5)


def test_a_long_text_is_refused_or_cut_as_they_do(ours: Encoder, theirs: Any) -> None:
    long = "word " * 300
    assert ours.embedding.limit == 256
    with pytest.raises(LimitError, match=r"Text 2 is longer .*\n.*302 tokens\n.*at most 256, .*\n.*--truncate"):
        ours.embed(["short", long])
    np.testing.assert_allclose(ours.embed([long], truncate=True), theirs.encode([long]), atol=1e-5)


def test_what_sentence_transformers_saves_again_is_loaded_with_its_new_limit(theirs: Any, tmp_path: Path) -> None:
    before = theirs.max_seq_length
    theirs.max_seq_length = 20
    try:
        theirs.save(str(tmp_path / "again"))
        wanted = theirs.encode(TEXTS)
    finally:
        theirs.max_seq_length = before
    again = regard.load(tmp_path / "again")
    assert again.embedding.limit == 20
    np.testing.assert_allclose(again.embed(TEXTS, truncate=True), wanted, atol=1e-5)


@pytest.mark.parametrize("old", [False, True])
def test_other_poolings_and_prompts_of_a_directory_are_heeded(old: bool, tmp_path: Path) -> None:
    other = shutil.copytree(minilm(), tmp_path / "other")
    config = json.loads((other / "1_Pooling" / "config.json").read_text())
    flags = {**config, "pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}
    named = {"embedding_dimension": 384, "pooling_mode": "cls", "include_prompt": True}
    (other / "1_Pooling" / "config.json").write_text(json.dumps(flags if old else named))
    modules = json.loads((other / "modules.json").read_text())
    (other / "modules.json").write_text(json.dumps(modules[:2]))
    prompts = {"prompts": {"ask": "query: "}, "default_prompt_name": "ask"}
    (other / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    loaded = regard.load(other)
    assert (loaded.embedding.pooling, loaded.embedding.normalize, loaded.embedding.prefix) == ("cls", False, "query: ")
    np.testing.assert_allclose(loaded.embed(TEXTS), sentences(other).encode(TEXTS), atol=1e-5)


def test_modules_that_would_change_the_vectors_are_refused(tmp_path: Path) -> None:
    other = shutil.copytree(minilm(), tmp_path / "other")
    modules = json.loads((other / "modules.json").read_text())
    dense = {"idx": 3, "name": "3", "path": "3_Dense", "type": "sentence_transformers.models.Dense"}
    (other / "modules.json").write_text(json.dumps([*modules, dense]))
    with pytest.raises(BundleError, match=r"not known here.\n  found: the module Dense"):
        regard.load(other)
    (other / "modules.json").write_text('{"a": 1}')
    with pytest.raises(BundleError, match=r"modules.json is damaged"):
        regard.load(other)
    (other / "modules.json").write_text(json.dumps(modules))
    (other / "1_Pooling" / "config.json").write_text('{"pooling_mode": "lasttoken"}')
    with pytest.raises(BundleError, match="found: pooling 'lasttoken'"):
        regard.load(other)


def test_a_transformer_in_a_part_of_its_own_is_found(tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(minilm(), other / "0_Transformer", ignore=shutil.ignore_patterns("modules.json", "1_Pooling"))
    shutil.copytree(minilm() / "1_Pooling", other / "1_Pooling")
    modules = json.loads((minilm() / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    (other / "modules.json").write_text(json.dumps(modules))
    loaded = regard.load(other)
    assert loaded.embedding.limit == 256
    np.testing.assert_array_equal(loaded.embed(TEXTS[:2]), regard.load(minilm()).embed(TEXTS[:2]))


def stsb() -> tuple[list[str], list[str], list[float]]:
    (path,) = shared("sts-b", "val.tsv.gz")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [row[0] for row in rows], [row[1] for row in rows], [float(row[2]) for row in rows]


@pytest.mark.slow
def test_similarity_of_sentences_is_judged_as_with_sentence_transformers(ours: Encoder, theirs: Any) -> None:
    firsts, seconds, gold = stsb()
    found = score_similarity(ours, firsts, seconds, gold)
    vectors = theirs.encode([*firsts, *seconds])
    likeness = cosines(vectors[: len(firsts)], vectors[len(firsts) :])
    stats = pytest.importorskip("scipy.stats")
    assert found["pairs"] == 1500
    assert found["spearman"] == pytest.approx(float(stats.spearmanr(likeness, gold).statistic), abs=1e-4)
    assert spearman(likeness, np.array(gold)) == pytest.approx(float(stats.spearmanr(likeness, gold).statistic))
