"""regard info"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def info(
    model: Annotated[str, typer.Argument(help="Model directory.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as one JSON object.")] = False,
) -> None:
    """What a model is: sizes, languages, data, scores."""
    from regard.bundle import read_card, read_config
    from regard.weights import describe

    directory = Path(model)
    config, card = read_config(directory), read_card(directory)
    weights = describe(directory / "model.safetensors")
    if as_json:
        facts = {"config": config, "card": card, "weights": weights}
        sys.stdout.write(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
        return
    langs = " → ".join(filter(None, config["data"].get("langs", ())))
    settings = "  ".join(f"{key}={value}" for key, value in config["model"].items() if key != "name")
    lines = [
        f"model       {config['model']['name']} for {config['task']}" + (f", {langs}" if langs else ""),
        f"weights     {weights['parameters']:,} parameters, {weights['bytes'] / 1e6:.1f} MB",
        f"settings    {settings}",
        f"training    {card.get('updates', '?')} updates in {card.get('train_seconds', '?')} s, seed {config['seed']}"
        + ("" if card else "  (not finished)"),
    ]
    lines += [f"{split:<11} {figures['headline']}" for split, figures in card.get("scores", {}).items()]
    lines += [f"{'diagnosis':<11} {found['what']}: {found['evidence']}" for found in card.get("diagnoses", ())]
    sys.stdout.write("\n".join(lines) + "\n")
