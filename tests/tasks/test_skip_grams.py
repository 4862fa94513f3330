"""Pairs and noise: what is near is near, what is drawn is drawn as the paper says."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from regard.data.batches import Share
from regard.tasks.skip_grams import GROUP, NOISE, SkipGrams, WordBatch, keep

COUNTS = np.array([0, 900, 500, 300, 120, 60, 31, 9, 0, 5])


def drawing(words: int, *, window: int = 4, negatives: int = 5, subsample: float = 0.0) -> SkipGrams:
    return SkipGrams.of(np.ones(words), window=window, negatives=negatives, subsample=subsample)


def numbered(*lengths: int) -> list[np.ndarray]:
    """Texts in which each word says where it stands: ids go up from text to text."""
    ends = np.cumsum(lengths)
    return [np.arange(end - length, end) for length, end in zip(lengths, ends, strict=True)]


def pairs_of(batch: WordBatch) -> list[tuple[int, int]]:
    """(centre, word near it), one by one."""
    group, rest = np.divmod(batch.places.numpy(), GROUP * batch.among.shape[1])
    centre, other = np.divmod(rest, batch.among.shape[1])
    return list(
        zip(batch.centres.numpy()[group, centre].tolist(), batch.among.numpy()[group, other].tolist(), strict=True)
    )


def test_with_a_window_of_one_the_pairs_are_exactly_the_neighbours() -> None:
    texts = numbered(GROUP - 1, 2, 1, 3 * GROUP, 5)
    batch = drawing(500, window=1).batch(texts, np.random.default_rng(0))
    assert batch is not None
    neighbours = [pair for text in texts for pair in pairwise(text.tolist())]
    assert sorted(pairs_of(batch)) == sorted([*neighbours, *((b, a) for a, b in neighbours)])


def test_pairs_stay_within_the_window_and_the_text() -> None:
    lengths, window = (90, 3, 200, 64, 64), 4
    owners = np.repeat(np.arange(len(lengths)), lengths)
    batch = drawing(sum(lengths), window=window).batch(numbered(*lengths), np.random.default_rng(1))
    assert batch is not None
    pairs = pairs_of(batch)
    assert len(set(pairs)) == len(pairs) > sum(lengths)
    assert all(0 < abs(a - b) <= window and owners[a] == owners[b] for a, b in pairs)


def test_each_word_has_a_window_of_its_own_size_each_as_often() -> None:
    window, length = 4, 40_000
    batch = drawing(length, window=window).batch([np.arange(length)], np.random.default_rng(2))
    assert batch is not None
    pairs = pairs_of(batch)
    reached = Counter(
        max(abs(a - b) for b in near) for a, near in _by_centre(pairs).items() if window <= a < length - window
    )
    assert set(reached) == {1, 2, 3, 4}
    assert all(abs(count / length - 1 / window) < 0.01 for count in reached.values())  # over 4 standard deviations
    apart = Counter(abs(a - b) for a, b in pairs)
    assert all(abs(apart[d] / length - 2 * (window - d + 1) / window) < 0.03 for d in range(1, window + 1))


def _by_centre(pairs: list[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for a, b in pairs:
        found.setdefault(a, []).append(b)
    return found


def test_noise_counts_for_each_centre_as_often_as_it_has_pairs() -> None:
    batch = drawing(300, window=3, negatives=7).batch(numbered(100, 1, 150), np.random.default_rng(3))
    assert batch is not None
    pairs = Counter(centre for centre, _ in pairs_of(batch))
    real = batch.weights > 0
    weights = dict(zip(batch.centres[real].tolist(), (batch.weights[real] * NOISE / 7).tolist(), strict=True))
    assert weights == pytest.approx(dict(pairs))
    assert batch.noise.shape == (len(batch.centres), NOISE)


def test_noise_is_drawn_by_count_to_the_power_of_three_quarters() -> None:
    drawn = SkipGrams.of(COUNTS, window=2, negatives=5, subsample=0.0)
    seen = np.zeros(len(COUNTS))
    for seed in range(40):
        batch = drawn.batch([np.ones(2000, dtype=np.int64)], np.random.default_rng(seed))
        assert batch is not None
        seen += np.bincount(batch.noise.flatten().numpy(), minlength=len(COUNTS))
    expected = COUNTS**0.75 / (COUNTS**0.75).sum() * seen.sum()
    assert not seen[COUNTS == 0].any()
    known = COUNTS > 0
    chi_square = float(((seen - expected)[known] ** 2 / expected[known]).sum())
    assert chi_square < 24.3  # 7 degrees of freedom: one in a thousand


def test_words_are_kept_as_word2vecs_formula_says() -> None:
    t, f = 1e-2, COUNTS[COUNTS > 0] / COUNTS.sum()
    found = keep(COUNTS, t)[COUNTS > 0]
    np.testing.assert_allclose(found, np.minimum(1, (np.sqrt(f / t) + 1) * t / f))
    assert found[0] < 0.25
    assert found[-1] == 1
    assert (keep(COUNTS, 0.0) == 1).all()


def test_words_are_kept_as_gensim_keeps_them() -> None:
    models = pytest.importorskip("gensim.models")
    sentences = [[f"w{word}"] * int(count) for word, count in enumerate(COUNTS)]
    theirs = models.Word2Vec(vector_size=3, min_count=1, sample=1e-2, workers=1)
    theirs.build_vocab(sentences)
    for word, kept in enumerate(keep(COUNTS, 1e-2)):
        if COUNTS[word]:
            assert theirs.wv.get_vecattr(f"w{word}", "sample_int") / (2**32 - 1) == pytest.approx(kept, abs=1e-9)


def test_frequent_words_are_left_out_before_windows_are_laid() -> None:
    counts = np.array([9000, 10, 10])
    drawn = SkipGrams.of(counts, window=1, negatives=5, subsample=1e-3)
    text = np.array([1, *[0] * 30, 2] * 50)
    batch = drawn.batch([text], np.random.default_rng(5))
    assert batch is not None
    pairs = pairs_of(batch)
    share = sum(1 for centre in batch.centres[batch.weights > 0].tolist() if centre == 0) / np.count_nonzero(text == 0)
    assert share == pytest.approx(float(drawn.kept[0]), abs=0.02)
    assert (1, 2) in pairs  # 30 words apart, all of them left out


def test_what_one_knows_by_frequency_alone_is_the_loss_of_the_best_such_scores() -> None:
    drawn = SkipGrams.of(COUNTS, window=1, negatives=5, subsample=0.0)
    counts = COUNTS[COUNTS > 0]
    near, noise = counts / counts.sum(), counts**0.75 / (counts**0.75).sum()

    def loss(scores: np.ndarray) -> float:
        return float((near * np.logaddexp(0, -scores)).sum() + 5 * (noise * np.logaddexp(0, scores)).sum())

    best = np.log(near / noise / 5)
    assert drawn.frequency_loss() == pytest.approx(loss(best), abs=1e-12)
    for seed in range(20):
        assert loss(best + np.random.default_rng(seed).normal(scale=0.1, size=len(best))) > drawn.frequency_loss()


def test_shares_are_the_groups_of_the_whole() -> None:
    drawn, texts = drawing(400, subsample=1e-2), numbered(200, 77, 100)
    whole = drawn.batch(texts, np.random.default_rng(6))
    assert whole is not None
    for of in (2, 3, 9):
        parts = [drawn.batch(texts, np.random.default_rng(6), Share(part, of)) for part in range(of)]
        shared = [part for part in parts if part is not None]
        assert len(shared) == min(of, len(whole.centres))
        assert sorted(pair for part in shared for pair in pairs_of(part)) == sorted(pairs_of(whole))
        assert sum(float(part.weights.sum()) for part in shared) == pytest.approx(float(whole.weights.sum()))
        assert sorted(word for part in shared for word in part.noise.flatten().tolist()) == sorted(
            whole.noise.flatten().tolist()
        )


def test_texts_of_which_nothing_is_kept_still_make_a_batch() -> None:
    drawn = SkipGrams.of(np.array([10**9, 1]), window=2, negatives=5, subsample=1e-12)
    batch = drawn.batch([np.zeros(5, dtype=np.int64)], np.random.default_rng(0))
    assert batch is not None
    assert (len(batch.places), float(batch.weights.sum())) == (0, 0.0)
