"""JoeyNMT's part in the benches: its Transformer, or its recurrent model with additive attention. Runs in
.venv-joeynmt.

Everything is JoeyNMT's own: build_model, Batch, the loss inside the model's forward, TrainManager's step (sorts the
batch, forward, loss, backward), clipper and optimiser; the order of the calls is that of train_and_validate.
"""

import logging
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from joeynmt.batch import Batch
from joeynmt.builders import build_gradient_clipper, build_optimizer
from joeynmt.model import Model, build_model
from joeynmt.training import TrainManager
from joeynmt.vocabulary import Vocabulary
from torch import Tensor

from turns import Facts, Given, Setup, play

MARKS = {"unk": 0, "pad": 1, "bos": 2, "eos": 3}  # where JoeyNMT's Vocabulary insists to have them


def vocabulary(size: int) -> Vocabulary:
    """That many words; they need no spelling here."""
    names = {f"{mark}_token": f"<{mark}>" for mark in MARKS}
    places = {f"{mark}_id": place for mark, place in MARKS.items()}
    words = [str(i) for i in range(size - len(MARKS))]
    return Vocabulary(words, SimpleNamespace(**names, **places, sep_token="", lang_tags=[]))


def build(setup: Setup) -> Model:
    """Its model of our sizes; for everything else its own defaults."""
    ours = setup.config["model"]
    config = transformer(ours) if ours["name"] == "transformer" else recurrent(ours)
    source = vocabulary(setup.source_vocabulary)
    model = build_model(config, source, source if setup.joint else vocabulary(setup.target_vocabulary))
    model.loss_function = ("crossentropy", setup.config["loss"]["label_smoothing"])
    return model


def recurrent(ours: dict[str, Any]) -> dict[str, Any]:
    cell = {"type": "recurrent", "rnn_type": "gru", "num_layers": 1, "hidden_size": ours["width"]}
    side = {**cell, "embeddings": {"embedding_dim": ours["embedding"]}}
    return {"encoder": {**side, "bidirectional": True}, "decoder": {**side, "attention": "bahdanau"}}


def transformer(ours: dict[str, Any]) -> dict[str, Any]:
    def side(layers: int) -> dict[str, Any]:
        return {
            "type": "transformer",
            "num_layers": layers,
            "num_heads": ours["heads"],
            "hidden_size": ours["width"],
            "ff_size": ours["hidden"],
            "dropout": ours["dropout"],
            "embeddings": {"embedding_dim": ours["width"], "scale": True, "dropout": ours["dropout"]},
        }

    sides = {"encoder": side(ours["encoder_layers"]), "decoder": side(ours["decoder_layers"])}
    return {**sides, "tied_embeddings": True, "tied_softmax": True}


class Joey:
    """A Player (see turns.py)."""

    elsewhere = 0.0

    def __init__(self, setup: Setup) -> None:
        training = setup.config["training"]
        self.parts: dict[str, float] = {}
        self.model = build(setup)
        parameters = list(self.model.parameters())
        self.facts = Facts(f"joeynmt {version('joeynmt')}", sum(p.numel() for p in parameters))
        self.clip = build_gradient_clipper({"clip_grad_norm": training["clip"], "clip_grad_val": None})
        if setup.favours:
            self.optimizer = torch.optim.Adam(parameters, lr=training["learning_rate"], fused=True)
        else:
            adam = {"optimizer": "adam", "learning_rate": training["learning_rate"]}
            self.optimizer = build_optimizer(adam, parameters)
        self.manager = SimpleNamespace(  # what the step asks of a TrainManager, which itself would want directories
            model=self.model,
            autocast={"device_type": "cpu", "enabled": False},
            args=SimpleNamespace(normalization="tokens", batch_multiplier=1),
            n_gpu=0,
            scaler=None,
        )
        self.renumbered = torch.arange(max(setup.source_vocabulary, setup.target_vocabulary))
        for mark, place in MARKS.items():
            self.renumbered[setup.marks[mark]] = place

    def prepare(self, given: Given) -> Batch:
        """The same sentences; only the four marks get other numbers."""
        return Batch(
            src=self._ids(given.source),
            src_length=torch.from_numpy(given.source_lengths),
            src_prompt_mask=None,
            trg=self._ids(given.target),
            trg_prompt_mask=None,
            indices=torch.arange(len(given.source)),
            device=torch.device("cpu"),
            pad_index=MARKS["pad"],
            eos_index=MARKS["eos"],
        )

    def update(self, batch: Batch) -> float:
        loss, _ = TrainManager._train_step(self.manager, batch)
        self.clip(parameters=self.model.parameters())
        self.optimizer.step()
        self.model.zero_grad()
        return loss

    def _ids(self, block: np.ndarray) -> Tensor:
        return self.renumbered[torch.from_numpy(block)]


if __name__ == "__main__":
    logging.disable(logging.INFO)
    play(Joey)
