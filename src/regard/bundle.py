"""What a trained model is on disk: config.json, model.safetensors, tokenizer.json, card.json and a README."""

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from regard import catalogue, hub
from regard.config import Tree
from regard.errors import BundleError, LimitError
from regard.files import write_text
from regard.models.pretrained import directory as foreign
from regard.weights import describe, put_weights, read_tensors, weights_of, write_tensors

FORMAT = 1
CONFIG, WEIGHTS, CARD, README = "config.json", "model.safetensors", "card.json", "README.md"
TOKENIZERS = ("tokenizer.json", "tokenizer.target.json")
ROWS = {
    **dict.fromkeys(("bert.words.weight", "words.weight", "source_embedding.weight"), 0),
    **dict.fromkeys(("target_embedding.weight", "output.weight", "output.bias"), -1),
}
"""Weights that have a row for each token: of the first tokenizer, or of the last."""


def load(model: str | Path) -> Any:
    """A trained model with the verbs it has: `load("runs/en-zh").translate(["Hello."])`. Also a BERT, a GPT-2 or
    a Marian as transformers or sentence-transformers write it, in a directory or by its id on the hub:
    `load("google-bert/bert-base-uncased")`; or a file of word vectors, as word2vec writes them:
    `load("vectors.bin").nearest("bank")`."""
    directory, name = _found(model)
    if directory.is_file():
        return catalogue.find(catalogue.task_entry("words").verbs).read(directory)
    if directory.is_dir() and foreign.is_foreign(directory):
        return _load_foreign(directory, name)
    config = read_config(directory)
    entry = catalogue.task_entry(config["task"])
    tokenizers = catalogue.find(entry.tokenizers).load(directory, config)
    network = build_model(config, tokenizers.model_sizes())
    read_weights(directory, network)
    return catalogue.find(entry.verbs).assemble(network, tokenizers, config, name)


def _load_foreign(directory: Path, name: str) -> Any:
    """The same for a model of others."""
    found = foreign.read(directory)
    entry = catalogue.task_entry(found.config["task"])
    labels = (found.network.labels,) if found.network.labels else ()
    tokenizers = catalogue.find(entry.tokenizers)(*found.spelling, *labels)
    return catalogue.find(entry.verbs).assemble(found.network.model, tokenizers, found.config, name)


def facts(model: str | Path) -> dict[str, Any]:
    """What is known of a model, ours or another's: its config, its card (of ours alone), the size of its weights."""
    directory, _ = _found(model)
    if directory.is_dir() and foreign.is_foreign(directory):
        found = foreign.read(directory)
        tensors = weights_of(found.network.model).values()
        size = {"parameters": sum(one.numel() for one in tensors), "bytes": sum(one.nbytes for one in tensors)}
        return {"config": found.config, "card": {}, "weights": size}
    config, card = read_config(directory), read_card(directory)
    return {"config": config, "card": card, "weights": describe(directory / WEIGHTS)}


def build_model(config: Tree, sizes: Mapping[str, Any]) -> nn.Module:
    """The network that a config describes, with fresh weights."""
    settings = dict(config["model"])
    entry = catalogue.model_entry(settings.pop("name"), config["task"])
    build = catalogue.find(entry.model)
    section = catalogue.find(entry.config).parse(settings, where="model")
    try:
        model: nn.Module = build(section, **sizes)
    except RuntimeError as error:  # torch could not get the memory
        raise LimitError("The model is too large for this machine.", found=str(error).split("\n")[0][:120]) from None
    return model


def read_config(directory: Path) -> Tree:
    """The settings of a model directory."""
    if not directory.is_dir():
        raise _missing(directory)
    config = read_json(directory / CONFIG)
    if "format" not in config:
        others = " or ".join(foreign.READERS)
        raise BundleError(
            f"{directory} holds no model that regard has made.",
            found=f"model_type {config['model_type']!r}" if "model_type" in config else f"no format in {CONFIG}",
            wanted=f"what regard train has made; to load, embed or export, also one with model_type {others}",
        )
    if config.get("format") != FORMAT:
        raise BundleError(
            f"{directory / CONFIG} is of another format.",
            found=f"format {config.get('format')!r}",
            wanted=f"format {FORMAT}",
            do="update regard, or train again",
        )
    _check(config, directory / CONFIG)
    return config


@dataclass(frozen=True)
class Trained:
    """A model that a run can begin with. `settings`: what the run takes over, that is task, sizes, tokenizer,
    languages and habits; `tokenizers`: makes those of a task, given their class and the settings of the run."""

    place: str
    settings: Tree
    tokenizers: Callable[[Any, Tree], Any]
    tensors: Callable[[], Mapping[str, Tensor]]


def trained(model: str) -> Trained:
    """The model of a directory or of the hub, ours or another's."""
    directory, _ = _found(model)
    if directory.is_dir() and foreign.is_foreign(directory):
        return _trained_elsewhere(foreign.read(directory), model)
    config = read_config(directory)
    spoken = {key: config["data"][key] for key in ("langs", "language") if any(config["data"].get(key, ()))}
    kept = {key: config[key] for key in ("task", "model", "tokenizer", "habits") if key in config}
    settings = kept | ({"data": spoken} if spoken else {}) | _pooling(config)
    return Trained(
        model,
        settings,
        tokenizers=lambda kind, run: kind.load(directory, run),
        tensors=lambda: read_tensors(directory / WEIGHTS)[0],
    )


