"""How good are the translations: while training on the validation set, and for a finished model on any data."""

from typing import Any

from torch import nn

from regard.data.readers import ParallelText
from regard.evaluation import symptoms
from regard.evaluation.loss import fitting, held_out_loss
from regard.evaluation.scores import score
from regard.tasks.translation import TranslationTask
from regard.tasks.translator import Habits, Search, Translator


def validate(task: TranslationTask, model: nn.Module, *, sentences: int) -> dict[str, Any]:
    """Loss per target token (not smoothed) on the whole validation set, BLEU and chrF of greedy translations of its
    first sentences, and what may be wrong. "score" is what the best model is chosen by. Nothing if the run has no
    validation set."""
    if "val" not in task.texts:
        return {}
    text, langs, tokenizers = task.texts["val"], task.config.data.langs, task.tokenizers
    sources, references = text.sources[:sentences], text.targets[:sentences]
    habits = Habits.of(task.config.habits.model_dump())
    outputs = Translator(model, tokenizers, langs=langs, habits=habits).translate(sources, beam=1, truncate=True)
    scores, made = score(outputs, references, language=langs[1]), symptoms.Outputs(sources, outputs, references)
    sample, others = symptoms.sampled(fitting(model, text, tokenizers))
    loss = held_out_loss(model, sample, tokenizers)
    return {
        "score": scores.bleu,
        "headline": f"BLEU {scores.bleu:.2f} (greedy)",
        "loss": (loss + held_out_loss(model, others, tokenizers)).per_token,
        "bleu": scores.bleu,
        "chrf": scores.chrf,
        "exact": scores.exact,
        "signature": scores.bleu_signature,
        "example": {"source": sources[0], "output": outputs[0], "reference": references[0]},
        "symptoms": {
            **symptoms.of_outputs(made, tokenizers),
            "loss_own_source": loss.per_token,
            **symptoms.of_model(model, sample, tokenizers),
        },
    }


def evaluate(translator: Translator, task: TranslationTask) -> dict[str, dict[str, Any]]:
    """The figures of a finished model on the validation and the test set; what is too long is cut, and counted."""
    search = Search(truncate=True)
    held = {split: text for split, text in task.texts.items() if split != "train"}
    return {split: translate_and_score(translator, text, search)[1] for split, text in held.items()}


def translate_and_score(translator: Translator, text: ParallelText, search: Search) -> tuple[list[str], dict[str, Any]]:
    """The best translations, and their BLEU (also lower-cased), chrF and exact match with sacreBLEU's signature."""
    outputs = [found[0].text for found in translator.translations(text.sources, search)]
    scores = score(outputs, text.targets, language=translator.langs[1])
    lower = score(outputs, text.targets, language=translator.langs[1], lowercase=True)
    return outputs, {
        "headline": (
            f"BLEU {scores.bleu:.2f}  chrF {scores.chrf:.2f}  exact {scores.exact:.1%}  "
            f"({scores.sentences} sentences, beam {search.beam}, {scores.bleu_signature})"
        ),
        "bleu": scores.bleu,
        "bleu_lowercase": lower.bleu,
        "chrf": scores.chrf,
        "exact": scores.exact,
        "sentences": scores.sentences,
        "truncated": translator.too_long(text.sources),
        "beam": search.beam,
        "signature": scores.bleu_signature,
        "chrf_signature": scores.chrf_signature,
    }
