"""Which engine computes: the one that was named, or the fastest that is installed and has a form of the model."""

from pathlib import Path
from typing import Any

import torch

from regard import bundle
from regard.config import nearest
from regard.engines.cache import fingerprint, kept
from regard.engines.conversion import FORMS, specified, words_of
from regard.engines.ctranslate2 import CTranslate2Engine
from regard.engines.installed import is_installed, library
from regard.engines.opening import NAMES, Converted, Precision, Say
from regard.engines.reading import CTranslate2Reader
from regard.engines.writing import CTranslate2Writer
from regard.errors import ConfigError, RegardError
from regard.tasks.encoder import Encoder
from regard.tasks.generator import Generator
from regard.tasks.pace import unheard
from regard.tasks.translator import Translator

AUTO, TORCH = "auto", "torch"
ENGINES = (AUTO, TORCH, *NAMES.values())
"""auto never changes the precision: int8 only by its name."""
KINDS: dict[type, Any] = {
    Translator: CTranslate2Engine,
    Generator: CTranslate2Writer,
    Encoder: CTranslate2Reader,
}
"""What `regard.load` gave, and what can compute for it."""


def load(model: str | Path, engine: str = AUTO, say: Say = unheard) -> Any:
    """What `regard.load` gives, with an engine. say: is told, once for each, what torch computes instead."""
    check(engine)
    return use(bundle.load(model), engine, place=Path(model), say=say)


def use(loaded: Any, engine: str = AUTO, *, place: Path | None = None, say: Say = unheard, askers: int = 1) -> Any:
    """Lets that engine compute for what `regard.load` gave; gives the same object. place: its directory, if it has one,
    where what is converted is kept; askers: how many threads may ask at a time."""
    check(engine)
    if engine == TORCH:
        return loaded.use(None) if type(loaded) in KINDS else loaded
    precision: Precision = "int8" if engine == NAMES["int8"] else "float32"
    try:
        refuse(loaded, precision)
        converted = Converted(_converted(loaded, place), KINDS[type(loaded)].reader, precision, askers)
    except RegardError as error:
        if engine != AUTO:
            raise
        if is_installed():
            say(f"computed by torch: {error.what}")
        return use(loaded, TORCH)
    return loaded.use(KINDS[type(loaded)](loaded, converted, say))


def check(engine: str) -> None:
    """Refuses what is not the name of an engine."""
    if engine not in ENGINES:
        raise ConfigError(f"There is no engine {engine!r}.", do=nearest(engine, ENGINES))


def refuse(loaded: Any, precision: Precision) -> None:
    """What CTranslate2 cannot compute in that precision."""
    kind, weight = type(loaded.model), next(loaded.model.parameters())
    known = library().get_supported_compute_types("cpu")
    if kind not in FORMS or type(loaded) not in KINDS:
        told = ", ".join(form.__name__ for form in FORMS)
        raise ConfigError(f"{kind.__name__} has no form in CTranslate2.", wanted=told, do="take --engine torch")
    if weight.dtype != torch.float32 or weight.device.type != "cpu":
        found = f"{weight.dtype} on {weight.device}"
        raise ConfigError("CTranslate2 computes in float32 on the CPU here.", found=found, do="take --engine torch")
    if precision not in known:
        told = f"CTranslate2 cannot compute in {precision} on this machine."
        raise ConfigError(told, wanted=" or ".join(sorted(known)), do="take another --engine")


def _converted(loaded: Any, place: Path | None) -> Path:
    """Where it is on disk, made now if it is not there."""
    key = fingerprint(loaded.model, words_of(loaded))
    home = place if place is not None and place.is_dir() else None
    return kept(key, home, lambda draft: specified(loaded).save(str(draft)))