def _trained_elsewhere(found: foreign.Foreign, place: str) -> Trained:
    """It may have more rows than its tokenizer has ids; those behind the highest are left. "[MASK]" in a text is text,
    as in all of our own models."""
    for tokenizer in found.tokenizers:
        tokenizer.backend.encode_special_tokens = True
    sizes = {name: len(found.tokenizers[side]) for name, side in ROWS.items()}
    tensors = {name: tensor[: sizes.get(name)] for name, tensor in weights_of(found.network.model).items()}
    kept = ("task", "model", "tokenizer", "data", "habits") if len(found.tokenizers) > 1 else ("task", "model")
    settings = {key: found.config[key] for key in kept} | _pooling(found.config)
    return Trained(place, settings, tokenizers=lambda kind, run: kind(*found.spelling), tensors=lambda: tensors)


def _pooling(config: Tree) -> Tree:
    """How a model makes one vector of a text, if it was trained to."""
    pooling = config.get("embedding", {}).get("pooling")
    return {"embedding": {"pooling": pooling}} if pooling else {}


def _found(model: str | Path) -> tuple[Path, str]:
    """Where a model is, and its name; one of the hub is fetched."""
    if not Path(model).exists():
        if not hub.is_id(str(model)):
            raise _missing(Path(model), f"; a model of the hub is written owner/name, such as {hub.EXAMPLE}")
        return hub.fetched(str(model), foreign.check), str(model)
    return Path(model), Path(model).resolve().name


def _missing(directory: Path, more: str = "") -> BundleError:
    do = f"give the directory that regard train --out made{more}"
    return BundleError(f"There is no model directory {directory}.", do=do)


def _check(config: Tree, path: Path) -> None:
    """What every reader of a config relies on."""
    model, data, task = config.get("model"), config.get("data"), config.get("task")
    without_text = isinstance(task, str) and task in catalogue.TASKS and not catalogue.TASKS[task].of_text
    langs = data.get("langs", ["", ""]) if isinstance(data, dict) else None
    sound = {
        "task": isinstance(task, str),
        "model.name": isinstance(model, dict) and isinstance(model.get("name"), str),
        "data.langs": isinstance(langs, list) and len(langs) == 2,
        "tokenizer.joint": without_text
        or (isinstance(config.get("tokenizer"), dict) and "joint" in config["tokenizer"]),
    }
    if wrong := [key for key, fine in sound.items() if not fine]:
        raise BundleError(f"{path} is damaged.", found=f"{', '.join(wrong)} missing or wrong", do="copy it again")


def write_config(directory: Path, config: Tree) -> None:
    """The resolved settings of a run."""
    write_text(directory / CONFIG, _json({"format": FORMAT, **config}))


def read_weights(directory: Path, model: nn.Module) -> None:
    """Puts the weights of a model directory into a model of the same shape."""
    tensors, spelling = read_tensors(directory / WEIGHTS)
    if spelling not in ("", spellings(directory)):  # what was made by earlier versions does not tell
        raise BundleError(
            f"The tokenizer in {directory} does not belong to its weights.",
            found="another vocabulary than they were trained with",
            do="put back the tokenizer.json that was made with them",
        )
    put_weights(model, tensors, where=str(directory / WEIGHTS))


def write_weights(directory: Path, weights: Mapping[str, Tensor]) -> None:
    """The weights that the model goes by, with a note by which its tokenizers are known."""
    write_tensors(directory / WEIGHTS, weights, spellings(directory))


def spellings(directory: Path) -> str:
    """SHA-256 of the vocabularies of a directory, and of how words are put together of them; the rest of such a file
    may be written in several ways."""
    digest = hashlib.sha256()
    for file in (directory / name for name in TOKENIZERS if (directory / name).exists()):
        model = read_json(file).get("model", {})
        known = {key: model.get(key) for key in ("vocab", "merges")}
        digest.update(json.dumps([file.name, known], sort_keys=True, ensure_ascii=False).encode())
    return digest.hexdigest()


def read_card(directory: Path) -> Tree:
    """What is known of a model besides its settings; empty if the training has not ended."""
    return read_json(directory / CARD) if (directory / CARD).exists() else {}


def write_card(directory: Path, card: Tree) -> None:
    """The card, and the same for a human reader."""
    write_text(directory / CARD, _json({**card, "versions": versions()}))
    write_text(directory / README, _readme(directory.resolve().name, card))


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    found = {"python": platform.python_version()}
    for name in ("regard", "torch", "tokenizers", "sacrebleu"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed as a package"
    return found


def _readme(name: str, card: Tree) -> str:
    langs = " → ".join(lang for lang in card.get("langs", ()) if lang)
    scores = [f"- {split}: {figures['headline']}" for split, figures in card["scores"].items()]
    doubts = [f"- {found['what']}: {found['evidence']}; {found['advice']}" for found in card.get("diagnoses", ())]
    lines = [
        f"# {name}",
        "",
        f"A {card['model']} for {card['task']}{', ' + langs if langs else ''}, {card['parameters']:,} parameters, "
        f"trained with *regard* (seed {card['seed']}, {card['updates']:,} updates).",
        "",
        *scores,
        *(["", "What was noticed while it was trained:", "", *doubts] if doubts else []),
        "",
        "```",
        f'regard {card["verb"]} {name} "…"',
        "```",
        "",
    ]
    return "\n".join(lines)


def read_json(path: Path) -> Tree:
    """A JSON object of ours."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BundleError(f"{path} is missing.", do="give a complete model directory, made by regard train") from None
    except (ValueError, OSError) as error:
        raise BundleError(f"{path} is damaged.", found=str(error), do="copy it again, or train again") from None
    if not isinstance(content, dict):
        raise BundleError(f"{path} is damaged.", found=type(content).__name__, wanted="a JSON object")
    return content


def _json(content: Tree) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
