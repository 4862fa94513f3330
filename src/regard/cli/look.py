"""regard look"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.insight import Trace


def look(
    model: Annotated[str, typer.Argument(help="Model directory.", show_default=False)],
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
    update: Annotated[int | None, typer.Option(help="after so many updates.  [default: the last kept]")] = None,
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
    if web:
        from regard.cli.web import web as serve

        serve(model, {"text": source, "second": target, "generate": generate}, browser=not no_browser)
        return
    if input is not None and source is None:
        source = _line(input, line)
    elif input is not None:
        raise typer.BadParameter("give a sentence or --input, not both")
    if (source is None) == (probe is None) or (probe is None and update is not None):
        raise typer.BadParameter("give a sentence, --input, or --probe with --update if wanted")
    trace = _probe(model, probe, update) if source is None else _attention(model, source, target, generate)
    whole, trace = trace, trace.by_words() if words else trace
    chosen = trace.select(name, layer)
    kind = out.suffix.lower()
    if kind == ".html":
        _write_page(whole, out, chosen[-1] if name or layer is not None else None, head)
    elif kind in (".json", ".npz"):
        trace.save(out)
    else:
        _draw(trace, out, name, layer, head)
    if target is None:
        said = [row for row in ("prediction", "class", "said") if row in trace.rows]
        sys.stdout.write("".join(f"{trace.rows[row].text}\n" for row in said))
    if word:
        first = "encoder" if any(known.startswith("encoder") for known in trace.names) else None
        for attention in trace.select(name or first, layer):
            heads = range(len(trace.weights[attention])) if head is None else [head]
            lines = [f"{attention} head {h}: {trace.sentence(attention, h, word)}\n" for h in heads]
            sys.stdout.write("".join(lines))
    sys.stderr.write(f"written: {out}\n")


def _write_page(trace: "Trace", out: Path, name: str | None, head: int | None) -> None:
    """The page begins with what is named; in it one can move to everything else."""
    from regard.files import write_text
    from regard.insight.html import page

    parts = (name or "").split(".")
    view = {
        "family": ".".join(part for part in parts if not part.isdigit()),
        "layer": next((part for part in parts if part.isdigit()), None),
        "head": head,
    }
    write_text(out, page(trace, {key: value for key, value in view.items() if value not in ("", None)}))


def _draw(trace: "Trace", out: Path, name: str | None, layer: int | None, head: int | None) -> None:
    from regard.insight import picture_of

    picture_of(trace)(trace, path=out, name=name, layer=layer, head=head)


def _line(path: str, number: int) -> str:
    from regard.data.lines import read_lines

    lines = read_lines(path)
    if number > len(lines):
        raise ConfigError(f"{path} has no line {number}.", found=f"{len(lines)} lines")
    return lines[number - 1]


def _attention(model: str, source: str, target: str | None, generate: int) -> "Trace":
    from regard.bundle import load

    loaded = load(model)
    if not hasattr(loaded, "generate"):
        if generate:
            raise ConfigError(f"{model} cannot continue texts.", do="leave out --generate, or give a language model")
        trace: Trace = loaded.attention(source, target)
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
