"""Where a model looked along one hypothesis of a search, gathered from the search itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float32

from regard.attention import NothingRecordedError, Recording, capture
from regard.errors import ConfigError
from regard.inside.beams import Found, Tree, searched, sought
from regard.inside.courses import Course, course, fits
from regard.insight import Token, TokenRow, Trace
from regard.tasks.spelling import spelt, surface
from regard.tasks.traces import joined, token_row


def following(model: Any, text: str, *, number: int = 0, forced: Sequence[int] = (), **how: Any) -> tuple[Tree, Trace]:
    """The tree of `beams`, and the trace of one of the hypotheses that it found, the best if none is named. The rows
    are those of `attention`; nothing is computed again, so the weights are those that the search has seen."""
    led = course(model, text, forced, sought(how))
    fits(led.longest if led.before else 0, model.limit, "The text, with what is to be added,")  # no window slides here
    try:
        with capture(model.model) as recording:
            tree = searched(led, forced)
    except NothingRecordedError:
        raise ConfigError("This model has no attention: there is nothing to see.", do="take one that attends") from None
    if not 0 <= number < len(tree.found):
        raise ConfigError(f"There is no hypothesis {number}.", wanted=f"0 to {len(tree.found) - 1}")
    rows = _rows(model, led, text, tree.found[number])
    axes = {name: joined(name) if "source" in rows else ("prediction", "text") for name in recording.names}
    weights = {}
    for name, (asks, reads) in axes.items():
        size = (len(rows[asks]), len(rows[reads]))
        weights[name] = _read(recording, name) if asks == "source" else _along(recording, name, tree, number, size)
    return tree, Trace(rows, weights, axes, {"model": model.name, "score": tree.found[number].score})


def _read(recording: Recording, name: str) -> Float32[np.ndarray, "H S S"]:
    """What was looked at once, before the first step."""
    held: np.ndarray = recording.all(name)[0][0].float().cpu().numpy()
    return held


def _along(
    recording: Recording, name: str, tree: Tree, number: int, size: tuple[int, int]
) -> Float32[np.ndarray, "H T S"]:
    """Row by row: those of what was forced, which was read before the first step; then, step by step, those of the
    rows that the hypothesis had."""
    count = 1 + max(twig.step for twig in tree.twigs)
    path, calls = tree.rows(number), recording.all(name)
    before = [call[0, :, place] for call in calls[:-count] for place in range(call.shape[2])]
    forced = before[len(before) - (size[0] - len(path)) :]
    steps = [call[row, :, -1] for call, row in zip(calls[-count:], path, strict=False)]
    found = np.zeros((calls[0].shape[1], *size), dtype=np.float32)
    for place, row in enumerate([*forced, *steps]):
        found[:, place, : row.shape[-1]] = row.float().cpu().numpy()
    return found


def _rows(model: Any, led: Course, text: str, found: Found) -> dict[str, TokenRow]:
    """The tokens as they were chosen, not as their text would be read again."""
    tokenizer = led.tokenizer
    written, places = spelt(tokenizer, found.ids, before=led.before)
    made = [_token(written, *place, id) for place, id in zip(places, found.ids, strict=True)]
    end = [Token(surface(tokenizer, led.request.end), len(written), len(written), special=True)] * found.finished
    if not led.before:
        source, target = model.langs
        start = Token(surface(tokenizer, tokenizer.start), 0, 0, special=True)
        prediction = (*made, *end)
        return {
            "source": token_row(text, model.tokenizers.source, source, end=True),
            "target": TokenRow(written, (start, *made)[: len(prediction)], target),
            "prediction": TokenRow(written, prediction, target),
        }
    prompt, asked = spelt(tokenizer, led.before)
    shift, prediction = len(prompt), (*made, *end)
    first = [_token(prompt, *place, id) for place, id in zip(asked, led.before, strict=True)]
    after = [Token(one.surface, one.start + shift, one.end + shift, one.special, one.ids) for one in prediction[:-1]]
    return {
        "text": TokenRow(prompt + written, (*first, *after), model.language),
        "prediction": TokenRow(written, prediction, model.language),
    }


def _token(text: str, start: int, end: int, id: int) -> Token:
    return Token(text[start:end], start, end, ids=(id,))
