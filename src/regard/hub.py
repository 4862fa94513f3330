"""A checkpoint by its id on the Hugging Face hub: owner/name."""

import re
from collections.abc import Callable
from pathlib import Path

from regard.errors import BundleError

ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
EXAMPLE = "google-bert/bert-base-uncased"
WEIGHTS = ["model*.safetensors", "0_*/model*.safetensors"]
"""Those of the model itself, which sentence-transformers may keep in 0_Transformer; not of checkpoints beside it."""
SETTINGS = ["*.json"]
FILES = [*SETTINGS, "vocab.txt", "*/vocab.txt", "merges.txt", "*.spm", *WEIGHTS]
PICKLED = ["*pytorch_model*.bin"]
"""Fetched only where there is no safetensors."""


def is_id(name: str) -> bool:
    """owner/name: what a directory may be called, too."""
    return ID.fullmatch(name) is not None


def fetched(name: str, check: Callable[[Path], None] = lambda directory: None) -> Path:
    """The directory with the files of a model; they are fetched once, and kept where huggingface_hub keeps them. check:
    looks at the settings before the weights are fetched, and may refuse."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError
    except ImportError:
        raise BundleError(
            f"There is no model directory {name}.", do="pip install huggingface_hub, if it is the name of a model there"
        ) from None
    try:
        check(Path(snapshot_download(name, allow_patterns=SETTINGS)))
        directory = Path(snapshot_download(name, allow_patterns=FILES))
        if not any(found for pattern in WEIGHTS for found in directory.glob(pattern)):
            directory = Path(snapshot_download(name, allow_patterns=[*FILES, *PICKLED]))
    except BundleError:
        raise
    except GatedRepoError:
        raise BundleError(
            f"The model {name} is given only to those who have agreed to its terms.",
            do=f"agree at https://huggingface.co/{name}, then call: hf auth login",
        ) from None
    except RepositoryNotFoundError:
        raise BundleError(
            f"There is no model directory {name}, and no such model on the hub.", do="check the name"
        ) from None
    except Exception as error:  # whatever the network and its libraries raise
        raise BundleError(
            f"There is no model directory {name}, and the hub cannot be reached to look for a model of that name.",
            found=str(error).split("\n")[0][:200],
            do="check the path; or fetch the model on a machine with a network, and give its directory",
        ) from None
    return directory
