"""How sentence-transformers makes a vector of a text: modules.json, the pooling beside it, and the limit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.errors import BundleError
from regard.files import write_text
from regard.text.bert_files import CHOICES, read_json, read_settings

MODULES, LIMIT, PROMPTS = "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"
KNOWN = ("Transformer", "Pooling", "Normalize")
"""The modules that we can take the place of; whoever has another one gets other vectors."""
POOLINGS = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens", "max": "pooling_mode_max_tokens"}
PACKAGE = "sentence_transformers.models"


def transformer(directory: Path) -> Path:
    """Where the Transformer of a directory is: there, or in the part that modules.json names."""
    return directory / next((module["path"] for module in _modules(directory) if _kind(module) == "Transformer"), "")


def embedding(directory: Path) -> dict[str, Any]:
    """How texts become vectors in a directory: pooling, normalize, limit, prefix, lowercase, as far as it says."""
    modules = {_kind(module): directory / module["path"] for module in _modules(directory)}
    if odd := [kind for kind in modules if kind not in KNOWN]:
        raise BundleError(
            f"{directory} makes vectors in a way that is not known here.",
            found=f"the module {odd[0]} in {MODULES}",
            wanted=", ".join(KNOWN),
        )
    home = transformer(directory)
    own, tokens, prompts = (read_settings(path) for path in (home / LIMIT, home / CHOICES, directory / PROMPTS))
    if prompts.get("truncate_dim"):
        raise BundleError(
            f"{directory} cuts its vectors, which is not done here.",
            found=f"truncate_dim {prompts['truncate_dim']} in {PROMPTS}",
            do="take it out, and cut the vectors yourself",
        )
    limit = own.get("max_seq_length") or tokens.get("model_max_length")
    said = {"prefix": (prompts.get("prompts") or {}).get(prompts.get("default_prompt_name"))}
    said |= {"lowercase": own.get("do_lower_case"), "limit": int(limit) if limit else None}
    if modules:
        said["normalize"] = "Normalize" in modules
    if "Pooling" in modules:
        said["pooling"] = _pooling(modules["Pooling"] / "config.json", prompted=bool(said["prefix"]))
    return {key: value for key, value in said.items() if value is not None}


def write_embedding(directory: Path, how: Mapping[str, Any], *, width: int) -> None:
    """The files by which sentence-transformers makes the same vectors; `how`: pooling, normalize, limit, prefix."""
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling")] + [("Normalize", "2_Normalize")] * how["normalize"]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"{PACKAGE}.{kind}"}
        for number, (kind, path) in enumerate(kinds)
    ]
    chosen = {theirs: ours == how["pooling"] for ours, theirs in POOLINGS.items()}
    _write(directory / MODULES, modules)
    _write(directory / "1_Pooling" / "config.json", {"word_embedding_dimension": width, **chosen})
    _write(directory / LIMIT, {"max_seq_length": how["limit"], "do_lower_case": False})
    if how["prefix"]:
        _write(directory / PROMPTS, {"prompts": {"text": how["prefix"]}, "default_prompt_name": "text"})


def _modules(directory: Path) -> list[dict[str, Any]]:
    path = directory / MODULES
    modules = read_json(path) or []
    fields = ("type", "path")
    if not isinstance(modules, list) or not all(
        isinstance(module, dict) and all(isinstance(module.get(field), str) for field in fields) for module in modules
    ):
        raise BundleError(f"{path} is damaged.", wanted="a list of modules with type and path", do="copy it again")
    return modules


def _kind(module: Mapping[str, Any]) -> str:
    """Versions differ in where a module lives, not in what it is called."""
    return str(module["type"]).rpartition(".")[2]


def _pooling(path: Path, *, prompted: bool) -> str:
    """Early versions write a flag for each way, later ones its name."""
    config = read_settings(path)
    flags = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
    names = {theirs: ours for ours, theirs in POOLINGS.items()}
    asked = config.get("pooling_mode") or [names.get(flag, flag) for flag in flags] or "mean"
    chosen = asked[0] if isinstance(asked, list) and len(asked) == 1 else asked
    if chosen not in tuple(POOLINGS) or (prompted and not config.get("include_prompt", True)):
        told = f"pooling {chosen!r}" if chosen not in tuple(POOLINGS) else "a prompt that is not to be pooled"
        raise BundleError(f"{path} pools in a way that is not known here.", found=told, wanted=", ".join(POOLINGS))
    return str(chosen)


def _write(path: Path, content: object) -> None:
    write_text(path, json.dumps(content, indent=2) + "\n")
