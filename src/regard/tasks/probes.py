"""Which pairs attention is watched on while it is learned: a few, always the same, short enough to be looked at."""

from regard.data.readers import ParallelText
from regard.insight.words import words_at
from regard.tasks.pairs import Pair, Tokenizers

COUNT, WORDS, TOKENS = 4, 20, 40
"""How many pairs; how many words the source, how many tokens either side may have."""
AMONG = 1000


def probe_pairs(text: ParallelText, tokenizers: Tokenizers, *, most: int) -> list[Pair]:
    """Pairs whose sources differ in length, the shortest first. most: tokens that the model can take."""
    by_length: dict[int, Pair] = {}
    for pair in zip(text.sources[:AMONG], text.targets[:AMONG], strict=True):
        length = max(words_at(pair[0]), default=-1) + 1
        if length <= WORDS and length not in by_length and _tokens(pair, tokenizers) <= min(TOKENS, most):
            by_length[length] = pair
    lengths = sorted(by_length)
    middles = dict.fromkeys(int((part + 0.5) * len(lengths) / COUNT) for part in range(COUNT))
    return [by_length[lengths[place]] for place in middles] if lengths else []


def _tokens(pair: Pair, tokenizers: Tokenizers) -> int:
    """Of the longer side, with its end mark."""
    return max(len(tokenizers.source.encode(pair[0])), len(tokenizers.target.encode(pair[1]))) + 1
