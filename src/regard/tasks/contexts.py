"""One word in several sentences: its vector without context, and where each layer of a BERT moves it."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from regard.errors import DataError
from regard.insight import Contexts
from regard.tasks.embedding import too_long

SHOWN = 80


@torch.inference_mode()
def word_contexts(encoder: Any, word: str, sentences: Sequence[str]) -> Contexts:
    """The word's vector in the embedding, and in each sentence after each layer: the mean of its pieces.

    It is looked for as a word, whatever its case; in writing without spaces, as it stands. The first in a sentence
    counts.
    """
    tokenizer, network = encoder.tokenizers.tokenizer, encoder.model.bert
    alone = network.words.weight[tokenizer.encode(word)]
    if not len(alone):
        raise DataError("The word is empty.", found=repr(word))
    if not sentences:
        raise DataError(
            "There is no sentence to see the word in.",
            wanted=f"sentences with {word!r}, one a line",
            do="check that this is the file you meant",
        )
    moved = []
    for number, sentence in enumerate(sentences, start=1):
        places = _places(tokenizer.pieces(sentence), word, sentence, number)
        ids = [tokenizer.start, *tokenizer.encode(sentence), tokenizer.end]
        if len(ids) > encoder.limit:
            raise too_long(len(ids), encoder.limit, f"Sentence {number}", "leave it out, or ")
        tokens = torch.tensor([ids], device=alone.device)
        layers = network.layers(tokens, torch.tensor([len(ids)], device=alone.device))
        moved.append(torch.stack([layer[0, places].mean(0) for layer in layers]))
    return Contexts(word, tuple(sentences), _array(alone.mean(0)), _array(torch.stack(moved)))


def _places(pieces: Sequence[Any], word: str, sentence: str, number: int) -> list[int]:
    """Where the pieces of the word are among the tokens, the mark before them counted."""
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence, re.IGNORECASE) or re.search(
        re.escape(word) if not word.isascii() else r"(?!)", sentence
    )
    if found is None:
        raise DataError(
            f"Sentence {number} does not have the word {word!r}.",
            found=repr(sentence[:SHOWN]),
            do="leave the sentence out, or write the word as it stands there",
        )
    first, end = found.span()
    return [place + 1 for place, piece in enumerate(pieces) if piece.start < end and piece.end > first]


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.float().cpu().numpy()
