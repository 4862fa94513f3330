"""The pairs that a translator is trained on, as ids.

Where they are few they are read into memory. Where they are many they are read twice, row by row, to train the
tokenizers on a sample and to tokenise them all onto the disk (see data/store.py); the next run finds both there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from regard.data import store
from regard.data.batches import PairBatch, pad
from regard.data.lines import joined_digest
from regard.data.readers import PairReader, fingerprint
from regard.data.store import Store
from regard.errors import DataError
from regard.tasks.pairs import Pair, PairFiles, Tokenizers
from regard.text import TokenizerConfig
from regard.watching import Watch

LARGE = 16_000_000
"""Bytes of files from which on tokens are kept on disk."""
SAMPLE = 200_000
"""Pairs, evenly spread, that the tokenizers of a large corpus are trained on."""


@dataclass(frozen=True)
class TrainingPairs:
    """All corpora, one after the other. `kept`: the rows that are not too long, None if none is; `weights`: how many of
    them each corpus has, and how often they come."""

    tokenizers: Tokenizers
    stores: tuple[Store, ...]
    kept: np.ndarray | None
    weights: tuple[tuple[int, float], ...]
    fingerprint: str
    skipped: tuple[str, ...]

    def __len__(self) -> int:
        return sum(rows for rows, _ in self.weights)

    def lengths(self) -> np.ndarray:
        """Tokens that the encoder reads and that the decoder predicts, a row per pair that is kept."""
        lengths = _lengths(self.stores)
        return lengths if self.kept is None else lengths[self.kept]

    def batch(self, rows: np.ndarray) -> PairBatch:
        """Some of the kept rows, with their marks, padded."""
        source, target = self.tokenizers.source, self.tokenizers.target
        sources, targets = self._ids(rows if self.kept is None else self.kept[rows])
        return PairBatch(
            *pad(sources, source.pad, behind=[source.end]),
            *pad(targets, target.pad, before=[target.start], behind=[target.end]),
        )

    def _ids(self, rows: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        bounds = np.cumsum([0, *map(len, self.stores)])
        found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for each, first, end in zip(self.stores, bounds, bounds[1:], strict=False):
            places = np.flatnonzero((rows >= first) & (rows < end))
            sources, targets = each.rows((rows[places] - first).tolist())
            found |= zip(places.tolist(), zip(sources, targets, strict=True), strict=True)
        return [found[place][0] for place in range(len(rows))], [found[place][1] for place in range(len(rows))]


def load(
    files: PairFiles, tokenizer: TokenizerConfig, *, most: int, saved: Tokenizers | None, watch: Watch
) -> TrainingPairs:
    """Reads, tokenises and checks the training data. most: tokens that a pair may have; saved: tokenizers that are to
    be used, otherwise they are trained."""
    readers = [files.reader(corpus.paths) for corpus in files.corpora]
    if size_of(files) < LARGE:
        texts = [list(watch(reader, total=0, what="reading the pairs")) for reader in readers]
        tokenizers = saved or Tokenizers.train([pair for text in texts for pair in text], tokenizer)
        stores = tuple(store.in_memory(text, (tokenizers.source, tokenizers.target)) for text in texts)
        digests = [reader.fingerprint for reader in readers]
        skipped = [str(row) for reader in readers for row in reader.skipped]
    else:
        digests = [fingerprint(reader.paths) for reader in readers]
        tokenizers = saved or _trained(readers, digests, tokenizer, watch)
        places = [_tokens(reader, digest, tokenizers, watch) for reader, digest in zip(readers, digests, strict=True)]
        stores = tuple(map(store.on_disk, places))
        skipped = [line for place in places for line in store.notes(place)]
    return _kept(files, tokenizers, stores, most, joined_digest(digests), skipped)


def _kept(
    files: PairFiles, tokenizers: Tokenizers, stores: tuple[Store, ...], most: int, digest: str, skipped: list[str]
) -> TrainingPairs:
    longest = _lengths(stores).max(axis=1)
    over = np.flatnonzero(longest > most)
    if len(over) == len(longest):
        raise DataError(f"Every training pair is longer than {most} tokens.", do="raise model.limit and batch.tokens")
    if len(over) and files.too_long == "stop":
        raise DataError(
            f"{len(over)} training pairs are longer than {most} tokens.",
            found=f"pair {over[0] + 1} has {longest[over[0]]} tokens",
            wanted=f"at most {most}",
            do="raise model.limit and batch.tokens, or leave them out with data.too_long=skip",
        )
    lines = [f"training pair {i + 1}: {longest[i]} tokens, more than {most}" for i in over]
    rows = [len(each) for each in stores]
    left = rows - np.diff(np.searchsorted(over, np.cumsum([0, *rows])))
    weights = tuple((int(count), corpus.weight) for count, corpus in zip(left, files.corpora, strict=True))
    kept = np.flatnonzero(longest <= most).astype(np.uint32) if len(over) else None
    return TrainingPairs(tokenizers, stores, kept, weights, digest, (*skipped, *lines))


def _lengths(stores: Sequence[Store]) -> np.ndarray:
    """Tokens of each pair on either side, the end mark among them."""
    lengths = np.concatenate([each.lengths() for each in stores])
    lengths += 1
    return lengths


def _trained(readers: Sequence[PairReader], digests: list[str], config: TokenizerConfig, watch: Watch) -> Tokenizers:
    """Tokenizers for a sample of large corpora, or those that an earlier run has trained on just that."""
    named = {"tokenizer": config.model_dump()}
    ways = [(reader.langs, reader.bad_rows) for reader in readers]
    place = store.cache_directory() / "tokenizers" / store.key(digests, ways, named, SAMPLE)
    if not place.exists():
        pairs: list[Pair] = []
        for reader in readers:
            pairs += _sample(watch(reader, total=0, what="reading the pairs"), SAMPLE // len(readers))
        store.publish(place, Tokenizers.train(pairs, config).save)
    return Tokenizers.load(place, named)


def _sample(pairs: Iterable[Pair], most: int) -> list[Pair]:
    """Every n-th pair, with the smallest n (a power of two) that leaves no more than `most`."""
    kept: list[Pair] = []
    step = 1
    for number, pair in enumerate(pairs):
        if number % step == 0:
            kept.append(pair)
            if len(kept) > most:
                kept, step = kept[::2], 2 * step
    return kept


def _tokens(reader: PairReader, digest: str, tokenizers: Tokenizers, watch: Watch) -> Path:
    """Where the tokens of a large corpus are kept; they are made if they are not there yet."""
    both = tokenizers.source, tokenizers.target
    names = [sha256(tokenizer.backend.to_str().encode()).hexdigest() for tokenizer in both]
    place = store.cache_directory() / "tokens" / store.key(digest, reader.langs, reader.bad_rows, names)
    if not place.exists():
        rows = watch(reader, total=0, what="tokenising the pairs")
        store.write(place, rows, both, lambda: [str(row) for row in reader.skipped])
    return place


def size_of(files: PairFiles) -> int:
    """Bytes of the files to train on, as far as they are there."""
    paths = [Path(path) for corpus in files.corpora for path in corpus.paths if path != "-"] if files.train else []
    return sum(path.stat().st_size for path in paths if path.exists())
