"""A model's weights as one safetensors file: no pickle is ever executed, same weights give the same bytes."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from regard.errors import BundleError
from regard.files import write_atomically


def write_tensors(path: Path, tensors: Mapping[str, Tensor], note: str = "") -> None:
    """Tensors and a note. (One metadata entry only: several would come in any order.)"""
    flat = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, save(flat, {"note": note}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], str]:
    """What write_tensors wrote."""
    with _opened(path) as file:
        return {name: file.get_tensor(name) for name in file.keys()}, (file.metadata() or {}).get("note", "")  # noqa: SIM118


def describe(path: Path) -> dict[str, int]:
    """How large a file of weights is; its tensors are not read."""
    with _opened(path) as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
    return {"parameters": sum(prod(shape) for shape in shapes), "bytes": path.stat().st_size}


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter once (tied ones share a name)."""
    return dict(model.named_parameters())


def fingerprint(model: nn.Module, *about: object) -> str:
    """SHA-256 of a model's weights and of what else is told about it."""
    digest = hashlib.sha256(repr(about).encode())
    for name, weight in sorted(weights_of(model).items()):
        digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}".encode())
        digest.update(weight.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def put_weights(model: nn.Module, tensors: Mapping[str, Tensor], *, where: str) -> None:
    """Copies tensors into the model; names and shapes must be just the model's."""
    mine = weights_of(model)
    missing, extra = sorted(set(mine) - set(tensors)), sorted(set(tensors) - set(mine))
    wrong = [name for name in mine if name in tensors and mine[name].shape != tensors[name].shape]
    if missing or extra or wrong:
        trouble = [f"missing {missing[:3]}"] * bool(missing) + [f"unknown {extra[:3]}"] * bool(extra)
        trouble += [f"{name} is {tuple(tensors[name].shape)}, not {tuple(mine[name].shape)}" for name in wrong[:3]]
        raise BundleError(f"The weights in {where} do not fit the model in its config.", found="; ".join(trouble))
    with torch.no_grad():
        for name, parameter in mine.items():
            parameter.copy_(tensors[name])


def begin_with(model: nn.Module, tensors: Mapping[str, Tensor], *, where: str, anew: str = "") -> list[str]:
    """Copies the weights of a trained model into one that goes on from it; gives the names of those that stay new.

    A model that may go on from one of another task says in `fresh` which of its parts (first words of names) can be
    new: what the trained model did not have, or had with other classes. Everything else must be there, and what else
    is there is left. Without `fresh` the two must be the same. anew: a part that stays new even if the trained one
    would fit, as what it says means something else.
    """
    mine, fresh = weights_of(model), getattr(model, "fresh", None)
    apart = {part: [name for name in mine if name.split(".")[0] == part] for part in fresh or ()}
    new = [
        name
        for part, names in apart.items()
        if part == anew or any(name not in tensors or tensors[name].shape != mine[name].shape for name in names)
        for name in names
    ]
    kept = {name: tensors[name] for name in tensors if fresh is None or (name in mine and name not in new)}
    put_weights(model, kept | {name: mine[name].detach() for name in new}, where=where)
    return new


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except FileNotFoundError:
        raise BundleError(f"{path} is missing.", do="train it to the end, or give a complete model directory") from None
    except (SafetensorError, OSError) as error:
        raise BundleError(f"{path} is damaged.", found=str(error), do="copy it again, or train again") from None
