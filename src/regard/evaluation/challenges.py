"""Challenge sets: pairs of sentences that differ in one thing. A pair counts only if both translations are right.

On disk a line of JSON per pair, so that anybody can write their own:
{"phenomenon": "bank", "word": "bank", "first": {"source": …, "target": …, "key": …}, "second": {…}}
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.corpora import Contrast
from regard.data.readers import read_lines
from regard.errors import ConfigError, DataError
from regard.files import write_text
from regard.insight import Trace
from regard.sections import Section
from regard.tasks.translator import Search, Translator


class Side(Section):
    """A sentence, its translation, and the part of the translation that is at stake."""

    source: str
    target: str
    key: str


class Challenge(Section):
    """Two sentences that differ in one thing."""

    phenomenon: str
    word: str = ""
    first: Side
    second: Side

    @classmethod
    def of(cls, contrast: Contrast) -> "Challenge":
        sides = ((contrast.first, contrast.first_key), (contrast.second, contrast.second_key))
        first, second = (Side(source=pair.source, target=pair.target, key=key) for pair, key in sides)
        return cls(phenomenon=contrast.phenomenon, word=contrast.word, first=first, second=second)


def read_challenges(path: Path) -> list[Challenge]:
    """The pairs of a file, checked."""
    challenges = []
    for number, line in enumerate(read_lines(str(path)), start=1):
        try:
            challenges.append(Challenge.parse(json.loads(line)))
        except (json.JSONDecodeError, ConfigError) as error:
            raise DataError(
                f"{path}, line {number} is not a challenge pair.",
                found=str(error),
                wanted='{"phenomenon": …, "first": {"source": …, "target": …, "key": …}, "second": {…}}',
            ) from None
    if not challenges:
        raise DataError(f"{path} holds no challenge pair.", do="write some with regard demo")
    return challenges


def write_challenges(path: Path, challenges: Iterable[Challenge]) -> None:
    write_text(path, "".join(json.dumps(c.model_dump(), ensure_ascii=False) + "\n" for c in challenges))


def evaluate_challenges(
    translator: Translator, challenges: Sequence[Challenge], search: Search
) -> dict[str, dict[str, Any]]:
    """For each phenomenon the share of pairs in which both sentences are exactly right, and in which both keys are."""
    sources = [side.source for challenge in challenges for side in (challenge.first, challenge.second)]
    outputs = [found[0].text for found in translator.translations(sources, search)]
    return score_challenges(challenges, list(zip(outputs[0::2], outputs[1::2], strict=True)))


def score_challenges(challenges: Sequence[Challenge], outputs: Sequence[tuple[str, str]]) -> dict[str, dict[str, Any]]:
    """The same from outputs: a pair of translations for each pair of sentences."""
    judged = [(c.phenomenon, _exact(c, *pair), _keyed(c, *pair)) for c, pair in zip(challenges, outputs, strict=True)]
    figures = {}
    for phenomenon in dict.fromkeys(name for name, _, _ in judged):
        mine = [(exact, keyed) for name, exact, keyed in judged if name == phenomenon]
        exact, keyed = (sum(column) / len(mine) for column in zip(*mine, strict=True))
        figures[phenomenon] = {"pairs": len(mine), "exact": exact, "key": keyed}
    return figures


def _exact(challenge: Challenge, first: str, second: str) -> bool:
    return first == challenge.first.target and second == challenge.second.target


def _keyed(challenge: Challenge, first: str, second: str) -> bool:
    """Each translation has its own key and not the other's."""
    one, other = challenge.first.key, challenge.second.key
    return one in first and other not in first and other in second and one not in second


@dataclass(frozen=True)
class ClueHead:
    """The head that looks most from the word at stake to the words that decide its meaning."""

    name: str
    head: int
    weight: float


def clues(challenge: Challenge) -> tuple[set[str], set[str]]:
    """The words that only the first sentence has, and those that only the second has: there lies the difference."""
    first, second = (set(_plain(side.source.split())) for side in (challenge.first, challenge.second))
    return first - second, second - first


def clue_head(traces: Sequence[Trace], asked: Sequence[tuple[str, set[str]]]) -> ClueHead:
    """Of all encoder heads the one with the largest mean weight from a word to its clues; asked: both, for each
    trace."""
    totals: dict[tuple[str, int], float] = {}
    for trace, (word, deciders) in zip(traces, asked, strict=True):
        labels = _plain(trace.rows["source"].labels)
        asks = labels.index(word)
        reads = [place for place, label in enumerate(labels) if label in deciders]
        for name in trace.select("encoder"):
            for head, weights in enumerate(trace.weights[name]):
                totals[name, head] = totals.get((name, head), 0.0) + float(weights[asks, reads].sum())
    name, head = max(totals, key=totals.__getitem__)
    return ClueHead(name, head, totals[name, head] / len(traces))


def _plain(words: Iterable[str]) -> list[str]:
    return [word.strip(".,!?").lower() for word in words]
