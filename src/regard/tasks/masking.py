"""Words to guess (Devlin 2018, section 3.1, task 1): 15 % of the tokens are chosen; of these 80 % become [MASK], 10 %
another token, and 10 % stay as they are, so that the model must mind the words it sees, too."""

from dataclasses import dataclass

import numpy as np

from regard.text import Tokenizer
from regard.text.wordpiece import PREFIX

HIDDEN, REPLACED = 0.8, 0.1


@dataclass(frozen=True, eq=False)
class Masker:
    """Chooses and hides. `continues[id]`: whether the token goes on with the word before it; `words`: those that may
    stand in for another."""

    rate: float
    whole_words: bool
    mask: int
    continues: np.ndarray
    words: np.ndarray

    @classmethod
    def of(cls, tokenizer: Tokenizer, *, rate: float, whole_words: bool) -> "Masker":
        names = [str(tokenizer.backend.id_to_token(id)) for id in range(len(tokenizer))]
        marks = {tokenizer.pad, tokenizer.start, tokenizer.end, tokenizer.unknown, tokenizer.mask}
        words = np.array([id for id in range(len(tokenizer)) if id not in marks])
        continues = np.array([name.startswith(PREFIX) for name in names])
        if tokenizer.mask is None:
            raise ValueError("a tokenizer without a mark for masked words")
        return cls(rate, whole_words, tokenizer.mask, continues, words)

    def __call__(self, ids: np.ndarray, may: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The tokens with some of them hidden, and the places of those that are to be guessed, in order.
        may: which places can be chosen."""
        places = self._chosen(ids, may, random)
        hidden = ids.copy()
        lots = random.random(len(places))
        hidden[places[lots < HIDDEN]] = self.mask
        other = places[(lots >= HIDDEN) & (lots < HIDDEN + REPLACED)]
        hidden[other] = random.choice(self.words, len(other))
        return hidden, places

    def _chosen(self, ids: np.ndarray, may: np.ndarray, random: np.random.Generator) -> np.ndarray:
        candidates = np.flatnonzero(may)
        wanted = max(1, round(self.rate * len(candidates)))
        if not self.whole_words:
            return np.sort(random.permutation(candidates)[:wanted])
        starts = np.flatnonzero(~self.continues[ids[candidates]] | (np.diff(candidates, prepend=-2) > 1))
        groups = np.split(candidates, starts[starts > 0])
        chosen: list[int] = []
        for number in random.permutation(len(groups)):
            if len(chosen) + len(groups[number]) <= max(wanted, len(groups[number]) * (not chosen)):
                chosen += groups[number].tolist()
        return np.sort(np.array(chosen, dtype=np.int64))
