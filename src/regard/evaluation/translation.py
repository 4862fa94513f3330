"""How good are the translations: while training on the validation set, and for a finished model on any data."""

from typing import Any

import numpy as np
import torch
from torch import nn

from regard.data.batches import group_by_length
from regard.data.readers import ParallelText, read_pairs
from regard.evaluation.scores import score
from regard.tasks.translation import EncodedPairs, PairFiles, TranslationTask, cross_entropy
from regard.tasks.translator import Search, Translator


def validate(task: TranslationTask, model: nn.Module, *, sentences: int) -> dict[str, Any]:
    """Loss per target token (not smoothed) on the whole validation set, BLEU and chrF of greedy translations of its
    first sentences. Nothing if the run has no validation set."""
    if task.val_text is None:
        return {}
    langs = task.config.data.langs
    sources, references = task.val_text.sources[:sentences], task.val_text.targets[:sentences]
    outputs = Translator(model, task.tokenizers, langs=langs).translate(sources, beam=1, truncate=True)
    scores = score(outputs, references, language=langs[1])
    return {
        "loss": loss_per_token(model, task),
        "bleu": scores.bleu,
        "chrf": scores.chrf,
        "exact": scores.exact,
        "signature": scores.bleu_signature,
        "example": {"source": sources[0], "output": outputs[0], "reference": references[0]},
    }


def evaluate(translator: Translator, files: PairFiles, search: Search = Search()) -> dict[str, dict[str, Any]]:  # noqa: B008
    """The figures of a finished model on the validation and the test set."""
    figures = {}
    for split, paths in (("val", files.val), ("test", files.test)):
        if paths:
            text = read_pairs(paths, langs=files.langs if all(files.langs) else None, bad_rows=files.bad_rows)
            _, figures[split] = translate_and_score(translator, text, search)
    return figures


def translate_and_score(translator: Translator, text: ParallelText, search: Search) -> tuple[list[str], dict[str, Any]]:
    """The best translations, and their BLEU (also lower-cased), chrF and exact match with sacreBLEU's signature."""
    outputs = [found[0].text for found in translator.translations(text.sources, search)]
    scores = score(outputs, text.targets, language=translator.langs[1])
    lower = score(outputs, text.targets, language=translator.langs[1], lowercase=True)
    return outputs, {
        "bleu": scores.bleu,
        "bleu_lowercase": lower.bleu,
        "chrf": scores.chrf,
        "exact": scores.exact,
        "sentences": scores.sentences,
        "beam": search.beam,
        "signature": scores.bleu_signature,
        "chrf_signature": scores.chrf_signature,
    }


@torch.inference_mode()
def loss_per_token(model: nn.Module, task: TranslationTask) -> float:
    """Cross-entropy per target token on the validation set, the too long pairs left out."""
    assert task.val_text is not None
    pairs = EncodedPairs.encode(task.val_text.sources, task.val_text.targets, task.tokenizers)
    config: Any = model.config
    rows = np.flatnonzero(pairs.lengths.max(axis=1) <= config.limit)
    total, count = 0.0, 0
    model.eval()
    device = next(model.parameters()).device
    for group in group_by_length(pairs.lengths[rows], 4096, np.arange(len(rows))):
        summed, tokens = cross_entropy(model, pairs.batch(rows[group], task.tokenizers).to(device))
        total, count = total + float(summed), count + tokens
    return total / max(1, count)
