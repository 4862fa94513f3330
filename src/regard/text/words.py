"""Whole words as a vocabulary, for vectors of words.

A word is a run of letters and digits; ' ’ - and _ may stand inside one ("don't", "well-known", "new_york"); a Chinese
character is a word. Everything else only separates: punctuation is no word. Capitals become small letters if so asked.
"""

from collections.abc import Iterable, Sequence

from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Backend

from regard.text.tokenizer import SPECIALS, UNKNOWN, Tokenizer

LETTER = r"[^\s\p{Han}\p{P}\p{S}\p{Z}\p{C}]"
WORD = rf"\p{{Han}}|{LETTER}+(?:['’_\-]{LETTER}+)*"


def word_tokenizer(texts: Iterable[str], *, size: int, min_count: int, lowercase: bool) -> Tokenizer:
    """The words that occur so often at least, the commonest first; no more than `size`, marks included."""
    backend = _split({UNKNOWN: 0}, lowercase=lowercase)
    trainer = trainers.WordLevelTrainer(
        vocab_size=size, min_frequency=min_count, special_tokens=list(SPECIALS), show_progress=False
    )
    backend.train_from_iterator(texts, trainer)
    return Tokenizer(backend)


def tokenizer_of(words: Sequence[str]) -> Tokenizer:
    """For words that are known already, none of them a mark or there twice. Where none has a capital, capitals become
    small letters."""
    lowercase = all(word == word.lower() for word in words)
    return Tokenizer(_split({word: id for id, word in enumerate((*SPECIALS, *words))}, lowercase=lowercase))


def words_of(tokenizer: Tokenizer) -> list[str]:
    """The vocabulary by id; the first entries are marks."""
    return [str(tokenizer.backend.id_to_token(id)) for id in range(len(tokenizer))]


def _split(vocabulary: dict[str, int], *, lowercase: bool) -> Backend:
    backend = Backend(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    if lowercase:
        backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(WORD), behavior="removed", invert=True)
    return backend
