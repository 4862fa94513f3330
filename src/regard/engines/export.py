"""A model of ours as a directory of CTranslate2, for programs that call it themselves."""

from pathlib import Path
from typing import Any

from regard.engines.choice import refuse
from regard.engines.conversion import specified
from regard.errors import BundleError
from regard.tasks.translator import Translator


def export_ctranslate2(loaded: Any, directory: Path) -> str:
    """Writes what `regard.load` gave, in float32, with its tokenizers; tells which of its classes reads it."""
    refuse(loaded, "float32")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise BundleError(f"{directory} is not empty.", do="give a new directory")
    spec = specified(loaded, never=loaded.habits.banned if isinstance(loaded, Translator) else ())
    directory.mkdir(parents=True, exist_ok=True)
    spec.save(str(directory))
    loaded.tokenizers.save(directory)
    return READERS[type(spec).__name__]


READERS = {
    "TransformerSpec": "ctranslate2.Translator",
    "TransformerDecoderModelSpec": "ctranslate2.Generator",
    "TransformerEncoderModelSpec": "ctranslate2.Encoder",
}
