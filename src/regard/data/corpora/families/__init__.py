"""Every production family by name, with how often it is drawn."""

from collections.abc import Callable

from regard.data.corpora.families.deeds import DEEDS
from regard.data.corpora.families.joining import JOINING
from regard.data.corpora.families.meanings import MEANINGS
from regard.data.corpora.families.plain import PLAIN
from regard.data.corpora.families.pointing import POINTING
from regard.data.corpora.families.settings import SETTINGS
from regard.data.corpora.grammar import Draw, Phrase

Family = Callable[[Draw], Phrase]

FAMILIES: dict[str, Family] = {**PLAIN, **SETTINGS, **DEEDS, **MEANINGS, **POINTING, **JOINING}

# The rest have weight 1: what attention is for is seen more often than small talk.
WEIGHTS: dict[str, float] = {
    "clue-before": 26.0,
    "clue-after": 26.0,
    "it-crossing": 7.0,
    "it-packing": 6.0,
    "it-sight": 2.0,
    "relative-subject": 6.5,
    "relative-object": 6.5,
    "deed-set": 2.0,
    "deed-passive": 6.6,
    "deed-negated": 5.5,
    "deed-asked": 5.5,
    "deed-reported": 2.2,
    "situated-meal": 3.0,
    "situated-doing": 2.0,
    "counting": 9.2,
    "bear-noun": 3.0,
    "bear-verb": 3.0,
    "bear-met": 2.4,
    "bear-bears": 1.2,
    "likes": 6.0,
    "likes-doing": 3.0,
    "often": 5.2,
    "happening": 2.5,
    "mood": 6.7,
    "ahead": 3.0,
    "doing-ahead": 5.0,
    "raining": 1.5,
    "asked-where": 1.5,
    "travelling": 3.5,
    "lasting": 2.4,
    "comparing": 3.2,
    "there-is": 2.5,
    "there-are": 10.0,
    "please": 2.0,
    "chain": 5.0,
    "tale": 20.0,
}
