"""regard look"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.errors import ConfigError, DataError, LimitError

if TYPE_CHECKING:
    from regard.insight import Trace

SUFFIXES = (".html", ".png", ".svg", ".json", ".npz")


def look(
    model: Annotated[
        str,
        typer.Argument(
            help="Model directory, of regard or as Hugging Face writes it; or an id on its hub.", show_default=False
        ),
    ],
    source: Annotated[str | None, typer.Argument(help="The sentence that is read.", show_default=False)] = None,
    target: Annotated[
        str | None, typer.Argument(help="Its translation (the model's own if none is given), or the second of a pair.")
    ] = None,
    input: Annotated[
        str | None, typer.Option(help="Instead: the sentence, or the scene of entities, in a line of this file,")
    ] = None,
    line: Annotated[int, typer.Option(help="counted from 1.", min=1)] = 1,
    probe: Annotated[
        int | None, typer.Option(help="Instead of a sentence: this probe sentence, 1 to 4, as it was in training,")
    ] = None,
    update: Annotated[int | None, typer.Option(help="after so many updates (default: the last kept).")] = None,
    web: Annotated[
        bool, typer.Option("--web", help="Serve the model and open its page, to type any sentence.")
    ] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="With --web: only say the address.")] = False,
    out: Annotated[
        Path, typer.Option(help="x.html (a page), x.png, x.svg (pictures), x.json, x.npz (numbers).")
    ] = Path("look.svg"),
    name: Annotated[str | None, typer.Option(help='Which attention: "cross", "encoder", "decoder.0.self" …')] = None,
    layer: Annotated[int | None, typer.Option(help="Only this layer, counted from 0.")] = None,
    head: Annotated[int | None, typer.Option(help="Only this head, counted from 0.")] = None,
    words: Annotated[bool, typer.Option("--words", help="Merge tokens into words.")] = False,
    word: Annotated[str | None, typer.Option(help="Also say where this word looks.")] = None,
    generate: Annotated[
        int, typer.Option(help="A language model: where it looks while it adds so many tokens, the likeliest.", min=0)
    ] = 0,
) -> None:
    """See where a model looks: every attention by default, or one layer, head or kind."""
    if input is not None and source is not None:
        raise typer.BadParameter("give a sentence or --input, not both")
    source = source if input is None else _line(input, line)
    if web:
        from regard.cli.web import web as serve

        serve(model, {"text": source, "second": target, "generate": generate}, browser=not no_browser)
        return
    if (source is None) == (probe is None) or (probe is None and update is not None):
        raise typer.BadParameter("give a sentence, --input, or --probe with --update if wanted")
    if out.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"{out} cannot be written.", wanted=f"a name that ends in {' or '.join(SUFFIXES)}")
    place = "" if input is None else f"{input}, line {line}"
    trace = _probe(model, probe, update) if source is None else _attention(model, source, target, generate, place)
    _write(trace, out, name, layer, head, words=words)
    seen = trace.by_words() if words else trace
    if target is None:
        said = [row for row in ("prediction", "class", "said") if row in seen.rows]
        sys.stdout.write("".join(f"{seen.rows[row].text}\n" for row in said))
    if word:
        sys.stdout.writelines(_sentences(seen, word, name, layer, head))
    sys.stderr.write(f"written: {out}\n")


def _write(trace: "Trace", out: Path, name: str | None, layer: int | None, head: int | None, *, words: bool) -> None:
    """As the suffix says. A page has all of the trace; in it one can go from tokens to words."""
    from regard.insight import picture_of

    seen = trace.by_words() if words else trace
    chosen = trace.select(name, layer)
    kind = out.suffix.lower()
    if kind == ".html":
        _write_page(trace, out, chosen, chosen[-1] if name or layer is not None else None, head)
    elif kind in (".json", ".npz"):
        seen.save(out)
    else:
        picture_of(seen)(seen, path=out, name=name, layer=layer, head=head)


def _sentences(trace: "Trace", word: str, name: str | None, layer: int | None, head: int | None) -> Iterator[str]:
    """Where a word looks, in what is named; if nothing is, where it is read."""
    first = "encoder" if any(known.startswith("encoder") for known in trace.names) else None
    for attention in trace.select(name or first, layer):
        for number in range(len(trace.weights[attention])) if head is None else [head]:
            yield f"{attention} head {number}: {trace.sentence(attention, number, word)}\n"


def _write_page(trace: "Trace", out: Path, chosen: Sequence[str], name: str | None, head: int | None) -> None:
    """The page begins with what is named; in it one can move to everything else."""
    from regard.files import write_text
    from regard.insight.html import page

    trace.refuse_head(chosen, head)
    parts = (name or "").split(".")
    view = {
        "family": ".".join(part for part in parts if not part.isdigit()),
        "layer": next((part for part in parts if part.isdigit()), None),
        "head": head,
    }
    write_text(out, page(trace, {key: value for key, value in view.items() if value not in ("", None)}))


def _line(path: str, number: int) -> str:
    from regard.data.lines import read_lines

    lines = read_lines(path)
    if number > len(lines):
        raise ConfigError(f"{path} has no line {number}.", found=f"{len(lines)} lines")
    return lines[number - 1]


def _attention(model: str, source: str, target: str | None, generate: int, place: str) -> "Trace":
    """place: where the source stands, told with what is wrong with it."""
    from regard.bundle import load

    loaded = load(model)
    if not hasattr(loaded, "attention"):
        raise ConfigError(f"{model} does not look at anything.", do="give a model that attends")
    if not hasattr(loaded, "generate"):
        if generate:
            raise ConfigError(f"{model} cannot continue texts.", do="leave out --generate, or give a language model")
        try:
            trace: Trace = loaded.attention(source, target)
        except (DataError, LimitError) as fault:
            raise fault.at(place) from None
        return trace
    if target is not None:
        raise ConfigError(f"{model} is a language model, which reads one text.", do="give one text")
    written: Trace = loaded.attention(source, generate=generate, **({"temperature": 0.0} if generate else {}))
    return written


def _probe(run: str, number: int | None, update: int | None) -> "Trace":
    from regard.training.probes import read

    traces = read(run, update)
    if number is None or not 1 <= number <= len(traces):
        raise ConfigError(f"There is no probe sentence {number}.", wanted=f"1 to {len(traces)}")
    trace = traces[number - 1]
    sys.stdout.write(f"{next(iter(trace.rows.values())).text}\n")  # what was read comes first
    sys.stderr.write(f"after update {trace.meta['update']:,}\n")
    return trace
