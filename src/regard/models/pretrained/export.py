"""Models of ours as others read them: transformers, and sentence-transformers where a text becomes a vector."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor, nn

from regard.errors import BundleError, ConfigError
from regard.files import write_atomically, write_text
from regard.models.bert import BertClassifier, BertEncoder, BertForPretraining
from regard.models.gpt2 import GPT2
from regard.models.pretrained import bert as names
from regard.models.pretrained import marian
from regard.models.pretrained.gpt2 import write_gpt2
from regard.models.pretrained.marian_habits import FILE as GENERATION
from regard.models.pretrained.marian_habits import generation_json
from regard.models.pretrained.networks import CLASSIFIER, FOLLOWS, OPTIONAL, without
from regard.models.pretrained.sentences import write_embedding
from regard.models.transformer import Transformer
from regard.models.word2vec import GivenVectors, Word2Vec
from regard.text.bert_files import write_tokenizer
from regard.text.marian_files import LANGS, write_tokenizers
from regard.text.spm_backend import is_sentencepiece
from regard.weights import weights_of


def export_hf(loaded: Any, directory: Path) -> str:
    """Writes what `regard.load` gave as a directory of transformers; tells which of its classes it is made for."""
    kind = type(loaded.model)
    if kind not in WRITERS:
        told = ", ".join(kind.__name__ for kind in WRITERS)
        do = OTHERWISE.get(kind, "")
        raise ConfigError("This model has no form in transformers.", found=kind.__name__, wanted=told, do=do)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise BundleError(f"{directory} is not empty.", do="give a new directory")
    return WRITERS[kind](loaded, directory)


FORMATS: dict[str, Callable[[Any, Path], str]] = {"hf": export_hf}


def _write_bert(loaded: Any, directory: Path) -> str:
    model: nn.Module = loaded.model
    architecture = ARCHITECTURES[type(model)](loaded)
    tokenizer = loaded.tokenizers.tokenizer
    inner: Any = model.bert
    config = names.config_json(inner.config.model_dump(), inner.words.num_embeddings)
    config |= {"architectures": [architecture], "pad_token_id": tokenizer.pad, **_classes(loaded)}
    write_tokenizer(directory, tokenizer, limit=inner.config.limit)
    if not isinstance(model, BertClassifier):
        write_embedding(directory, loaded.embedding.model_dump(), width=inner.config.width)
    _write_weights(directory, _theirs(model, getattr(loaded, "parts", tuple(OPTIONAL))))
    _write_json(directory / "config.json", config)
    return architecture


def _write_marian(loaded: Any, directory: Path) -> str:
    """What began as a Marian: another Transformer of ours has other positions and other tokenizers."""
    model, tokenizers = loaded.model, loaded.tokenizers
    sides = (tokenizers.source, tokenizers.target)
    if model.config.positions != "halves" or not all(is_sentencepiece(side.backend) for side in sides):
        raise ConfigError(
            "This model has no form in transformers.",
            found=f"Transformer with positions={model.config.positions} and a tokenizer of ours",
            wanted="one that began as a Marian (--init)",
        )
    marks = {"pad": tokenizers.target.pad, "end": tokenizers.target.end}
    limit = model.config.limit
    langs = {key: lang for key, lang in zip(LANGS, loaded.langs, strict=True) if lang}
    joint = bool(tokenizers.model_sizes()["joint"])
    write_tokenizers(directory, sides, joint=joint, model_max_length=limit, **langs)
    _write_weights(directory, marian.theirs(model))
    _write_json(directory / "config.json", marian.config_json(model, **marks))
    _write_json(directory / GENERATION, generation_json(vars(loaded.habits), **marks, limit=limit))
    return marian.ARCHITECTURE


def _pretraining(loaded: Any) -> str:
    return "BertForPreTraining" if FOLLOWS in loaded.parts else "BertForMaskedLM"


ARCHITECTURES: dict[type[nn.Module], Callable[[Any], str]] = {
    BertEncoder: lambda loaded: "BertModel",
    BertForPretraining: _pretraining,
    BertClassifier: lambda loaded: CLASSIFIER,
}
"""A BERT of ours, and the class of transformers that it becomes."""
WRITERS: dict[type[nn.Module], Callable[[Any, Path], str]] = {
    **dict.fromkeys(ARCHITECTURES, _write_bert),
    GPT2: lambda loaded, directory: write_gpt2(loaded.model, loaded.tokenizers.tokenizer, directory),
    Transformer: _write_marian,
}
"""Our model, and what writes it; it tells the class of transformers."""
OTHERWISE: dict[type[nn.Module], str] = dict.fromkeys((Word2Vec, GivenVectors), "write word vectors with --to word2vec")
"""What to do with a model that transformers does not have."""


def _write_weights(directory: Path, tensors: Mapping[str, Tensor]) -> None:
    flat = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(directory / "model.safetensors", save(flat, {"format": "pt"}))


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _theirs(model: nn.Module, parts: tuple[str, ...]) -> dict[str, Tensor]:
    """The tensors under their names, without the parts that were never learned; those of an encoder alone stand in
    nothing."""
    tensors = names.theirs(weights_of(model))
    kept = [name for name in tensors if not name.removeprefix("bert.").startswith(without(parts))]
    alone = "bert." if isinstance(model, BertEncoder) else ""
    return {name.removeprefix(alone): tensors[name] for name in kept}


def _classes(loaded: Any) -> Mapping[str, Any]:
    labels = getattr(loaded, "labels", ())
    if not labels:
        return {}
    numbered = {str(number): label for number, label in enumerate(labels)}
    return {"id2label": numbered, "label2id": {label: int(number) for number, label in numbered.items()}}
