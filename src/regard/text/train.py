"""Training a tokenizer on the user's own text: same text, same settings, same bytes."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from pydantic import Field
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import Tokenizer as Backend

from regard.errors import ConfigError
from regard.sections import Section
from regard.text.tokenizer import BERT, SPACE, SPECIALS, UNKNOWN, Tokenizer
from regard.text.unigram import train_unigram
from regard.text.wordpiece import train_wordpiece

# A word with the space before it; runs of Han apart from other letters; each digit and each mark alone.
WORDS = r"▁?\p{Han}+|▁?\p{N}|▁?[^▁\s\p{Han}\p{N}\p{P}\p{S}]+|▁?[^▁]|▁"
SEEN = 5
"""How often a piece must occur to be learned: from little text, whole sentences would become pieces otherwise."""
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


class TokenizerConfig(Section):
    """How text becomes tokens."""

    kind: Literal["bpe", "byte-bpe", "unigram", "wordpiece", "word", "character"] = Field(
        "bpe", description="how text is cut into tokens"
    )
    size: int = Field(8000, gt=0, description="entries of the vocabulary, marks included; the text may give fewer")
    lowercase: bool = Field(False, description="wordpiece: capitals and accents are not told apart")
    joint: bool = Field(True, description="one vocabulary for both languages; otherwise one each")


def train_tokenizer(texts: Sequence[str], config: TokenizerConfig) -> Tokenizer:
    """A tokenizer of the asked kind."""
    if config.lowercase and config.kind != "wordpiece":
        raise ConfigError(f"tokenizer.lowercase is for wordpiece, not for {config.kind}.", do="leave it out")
    if config.kind == "wordpiece":
        return Tokenizer(_wordpiece(texts, config.size, lowercase=config.lowercase))
    return Tokenizer(KINDS[config.kind](texts, config.size))


def _bpe(texts: Sequence[str], size: int) -> Backend:
    """Byte-pair encoding on characters (Sennrich 2016); what is not in the vocabulary falls back to bytes, so nothing
    is unknown. The 256 byte entries are put in after training: registered as special tokens they would vanish on
    decode."""
    room = _room(size, [*SPECIALS, *BYTES])
    backend = _spaced(models.BPE())
    trainer = trainers.BpeTrainer(vocab_size=room, initial_alphabet=[SPACE], min_frequency=SEEN, show_progress=False)
    backend.train_from_iterator(_without_rare_characters(texts, room // 2), trainer)
    trained = json.loads(backend.to_str())["model"]
    learned = sorted(trained["vocab"], key=trained["vocab"].__getitem__)
    vocabulary = {token: id for id, token in enumerate([*SPECIALS, *BYTES, *learned])}
    merges = [tuple(merge) for merge in trained["merges"]]
    backend = _spaced(models.BPE(vocabulary, merges, byte_fallback=True, unk_token=UNKNOWN, fuse_unk=False))
    return _marked(backend)


def _byte_bpe(texts: Sequence[str], size: int) -> Backend:
    """BPE on bytes, as GPT-2 has it: nothing is unknown, Chinese characters may be cut into their bytes."""
    _room(size, [*SPECIALS, *BYTES])
    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIALS),
        initial_alphabet=alphabet,
        min_frequency=SEEN,
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    return backend


def _unigram(texts: Sequence[str], size: int) -> Backend:
    """The unigram language model (Kudo 2018) with byte fallback. The training is ours: HF's trainer gives another
    vocabulary each time it is run."""
    room = _room(size, [*SPECIALS, *BYTES])
    pieces = train_unigram(_words(_without_rare_characters(texts, room // 2)), room)
    floor = min(score for _, score in pieces) - 10.0
    marks = [(mark, 0.0) for mark in SPECIALS] + [(byte, floor) for byte in BYTES]
    backend = _spaced(models.Unigram([*marks, *pieces], unk_id=SPECIALS.index(UNKNOWN), byte_fallback=True))
    return _marked(backend)


def _wordpiece(texts: Sequence[str], size: int, *, lowercase: bool) -> Backend:
    """BERT's tokenizer: words and marks apart, each Chinese character alone; what cannot be spelt is unknown. The
    training is ours: HF's trainer is byte-pair encoding, and gives other ids each time it is run."""
    room = _room(size, BERT)
    normalise = normalizers.BertNormalizer(lowercase=lowercase)
    split = pre_tokenizers.BertPreTokenizer()
    counts = Counter(word for text in texts for word, _ in split.pre_tokenize_str(normalise.normalize_str(text)))
    vocabulary = {piece: id for id, piece in enumerate([*BERT, *train_wordpiece(counts, room)])}
    backend = Backend(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer, backend.pre_tokenizer, backend.decoder = normalise, split, decoders.WordPiece()
    backend.add_special_tokens(list(BERT))
    backend.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    return backend


def _word(texts: Sequence[str], size: int) -> Backend:
    """Whole words and marks, split at spaces; what is rare is unknown. The vocabulary of the early papers."""
    backend = _counted(Counter(word for text in texts for word in text.split()), size)
    # "</s>" written in a text would be looked up as the end of it: spoil the first character, and it is unknown.
    spoilt = rf"(?<!\S)<(?=(?:{'|'.join(mark[1:] for mark in SPECIALS)})(?!\S))"
    backend.normalizer = normalizers.Replace(Regex(spoilt), "\0")
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return backend  # without a decoder, words are joined by spaces


def _character(texts: Sequence[str], size: int) -> Backend:
    """Single characters, the space among them."""
    backend = _counted(Counter(character for text in texts for character in text), size)
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    backend.decoder = decoders.Fuse()
    return backend


KINDS: dict[str, Callable[[Sequence[str], int], Backend]] = {
    "bpe": _bpe,
    "byte-bpe": _byte_bpe,
    "unigram": _unigram,
    "word": _word,
    "character": _character,
}


def _spaced(model: Any) -> Backend:
    """Spaces become part of the word they precede. One is put before a text that does not start with a Chinese
    character, and taken away again on decode, so that decode(encode(text)) == text (but for ▁ itself, which becomes a
    space)."""
    backend = Backend(model)
    backend.normalizer = normalizers.Sequence(
        [normalizers.Replace(" ", SPACE), normalizers.Replace(Regex(r"\A(?!\p{Han})"), SPACE)]
    )
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(WORDS), behavior="isolated")
    backend.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return backend


