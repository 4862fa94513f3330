"""regard evaluate"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer


def evaluate(
    model: Annotated[str, typer.Argument(help="Model directory.", show_default=False)],
    data: Annotated[
        list[str] | None, typer.Option(help="Pairs (.tsv .csv .jsonl, .gz), or twice: SOURCE and TARGET.")
    ] = None,
    challenges: Annotated[
        Path | None, typer.Option(help="Challenge sets (.jsonl), as regard demo writes them.")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="Another system's translations: is the difference real?")] = None,
    outputs: Annotated[Path | None, typer.Option(help="Write the translations to this file.")] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses kept; 1 is greedy.")] = 5,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut what is longer than the model can take.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="All figures as one JSON object.")] = False,
) -> None:
    """Score a model: BLEU and chrF with sacreBLEU's signature, exact matches, challenge sets."""
    from regard.bundle import load
    from regard.data.readers import read_lines, read_pairs
    from regard.errors import ConfigError
    from regard.evaluation.challenges import evaluate_challenges, read_challenges
    from regard.evaluation.scores import paired_bootstrap
    from regard.evaluation.translation import translate_and_score
    from regard.files import write_text
    from regard.tasks.translator import Search

    if not data and not challenges:
        raise ConfigError("There is nothing to evaluate on.", do="give --data pairs.tsv or --challenges sets.jsonl")
    translator, search = load(model), Search(beam=beam, truncate=truncate)
    figures: dict[str, Any] = {}
    if data:
        text = read_pairs(data, langs=translator.langs if all(translator.langs) else None)
        translated, figures = translate_and_score(translator, text, search)
        if outputs:
            write_text(outputs, "".join(line + "\n" for line in translated))
        if baseline:
            language = translator.langs[1]
            compared = paired_bootstrap(read_lines(baseline), translated, text.targets, language=language)
            figures["against_baseline"] = vars(compared)
    if challenges:
        figures["challenges"] = evaluate_challenges(translator, read_challenges(challenges), search)
    sys.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False) + "\n" if as_json else _table(figures))


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
    for name, score in figures.get("challenges", {}).items():
        lines.append(
            f"{name:<18} {score['exact']:>6.1%} of {score['pairs']} pairs exactly right, {score['key']:.1%} by key"
        )
    return "\n".join(lines) + "\n"
