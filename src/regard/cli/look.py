"""regard look"""

import sys
from pathlib import Path
from typing import Annotated

import typer


def look(
    model: Annotated[str, typer.Argument(help="Model directory.", show_default=False)],
    source: Annotated[str, typer.Argument(help="The sentence that is read.", show_default=False)],
    target: Annotated[str | None, typer.Argument(help="Its translation; the model's own if none is given.")] = None,
    out: Annotated[Path, typer.Option(help="x.png, x.svg (pictures), x.json or x.npz (numbers).")] = Path("look.svg"),
    name: Annotated[str | None, typer.Option(help='Which attention: "cross", "encoder", "decoder.0.self" …')] = None,
    layer: Annotated[int | None, typer.Option(help="Only this layer, counted from 0.")] = None,
    head: Annotated[int | None, typer.Option(help="Only this head, counted from 0.")] = None,
    words: Annotated[bool, typer.Option("--words", help="Merge tokens into words.")] = False,
    word: Annotated[str | None, typer.Option(help="Also say where this word looks.")] = None,
) -> None:
    """See where a model looks: every attention by default, or one layer, head or kind."""
    from regard.bundle import load
    from regard.insight import draw

    trace = load(model).attention(source, target)
    trace = trace.by_words() if words else trace
    trace.select(name, layer)
    if out.suffix.lower() in (".json", ".npz"):
        trace.save(out)
    else:
        draw(trace, path=out, name=name, layer=layer, head=head)
    if target is None:
        sys.stdout.write(f"{trace.rows['prediction'].text}\n")
    if word:
        for attention in trace.select(name or "encoder", layer):
            heads = range(len(trace.weights[attention])) if head is None else [head]
            lines = [f"{attention} head {h}: {trace.sentence(attention, h, word)}\n" for h in heads]
            sys.stdout.write("".join(lines))
    sys.stderr.write(f"written: {out}\n")
