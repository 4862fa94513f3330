"""What GPT-2 writes is what transformers' GPT-2 writes, with the same weights, in double precision."""

from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from regard.decoding import Request, beam, greedy
from regard.models.gpt2 import GPT2
from regard.models.pretrained.gpt2 import read_gpt2
from tests.models.gpt2s import before

WORDS, END, LENGTH, SIZE = 41, 40, 50, 4
PROMPTS = [[7, 3, 11, 2, 9, 30], [4], [1, 2, 3], [33, 8]]


def pair(seed: int) -> tuple[Any, GPT2]:
    """Theirs, and ours with its weights, in double precision."""
    config = transformers.GPT2Config(
        vocab_size=WORDS, n_positions=80, n_embd=24, n_layer=3, n_head=3, n_inner=40, bos_token_id=END, eos_token_id=END
    )
    torch.manual_seed(seed)
    theirs = transformers.GPT2LMHeadModel(config).eval()
    for name, parameter in theirs.named_parameters():
        lively(name, parameter)
    ours = read_gpt2(config.to_dict(), theirs.state_dict(), where="a test").model
    return theirs.double(), ours.double()


@torch.no_grad()
def lively(name: str, parameter: Tensor) -> None:
    """Such that texts are neither one word again and again nor over at once."""
    spread = {"transformer.wte.weight": 0.3, "transformer.wpe.weight": 1.0}.get(name, 0.5)
    if parameter.dim() == 1:
        parameter += 0.1 * torch.randn_like(parameter)
    else:
        parameter.normal_(std=spread)


def generated(theirs: Any, tokens: Tensor, padding: Tensor, **how: Any) -> list[tuple[int, ...]]:
    """Their continuations without the end mark."""
    mask = (torch.arange(tokens.shape[1]) >= padding[:, None]).long()
    with torch.inference_mode():
        rows = theirs.generate(
            tokens, attention_mask=mask, do_sample=False, max_new_tokens=LENGTH, pad_token_id=END, **how
        )
    made = [row[tokens.shape[1] :].tolist() for row in rows]
    return [tuple(row[: row.index(END)] if END in row else row) for row in made]


def request(tokens: Tensor, padding: Tensor) -> Request:
    return Request(padding, tokens, END, torch.full((len(tokens),), LENGTH))


@pytest.mark.parametrize("seed", range(3))
def test_greedy_text_is_theirs_over_fifty_tokens(seed: int) -> None:
    theirs, ours = pair(seed)
    tokens, padding = before(PROMPTS, filler=END)
    found = [one.tokens for one in greedy(ours, request(tokens, padding))]
    assert found == generated(theirs, tokens, padding)
    assert max(len(set(text)) for text in found) > 8
    for prompt, text in zip(PROMPTS[:2], found, strict=False):
        assert generated(theirs, torch.tensor([prompt]), torch.tensor([0])) == [text]


ENDING, ENDLESS = (1, 12), (2, 14)
"""Seeds by which all texts of both end before the limit, and by which none does."""


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seed", [*ENDING, *ENDLESS])
def test_beams_are_theirs(seed: int, penalty: float) -> None:
    """Where some end and others are cut off by the limit, ours takes those that have ended first; theirs lets all
    compete by their scores. Here all are of one kind."""
    theirs, ours = pair(seed)
    tokens, padding = before(PROMPTS, filler=END)
    found = beam(ours, request(tokens, padding), size=SIZE, nbest=SIZE, penalty=penalty)
    wanted = generated(
        theirs,
        tokens,
        padding,
        num_beams=SIZE,
        num_return_sequences=SIZE,
        early_stopping="never",
        length_penalty=penalty,
    )
    assert {one.finished for hypotheses in found for one in hypotheses} == {seed in ENDING}
    assert {len(text) < LENGTH for text in wanted} == {seed in ENDING}
    assert [one.tokens for hypotheses in found for one in hypotheses] == wanted