def _marked(backend: Backend) -> Backend:
    backend.add_special_tokens([mark for mark in SPECIALS if mark != UNKNOWN])  # an unknown word stays visible
    return backend


def _room(size: int, reserved: Sequence[str]) -> int:
    """How many entries can be learned, beside those that come first."""
    least = len(reserved) + 1
    marks = " ".join(entry for entry in reserved if entry not in BYTES)
    if size < least:
        raise ConfigError(
            f"tokenizer.size={size} leaves no room for the text.",
            wanted=f"at least {least}: {marks}{' and the 256 bytes' * (least > len(BYTES))} come first",
            do="raise tokenizer.size",
        )
    return size - len(reserved)


def _counted(counts: Counter[str], size: int) -> Backend:
    room = _room(size, SPECIALS)
    ranked = sorted(counts.keys() - set(SPECIALS), key=lambda unit: (-counts[unit], unit))
    vocabulary = {token: id for id, token in enumerate([*SPECIALS, *ranked[:room]])}
    return _marked(Backend(models.WordLevel(vocabulary, unk_token=UNKNOWN)))


def _without_rare_characters(texts: Sequence[str], most: int) -> list[str]:
    """Keeps the `most` commonest characters and drops the others: they will be spelt in bytes. (The trainer's own limit
    on the alphabet is not deterministic.)"""
    counts = Counter(character for text in texts for character in text)
    rare = sorted(counts, key=lambda character: (-counts[character], character))[most:]
    drop = dict.fromkeys(map(ord, rare), " ")
    return [text.translate(drop) for text in texts]


def _words(texts: Iterable[str]) -> Counter[str]:
    splitter = _spaced(models.BPE())
    counts = Counter([SPACE])  # known, even if the text has none
    for text in texts:
        counts.update(
            word for word, _ in splitter.pre_tokenizer.pre_tokenize_str(splitter.normalizer.normalize_str(text))
        )
    return counts
