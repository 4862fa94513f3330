"""Words that end in a full stop without ending a sentence, by language. All are written small, without the stop.

Single letters (J. S. Bach, z. B.) and letters with stops between them (e.g., U.S., i.d.R.) need no entry.
"""

from collections.abc import Mapping
from functools import cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WHEREVER = _words("dr prof st mr mrs ms vs cf ca approx dipl ing mme mlle messrs ph")
"""In every language."""

NEVER: Mapping[str, frozenset[str]] = {
    "en": _words(
        "adm al asst brig bros capt cmdr co col corp cpl dept ed eds esp est ft gen gov hon inc insp lt ltd maj mt op "
        "pvt rep resp rev rt sen sgt sr supt viz"
    ),
    "de": _words(
        "abzgl allg aufl bspw bzgl bzw ehem eigtl einschl entspr evtl exkl fr frl geb gegr ggf ggfs gest hl hr hrn "
        "hrsg inkl insb insbes jew kath lt mio mrd mwst od prot rd sen sog spez tel tsd urspr verh vgl zit zt "
        "zzgl zzt"
    ),
    "fr": _words("av bd dir env ex mgr mm mmes pr qqch qqn ste"),
    "es": _words("av avda dra dña dpto ed excmo gral ilmo lic pdte sr sra sras sres srta ud uds vd vds"),
    "it": _words("avv dott egr gent geom on rag sig sigg spett"),
    "pt": _words("av dra eng exmo sr sra sras srs"),
    "nl": _words("bijv dhr drs evt ir jhr mevr mw resp zgn"),
    "pl": _words("dot gen godz im inż mgr np pl prof red tys tzn tzw ul ur"),
    "cs": _words("mgr mj např popř resp tj tzv ul"),
    "sv": _words("bl dvs fr hr kl resp"),
    "da": _words("bl dvs evt fx hr kl"),
    "ru": _words("акад гг гл доц им млн млрд напр пр проф рис св см ср стр тыс ул"),
}
"""They are followed by the rest of the sentence, capital or not."""

BEFORE_NUMBERS = _words(
    "abb abs anm apr art arts aug bd bl blz cap ch chap dec eq eqs feb fig figs jan jul jun kap lfd mar max min mind "
    "no nos nov nr nrn num núm n° oct pag pags pág págs par pos pp rdnr rn sec secs sect sep sept str tab "
    "vol vols ziff č čl § гл илл рис ст стр табл"
)
"""The same where a number follows: Fig. 3, Nr. 5, Oct. 12. Else they are words like others."""

MAY_END = frozenset({"a.m", "p.m", "u.s.w", "m.m"})
"""Letters with stops between them that do end a sentence, where the next word could begin one."""

ORDINALS = frozenset(
    {"bs", "cs", "da", "de", "et", "fi", "hr", "hu", "is", "lb", "lv", "nb", "nn", "no", "sk", "sl", "sr"}
)
"""Languages that write "the 3rd" as "3."."""

CODES: Mapping[str, str] = {
    "ara": "ar", "bul": "bg", "cat": "ca", "ell": "el", "epo": "eo", "eus": "eu", "fas": "fa", "gle": "ga", "heb": "he",
    "hin": "hi", "ind": "id", "kor": "ko", "lit": "lt", "mkd": "mk", "ron": "ro", "tha": "th", "tur": "tr", "ukr": "uk",
    "vie": "vi",
    "bos": "bs", "ces": "cs", "cze": "cs", "dan": "da", "deu": "de", "ger": "de", "eng": "en", "spa": "es", "est": "et",
    "fin": "fi", "fra": "fr", "fre": "fr", "hrv": "hr", "hun": "hu", "isl": "is", "ita": "it", "jpn": "ja", "ltz": "lb",
    "lav": "lv", "nld": "nl", "dut": "nl", "nob": "nb", "nno": "nn", "nor": "no", "pol": "pl", "por": "pt", "rus": "ru",
    "slk": "sk", "slv": "sl", "srp": "sr", "swe": "sv", "zho": "zh", "chi": "zh", "cmn": "zh", "yue": "zh", "wuu": "zh",
    "lzh": "zh", "jap": "ja",
}  # fmt: skip
"""Longer names of languages (ISO 639-2 and 639-3)."""


def code(language: str) -> str:
    """The short name of a language: "de" for "deu", "de_AT" and "DE".

    >>> code("zh-Hans"), code("cmn"), code("xx"), code("")
    ('zh', 'zh', 'xx', '')
    """
    name = language.lower().replace("_", "-").split("-")[0]
    return CODES.get(name, name)


@cache
def never_ending(language: str) -> frozenset[str]:
    """The abbreviations of a language; of all, where nobody knows which it is."""
    short = code(language)
    return WHEREVER | (NEVER.get(short, frozenset()) if short else frozenset().union(*NEVER.values()))
