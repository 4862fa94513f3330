"""regard export: what transformers and sentence-transformers load gives what ours gave."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import regard
from regard.errors import BundleError
from regard.models.bert import BertClassifier, BertConfig
from regard.models.pretrained.export import export_hf
from regard.tasks.classifier import Classifier
from regard.tasks.labels import LabelledTokenizer
from regard.text import TokenizerConfig, train_tokenizer
from tests.cli.test_embed import run, told
from tests.models.pretrained.checkpoints import TEXTS, batch, minilm, theirs, write
from tests.models.pretrained.test_gpt2 import random as random_gpt2
from tests.runs import run_tiny, run_tree
from tests.tasks import test_lm
from tests.tasks.test_masked_lm import tree_of
from tests.text.corpus import TEXTS as CORPUS
from tests.text.test_gpt2_files import NASTY
from tests.text.test_gpt2_files import write as write_tokenizer

ARCHITECTURES = ["BertModel", "BertForPreTraining", "BertForMaskedLM", "BertForSequenceClassification"]


def exported(model: Path, out: Path) -> Path:
    done = run("export", model, "--to", "hf", "--out", out)
    assert done.exit_code == 0, done.exception
    return out


def loaded(directory: Path, architecture: str) -> Any:
    """The model in transformers; nothing may be missing, left over or of another size."""
    model, report = getattr(transformers, architecture).from_pretrained(directory, output_loading_info=True)
    assert not any(report.values()), report
    return model.eval()


@pytest.mark.parametrize("activation", ["gelu", "relu", "gelu_new"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_model_of_others_comes_back_as_it_was(architecture: str, activation: str, tmp_path: Path) -> None:
    labels = {"num_labels": 3, "id2label": {0: "a", 1: "b", 2: "ü"}} if "Classification" in architecture else {}
    model = theirs(architecture, hidden_act=activation, **labels)
    first = write(tmp_path / "theirs", model)
    out = exported(first, tmp_path / "ours")
    again = loaded(out, architecture)
    assert again.config.architectures == [architecture]
    assert {**again.state_dict()}.keys() == {**model.state_dict()}.keys()
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name
    assert batch(out)["input_ids"].tolist() == batch(first)["input_ids"].tolist()
    with torch.inference_mode():
        for mine, their in zip(again(**batch(out)).to_tuple(), model(**batch(first)).to_tuple(), strict=True):
            assert torch.equal(mine, their)
    if labels:
        assert again.config.id2label == labels["id2label"]
        assert regard.load(out).labels == ("a", "b", "ü")


@pytest.mark.parametrize("activation", ["gelu", "relu", "gelu-tanh"])
def test_a_pretrained_model_of_ours_gives_the_same_scores_there(activation: str, tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    tree["model"]["activation"] = activation
    run_tree(tree, tmp_path / "run")
    ours = regard.load(tmp_path / "run")
    out = exported(tmp_path / "run", tmp_path / "out")
    model = loaded(out, "BertForPreTraining")
    given = transformers.AutoTokenizer.from_pretrained(out)(
        ["the cat is in the house .", "a dog"], ["a cat sees", "the river ."], padding=True, return_tensors="pt"
    )
    lengths, real = given["attention_mask"].sum(1), given["attention_mask"].bool()
    with torch.inference_mode():
        hidden = ours.model.bert(given["input_ids"], lengths, given["token_type_ids"])
        guessed, follows = ours.model.output(ours.model.guesses(hidden)), ours.model.next_sentence(hidden)
        wanted = model(**given)
    torch.testing.assert_close(guessed[real], wanted.prediction_logits[real], atol=1e-5, rtol=0)
    torch.testing.assert_close(follows, wanted.seq_relationship_logits, atol=1e-5, rtol=0)
    again = regard.load(out)
    assert again.fill("the [MASK] is in the house .") == ours.fill("the [MASK] is in the house .")
    np.testing.assert_array_equal(again.embed(["a cat", ""]), ours.embed(["a cat", ""]))
    loaded_as = {kind: loaded_with_leftovers(out, kind) for kind in ("BertModel", "BertForMaskedLM")}
    with torch.inference_mode():
        states = loaded_as["BertModel"](**given).last_hidden_state
        words = loaded_as["BertForMaskedLM"](**given).logits
    torch.testing.assert_close(states[real], hidden[real], atol=1e-5, rtol=0)
    torch.testing.assert_close(words[real], wanted.prediction_logits[real], atol=1e-5, rtol=0)


def loaded_with_leftovers(directory: Path, architecture: str) -> Any:
    """A smaller model than the one that was written: it finds all that it needs."""
    model, report = getattr(transformers, architecture).from_pretrained(directory, output_loading_info=True)
    assert not report["missing_keys"], report
    return model.eval()


def test_what_was_never_learned_is_not_written(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    tree["masking"]["next_sentence"] = False
    run_tree(tree, tmp_path / "run")
    out = exported(tmp_path / "run", tmp_path / "out")
    assert loaded(out, "BertForMaskedLM").config.architectures == ["BertForMaskedLM"]
    assert regard.load(out).parts == ("masked words",)


@pytest.mark.parametrize("kind", ["wordpiece", "bpe"])
def test_a_classifier_of_ours_gives_the_same_scores_there(kind: str, tmp_path: Path) -> None:
    tokenizer = train_tokenizer(CORPUS, TokenizerConfig(kind=kind, size=400))
    torch.manual_seed(1)
    config = BertConfig(width=24, heads=3, hidden=40, layers=2, limit=30)
    network = BertClassifier(config, vocabulary=len(tokenizer), labels=3)
    ours = Classifier(network, LabelledTokenizer(tokenizer, ("no", "yes", "猫"), sides=2))
    assert export_hf(ours, tmp_path / "out") == "BertForSequenceClassification"
    model = loaded(tmp_path / "out", "BertForSequenceClassification")
    reads = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    pairs = [("The lion saw", "the zebra."), ("那只斑马", "a cat"), ("", "")]
    given = reads(*map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt")
    with torch.inference_mode():
        wanted = model(**given).logits.softmax(-1)
    found = [[*said.probabilities.values()] for said in ours.classify(pairs)]
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-5)
    assert model.config.id2label == {0: "no", 1: "yes", 2: "猫"}


def test_vectors_are_the_same_in_sentence_transformers(tmp_path: Path) -> None:
    package = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    model = regard.load(write(tmp_path / "theirs", theirs("BertForPreTraining")))
    for pooling, normalize, prefix in (("mean", False, ""), ("cls", True, "the "), ("max", False, "")):
        how = {"pooling": pooling, "normalize": normalize, "prefix": prefix, "limit": 9}
        model.embedding = model.embedding.model_copy(update=how)
        out = tmp_path / pooling
        export_hf(model, out)
        encodes = package.SentenceTransformer(str(out), device="cpu", local_files_only=True)
        texts = [*TEXTS, "the cat " * 20]
        wanted = model.embed(texts, truncate=True)
        np.testing.assert_allclose(encodes.encode(texts), wanted, atol=1e-5)
        np.testing.assert_array_equal(regard.load(out).embed(texts, truncate=True), wanted)


def test_minilm_goes_through_us_unchanged(tmp_path: Path) -> None:
    package = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    out = exported(minilm(), tmp_path / "out")
    texts = ["A man is eating.", "", "北京 é", "word " * 300]
    encode = [package.SentenceTransformer(str(path), device="cpu", local_files_only=True) for path in (minilm(), out)]
    np.testing.assert_array_equal(encode[0].encode(texts), encode[1].encode(texts))


def test_mistakes_are_told(tmp_path: Path) -> None:
    model = write(tmp_path / "bert", theirs("BertModel"))
    assert "There is no format 'hff' to export to" in told("export", model, "--to", "hff", "--out", tmp_path / "x")
    assert "bert is not empty" in told("export", model, "--out", model)
    run_tiny(tmp_path, tmp_path / "translator")
    said = told("export", tmp_path / "translator", "--out", tmp_path / "x")
    assert "no form in transformers" in said
    assert "found: Transformer" in said
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("kind", ["byte-bpe", "character"])
def test_a_language_model_of_ours_gives_the_same_scores_there(kind: str, tmp_path: Path) -> None:
    tree = {**test_lm.tree_of(tmp_path), "tokenizer": {"kind": kind, "size": 300}}
    run_tree(tree, tmp_path / "run")
    ours, out = regard.load(tmp_path / "run"), exported(tmp_path / "run", tmp_path / "out")
    model, again = loaded(out, "GPT2LMHeadModel"), regard.load(out)
    text = "The cat is in the house.\nThe dog"
    given = transformers.AutoTokenizer.from_pretrained(out)(text, return_tensors="pt")["input_ids"]
    assert given[0].tolist() == ours.tokenizer.encode(text) == again.tokenizer.encode(text)
    with torch.inference_mode():
        found, same = (which.model.output(which.model(given[:, :32])) for which in (ours, again))
        wanted = model(given[:, :32]).logits
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=0)
    torch.testing.assert_close(same, found, atol=1e-6, rtol=0)
    assert again.tokenizer.end == model.config.eos_token_id == ours.tokenizer.end


def test_a_language_model_of_others_comes_back_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    tokenizer = transformers.GPT2TokenizerFast.from_pretrained(write_tokenizer(tmp_path / "theirs"))
    marks = dict.fromkeys(("bos_token_id", "eos_token_id"), len(tokenizer) - 1)
    first = random_gpt2(vocab_size=len(tokenizer), **marks)
    first.save_pretrained(tmp_path / "theirs")
    again = loaded(exported(tmp_path / "theirs", tmp_path / "ours"), "GPT2LMHeadModel")
    for name, tensor in first.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name
    here = transformers.AutoTokenizer.from_pretrained(tmp_path / "ours")
    assert here(NASTY)["input_ids"] == tokenizer(NASTY)["input_ids"]


def test_a_tokenizer_that_does_not_belong_to_its_language_model_is_refused(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    random_gpt2().save_pretrained(tmp_path)  # it has 50 rows
    with pytest.raises(BundleError, match="does not belong to its model.\n  found: a token with the number"):
        regard.load(tmp_path)
