"""The weights of others on disk: safetensors or pytorch_model.bin, in one file or in parts. No pickle is executed."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError

import torch
from torch import Tensor

from regard.errors import BundleError
from regard.text.bert_files import read_settings
from regard.weights import read_tensors

FILES = ("model.safetensors", "pytorch_model.bin")
"""The first that is there is read, whole or in the parts that its index names."""
SHOWN = 3
"""Names of missing weights that are told."""


def check_complete(missing: Sequence[str], where: str) -> None:
    """Refuses a checkpoint that lacks some of the weights that it needs."""
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise BundleError(
            f"{where} lacks weights of the model that its config.json describes.",
            found=f"missing: {', '.join(missing[:SHOWN])}{more}",
            do="fetch it again, or correct config.json",
        )


def read_checkpoint(directory: Path) -> tuple[dict[str, Tensor], Path]:
    """All tensors of a directory, and the file that holds them or lists their files."""
    for name in FILES:
        whole, index = directory / name, directory / f"{name}.index.json"
        if whole.exists():
            return READERS[whole.suffix](whole), whole
        if index.exists():
            return _joined(index), index
    raise BundleError(f"{directory} has no weights.", wanted=" or ".join(FILES), do="copy them there too")


def _joined(index: Path) -> dict[str, Tensor]:
    """The tensors of all files that an index names."""
    placed = read_settings(index).get("weight_map")
    if not isinstance(placed, dict) or not all(_is_plain(name) for name in placed.values()):
        raise BundleError(f"{index} is damaged.", wanted="a weight_map with the names of files beside it")
    tensors: dict[str, Tensor] = {}
    for name in sorted(set(placed.values())):
        tensors |= READERS[Path(name).suffix](index.with_name(name))
    return tensors


def _is_plain(name: object) -> bool:
    """A file in the same directory, of a kind that can be read."""
    return isinstance(name, str) and Path(name).name == name and Path(name).suffix in READERS


def _safetensors(path: Path) -> dict[str, Tensor]:
    return read_tensors(path)[0]


def _pickled(path: Path) -> dict[str, Tensor]:
    """By torch's reader of weights: it builds tensors and calls nothing else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd pickles: what cannot be read is told below
            content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise BundleError(f"{path} is missing.", do="give a complete model directory") from None
    except UnpicklingError as error:
        why = str(error).split("\n")[0][:200]
        raise BundleError(f"{path} holds something else than weights; it was not run.", found=why) from None
    except Exception as error:  # a damaged file leads the reader anywhere
        why = f"{type(error).__name__} {str(error)[:200]}".strip()
        raise BundleError(f"{path} is damaged.", found=why, do="copy it again") from None
    if not isinstance(content, Mapping) or not all(isinstance(value, Tensor) for value in content.values()):
        raise BundleError(f"{path} is not a checkpoint of a model.", wanted="a name and a tensor for each weight")
    return dict(content)


READERS: dict[str, Callable[[Path], dict[str, Tensor]]] = {".safetensors": _safetensors, ".bin": _pickled}
