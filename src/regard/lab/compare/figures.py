"""The figures of one trained model: what it scores, where, how fast, and how it aligns."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from regard import bundle
from regard.attention import Attends
from regard.data.readers import ParallelText
from regard.evaluation.alignment import score_alignments
from regard.evaluation.best_head import best_head
from regard.evaluation.challenges import evaluate_challenges
from regard.evaluation.lengths import by_length
from regard.evaluation.scores import confidence, score
from regard.files import write_text
from regard.lab.compare.material import challenge_sets, gold_links, read_text
from regard.lab.compare.plan import Plan
from regard.tasks.alignment import align
from regard.tasks.translator import Search, Translator
from regard.tasks.word_texts import WordPair
from regard.tasks.word_weights import cut
from regard.training.tracking import Metrics

FIGURES, OUTPUTS = "figures.json", "outputs.json"
AGREEING = 200
"""Validation pairs by which a head is chosen where nobody drew links."""


def measure(out: Path, plan: Plan, *, memory: int | None) -> None:
    """Scores the model in a run's directory, and keeps its translations and figures beside it."""
    translator, search = bundle.load(out), Search(truncate=True)
    test = read_text(plan, "test")
    began = time.perf_counter()
    outputs = [found[0].text for found in translator.translations(test.sources, search)]
    seconds = time.perf_counter() - began
    tokens = sum(map(len, translator.tokenizers.target.encode_all(outputs)))
    card = bundle.read_card(out)
    figures = {
        **{key: card[key] for key in ("model", "seed", "parameters", "updates", "train_seconds")},
        "train_tokens_per_second": training_speed(out),
        "threads": bundle.read_config(out)["training"]["threads"],
        "peak_memory_bytes": memory,
        "val": card["scores"].get("val", {}),
        "beam": search.beam,
        "sentences_per_second": len(outputs) / seconds,
        "tokens_per_second": tokens / seconds,
        **_scores(outputs, test, translator.langs),
        "challenges": _challenges(translator, plan, search),
        "curve": [
            {key: record[key] for key in ("update", "score", "loss")}
            for record in Metrics(out).records()
            if record["kind"] == "validation"
        ],
        **_alignment(translator, plan),
    }
    write_text(out / OUTPUTS, json.dumps(outputs, ensure_ascii=False, indent=0) + "\n")
    write_text(out / FIGURES, json.dumps(figures, indent=2, ensure_ascii=False) + "\n")


def training_speed(out: Path) -> float | None:
    """Target tokens a second: the median over stretches between two records, so that validation does not count."""
    records = [record for record in Metrics(out).records() if record["kind"] == "train"]
    if len(records) < 2:
        return None
    size = sum(record["tokens"] for record in records) / len(records)
    stretches = [
        size * (later["update"] - sooner["update"]) / max(1e-9, later["seconds"] - sooner["seconds"])
        for sooner, later in pairwise(records)
    ]
    return float(median(stretches))


def _scores(outputs: list[str], test: ParallelText, langs: tuple[str, str]) -> dict[str, Any]:
    scores = score(outputs, test.targets, language=langs[1])
    lower = score(outputs, test.targets, language=langs[1], lowercase=True)
    intervals = confidence(outputs, test.targets, language=langs[1])
    buckets = by_length(test.sources, outputs, test.targets, language=langs[1], source_language=langs[0])
    return {
        "bleu": scores.bleu,
        "bleu_lowercase": lower.bleu,
        "chrf": scores.chrf,
        "exact": scores.exact,
        "signature": scores.bleu_signature,
        "chrf_signature": scores.chrf_signature,
        "intervals": {metric: asdict(interval) for metric, interval in intervals.items()},
        "lengths": [asdict(bucket) for bucket in buckets],
    }


def _challenges(translator: Translator, plan: Plan, search: Search) -> Mapping[str, Any]:
    challenges = challenge_sets(plan)
    return evaluate_challenges(translator, challenges, search) if challenges else {}


def _alignment(translator: Translator, plan: Plan) -> dict[str, Any]:
    """The head that aligns best on the validation set, by its gold where it has some, and its error rate on test."""
    if not any(isinstance(module, Attends) for module in translator.model.modules()):
        return {}
    val = gold_links(plan, "val")
    if val is None:
        text = read_text(plan, "val")
        sides = zip(text.sources[:AGREEING], text.targets[:AGREEING], strict=True)
        choice = best_head(translator, cut(translator, [WordPair.of_texts(*pair) for pair in sides]))
    else:
        choice = best_head(translator, cut(translator, val[0]), val[1])
    found: dict[str, Any] = {"head": asdict(choice)}
    if test := gold_links(plan, "test"):
        pairs, gold = test
        found["alignment"] = asdict(score_alignments(align(translator, cut(translator, pairs), choice), gold))
    return found
