"""regard evaluate"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli import alignment_options as options

if TYPE_CHECKING:
    from regard.data.readers import ParallelText
    from regard.tasks.classifier import Classifier
    from regard.tasks.generator import Generator
    from regard.tasks.predictor import Predictor
    from regard.tasks.translator import Translator

BEAM = 5
KINDS = {
    "translate": "a translator", "classify": "a classifier", "predict": "a model of entities",
    "generate": "a language model",
}  # fmt: skip
"""Models by what they can do."""
FOR = {
    "challenges": ("translate",), "baseline": ("translate",), "alignments": ("translate",),
    "outputs": ("translate", "classify", "predict"), "confusion": ("classify", "predict"), "stride": ("generate",),
    "beam": ("translate",), "truncate": ("translate", "classify"),
}  # fmt: skip
"""Who an option is for."""


def evaluate(
    model: Annotated[
        str,
        typer.Argument(
            help="Model directory, of regard or as Hugging Face writes it; or an id on its hub.", show_default=False
        ),
    ],
    data: Annotated[
        list[str] | None,
        typer.Option(help="Pairs (.tsv .csv .jsonl, .gz), or twice: SOURCE and TARGET; texts with labels; raw text."),
    ] = None,
    challenges: Annotated[
        Path | None, typer.Option(help="Challenge sets (.jsonl), as regard demo writes them.")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="Another system's translations: is the difference real?")] = None,
    outputs: Annotated[Path | None, typer.Option(help="Write the translations, or the classes, to this file.")] = None,
    confusion: Annotated[
        Path | None, typer.Option(help="Classes: a picture (.png .svg) of what was taken for what.")
    ] = None,
    beam: Annotated[
        int | None, typer.Option(help="Translations: hypotheses kept; 1 is greedy (default: 5).", show_default=False)
    ] = None,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut what is longer than the model can take.")] = False,
    stride: Annotated[
        int | None, typer.Option(help="Raw text: tokens that a window moves on (default: half of its tokens).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All figures as one JSON object.")] = False,
    alignments: Annotated[
        str | None,
        typer.Option(
            help='Gold links of --data ("0-0 1-2 2-3p" a line); --data may be "source words ||| target words" a line.',
            rich_help_panel=options.PANEL,
            show_default=False,
        ),
    ] = None,
    layer: options.Layer = None,
    head: options.Head = None,
    shift: options.Shift = None,
    symmetrise: options.Symmetrise = "grow-diag",
    reverse: options.ReverseModel = None,
    val: options.Val = None,
    val_alignments: options.ValGold = None,
    base: options.Base = None,
) -> None:
    """Score a model: BLEU and chrF with sacreBLEU's signature, exact matches, challenge sets, word alignments; of a
    classifier accuracy, F1, and what was taken for what; of a language model perplexity, and bits per character; of a
    model of entities the same as of a classifier or, for numbers, what is explained."""
    from regard.bundle import load
    from regard.errors import ConfigError

    asked = options.Options(layer, head, shift, symmetrise, reverse, val, val_alignments, base, truncate)
    asked.check()
    asked.check_gold(alignments, data)
    if not data and not challenges:
        raise ConfigError("There is nothing to evaluate on.", do="give --data FILE, or a translator --challenges FILE")
    for option, value in (("baseline", baseline), ("outputs", outputs)):
        if value and not data:
            raise ConfigError(
                f"--{option} is about the translations of --data.", do=f"add --data, or leave out --{option}"
            )
    loaded, texts = load(model), data or []
    given = {
        "challenges": challenges, "baseline": baseline, "alignments": alignments,
        "outputs": outputs, "confusion": confusion, "stride": stride, "beam": beam, "truncate": truncate or None,
    }  # fmt: skip
    _refuse_idle(model, loaded, [option for option, value in given.items() if value is not None])
    if hasattr(loaded, "translate"):
        files = Files(texts, alignments, challenges, baseline, outputs)
        figures = _translations(loaded, files, asked, BEAM if beam is None else beam)
        sys.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False) + "\n" if as_json else _table(figures))
    elif hasattr(loaded, "classify"):
        _classes(loaded, texts, outputs, confusion, truncate=truncate, as_json=as_json)
    elif hasattr(loaded, "predict"):
        _scenes(loaded, texts, outputs, confusion, as_json=as_json)
    elif hasattr(loaded, "generate"):
        _running_text(loaded, texts, stride, as_json=as_json)
    else:
        wanted = "a translator, a classifier, a language model or a model of entities"
        raise ConfigError(f"{model} is scored while it is trained, not here.", wanted=wanted, do="see regard info")


def _refuse_idle(model: str, loaded: Any, given: list[str]) -> None:
    """Options that would do nothing are not passed over in silence."""
    from regard.errors import ConfigError

    for option in given:
        if not any(hasattr(loaded, verb) for verb in FOR[option]):
            kinds = " or ".join(KINDS[verb] for verb in FOR[option])
            raise ConfigError(f"--{option} does nothing for {model}.", wanted=kinds, do="leave it out")


@dataclass(frozen=True)
class Files:
    """What a translator is scored on, and where its translations go."""

    data: list[str]
    alignments: str | None
    challenges: Path | None
    baseline: str | None
    outputs: Path | None


def _translations(translator: "Translator", files: Files, asked: options.Options, beam: int) -> dict[str, Any]:
    from regard.data.readers import read_lines
    from regard.evaluation.challenges import evaluate_challenges, read_challenges
    from regard.evaluation.scores import paired_bootstrap
    from regard.evaluation.translation import translate_and_score
    from regard.files import write_text
    from regard.tasks.translator import Search

    search, figures = Search(beam=beam, truncate=asked.truncate), dict[str, Any]()
    if files.data:
        text, aligned = _aligned(translator, files, asked) if files.alignments else (_read(translator, files.data), {})
        translated, figures = translate_and_score(translator, text, search)
        figures.update(aligned)
        if files.outputs:
            write_text(files.outputs, "".join(line + "\n" for line in translated))
        if files.baseline:
            before, language = read_lines(files.baseline), translator.langs[1]
            figures["against_baseline"] = vars(paired_bootstrap(before, translated, text.targets, language=language))
    if files.challenges:
        figures["challenges"] = evaluate_challenges(translator, read_challenges(files.challenges), search)
    return figures


def _classes(
    classifier: "Classifier",
    data: list[str],
    outputs: Path | None,
    picture: Path | None,
    *,
    truncate: bool,
    as_json: bool,
) -> None:
    from regard.data.labelled import read_labelled
    from regard.evaluation.classification import classify_and_score
    from regard.files import write_text
    from regard.insight import draw_confusion
    from regard.tasks.classification import TABLES

    text = read_labelled(data, *(table for sides in classifier.takes for table in TABLES[sides]))
    said, found = classify_and_score(classifier, text, truncate=truncate)
    if outputs:
        write_text(outputs, "".join(f"{label}\n" for label in said))
    if picture:
        draw_confusion(found.picture(), picture)
    figures = found.figures()
    if as_json:
        sys.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")
        return
    width = max(len("class"), *(len(label) for label in found.labels))
    lines = [f"{'class':<{width}}  precision  recall     F1  texts"]
    lines += [
        f"{row['label']:<{width}}  {row['precision']:>9.3f}  {row['recall']:>6.3f}  {row['f1']:.3f}  {row['texts']:>5}"
        for row in found.table()
    ]
    sys.stdout.write("\n".join([figures["headline"], "", *lines]) + "\n")


def _scenes(
    predictor: "Predictor", data: list[str], outputs: Path | None, picture: Path | None, *, as_json: bool
) -> None:
    from regard.data.scenes import read_scenes
    from regard.errors import ConfigError
    from regard.evaluation.entities import confusion, score_scenes
    from regard.files import write_text
    from regard.insight import draw_confusion

    if picture and not predictor.labels:
        raise ConfigError("--confusion is for classes, and this model says numbers.", do="leave it out")
    scenes = read_scenes(data)
    figures = score_scenes(predictor, scenes.rows)
    if outputs:
        said = iter(json.dumps(found.target, ensure_ascii=False) for found in predictor.predict(scenes.rows))
        write_text(outputs, "".join(f"{next(said) if line else ''}\n" for line in scenes.lines))
    if picture:
        draw_confusion(confusion(figures, predictor.labels).picture(), picture)
    table = "{label}  precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}  {count:,}"
    lines = [figures["headline"], *(table.format(**row) for row in figures.get("classes", ()))]
    sys.stdout.write((json.dumps(figures, indent=2, ensure_ascii=False) if as_json else "\n".join(lines)) + "\n")


def _running_text(generator: "Generator", data: list[str], stride: int | None, *, as_json: bool) -> None:
    from regard.cli.progress import counted
    from regard.data.raw import TextReader
    from regard.evaluation.lm import figures
    from regard.tasks.running_text import HeldOut

    text = HeldOut.read(TextReader(data), generator.tokenizers.tokenizer, counted)
    found = figures(generator.model, text, stride)
    if as_json:
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
        return
    size = f"{found['tokens']:,} tokens, {found['characters']:,} characters, {found['bytes']:,} bytes"
    sys.stdout.write(f"{found['headline']}\n{size}; windows move on by {found['stride']}\n")


def _read(translator: "Translator", data: list[str]) -> "ParallelText":
    from regard.data.readers import read_pairs

    return read_pairs(data, langs=options.langs_of(translator))


def _aligned(translator: "Translator", files: Files, asked: options.Options) -> "tuple[ParallelText, dict[str, Any]]":
    """The pairs as text, and the figures of their alignment."""
    from regard.data.readers import ParallelText
    from regard.evaluation.alignment import read_gold, score_alignments
    from regard.tasks.word_texts import read_word_pairs

    pairs = read_word_pairs(files.data, langs=options.langs_of(translator))
    known = read_gold(str(files.alignments), pairs, base=asked.base)
    links, choice = asked.align(translator, pairs)
    text = ParallelText(tuple(pair.source.text for pair in pairs), tuple(pair.target.text for pair in pairs), ())
    read = {"attention": choice.name, "head": choice.head, "shift": choice.shift, "symmetrised": asked.symmetrise}
    return text, {"alignments": {**vars(score_alignments(links, known)), **read}}


def _table(figures: dict[str, Any]) -> str:
    lines = []
    if "bleu" in figures:
        lines += [
            f"BLEU {figures['bleu']:.2f}   {figures['signature']}",
            f"BLEU {figures['bleu_lowercase']:.2f}   lower-cased",
            f"chrF {figures['chrf']:.2f}   {figures['chrf_signature']}",
            f"exact {figures['exact']:.1%}   of {figures['sentences']} sentences, beam {figures['beam']}",
        ]
    if paired := figures.get("against_baseline"):
        lines.append(
            f"baseline BLEU {paired['bleu_a']:.2f}; difference {paired['difference']:+.2f} "
            f"[{paired['low']:+.2f}, {paired['high']:+.2f}], p = {paired['p_value']:.4f} (paired bootstrap)"
        )
    if linked := figures.get("alignments"):
        lines.append(
            f"AER {linked['aer']:.1%}   precision {linked['precision']:.1%}, recall {linked['recall']:.1%}; "
            f"{linked['links']} links, {linked['sure']} sure and {linked['possible']} possible in the gold "
            f"({linked['attention']}, head {linked['head']}, {linked['shift']}, {linked['symmetrised']})"
        )
    for name, score in figures.get("challenges", {}).items():
        lines.append(
            f"{name:<18} {score['exact']:>6.1%} of {score['pairs']} pairs exactly right, {score['key']:.1%} by key"
        )
    return "\n".join(lines) + "\n"
