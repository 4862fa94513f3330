"""What models can be asked for: one function for each verb, which takes the texts of a batch and gives their answers.

This is the only place where a model is called, but for texts that are continued: see writing.py. Answers that may be
large are JSON already: the server, which writes to all clients in turn, would be held up by making it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from regard.inside import norms, trace
from regard.insight import Trace, rollout
from regard.models.pretrained.networks import MASKED
from regard.server.work.inside import INSIDE
from regard.server.work.limits import read_at_most, refuse_at_sight, short_enough
from regard.server.work.prompts import judged, prompt_ids
from regard.server.work.recent import Recent
from regard.server.work.traces import told

MARKS = 2
"""Tokens that stand around a text, at most."""
RECENT = Recent()


class Answer(NamedTuple):
    """`made`: how many tokens were made for it; `read`: how many were read, if that was not known before."""

    value: Any
    made: int = 0
    read: int | None = None


How = Mapping[str, Any]
"""The options of a verb."""


@dataclass(frozen=True)
class Verb:
    """`can`: whether a model has it. `length`: the tokens of a text, and a word if it is too long for the model."""

    can: Callable[[Any], bool]
    length: Callable[[Any, Any, How], int]
    run: Callable[[Any, Sequence[Any], How], list[Answer]]
    cost: Callable[[Any, int, How], int] = lambda model, length, how: length
    """What a text of that length takes of a batch."""


def translate(model: Any, texts: Sequence[str], how: How) -> list[Answer]:
    """The n best translations of each text."""
    found = model.translations(texts, model.search(beam=_beam(model, how), nbest=how["nbest"]))
    told = [[{"text": one.text, "score": one.score} for one in best] for best in found]
    return [Answer(best, _count(model.tokenizers.target, best[0]["text"])) for best in told]


def classify(model: Any, examples: Sequence[Sequence[str]], how: How) -> list[Answer]:
    """The class of each text, or pair of texts."""
    found = model.classify(examples, truncate=how["truncate"])
    return [
        Answer({"label": one.label, "probability": one.probability, "probabilities": one.probabilities})
        for one in found
    ]


def embed(model: Any, texts: Sequence[str], how: How) -> list[Answer]:
    """A vector for each text, as the bytes of its float32 numbers."""
    rows = model.embed(texts, truncate=how["truncate"]).astype("<f4")
    return [Answer(row.tobytes()) for row in rows]


def fill(model: Any, texts: Sequence[str], how: How) -> list[Answer]:
    """The likeliest words for each [MASK] of each text."""
    return [Answer(_masks(model.fill(text, top=how["top"]))) for text in texts]


def attention(model: Any, texts: Sequence[tuple[str, str | None]], how: How) -> list[Answer]:
    """Where a model looks, as a format has it."""
    return [Answer(told(_trace(model, text, second, how), how)) for text, second in texts]


def tokenize(model: Any, texts: Sequence[str], how: How) -> list[Answer]:
    """The tokens of each text, with their places in it, as JSON."""
    tokenizer = _tokenizer(model, how["side"])
    found = ([_token(text, piece) for piece in tokenizer.pieces(text)] for text in texts)
    return [Answer(json.dumps(tokens, ensure_ascii=False).encode(), read=len(tokens)) for tokens in found]


def judge(model: Any, prompts: Sequence[Any], how: How) -> list[Answer]:
    """How likely each token of each prompt is, given those before it."""
    found = judged(model, [prompt_ids(model, prompt, how["truncate"]) for prompt in prompts], how["alternatives"])
    return [Answer(one) for one in found]


def _beam(model: Any, how: How) -> int:
    """As many hypotheses as the model is used to, or as are wanted."""
    return max(int(model.habits.beam), int(how["nbest"]))


def _trace(model: Any, text: str, second: str | None, how: How) -> Trace:
    key = (id(model), text, second, how["generate"], how["view"])
    return RECENT.get(key, lambda: VIEWS[how["view"]](model, text, second, generate=how["generate"]))


def _rolled_out(model: Any, text: str, second: str | None, *, generate: int) -> Trace:
    return rollout(trace(model, text, second, generate=generate))


VIEWS: dict[str, Callable[..., Trace]] = {"weights": trace, "rollout": _rolled_out, "norms": norms}
"""In which ways weights can be seen."""


def _token(text: str, piece: Any) -> dict[str, Any]:
    return {"id": piece.id, "text": text[piece.start : piece.end], "start": piece.start, "end": piece.end}


def _masks(found: Any) -> list[list[dict[str, Any]]]:
    return [[{"word": word.text, "probability": word.probability} for word in words] for words in found]


def _tokenizer(model: Any, side: str = "source") -> Any:
    """The one tokenizer of a model, or that of a side of a translator."""
    tokenizers = model.tokenizers
    return getattr(tokenizers, side) if hasattr(tokenizers, side) else tokenizers.tokenizer


def _count(tokenizer: Any, text: str) -> int:
    return len(tokenizer.encode(text))


def _source_length(model: Any, text: str, how: How) -> int:
    refuse_at_sight((text,), model.limit)
    return short_enough(_count(model.tokenizers.source, text) + 1, model.limit)


def _example_length(model: Any, example: Sequence[str], how: How) -> int:
    refuse_at_sight(example, None if how["truncate"] else model.limit)
    length = sum(_count(_tokenizer(model), read_at_most(text, model.limit)) for text in example) + 1 + len(example)
    return short_enough(length, model.limit, cut=how["truncate"])


def _text_length(model: Any, text: str, how: How) -> int:
    """Of a text to be embedded: word vectors have no limit."""
    prefix = model.embedding.prefix if hasattr(model, "embedding") else ""
    limit = model.embedding.limit if hasattr(model, "embedding") else None
    refuse_at_sight((text,), None if how["truncate"] else limit)
    return short_enough(
        _count(_tokenizer(model), prefix + read_at_most(text, limit)) + MARKS, limit, cut=how["truncate"]
    )


def _plain_length(model: Any, text: str, how: How) -> int:
    refuse_at_sight((text,), getattr(model, "limit", None))
    return _count(_tokenizer(model), text) + MARKS


def _looked_at(model: Any, sides: Sequence[str | None], how: How) -> int:
    return sum(_plain_length(model, side, how) for side in sides if side is not None) + int(how["generate"])


def _given_length(model: Any, given: Sequence[str | None], how: How) -> int:
    """Of what is looked into, with what may be written."""
    more = int(how.get("generate") or how.get("max_new_tokens") or 0)
    return sum(_plain_length(model, text, how) for text in given if text is not None) + more


def _each(run: Callable[[Any, Any, How], dict[str, Any] | bytes]) -> Callable[[Any, Sequence[Any], How], list[Answer]]:
    """One after the other."""
    return lambda model, payloads, how: [Answer(_sent(model, run(model, payload, how))) for payload in payloads]


def _sent(model: Any, found: dict[str, Any] | bytes) -> bytes:
    """As it is sent: bytes are, what JSON can hold becomes so, with whose it is."""
    if isinstance(found, bytes):
        return found
    told = {"model": model.name, **found}
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _alone(model: Any, length: int, how: How) -> int:
    """One at a time."""
    return 1 << 30


VERBS = {
    "translate": Verb(
        can=lambda model: hasattr(model, "translations"),
        length=_source_length,
        run=translate,
        cost=lambda model, length, how: length * _beam(model, how),
    ),
    "classify": Verb(can=lambda model: hasattr(model, "classify"), length=_example_length, run=classify),
    "embed": Verb(can=lambda model: hasattr(model, "embed"), length=_text_length, run=embed),
    "fill": Verb(can=lambda model: hasattr(model, "fill") and MASKED in model.parts, length=_plain_length, run=fill),
    "attention": Verb(
        can=lambda model: hasattr(model, "attention"),
        length=_looked_at,
        run=attention,
        cost=_alone,
    ),
    "tokenize": Verb(
        can=lambda model: hasattr(model, "tokenizers"),
        length=lambda model, text, how: len(text),
        run=tokenize,
    ),
    "judge": Verb(
        can=lambda model: hasattr(model, "generate"),
        length=lambda model, prompt, how: len(prompt_ids(model, prompt, how["truncate"])),
        run=judge,
    ),
    **{name: Verb(can=one.can, length=_given_length, run=_each(one.run), cost=_alone) for name, one in INSIDE.items()},
}
"""By the name that a job has."""
