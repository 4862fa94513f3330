"""Models that write several languages, as some of OPUS-MT do: before each sentence stands the code of the one that is
wanted, such as >>fra<< or >>cmn_Hans<<."""

import re
from collections.abc import Iterable, Mapping

from regard.config import nearest
from regard.errors import ConfigError
from regard.text.abbreviations import code
from regard.text.tokenizer import Tokenizer

TOKEN = re.compile(r" ?>>(\S+)<< ?")
"""As a token of a source is called; spaces: see spm_backend.py."""
CODE = re.compile(r">>[^\s<>]{1,40}<<[^\S\n]*")
USUAL = frozenset({"cmn"})
"""Of several languages with one short name, the one that is meant by it."""


def coded(text: str) -> tuple[str, str]:
    """The code that a text begins with, if it does, and the rest.

    >>> coded(">>fra<< Hello. How are you?")
    ('>>fra<< ', 'Hello. How are you?')
    """
    found = CODE.match(text)
    return (found.group(), text[found.end() :]) if found else ("", text)


def with_code(text: str, code: str) -> str:
    """A text with a code before it, if it has none of its own; what is empty stays so.

    >>> with_code("Hello.", ">>fra<< "), with_code(">>deu<< Hello.", ">>fra<< "), with_code(" ", ">>fra<< ")
    ('>>fra<< Hello.', '>>deu<< Hello.', ' ')
    """
    own, rest = coded(text)
    return (own or code) + rest if text.strip() else text


def targets_of(tokenizer: Tokenizer) -> dict[str, str]:
    """The codes that a tokenizer of sources has, each by the name that people ask for."""
    found = map(TOKEN.fullmatch, tokenizer.backend.get_vocab())
    return named(match.group(1) for match in found if match)


def named(codes: Iterable[str]) -> dict[str, str]:
    """Codes by the names that people ask for; one whose short name is taken keeps its own.

    >>> named(["fra", "cmn_Hans", "yue_Hans", "pt_BR"])
    {'zh-Hans': 'cmn_Hans', 'pt-BR': 'pt_BR', 'fr': 'fra', 'yue-Hans': 'yue_Hans'}
    """
    found: dict[str, str] = {}
    for one in sorted(codes, key=_rank):
        language, *variant = re.split("[_-]", one)
        short, own = ("-".join([name, *variant]) for name in (code(language), language))
        found[own if short in found else short] = one
    return found


def _rank(one: str) -> tuple[bool, bool, str]:
    """First those that have the best claim to a short name."""
    language, *_ = re.split("[_-]", one)
    return language not in USUAL, language != code(language), one


def code_before(wanted: str, targets: Mapping[str, str]) -> str:
    """What stands before a text that is to become a language, by its name or its code; `targets` as above."""
    if not targets:
        what = f"This model writes one language only: it cannot be told to write {wanted!r}."
        raise ConfigError(what, do="leave out --to")
    known = {name.lower().replace("_", "-"): one for name, one in targets.items()}
    known |= {one.lower().replace("_", "-"): one for one in targets.values()}
    found = known.get(wanted.lower().replace("_", "-"))
    if found is None:
        raise ConfigError(f"The model does not write {wanted!r}.", do=nearest(wanted, targets))
    return f">>{found}<< "
