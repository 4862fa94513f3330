"""regard translate"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from regard.tasks.translator import Translation


def translate(
    model: Annotated[str, typer.Argument(help="Model directory.", show_default=False)],
    text: Annotated[list[str] | None, typer.Argument(help="Sentences; from --input or stdin if none.")] = None,
    input: Annotated[str | None, typer.Option(help="Text file, a sentence a line (.gz too; - for stdin).")] = None,
    output: Annotated[Path | None, typer.Option(help="File to write to instead of stdout.")] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses kept; 1 is greedy and fastest.")] = 5,
    nbest: Annotated[int, typer.Option(help="Translations given for each sentence.")] = 1,
    length_penalty: Annotated[float, typer.Option(help="0 favours short, 1 compares per token.")] = 1.0,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut what is longer than the model can take.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line, with scores.")] = False,
) -> None:
    """Translate sentences. Line N of the output belongs to line N of the input."""
    from regard.bundle import load
    from regard.cli.progress import counted
    from regard.data.readers import read_lines
    from regard.errors import ConfigError
    from regard.files import write_text
    from regard.tasks.translator import NOTHING, Search, Translation

    if text and input:
        raise ConfigError("Both sentences and --input were given.", do="give one of them")
    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise ConfigError(f"{output} cannot be written.", wanted="a file in a directory that exists")
    search = Search(beam=beam, nbest=nbest, penalty=length_penalty, truncate=truncate)
    translator = load(model)
    texts = text or read_lines(input or "-")
    results: list[list[Translation]] = [[NOTHING] for _ in texts]
    for number, found in counted(translator.stream(texts, search), total=len(texts), what="translating"):
        results[number] = found
    lines = _lines(texts, results, nbest=nbest, as_json=as_json)
    if output is None:
        sys.stdout.writelines(lines)
    else:
        write_text(output, "".join(lines))


def _lines(texts: list[str], results: "list[list[Translation]]", *, nbest: int, as_json: bool) -> Iterator[str]:
    """One line a sentence; with n-best: sentence number, score and text, separated by tabs."""
    for number, (text, found) in enumerate(zip(texts, results, strict=True), start=1):
        if as_json:
            options = [{"text": one.text, "score": one.score, "finished": one.finished} for one in found]
            yield json.dumps({"source": text, "translations": options}, ensure_ascii=False) + "\n"
        elif nbest > 1:
            yield from (f"{number}\t{one.score:.4f}\t{_one_line(one.text)}\n" for one in found)
        else:
            yield _one_line(found[0].text) + "\n"


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")
