"""regard align"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import alignment_options as options

if TYPE_CHECKING:
    from regard.tasks.links import Links
    from regard.tasks.word_texts import WordPair


def align(
    model: Annotated[str, typer.Argument(help="Model directory.", show_default=False)],
    data: Annotated[
        list[str],
        typer.Option(
            help='Words, "source words ||| target words" a line (- for stdin); or pairs (.tsv .csv .jsonl), or twice: '
            "SOURCE and TARGET.",
            show_default=False,
        ),
    ],
    layer: options.Layer = None,
    head: options.Head = None,
    shift: options.Shift = None,
    symmetrise: options.Symmetrise = "grow-diag",
    reverse: options.ReverseModel = None,
    val: options.Val = None,
    val_alignments: options.ValGold = None,
    base: options.Base = None,
    output: Annotated[Path | None, typer.Option(help="File to write to instead of stdout.")] = None,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut what is longer than the model can take.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line, with the words.")] = False,
) -> None:
    """Link the words of sentences and their translations, by where a model looks. Line N belongs to pair N: "0-0 1-2".

    The best head is chosen on --val, or by how well its readings agree on the first 200 pairs of the data.
    """
    from regard.errors import ConfigError
    from regard.files import write_text
    from regard.tasks.word_texts import read_word_pairs

    asked = options.Options(layer, head, shift, symmetrise, reverse, val, val_alignments, base, truncate)
    asked.check()
    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise ConfigError(f"{output} cannot be written.", wanted="a file in a directory that exists")
    translator = options.translator_of(model)
    pairs = read_word_pairs(data, langs=options.langs_of(translator))
    links, _ = asked.align(translator, pairs)
    text = "".join(_lines(pairs, links, as_json=as_json))
    if output is None:
        sys.stdout.write(text)
    else:
        write_text(output, text)


def _lines(pairs: "Sequence[WordPair]", links: "Sequence[Links]", *, as_json: bool) -> Iterator[str]:
    from regard.tasks.links import pharaoh

    for pair, found in zip(pairs, links, strict=True):
        if as_json:
            row = {"source": pair.source.words, "target": pair.target.words, "links": sorted(found)}
            yield json.dumps(row, ensure_ascii=False) + "\n"
        else:
            yield pharaoh(found) + "\n"
