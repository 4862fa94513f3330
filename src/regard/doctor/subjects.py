"""The kinds of data that can be looked at, and which of them some settings mean."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from regard import bundle
from regard.config import Tree, merge
from regard.doctor.labelled import LabelledRows
from regard.doctor.pairs import Pairs
from regard.doctor.places import Finding
from regard.doctor.repeats import Split
from regard.doctor.survey import Survey
from regard.doctor.tokens import Tokenised
from regard.errors import ConfigError, DataError
from regard.sections import Section
from regard.tasks.classification import LabelledFiles
from regard.tasks.labels import LabelledTokenizer
from regard.tasks.pairs import PairFiles
from regard.tasks.training_pairs import LARGE
from regard.training.settings import RunConfig, resolve
from regard.training.start import Run
from regard.watching import Watch


@runtime_checkable
class Subject(Protocol):
    """What the doctor must know of a kind of data. `wanted`: what the user is to give; `ends`: problems with which
    nothing can be tried."""

    wanted: str
    ends: frozenset[str]

    def named(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The files of each split; those that are read together, together."""

    def surveys(self, watch: Watch) -> list[Survey]:
        """What one pass through the files tells; standard input is left alone."""

    def found(self, splits: Sequence[Split]) -> Iterator[Finding]:
        """What is wrong with each of the files, and with them together."""

    def facts(self, splits: Sequence[Split]) -> dict[str, Any]:
        """The figures of each split, as JSON."""

    def tolerant(self, splits: Sequence[Split]) -> Tree:
        """Settings of the data with which training goes on where it can."""

    def tokenised(self, run: Run, splits: Sequence[Split]) -> Tokenised:
        """What training has made of the data."""

    def too_long(self, run: Run, text: Tokenised, splits: Sequence[Split]) -> Iterator[Finding]:
        """Rows of more tokens than the model can take."""

    def cached(self, run: Run) -> int:
        """Bytes of tokens that are kept on disk."""


Begun = bundle.Trained | None
SUBJECTS: dict[type[Section], Callable[[Any, Begun], Subject]] = {
    PairFiles: lambda files, begun: Pairs(files),
    LabelledFiles: lambda files, begun: LabelledRows(files, _labels(begun)),
}
"""By what says where the data is; made with the model that training begins with."""


def subject_of(files: Section | None, begun: Begun = None, *, task: str = "this task") -> Subject:
    """The data that these files hold."""
    if files is None or type(files) not in SUBJECTS:
        raise ConfigError(
            f"regard doctor cannot look at the data of {task}.",
            wanted="--task translation (pairs of texts) or --task classification (texts with labels)",
        )
    return SUBJECTS[type(files)](files, begun)


def to_examine(tree: Tree) -> Subject:
    """The data that these settings mean; it must be possible to read it more than once."""
    begun = _begun(tree)
    config = resolve(_of_data(merge(begun.settings, tree)) if begun else tree)
    subject = subject_of(_files(config), begun, task=config.task)
    named = list(subject.named())
    if all(split != "train" for split, _ in named):
        raise DataError("No training data was given.", do=subject.wanted)
    if any("-" in paths for _, paths in named):
        raise DataError(
            "The data is read several times, and standard input can be read only once.",
            do="write it to a file, and give its name",
        )
    return subject


def at_first_sight(tree: Tree) -> Subject | None:
    """The data that is about to be trained on, if there is so little that a look takes no time. None for pairs with
    which a trained model goes on, and where only that model knows the task."""
    begins = bool(tree.get("init"))
    if begins and "task" not in tree:
        return None
    files = _files(resolve(_of_data(tree) if begins else tree))
    if type(files) not in SUBJECTS or (begins and isinstance(files, PairFiles)):
        return None
    subject = subject_of(files, _begun(tree))
    return subject if 0 < _size(subject) < LARGE else None


def _begun(tree: Tree) -> Begun:
    return bundle.trained(str(tree["init"])) if tree.get("init") else None


def _of_data(tree: Tree) -> Tree:
    """What says which data it is; the rest may only make sense together with the model that training begins with."""
    return {key: tree[key] for key in ("task", "data") if key in tree}


def _files(config: RunConfig) -> Section | None:
    files: Section | None = getattr(config.settings, "data", None)
    return files


def _labels(begun: Begun) -> tuple[str, ...]:
    """Those that the model that training begins with has learned."""
    labels: tuple[str, ...] = begun.tokenizers(LabelledTokenizer, {}).labels if begun else ()
    return labels


def _size(subject: Subject) -> int:
    """Bytes of the files to train on, as far as they are there."""
    paths = [Path(path) for split, paths in subject.named() if split == "train" for path in paths if path != "-"]
    return sum(path.stat().st_size for path in paths if path.exists())
