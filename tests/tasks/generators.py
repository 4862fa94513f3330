"""Language models small enough for a test: transformers' GPT-2, and ours with its weights and a tokenizer."""

from typing import Any

import torch
import transformers

from regard.models.gpt2 import GPT2, GPT2Config
from regard.models.pretrained.gpt2 import read_gpt2
from regard.tasks.generator import Generator
from regard.tasks.texts import OneTokenizer
from regard.text import Tokenizer
from regard.text.byte_bpe import train_byte_bpe
from regard.text.characters import character_tokenizer
from tests.models.test_gpt2_generation import lively
from tests.text.corpus import TEXTS

LIMIT = 80
LETTERS = "abcdefghijklmno"


def bytes_of_text() -> Tokenizer:
    """It cuts Chinese characters and emoji into bytes."""
    return train_byte_bpe(TEXTS, 290)


def pair(seed: int, *, limit: int = LIMIT, rows: int = 0) -> tuple[Any, Generator]:
    """Theirs and ours with its weights, in double precision. rows: those that the model has and the tokenizer not."""
    tokenizer = bytes_of_text()
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer) + rows, n_positions=limit, n_embd=24, n_layer=3, n_head=3, n_inner=40,
        bos_token_id=tokenizer.end, eos_token_id=tokenizer.end,
    )  # fmt: skip
    torch.manual_seed(seed)
    theirs = transformers.GPT2LMHeadModel(config).eval()
    for name, parameter in theirs.named_parameters():
        lively(name, parameter)
    ours = read_gpt2(config.to_dict(), theirs.state_dict(), where="a test").model
    return theirs.double(), Generator(ours.double(), OneTokenizer(tokenizer), name="small")


def letters(*, seed: int = 0, limit: int = 16, peaked: float = 12.0) -> Generator:
    """One that knows fifteen letters. peaked: how strong its opinions are."""
    tokenizer = character_tokenizer([LETTERS])
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {"width": 12, "heads": 3, "hidden": 20, "layers": 2, "limit": limit}
    model = GPT2(GPT2Config.parse(sizes), vocabulary=len(tokenizer)).double()
    with torch.no_grad():
        model.words.weight *= peaked
        model.positions.weight *= peaked
    return Generator(model, OneTokenizer(tokenizer), name="letters")


def logits(theirs: Any, ids: list[int]) -> torch.Tensor:
    """Theirs, for the token after some."""
    with torch.inference_mode():
        found: torch.Tensor = theirs(torch.tensor([ids])).logits[0, -1]
        return found
