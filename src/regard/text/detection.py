"""Which language a text is in, by its letters: runs of one, two and three of them are not equally frequent in each
(Cavnar 1994; Dunning 1994).

    log p(text | language) = Σ log p(run | language) / 3, as each letter stands in runs of three lengths
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

Profile = Mapping[str, int]
"""Runs of letters of a language, and how many of a million runs of that length are this one."""

LENGTHS = (1, 2, 3)
KEPT = 1000
"""Most runs that a profile has."""
MILLION = 1_000_000
RARE = 1
"""What a run counts that a profile does not have, in a million."""
READ = 10_000
"""Most characters of a text that are looked at."""
NO_LETTERS = re.compile(r"[\W\d_]+")


def profile(texts: Iterable[str]) -> dict[str, int]:
    """The most frequent runs of letters in some texts of a language."""
    return _most((run, 1.0) for text in texts for run in _runs(f" {text} "))


def profile_of_pieces(pieces: Iterable[tuple[str, float]]) -> dict[str, int]:
    """The same for a language of which there is no text but a tokenizer: its pieces of words, with a space before those
    that begin one, and how likely each is."""
    return _most((run, likely) for piece, likely in pieces for run in _runs(piece))


def _most(runs: Iterable[tuple[str, float]]) -> dict[str, int]:
    counts: dict[int, Counter[str]] = {length: Counter() for length in LENGTHS}
    for run, count in runs:
        counts[len(run)][run] += count  # type: ignore[assignment]  # a counter may hold numbers of any kind
    shares = (
        (run, round(MILLION * count / counted.total())) for counted in counts.values() for run, count in counted.items()
    )
    best = sorted(shares, key=lambda share: (-share[1], share[0]))[:KEPT]
    return {run: share for run, share in best if share}


def detect(text: str, profiles: Mapping[str, Profile]) -> list[tuple[str, float]]:
    """(language, confidence from 0 to 1), the likeliest first. A confidence is how likely the language is among those
    that are known, times the share of the text's letters that it has at all."""
    runs = Counter(_runs(f" {text[:READ]} "))
    letters = {run: count for run, count in runs.items() if len(run) == 1 and run != " "}
    if not letters:
        return [(language, 0.0) for language in sorted(profiles)]
    scores = {language: _log_likelihood(runs, known) for language, known in profiles.items()}
    best = max(scores.values(), default=0.0)
    total = math.fsum(math.exp(score - best) for score in scores.values())
    found = [
        (language, math.exp(score - best) / total * _share(letters, profiles[language]))
        for language, score in scores.items()
    ]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _log_likelihood(runs: Mapping[str, int], known: Profile) -> float:
    logs = (count * math.log(known.get(run, RARE) / MILLION) for run, count in runs.items())
    return math.fsum(logs) / len(LENGTHS)


def _share(letters: Mapping[str, int], known: Profile) -> float:
    """How many of the letters a language has."""
    return sum(count for letter, count in letters.items() if letter in known) / sum(letters.values())


def _runs(text: str) -> Iterator[str]:
    """Letters in lower case; whatever stands between words is one space."""
    plain = NO_LETTERS.sub(" ", text.lower())
    for length in LENGTHS:
        yield from (plain[start : start + length] for start in range(len(plain) - length + 1))
