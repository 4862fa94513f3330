"""A classifier of others takes single texts or pairs, as transformers reads them; one can be begun with."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import regard
from regard.errors import DataError
from regard.tasks.classification import Examples
from tests.models.pretrained.checkpoints import VOCABULARY, theirs, write, write_words
from tests.runs import run_tree
from tests.tasks.test_classification import tree_of

PAIRS = [("the cat is in the house .", "a dog"), ("", "un 猫"), ("a river [MASK]", ""), ("the", "the bank, é")]


@pytest.fixture
def entails(tmp_path: Path) -> tuple[Any, Path]:
    names = {0: "yes", 1: "maybe", 2: "no"}
    model = theirs("BertForSequenceClassification", id2label=names, label2id={name: id for id, name in names.items()})
    return model, write(tmp_path / "nli", model)


def test_pairs_and_single_texts_have_the_scores_of_transformers(entails: tuple[Any, Path]) -> None:
    model, directory = entails
    reads, loaded = transformers.AutoTokenizer.from_pretrained(directory), regard.load(directory)
    singles: list[tuple[str, ...]] = [(first,) for first, _ in PAIRS]
    for rows in (PAIRS, singles):
        given = reads(*map(list, zip(*rows, strict=True)), padding=True, return_tensors="pt")
        with torch.inference_mode():
            wanted = model(**given).logits
        examples = Examples(rows, loaded.tokenizers.tokenizer)
        torch.testing.assert_close(loaded.scores(examples), wanted, atol=1e-5, rtol=0)
        shares = [[*said.probabilities.values()] for said in loaded.classify(rows)]
        np.testing.assert_allclose(shares, wanted.softmax(-1).numpy(), atol=1e-5)
    assert bool((segments_of(reads) == 1).any())


def segments_of(reads: Any) -> torch.Tensor:
    found: torch.Tensor = reads("the cat", "a dog", return_tensors="pt")["token_type_ids"]
    return found


def test_the_second_text_of_a_pair_is_not_the_end_of_the_first(entails: tuple[Any, Path]) -> None:
    loaded = regard.load(entails[1])
    pair, joined = (loaded.classify([row])[0].probability for row in (("the cat", "a dog"), "the cat [SEP] a dog"))
    assert pair != pytest.approx(joined, abs=1e-4)
    trace = loaded.attention("the cat", "a dog")
    assert [token.surface for token in trace.rows["text"].tokens if token.special] == ["[CLS]", "[SEP]", "[SEP]"]


def test_texts_and_pairs_are_not_classified_together(entails: tuple[Any, Path], tmp_path: Path) -> None:
    loaded = regard.load(entails[1])
    said = r"single texts or pairs of texts, all alike.\n  found: Text 2 has 1: 'a dog'\n  do this: give all as"
    with pytest.raises(DataError, match=said):
        loaded.classify([PAIRS[0], "a dog"])
    with pytest.raises(DataError, match=r"all alike.\n  found: Text 1 has 3"):
        loaded.classify([("a", "b", "c")])
    assert loaded.classify([]) == []
    alone = theirs("BertForSequenceClassification", num_labels=2, type_vocab_size=1)
    with pytest.raises(DataError, match="takes single texts"):
        regard.load(write(tmp_path / "alone", alone)).classify(PAIRS)


def test_a_vocabulary_with_gaps_is_begun_with(tmp_path: Path) -> None:
    """A line that vocab.txt repeats is an id without a token: the highest id is beyond the number of tokens."""
    place = write(tmp_path / "theirs", theirs("BertModel"))
    (place / "tokenizer.json").unlink()
    write_words(place, [*VOCABULARY[:-2], "the", "is", "cat"])
    tree = {key: value for key, value in tree_of(tmp_path).items() if key not in ("model", "tokenizer")}
    tree |= {"task": "classification", "init": str(place), "training": {"updates": 2, "warmup": 1}}
    tree["data"] |= {"too_long": "cut"}
    run_tree(tree, tmp_path / "out")
    loaded, pretrained = regard.load(tmp_path / "out"), regard.load(place)
    assert loaded.tokenizers.tokenizer.encode("the cat is") == pretrained.tokenizer.encode("the cat is")
    assert loaded.model.bert.words.num_embeddings == len(VOCABULARY) + 1
    assert pretrained.bert.words.num_embeddings == len(VOCABULARY) + 3
    assert loaded.classify(["the cat is"])[0].label in loaded.labels
