"""regard generate"""

import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.computing import Engine, told
from regard.errors import ConfigError, DataError

if TYPE_CHECKING:
    from regard.tasks.generation import Generation
    from regard.tasks.generator import Generator

TOP = 5
"""Alternatives that --explain shows."""


def generate(
    model: Annotated[str, typer.Argument(help="Language model: its directory.", show_default=False)],
    prompt: Annotated[
        list[str] | None, typer.Argument(help='What to continue; "" begins a new text.', show_default=False)
    ] = None,
    input: Annotated[str | None, typer.Option(help="Text file, a prompt a line (.gz too; - for stdin).")] = None,
    output: Annotated[Path | None, typer.Option(help="File to write to instead of stdout.")] = None,
    max_new_tokens: Annotated[int, typer.Option(help="Most tokens that are added.")] = 100,
    temperature: Annotated[float, typer.Option(help="Below 1: likely tokens likelier; 0: the likeliest only.")] = 1.0,
    top_k: Annotated[int | None, typer.Option(help="Draw from so many of the likeliest tokens.")] = None,
    top_p: Annotated[float, typer.Option(help="Draw from the likeliest that together have this probability.")] = 1.0,
    min_p: Annotated[float, typer.Option(help="Draw from those at least so many times as likely as the best.")] = 0.0,
    repetition_penalty: Annotated[float, typer.Option(help="Above 1: less of what was said already.")] = 1.0,
    stop: Annotated[list[str] | None, typer.Option(help="End before this text; may be given several times.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same text.")] = 0,
    num: Annotated[int, typer.Option(help="Texts for each prompt.")] = 1,
    beam: Annotated[int | None, typer.Option(help="Search with so many hypotheses, instead of drawing.")] = None,
    truncate: Annotated[bool, typer.Option("--truncate", help="Of a prompt that is too long, keep the end.")] = False,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream", help="Show the text as it is chosen (default: on a terminal, for one text)."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each token with its probability, its rank and what else was likely.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line, one for each prompt.")] = False,
    engine: Engine = "torch",
) -> None:
    """Continue texts, each printed with its prompt before it."""
    from regard import engines
    from regard.cli.progress import counted
    from regard.tasks.generation import Options

    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise ConfigError(f"{output} cannot be written.", wanted="a file in a directory that exists")
    if (input is None) == (not prompt):
        told = "There is nothing to continue." if input is None else "A prompt and --input exclude each other."
        raise ConfigError(told, do='give a prompt ("" begins a new text), or --input FILE')
    alone = num == 1 and input is None and len(prompt or ()) == 1
    plain = alone and beam is None and output is None and not explain and not as_json
    if stream and not plain:
        raise ConfigError(
            "Only one text can be streamed, to the terminal and as it is.",
            do="leave out --stream, or --input, --output, --num, --beam, --explain and --json",
        )
    options: dict[str, Any] = {
        "max_new_tokens": max_new_tokens, "temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p,
        "repetition_penalty": repetition_penalty, "stop": tuple(stop or ()), "seed": seed, "num": num, "beam": beam,
        "truncate": truncate, "alternatives": TOP if explain else 0,
    }  # fmt: skip
    Options(**options)  # mistakes are told before the model is read
    engines.check(engine)
    prompts = list(prompt or ()) if input is None else _prompts(input)
    generator = _generator(model, engine)
    _warn(generator, prompts)
    if stream or (stream is None and plain and sys.stdout.isatty()):
        found = [[_streamed(generator, prompts[0], options)]]
    else:
        found = generator.generate(prompts, watch=counted, **options)
        _write(_json(found) if as_json else _plain(found, explain=explain), output)
    if any(one.forgotten for texts in found for one in texts):
        sys.stderr.write(
            f"note: longer than the model's window of {generator.limit} tokens. Whenever it was full, the older half "
            f"was forgotten, the prompt first{'; of a longer prompt only the end was read' if truncate else ''}.\n"
        )


def _prompts(path: str) -> list[str]:
    from regard.data.readers import read_lines

    prompts = read_lines(path)
    if not prompts:
        raise DataError(f"{path} is empty.", wanted="a prompt a line", do="check that this is the file you meant")
    return prompts


def _generator(model: str, engine: str) -> "Generator":
    from regard import engines
    from regard.bundle import load

    generator: Generator = load(model)
    if not hasattr(generator, "generate"):
        raise ConfigError(f"{model} cannot continue texts.", do="train a language model: --task lm, or give a GPT-2")
    engines.use(generator, engine, place=Path(model), say=told)
    return generator


def _write(lines: Iterator[str], output: Path | None) -> None:
    from regard.files import write_text

    if output is None:
        sys.stdout.writelines(map(_harmless, lines))
    else:
        write_text(output, "".join(lines))


def _warn(generator: "Generator", prompts: list[str]) -> None:
    """Of characters that the model cannot read."""
    lost = list(dict.fromkeys(char for prompt in prompts for char in generator.unknown(prompt)))
    if lost:
        more = " …" if len(lost) > 10 else ""
        sys.stderr.write(f"note: the model does not know {' '.join(map(repr, lost[:10]))}{more}\n")


def _streamed(generator: "Generator", prompt: str, options: dict[str, Any]) -> "Generation":
    """Piece by piece; Ctrl-C ends the line before it ends the program."""
    written = generator.stream(prompt, **options)
    try:
        for piece in chain([prompt], written):
            sys.stdout.write(_harmless(piece))
            sys.stdout.flush()
    finally:
        sys.stdout.write("\n")
        sys.stdout.flush()
    return written.result


def _plain(found: "list[list[Generation]]", *, explain: bool) -> Iterator[str]:
    """The texts; where there are several, each under a line that says which it is."""
    many = sum(map(len, found)) > 1
    for number, texts in enumerate(found, start=1):
        for sample, one in enumerate(texts, start=1):
            if many:
                yield f"── prompt {number}, text {sample} ──\n"
            yield f"{one.prompt}{one.text}\n"
            if explain:
                yield from ("\n", *_table(one))


def _table(one: "Generation") -> Iterator[str]:
    """Each choice: probability, rank, token, and what was likely in its place."""
    yield f"{'p':>7}{'rank':>7}  {'token':<16}  likeliest\n"
    for choice in one.choices:
        others = "  ".join(f"{_quoted(other.text)} {other.probability:.3f}" for other in choice.alternatives)
        yield f"{choice.probability:>7.4f}{choice.rank:>7}  {_quoted(choice.text):<16}  {others}\n"


def _json(found: "list[list[Generation]]") -> Iterator[str]:
    for texts in found:
        told = [_facts(one) for one in texts]
        yield json.dumps({"prompt": texts[0].prompt, "texts": told}, ensure_ascii=False) + "\n"


def _facts(one: "Generation") -> dict[str, Any]:
    facts: dict[str, Any] = {
        "text": one.text,
        "tokens": list(one.tokens),
        "log_prob": one.log_prob,
        "ending": one.ending,
        "forgotten": one.forgotten,
    }
    if one.choices:
        facts["choices"] = [
            {
                "token": choice.text,
                "probability": choice.probability,
                "rank": choice.rank,
                "likeliest": [{"token": o.text, "probability": o.probability} for o in choice.alternatives],
            }
            for choice in one.choices
        ]
    return facts


def _harmless(text: str) -> str:
    """For a terminal, without characters that would command it."""
    from regard.insight.wrapping import drawable

    return drawable(text) if sys.stdout.isatty() else text


def _quoted(text: str) -> str:
    """With its spaces to be seen: " the", "\\n"."""
    return json.dumps(text, ensure_ascii=False)
