"""What can be wrong with classes: too few, too small, too large, too alike, or missing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from regard.doctor import findings
from regard.doctor.labels import Labels, alike
from regard.doctor.places import Finding, Place
from regard.doctor.problems import Problem, many, percent, visible
from regard.doctor.repeats import Split
from regard.doctor.survey import SHOWN

FEWEST = 10
"""Examples below which a class is hardly learned."""
MOST, TIMES = 0.8, 20
"""A training set is out of balance if one class has that share of it, or so many times the examples of another."""
LISTED = 8
"""Labels that a sentence lists."""
Labelled = Mapping[str, tuple[Split, Labels]]


def of_labels(splits: Labelled, known: Sequence[str]) -> Iterator[Finding]:
    """What is wrong with the classes. known: those of the model that training begins with."""
    yield from _alike(splits)
    if "train" not in splits:
        return
    train, labels = splits["train"]
    if len(labels.counts) == 1:
        yield _one_class(train, labels)
    else:
        yield from _unbalanced(labels)
        yield from _rare(train, labels)
    learned = set(labels.counts) | (set(known) if set(labels.counts) <= set(known) else set())
    for held, there in (both for name, both in splits.items() if name != "train"):
        yield from _unseen(held, there, learned)
        yield from _missing(held, there, labels)


def _one_class(train: Split, labels: Labels) -> Finding:
    (label,) = labels.counts
    what = f"train: there is only one class, {_quoted(label)}"
    advice = "add examples with at least two different labels in the last column"
    return Finding(Problem("one-class", "error", "train", what, advice, len(train), 1.0), findings.at(train, [0]))


def _unbalanced(labels: Labels) -> Iterator[Finding]:
    every = list(labels.counts.items())
    common = [(label, count) for label, count in every if count >= FEWEST]  # of the others, more is said below
    largest, most = every[0]
    share = labels.share(largest)
    smallest, least = every[-1] if share > MOST else (common or every)[-1]
    if share > MOST or most >= TIMES * least:
        what = (
            f"train: {_quoted(largest)} has {percent(share)} of the examples ({most:,}), {_quoted(smallest)} "
            f"{percent(labels.share(smallest))} ({least:,}): always saying {_quoted(largest)} is right in "
            f"{percent(share)}"
        )
        advice = (
            "go by macro F1 and by each class, not by accuracy alone (training.metric=macro_f1 chooses the best "
            "model so), or add examples of the small classes"
        )
        yield Finding(Problem("unbalanced", "warning", "train", what, advice, most, share))


def _rare(train: Split, labels: Labels) -> Iterator[Finding]:
    rare = {label: count for label, count in reversed(labels.counts.items()) if count < FEWEST}
    if rare:
        verb = findings.verb(len(rare), "class has", "classes have")
        what = f"train: {len(rare):,} {verb} fewer than {FEWEST} examples: {_listed(rare, rare.get)}"
        advice = "add examples of them, or join them to others"
        problem = Problem("rare-classes", "warning", "train", what, advice, len(rare), len(rare) / len(labels.counts))
        yield Finding(problem, findings.at(train, [labels.first(label) for label in [*rare][:SHOWN]]))


def _unseen(held: Split, labels: Labels, learned: set[str]) -> Iterator[Finding]:
    unseen = {label: count for label, count in labels.counts.items() if label not in learned}
    if unseen:
        rows = labels.rows(unseen)
        share = len(rows) / len(held)
        verb = findings.verb(len(unseen), "label {} does", "labels {} do").format(_listed(unseen))
        which = f"{many(len(rows), 'example')}, {percent(share)}"
        what = f"{held.name}: the {verb} not occur in the training data ({which})"
        advice = "correct the label, or train with examples of it"
        problem = Problem("unseen-labels", "error", held.name, what, advice, len(rows), share)
        yield Finding(problem, findings.at(held, rows))


def _missing(held: Split, labels: Labels, train: Labels) -> Iterator[Finding]:
    missing = [label for label in train.counts if label not in labels.counts]
    if missing:
        count = len(missing)
        verb = findings.verb(count, "does", "do")
        what = f"{held.name}: {count:,} of {len(train.counts):,} classes {verb} not occur: {_listed(missing)}"
        advice = f"add examples of them: the scores on {held.name} say nothing of these classes"
        yield Finding(Problem("missing-classes", "note", held.name, what, advice, count, count / len(train.counts)))


def _alike(splits: Labelled) -> Iterator[Finding]:
    groups = alike(label for _, labels in splits.values() for label in labels.counts)
    if not groups:
        return
    told = [_listed(group, lambda label: _where(label, splits)) for group in groups[:SHOWN]]
    more = f"; and {len(groups) - SHOWN:,} more groups" if len(groups) > SHOWN else ""
    what = f"labels that differ only in case, space or punctuation: {'; '.join(told)}{more}"
    rare = [min(group, key=lambda label: _count(label, splits)) for group in groups[:SHOWN]]
    count = sum(_count(label, splits) for group in groups for label in group)
    share = count / sum(len(split) for split, _ in splits.values())
    split = next(iter(splits))
    problem = Problem(
        "alike-labels", "warning", split, what, "write them the same way, if they mean the same", count, share
    )
    yield Finding(problem, [_place(label, splits) for label in rare])


def _count(label: str, splits: Labelled) -> int:
    return sum(labels.counts.get(label, 0) for _, labels in splits.values())


def _where(label: str, splits: Labelled) -> str:
    return ", ".join(
        f"{labels.counts[label]:,} in {name}" for name, (_, labels) in splits.items() if label in labels.counts
    )


def _place(label: str, splits: Labelled) -> Place:
    split, labels = next(both for both in splits.values() if label in both[1].counts)
    return split.place(labels.first(label))


def _listed(labels: Iterable[str], about: Callable[[str], object] | None = None) -> str:
    """The first of them, each with what there is to say of it."""
    known = list(labels)
    told = [_quoted(label) + (f" ({about(label)})" if about else "") for label in known[:LISTED]]
    rest = len(known) - len(told)
    return (
        f"{', '.join(told)} and {rest:,} more" if rest else " and ".join(filter(None, [", ".join(told[:-1]), told[-1]]))
    )


def _quoted(label: str) -> str:
    return f"'{visible(label, 40)}'"
