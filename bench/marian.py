"""Hugging Face's part in bench/training.py: a MarianMTModel of our sizes, and the loop that its users write by hand."""

from importlib.metadata import version
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from turns import Facts, Given, Setup, play


def build(setup: Setup) -> Any:
    """Embeddings shared and tied, positions sinusoidal, as Marian has them."""
    ours: dict[str, Any] = setup.config["model"]
    both = {"attention_heads": ours["heads"], "ffn_dim": ours["hidden"]}
    return MarianMTModel(
        MarianConfig(
            **{f"{side}_{key}": size for side in ("encoder", "decoder") for key, size in both.items()},
            vocab_size=setup.target_vocabulary,
            d_model=ours["width"],
            encoder_layers=ours["encoder_layers"],
            decoder_layers=ours["decoder_layers"],
            dropout=ours["dropout"],
            attention_dropout=ours["attention_dropout"],
            activation_dropout=ours["activation_dropout"],
            activation_function=ours["activation"],
            max_position_embeddings=ours["limit"],
            scale_embedding=True,
            pad_token_id=setup.marks["pad"],
            eos_token_id=setup.marks["eos"],
            forced_eos_token_id=setup.marks["eos"],
            decoder_start_token_id=setup.marks["bos"],
            attn_implementation="sdpa",
        )
    )


class Marian:
    """A Player (see turns.py)."""

    elsewhere = 0.0

    def __init__(self, setup: Setup) -> None:
        training = setup.config["training"]
        self.parts: dict[str, float] = {}
        self.model = build(setup).train()
        self.parameters = [p for p in self.model.parameters() if p.requires_grad]
        self.facts = Facts(f"transformers {version('transformers')}", sum(p.numel() for p in self.parameters))
        self.smoothing, self.clip = setup.config["loss"]["label_smoothing"], training["clip"]
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=training["learning_rate"], betas=tuple(training["betas"]), fused=setup.favours
        )

    def prepare(self, given: Given) -> dict[str, Tensor]:
        """No mask for the target's padding: it stands on the right, look-ahead hides it, in ours too."""
        source, target = torch.from_numpy(given.source), torch.from_numpy(given.target)
        lengths, wanted = torch.from_numpy(given.source_lengths)[:, None], target[:, 1:]
        padding = torch.arange(wanted.shape[1]) >= torch.from_numpy(given.target_lengths)[:, None] - 1
        return {
            "input_ids": source,
            "attention_mask": (torch.arange(source.shape[1]) < lengths).long(),
            "decoder_input_ids": target[:, :-1],
            "labels": wanted.masked_fill(padding, -100),
        }

    def update(self, batch: dict[str, Tensor]) -> float:
        inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
        logits = self.model(**inputs, use_cache=False).logits
        loss = F.cross_entropy(
            logits.flatten(0, 1), batch["labels"].flatten(), label_smoothing=self.smoothing, ignore_index=-100
        )
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        return float(loss.detach())


if __name__ == "__main__":
    play(Marian)
