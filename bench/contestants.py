"""Who takes part in bench/training.py: our Transformer and transformers' Marian of the same sizes, a process each."""

import time
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard import bundle
from regard.data.batches import PairBatch
from regard.memory import keep_freed_memory
from regard.models.transformer import TransformerConfig
from regard.tasks.translation import TranslationTask
from regard.text import Tokenizer
from regard.training.loop import Trains, learner, steps
from regard.training.settings import RunConfig

SMOOTHING = 0.1


@dataclass(frozen=True)
class Contestant:
    name: str
    ours: bool
    keeps_memory: bool


@dataclass(frozen=True)
class Facts:
    """What a contestant is."""

    parameters: int
    vocabulary: int
    pairs: int


@dataclass(frozen=True)
class Turn:
    """What a contestant did in one round; `batches` tells batches apart, `loss` is that of the last update."""

    seconds: float
    cpu_seconds: float
    flops: float
    tokens: int
    batches: int
    loss: float


class MarianTask:
    """The same batches; the model is called, and the loss written, as users of transformers do."""

    def __init__(self, task: TranslationTask) -> None:
        self.batch, self.epoch, self.size = task.batch, task.epoch, task.size

    def counts(self, batch: PairBatch) -> dict[str, int]:
        return {"loss": 1}

    def losses(self, model: nn.Module, batch: PairBatch) -> dict[str, Tensor]:
        read, wanted = batch.target[:, :-1], batch.target[:, 1:]
        seen = (torch.arange(batch.source.shape[1]) < batch.source_lengths[:, None]).long()
        padding = torch.arange(wanted.shape[1]) >= (batch.target_lengths - 1)[:, None]
        labels = wanted.masked_fill(padding, -100)
        # no mask for the target's padding: it stands on the right, look-ahead hides it, in ours too
        logits = model(input_ids=batch.source, attention_mask=seen, decoder_input_ids=read, use_cache=False).logits
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=SMOOTHING, ignore_index=-100)
        return {"loss": loss}


def marian(config: TransformerConfig, marks: Tokenizer) -> nn.Module:
    """A MarianMTModel of the same sizes; embeddings shared and tied, positions sinusoidal, as Marian has them."""
    from transformers import MarianConfig, MarianMTModel

    both = {"attention_heads": config.heads, "ffn_dim": config.hidden}
    sizes = {f"{side}_{key}": size for side in ("encoder", "decoder") for key, size in both.items()}
    settings = MarianConfig(
        **sizes,
        vocab_size=len(marks),
        d_model=config.width,
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        dropout=config.dropout,
        attention_dropout=config.attention_dropout,
        activation_dropout=config.activation_dropout,
        activation_function=config.activation,
        max_position_embeddings=config.limit,
        scale_embedding=True,
        pad_token_id=marks.pad,
        eos_token_id=marks.end,
        forced_eos_token_id=marks.end,
        decoder_start_token_id=marks.start,
        attn_implementation="sdpa",
    )
    model: nn.Module = MarianMTModel(settings)
    return model


def useful_flops(batch: PairBatch, config: TransformerConfig, vocabulary: int) -> float:
    """Of the matrix products on real tokens, forward and backward: three times the forward, 6 for a weight and a token.

    A query is charged for the keys it may look at: T(T+1)/2 pairs in the decoder's self-attention, not T².
    """
    D, encoders, decoders = config.width, config.encoder_layers, config.decoder_layers
    feed_forward = 2 * D * config.hidden
    S, T = batch.source_lengths.double(), (batch.target_lengths - 1).double()
    on_source = encoders * (4 * D * D + feed_forward) + decoders * 2 * D * D  # the latter: memory's keys and values
    on_target = decoders * (6 * D * D + feed_forward) + vocabulary * D
    pairs = encoders * S * S + decoders * (T * (T + 1) / 2 + T * S)
    return float(6 * (on_source * S + on_target * T + 2 * D * pairs).sum())


def compete(who: Contestant, config: RunConfig, threads: int, link: Connection) -> None:
    """The process: sends its Facts, then for a number received makes that many updates and sends a Turn; 0 ends it."""
    torch.set_num_threads(threads)
    if who.keeps_memory:
        keep_freed_memory()
    settings: Any = config.settings
    shape: Any = config.model
    task = TranslationTask(settings, model=shape, seed=config.seed)
    marks = task.tokenizers.target
    torch.manual_seed(config.seed)
    model = bundle.build_model(config.tree(), task.tokenizers.model_sizes()) if who.ours else marian(shape, marks)
    training = config.training if who.ours else config.training.model_copy(update={"average": 0.0})
    learns = learner(model, training)
    trains: Trains = task if who.ours else MarianTask(task)
    updates = steps(learns, trains, training, seed=config.seed)
    parameters = sum(p.numel() for p in model.parameters() if p.requires_grad)
    link.send(Facts(parameters, len(marks), len(task.train_pairs)))
    while count := link.recv():
        batches = [task.batch(learns.updates + i) for i in range(count)]
        began, cpu_began = time.perf_counter(), time.process_time()
        done = list(islice(updates, count))
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        flops = sum(useful_flops(batch, shape, len(marks)) for batch in batches)
        tokens = sum(step.tokens for step in done)
        checksum = sum(int(batch.source.sum() + batch.target.sum()) for batch in batches)
        link.send(Turn(seconds, cpu_seconds, flops, tokens, checksum, done[-1].losses["loss"]))
