"""What all models meet: the texts, the challenge sets, the gold links. Read and checked before anything is trained."""

from collections import deque
from pathlib import Path

from regard.data.lines import joined_digest
from regard.data.readers import ParallelText, fingerprint, read_pairs
from regard.evaluation.alignment import Gold, read_gold
from regard.evaluation.challenges import Challenge, read_challenges
from regard.lab.compare.plan import Plan
from regard.tasks.pairs import PairFiles
from regard.tasks.word_texts import WordPair, read_word_pairs


def read_text(plan: Plan, split: str) -> ParallelText:
    """The pairs of a split, read as training reads them."""
    data = plan.settings["data"]
    langs = tuple(data.get("langs", ("", "")))
    return read_pairs(
        data[split], langs=(langs[0], langs[1]) if all(langs) else None, bad_rows=data.get("bad_rows", "stop")
    )


def _training_data(plan: Plan) -> str:
    """The fingerprint of what is trained on, read to the end."""
    files = PairFiles.parse(plan.settings["data"], where="data")
    readers = [files.reader(corpus.paths) for corpus in files.corpora]
    for reader in readers:
        deque(reader, maxlen=0)
    return joined_digest([reader.fingerprint for reader in readers])


def languages(plan: Plan) -> tuple[str, str]:
    """Of source and target, empty where nobody has said."""
    source, target = plan.settings["data"].get("langs", ("", ""))
    return source, target


def challenge_sets(plan: Plan) -> list[Challenge]:
    return read_challenges(Path(plan.challenges)) if plan.challenges else []


def gold_links(plan: Plan, split: str) -> tuple[list[WordPair], list[Gold]] | None:
    """Words and their gold links, None where nobody drew any."""
    if split not in plan.gold:
        return None
    files = plan.gold[split]
    pairs = read_word_pairs([files.words])
    return pairs, read_gold(files.links, pairs, base=files.base)


def check(plan: Plan) -> dict[str, str]:
    """Reads everything once, so that a fault is found now; gives the fingerprints by which it is known again."""
    found = {"train": _training_data(plan)} | {split: read_text(plan, split).fingerprint for split in ("val", "test")}
    if plan.challenges:
        challenge_sets(plan)
        found["challenges"] = fingerprint([plan.challenges])
    for split, files in plan.gold.items():
        gold_links(plan, split)
        found[f"gold of {split}"] = fingerprint([files.words, files.links])
    return found
