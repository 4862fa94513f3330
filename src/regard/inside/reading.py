"""A loaded model reads a text once, padding behind it if that is wanted: the one pass that charts and masks are of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import torch

from regard.errors import ConfigError, DataError, LimitError
from regard.inside.scene import Script
from regard.insight import Token, TokenRow
from regard.tasks.classification import Examples
from regard.tasks.classifier import Classifier
from regard.tasks.encoder import Encoder
from regard.tasks.generator import Generator
from regard.tasks.pairs import EncodedPairs
from regard.tasks.spelling import spelt, surface
from regard.tasks.traces import marked_row, token_row
from regard.tasks.translator import Translator


@dataclass(frozen=True)
class Reading:
    """What was read: tokens, in the rows of `attention`, and which places of a row are padding."""

    rows: Mapping[str, TokenRow]
    padding: Mapping[str, range] = field(default_factory=dict)


@torch.inference_mode()
def read(model: Any, given: Script, *, padding: int = 0) -> Reading:
    """The network has read the text when this returns. padding: so many places behind the text (a language model:
    before it) that are none, as in a batch beside a longer one."""
    for kind, reader in READERS.items():
        if isinstance(model, kind):
            return reader(model, given, padding)
    raise ConfigError(f"{type(model).__name__} is no model that reads a text.", wanted="a loaded model")


def _translation(model: Translator, given: Script, padding: int) -> Reading:
    source, target = model.tokenizers.source, model.tokenizers.target
    text, written = given.text, given.second or ""
    batch = EncodedPairs.encode([text], [written], model.tokenizers).batch([0], model.tokenizers)
    _check(max(batch.source.shape[1] + padding, batch.target.shape[1] - 1), model.limit)
    batch = batch.to(_device(model))
    model.model(_padded(batch.source, source.pad, padding), batch.source_lengths, batch.target[:, :-1])
    read = token_row(text, source, model.langs[0], end=True)
    rows = {
        "source": TokenRow(text, (*read.tokens, *_marks(source, len(text), padding)), read.language),
        "target": token_row(written, target, model.langs[1], start=True),
        "prediction": token_row(written, target, model.langs[1], end=True),
    }
    return Reading(rows, {"source": range(len(read), len(read) + padding)})


def _text(model: Generator, given: Script, padding: int) -> Reading:
    tokenizer, network = model.tokenizer, cast("Any", model.model)
    ids = list(given.ids)
    _check(len(ids) + padding, model.limit)
    if padding:
        network.start(_numbers(model, [padding]), _numbers(model, [[tokenizer.pad] * padding + ids]))
    else:
        network(_numbers(model, [ids]))
    text, places = spelt(tokenizer, ids)
    marks = (tokenizer.start, tokenizer.end)
    tokens = [
        Token(text[start:end] or surface(tokenizer, id), start, end, special=id in marks, ids=(id,))
        for (start, end), id in zip(places, ids, strict=True)
    ]
    row = TokenRow(text, (*_marks(tokenizer, 0, padding), *tokens), model.language)
    return Reading({"text": row}, {"text": range(padding)})


def _marked(model: Encoder | Classifier, given: Script, padding: int) -> Reading:
    sides = [given.text] if given.second is None else [given.text, given.second]
    if isinstance(model, Classifier) and len(sides) not in model.takes:
        wanted = " or ".join(map(str, model.takes))
        raise DataError("This classifier takes another number of texts.", found=str(len(sides)), wanted=wanted)
    if isinstance(model, Encoder) and given.second is not None:
        model.refuse_pairs()
    tokenizer = model.tokenizers.tokenizer
    tokens, lengths, segments = (part.to(_device(model)) for part in Examples([sides], tokenizer).batch([0]))
    _check(tokens.shape[1] + padding, model.limit)
    network = model.bert if isinstance(model, Encoder) else model.model
    network(_padded(tokens, tokenizer.pad, padding), lengths, _padded(segments, 0, padding))
    row = marked_row(sides, tokenizer, model.language)
    marks = _marks(tokenizer, len(row.text), padding)
    return Reading(
        {"text": TokenRow(row.text, (*row.tokens, *marks), row.language)}, {"text": range(len(row), len(row) + padding)}
    )


READERS: dict[type, Callable[[Any, Script, int], Reading]] = {
    Translator: _translation,
    Generator: _text,
    Encoder: _marked,
    Classifier: _marked,
}


def _check(length: int, limit: int) -> None:
    if length > limit:
        raise LimitError(
            "The text is longer than the model can take.",
            found=f"{length} tokens, marks and padding included",
            wanted=f"at most {limit}",
            do="give less of it",
        )


def _padded(tokens: torch.Tensor, pad: int, count: int) -> torch.Tensor:
    return torch.nn.functional.pad(tokens, (0, count), value=pad)


def _marks(tokenizer: Any, place: int, count: int) -> tuple[Token, ...]:
    return (Token(surface(tokenizer, tokenizer.pad), place, place, special=True),) * count


def _numbers(model: Any, numbers: Any) -> torch.Tensor:
    return torch.tensor(numbers, device=_device(model))


def _device(model: Any) -> torch.device:
    device: torch.device = next(model.model.parameters()).device
    return device
