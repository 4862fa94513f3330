"""Marian directories for the tests, as transformers writes them: small random models, spellings that SentencePiece has
learned."""

import io
import json
import random
import warnings
from collections.abc import Iterable
from functools import cache
from itertools import islice
from math import sqrt
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers

from tests.text.corpus import CHINESE, ENGLISH, GERMAN

SIZES = {
    "d_model": 24, "encoder_attention_heads": 3, "decoder_attention_heads": 3,
    "encoder_ffn_dim": 40, "decoder_ffn_dim": 40, "encoder_layers": 2, "decoder_layers": 3,
    "max_position_embeddings": 64, "activation_function": "swish", "scale_embedding": True,
}  # fmt: skip
OPUS = {
    "d_model": 512, "encoder_attention_heads": 8, "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "encoder_layers": 6, "decoder_layers": 6,
    "max_position_embeddings": 512, "activation_function": "swish", "scale_embedding": True,
}  # fmt: skip
OPUS_SIZE = 58101
"""Numbers of its vocabulary; 65001 and others are found, too."""
CODES = [">>cmn_Hans<<", ">>deu<<"]
SPREAD = {"shared": 0.3, "embed_tokens": 0.3, "lm_head": 0.3, "v_proj": 0.1, "out_proj": 0.1}
LENGTH = 24
"""Most tokens that are generated, the first mark included: no more than ours would take for the shortest sentence."""


def sentences(count: int, seed: int = 0) -> list[str]:
    """English sentences of different lengths."""
    draw = random.Random(seed)
    words = " ".join(ENGLISH).split()
    return [" ".join(draw.sample(words, draw.randint(1, 9))) + "." for _ in range(count)]


@cache
def learned(which: str, kind: str = "unigram", **options: Any) -> bytes:
    """A SentencePiece model of the English or of the other sentences."""
    texts = {"source": ENGLISH, "target": [*CHINESE, *GERMAN]}[which]
    return learn(texts, model_type=kind, **options)


def learn(texts: Iterable[str], **options: Any) -> bytes:
    made = io.BytesIO()
    usual = {"vocab_size": 120, "hard_vocab_limit": False, "character_coverage": 1.0, "num_threads": 1}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_writer=made, minloglevel=2, **(usual | options)
    )
    return made.getvalue()


def pieces(model: bytes) -> list[str]:
    """All but its marks."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [str(processor.id_to_piece(id)) for id in range(3, processor.get_piece_size())]


def numbered(tokens: Iterable[str], size: int = 0) -> dict[str, int]:
    """As in OPUS-MT: the end first, then what is unknown, the padding last. size: what it is filled up to."""
    known = list(dict.fromkeys(["</s>", "<unk>", *tokens]))
    filled = [*known, *(f"<filler {number}>" for number in range(len(known) + 1, size)), "<pad>"]
    return {token: id for id, token in enumerate(filled)}


def write_spelling(
    directory: Path, kind: str = "unigram", *, separate: bool = False, leave_out: int = 0, size: int = 0, **options: Any
) -> Any:
    """source.spm, target.spm and vocab.json; gives transformers' tokenizer of them. leave_out: every so many-th piece
    has no number; size: how many numbers there are at least."""
    directory.mkdir(parents=True, exist_ok=True)
    source, target = (learned(side, kind, **options) for side in ("source", "target"))
    (directory / "source.spm").write_bytes(source)
    (directory / "target.spm").write_bytes(target)
    sides = [[*pieces(source)], [*pieces(target)]] if separate else [[*pieces(source), *pieces(target), *CODES]]
    size = 3 + max(map(len, sides)) if separate else size  # transformers knows one number for the padding of both
    for name, tokens in zip(("vocab.json", "target_vocab.json"), sides, strict=False):
        lost = set(islice(tokens, 5, None, leave_out)) if leave_out else set()
        vocabulary = numbered([token for token in tokens if token not in lost], size)
        (directory / name).write_text(json.dumps(vocabulary), encoding="utf-8")
    settings = {"source_lang": "en", "target_lang": "zh", "separate_vocabs": separate, "model_max_length": 512}
    (directory / "tokenizer_config.json").write_text(json.dumps(settings))
    return tokenizer(directory)


def tokenizer(directory: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends a package that it never uses
        return transformers.MarianTokenizer.from_pretrained(directory)


def config(spells: Any, **settings: Any) -> Any:
    """That of a model for these tokenizers."""
    pad, end = spells.pad_token_id, spells.eos_token_id
    target = len(spells.target_encoder) if spells.separate_vocabs else len(spells.encoder)
    return transformers.MarianConfig(
        **{
            **SIZES, "vocab_size": len(spells.encoder), "decoder_vocab_size": target, "pad_token_id": pad,
            "decoder_start_token_id": pad, "eos_token_id": end, "forced_eos_token_id": end,
            "share_encoder_decoder_embeddings": not spells.separate_vocabs, **settings,
        }
    )  # fmt: skip


def marian(spells: Any, seed: int = 0, **settings: Any) -> Any:
    """A random model whose translations are neither one word again and again nor all over at once."""
    torch.manual_seed(seed)
    model = transformers.MarianMTModel(config(spells, **settings)).eval()
    lively(model, spells.eos_token_id, seed)
    pad, end = spells.pad_token_id, spells.eos_token_id
    asked = {"num_beams": 4, "max_length": LENGTH, "bad_words_ids": [[pad]], "forced_eos_token_id": end}
    marks = {"pad_token_id": pad, "eos_token_id": end, "decoder_start_token_id": pad}
    model.generation_config = transformers.GenerationConfig(**asked, **marks)
    return model


@torch.no_grad()
def lively(model: Any, end: int, seed: int) -> None:
    """What a word brings outweighs what all words of the sentence bring together."""
    draw = torch.Generator().manual_seed(seed)
    narrow = sqrt(24 / model.config.d_model)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=draw)
        if "embed_positions" in name:
            continue
        if parameter.dim() == 1:
            parameter += 0.1 * noise
        else:
            kind = next((kind for kind in SPREAD if kind in name), "")
            parameter.copy_(SPREAD.get(kind, 0.6) * narrow * noise)
    bias = model.final_logits_bias
    bias.copy_(0.3 * torch.randn(bias.shape, generator=draw))
    bias[0, end] += 2


def write(directory: Path, *, size: int = 0, **settings: Any) -> tuple[Any, Any]:
    """A whole directory; gives transformers' model and tokenizer. size: numbers of the vocabulary, at least."""
    spells = write_spelling(directory, size=size)
    model = marian(spells, **settings)
    model.save_pretrained(directory)
    return model, spells
