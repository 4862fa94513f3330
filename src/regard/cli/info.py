"""regard info"""

import json
import sys
from typing import Annotated, Any

import typer


def info(
    model: Annotated[str, typer.Argument(help="Model directory, or an id of the hub.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as one JSON object.")] = False,
) -> None:
    """What a model is: sizes, languages, data, scores."""
    from regard.bundle import facts as known

    facts = known(model)
    config, card, weights = facts["config"], facts["card"], facts["weights"]
    if as_json:
        sys.stdout.write(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
        return
    langs = " → ".join(filter(None, config["data"].get("langs", ())))
    settings = "  ".join(f"{key}={value}" for key, value in config["model"].items() if key != "name")
    lines = [
        f"model       {config['model']['name']} for {config['task']}" + (f", {langs}" if langs else ""),
        f"weights     {weights['parameters']:,} parameters, {weights['bytes'] / 1e6:.1f} MB",
        f"settings    {settings}",
        f"training    {_training(config, card)}",
    ]
    lines += [f"{split:<11} {figures['headline']}" for split, figures in card.get("scores", {}).items()]
    lines += [f"{'diagnosis':<11} {found['what']}: {found['evidence']}" for found in card.get("diagnoses", ())]
    sys.stdout.write("\n".join(lines) + "\n")


def _training(config: dict[str, Any], card: dict[str, Any]) -> str:
    if "seed" not in config:
        return "elsewhere"
    told = f"{card.get('updates', '?')} updates in {card.get('train_seconds', '?')} s, seed {config['seed']}"
    return told if card else f"{told}  (not finished)"
