"""A network of Hugging Face as a stepper: their generate and our searches can be given the same one."""

from typing import Any

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from tests.oracles import shake

WORDS, END, PAD = 23, 2, 0


class Foreign:
    """Reads everything again at each step. The state is what was read; there is no source."""

    def __init__(self, network: GPT2LMHeadModel, *, logits: bool) -> None:
        self.network, self.logits = network, logits

    def start(self, source: None, prefix: Tensor) -> Tensor:
        return prefix

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        state = torch.cat((state, tokens[:, None]), dim=1)
        logits = self.network(state, attention_mask=torch.ones_like(state), use_cache=False).logits[:, -1]
        return logits if self.logits else logits.log_softmax(-1), state

    def reorder(self, state: Tensor, rows: Tensor) -> Tensor:
        return state[rows]


def network(seed: int) -> GPT2LMHeadModel:
    """In float64, so that near-ties do not decide; with opinions strong enough to repeat itself."""
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=WORDS, n_positions=64, n_embd=12, n_layer=2, n_head=3,
        bos_token_id=1, eos_token_id=END, pad_token_id=PAD,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    shake(model, seed=seed + 1)
    model.lm_head.weight.data *= 2.5
    return model.double().eval()


def generated(model: GPT2LMHeadModel, prompts: Tensor, end: int, **options: Any) -> list[tuple[int, ...]]:
    """By their generate, without what follows the end mark."""
    with torch.inference_mode():
        rows = model.generate(
            prompts, attention_mask=torch.ones_like(prompts), do_sample=False,
            pad_token_id=PAD, eos_token_id=end, **options,
        )  # fmt: skip
    made = [row[prompts.shape[1] :] for row in rows.tolist()]
    return [tuple(row[: row.index(end)] if end in row else row) for row in made]
