"""regard embed"""

import io
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.computing import Engine, told
from regard.errors import ConfigError, DataError

if TYPE_CHECKING:
    import numpy as np

WRITERS = (".npy", ".jsonl")


def embed(
    model: Annotated[
        str,
        typer.Argument(
            help="Model directory, of regard or as Hugging Face writes it; an id on its hub; or a file of word vectors."
        ),
    ],
    input: Annotated[str, typer.Option(help="Text file, a text a line (.gz too; - for stdin).")] = "-",
    output: Annotated[
        Path | None, typer.Option(help="x.npy (a matrix) or x.jsonl (text and vector a line); JSONL to stdout if none.")
    ] = None,
    pooling: Annotated[
        str | None, typer.Option(help="cls, mean or max (default: as the model was made for).", show_default=False)
    ] = None,
    normalize: Annotated[
        bool | None,
        typer.Option("--normalize/--no-normalize", help="Vectors of length 1 (default: as the model was made for)."),
    ] = None,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut what is longer than the model can take.")] = False,
    engine: Engine = "torch",
) -> None:
    """Make a vector of each text. Row N of the output belongs to line N of the input, an empty line included."""
    from regard import engines
    from regard.bundle import load
    from regard.cli.progress import counted
    from regard.data.readers import read_lines
    from regard.files import write_atomically
    from regard.memory import keep_freed_memory

    if output is not None and (output.suffix not in WRITERS or not output.parent.is_dir()):
        wanted = f"a file in a directory that exists, its name ending in {' or '.join(WRITERS)}"
        raise ConfigError(f"{output} cannot be written.", wanted=wanted)
    engines.check(engine)
    texts = read_lines(input)
    if not texts:
        raise DataError(f"{input} is empty.", wanted="a text a line", do="check that this is the file you meant")
    keep_freed_memory()
    encoder = load(model)
    if not hasattr(encoder, "embed"):
        raise ConfigError(f"{model} cannot make vectors of texts.", do="give a BERT")
    engines.use(encoder, engine, place=Path(model), say=told)
    stream = encoder.vectors(texts, pooling=pooling, normalize=normalize, truncate=truncate)
    rows = _rows(counted(stream, total=len(texts), what="embedding"), len(texts))
    if output is None:
        sys.stdout.writelines(_lines(texts, rows))
    else:
        write_atomically(output, _matrix(rows) if output.suffix == ".npy" else "".join(_lines(texts, rows)).encode())


def _rows(stream: "Iterator[tuple[int, np.ndarray]]", count: int) -> "np.ndarray":
    """The vectors in the order of their texts, in one piece from the start."""
    import numpy as np

    first = next(stream)
    rows = np.empty((count, len(first[1])), dtype=np.float32)
    for number, vector in chain([first], stream):
        rows[number] = vector
    return rows


def _matrix(rows: "np.ndarray") -> bytes:
    import numpy as np

    held = io.BytesIO()
    np.save(held, rows)
    return held.getvalue()


def _lines(texts: Sequence[str], rows: "np.ndarray") -> Iterator[str]:
    """JSON objects; nine digits give back each float32 exactly."""
    for text, row in zip(texts, rows, strict=True):
        numbers = ", ".join(f"{value:.9g}" for value in row.tolist())
        yield f'{{"text": {json.dumps(text, ensure_ascii=False)}, "vector": [{numbers}]}}\n'
