"""What users may rely on. A change here is a change of the public interface: say so in the CHANGELOG."""

import inspect

import regard
from regard.tasks.translator import Translator


def test_the_public_names_are_these() -> None:
    assert regard.__all__ == ["RegardError", "Trace", "__version__", "attend", "capture", "load"]
    assert all(getattr(regard, name) is not None for name in regard.__all__)


def test_a_translator_has_these_verbs() -> None:
    verbs = {name: str(inspect.signature(getattr(Translator, name))) for name in ("translate", "attention")}
    assert list(inspect.signature(Translator.attention).parameters) == ["self", "source", "target"]
    assert "texts" in verbs["translate"]


def test_a_trace_has_these_methods() -> None:
    methods = {name for name in vars(regard.Trace) if not name.startswith("_")}
    assert {"names", "weights_of", "by_words", "without_specials", "shifted", "save", "load", "sentence"} <= methods
