"""The figures of one trained model: what it scores, where, how fast, and how it aligns."""

import json
import time
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from regard import bundle
from regard.data.readers import read_pairs
from regard.evaluation.alignment import read_gold, score_alignments
from regard.evaluation.best_head import best_head
from regard.evaluation.challenges import evaluate_challenges, read_challenges
from regard.evaluation.lengths import by_length
from regard.evaluation.scores import confidence, score
from regard.files import write_text
from regard.lab.compare.plan import Links, Plan
from regard.tasks.alignment import Choice, align
from regard.tasks.translator import Search, Translator
from regard.tasks.word_texts import WordPair, read_word_pairs
from regard.training.tracking import Metrics

FIGURES, OUTPUTS = "figures.json", "outputs.txt"
AGREEING = 200
"""Pairs by which a head is chosen where nobody drew links."""


def measure(out: Path, plan: Plan, *, memory: int) -> dict[str, Any]:
    """Scores the model in a run's directory, and keeps its translations and figures beside it."""
    translator, search = bundle.load(out), Search(truncate=True)
    files, langs = plan.settings["data"], translator.langs
    test = read_pairs(files["test"], langs=langs if all(langs) else None)
    began = time.perf_counter()
    outputs = [found[0].text for found in translator.translations(test.sources, search)]
    seconds = time.perf_counter() - began
    tokens = sum(map(len, translator.tokenizers.target.encode_all(outputs)))
    card = bundle.read_card(out)
    scores = score(outputs, test.targets, language=langs[1])
    figures = {
        "model": card["model"],
        "seed": card["seed"],
        "parameters": card["parameters"],
        "updates": card["updates"],
        "train_seconds": card["train_seconds"],
        "train_tokens_per_second": training_speed(out),
        "peak_memory_bytes": memory,
        "val": card["scores"].get("val", {}),
        "bleu": scores.bleu,
        "chrf": scores.chrf,
        "exact": scores.exact,
        "bleu_lowercase": score(outputs, test.targets, language=langs[1], lowercase=True).bleu,
        "signature": scores.bleu_signature,
        "chrf_signature": scores.chrf_signature,
        "beam": search.beam,
        "sentences_per_second": len(outputs) / seconds,
        "tokens_per_second": tokens / seconds,
        "intervals": {
            metric: asdict(found) for metric, found in confidence(outputs, test.targets, language=langs[1]).items()
        },
        "lengths": [
            asdict(bucket)
            for bucket in by_length(test.sources, outputs, test.targets, language=langs[1], source_language=langs[0])
        ],
        "challenges": _challenges(translator, plan, search),
        "curve": [
            {key: record[key] for key in ("update", "score", "loss")}
            for record in Metrics(out).records()
            if record["kind"] == "validation"
        ],
        **_alignment(translator, plan, list(zip(test.sources, test.targets, strict=True))),
    }
    write_text(out / OUTPUTS, "".join(line + "\n" for line in outputs))
    write_text(out / FIGURES, json.dumps(figures, indent=2, ensure_ascii=False) + "\n")
    return figures


def training_speed(out: Path) -> float:
    """Target tokens a second: the median over stretches between two records, so that validation does not count."""
    records = [record for record in Metrics(out).records() if record["kind"] == "train"]
    if len(records) < 2:
        return 0.0
    size = sum(record["tokens"] for record in records) / len(records)
    stretches = [
        size * (later["update"] - sooner["update"]) / max(1e-9, later["seconds"] - sooner["seconds"])
        for sooner, later in pairwise(records)
    ]
    return float(median(stretches))


def attends(translator: Translator) -> bool:
    """Whether the model has any attention to see."""
    return any(hasattr(module, "tap") for module in translator.model.modules())


def _challenges(translator: Translator, plan: Plan, search: Search) -> dict[str, Any]:
    if plan.challenges is None:
        return {}
    return evaluate_challenges(translator, read_challenges(Path(plan.challenges)), search)


def _alignment(translator: Translator, plan: Plan, test: list[tuple[str, str]]) -> dict[str, Any]:
    """The head that aligns best (on the validation set where it has gold, else by agreement), and its error rate."""
    if not attends(translator):
        return {}
    choice = choose_head(translator, plan.links.get("val"), test)
    found: dict[str, Any] = {"head": asdict(choice)}
    if "test" in plan.links:
        pairs, gold = _gold(plan.links["test"])
        links = align(translator, pairs, choice)
        found["alignment"] = asdict(score_alignments(links, gold))
    return found


def choose_head(translator: Translator, val: Links | None, test: list[tuple[str, str]]) -> Choice:
    """By gold on the validation set; without it by agreement of the two readings, for which no gold is needed."""
    if val is not None:
        return best_head(translator, *_gold(val))
    return best_head(translator, [WordPair.of_texts(*pair) for pair in test[:AGREEING]])


def _gold(links: Links) -> tuple[list[WordPair], list[Any]]:
    pairs = read_word_pairs([links.words])
    return pairs, read_gold(links.gold, pairs, base=links.base)
