"""regard translate"""

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.cli.computing import Engine, told
from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.tasks.crew import Load
    from regard.tasks.library import Library

DRAWING, LIBRARY, LOOK = "Drawing", "A whole library", "Searching"


def translate(
    model: Annotated[
        str,
        typer.Argument(
            help="Model directory, or an OPUS-MT model: its directory, or its id on the hub.", show_default=False
        ),
    ],
    text: Annotated[list[str] | None, typer.Argument(help="Sentences; from --input or stdin if none.")] = None,
    input: Annotated[str | None, typer.Option(help="Text file, a sentence a line (.gz too; - for stdin).")] = None,
    output: Annotated[Path | None, typer.Option(help="File to write to instead of stdout, as lines are done.")] = None,
    split: Annotated[bool, typer.Option("--split", help="Translate the sentences of each line one by one.")] = False,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut what is longer than the model can take.")] = False,
    to: Annotated[
        str, typer.Option(help="The language to write, where a model writes several: fr, zh-Hans …", show_default=False)
    ] = "",
    prefix: Annotated[str, typer.Option(help="What each translation begins with.")] = "",
    prefixes: Annotated[str | None, typer.Option(help="File of such prefixes, one for each line.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line, with scores.")] = False,
    engine: Engine = "auto",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on at the first line that --output lacks.", rich_help_panel=LIBRARY)
    ] = False,
    jobs: Annotated[
        str, typer.Option(help="Processes; auto: as many as are fastest.", rich_help_panel=LIBRARY)
    ] = "auto",
    beam: Annotated[
        int | None,
        typer.Option(
            help="Hypotheses kept; 1 is greedy and fastest.",
            rich_help_panel=LOOK,
            show_default="the model's, mostly 5",
        ),
    ] = None,
    nbest: Annotated[int, typer.Option(help="Translations given for each sentence.", rich_help_panel=LOOK)] = 1,
    length_penalty: Annotated[
        float | None,
        typer.Option(
            help="0 favours short, 1 compares per token.", rich_help_panel=LOOK, show_default="the model's, mostly 1"
        ),
    ] = None,
    patience: Annotated[
        float,
        typer.Option(
            help="Ends when so many times --beam hypotheses are finished; inf: when nothing better can come.",
            rich_help_panel=LOOK,
        ),
    ] = 1.0,
    repetition_penalty: Annotated[
        float, typer.Option(help="Above 1: less of what was said already.", rich_help_panel=LOOK)
    ] = 1.0,
    no_repeat_ngram: Annotated[
        int, typer.Option(help="No so many tokens in a row twice; 0: as may be.", rich_help_panel=LOOK)
    ] = 0,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw words by their probability.", rich_help_panel=DRAWING)
    ] = False,
    temperature: Annotated[float, typer.Option(help="Below 1: likely tokens likelier.", rich_help_panel=DRAWING)] = 1.0,
    top_k: Annotated[
        int | None, typer.Option(help="Draw from so many of the likeliest tokens.", rich_help_panel=DRAWING)
    ] = None,
    top_p: Annotated[
        float,
        typer.Option(help="Draw from the likeliest that together have this probability.", rich_help_panel=DRAWING),
    ] = 1.0,
    min_p: Annotated[
        float,
        typer.Option(help="Draw from those at least so many times as likely as the best.", rich_help_panel=DRAWING),
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same text.", rich_help_panel=DRAWING)] = 0,
) -> None:
    """Translate sentences, or files of any size. Line N of the output belongs to line N of the input.

    What is written to --output is kept if the work is broken off: the same command with --resume goes on.
    """
    from regard import engines
    from regard.bundle import load
    from regard.tasks.library import Library, Source
    from regard.tasks.searching import USUAL
    from regard.tasks.windows import How
    from regard.text.target_codes import code_before

    asked: dict[str, Any] = {
        "beam": beam, "nbest": nbest, "penalty": length_penalty, "patience": patience, "truncate": truncate,
        "scores": as_json or nbest > 1,
        "repetition_penalty": repetition_penalty, "no_repeat_ngram": no_repeat_ngram,
        "sample": sample, "temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p, "seed": seed,
    }  # fmt: skip
    given = {name: value for name, value in asked.items() if value is not None}
    replace(USUAL, beam=max(USUAL.beam, nbest)).search(**given)  # mistakes are told before the model is read
    engines.check(engine)
    processes = _jobs(jobs)
    _refuse(
        (bool(text and input), "Both sentences and --input were given.", "give one of them"),
        (bool(prefix and prefixes), "Both --prefix and --prefixes were given.", "give one of them"),
        (prefixes == "-", "Prefixes cannot come from stdin.", "give --prefixes a file"),
        (split and truncate, "With --split nothing is cut off: --truncate has no use.", "leave out one of them"),
        (split and nbest > 1 and not as_json, "--split and --nbest give sentences, not lines.", "add --json"),
        (resume and output is None, "There is nothing to resume without --output.", "add --output FILE"),
        (resume and input in (None, "-"), "Only a file can be gone on with.", "give it with --input"),
    )
    _writable(output, [input, prefixes])
    translator = load(model)
    if not hasattr(translator, "translations"):
        raise ConfigError(f"{model} cannot translate.", do="give a model that was trained to: --task translation")
    engines.use(translator, engine, place=Path(model), say=told)
    plain, objects = "numbered" if nbest > 1 else "text", "sentences" if split else "json"
    source = Source(tuple(text or ()), input or "-", prefix, prefixes)
    code = code_before(to, translator.targets) if to else ""
    library = Library(translator, How(translator.search(**given), split, code), source, objects if as_json else plain)
    if not text and input in (None, "-") and sys.stdin.isatty():
        sys.stderr.write("Type sentences, one a line; Ctrl-D ends them.\n")
    loaded_again = partial(engines.load, model, translator.engine.name)
    _write(library, loaded_again, processes, output, resume=resume)


def _jobs(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise ConfigError(f"--jobs {text} cannot be used.", wanted="a number of processes, or auto")


def _refuse(*mistakes: tuple[bool, str, str]) -> None:
    for made, what, do in mistakes:
        if made:
            raise ConfigError(what, do=do)


def _writable(output: Path | None, inputs: list[str | None]) -> None:
    if output is None:
        return
    written = {output if output.exists() else output.parent}
    if inputs[0] not in (None, "-") and (output.is_file() or not output.exists()):
        written.add(output.parent)  # where a note is kept until the output is complete
    if output.is_dir() or not output.parent.is_dir() or not all(os.access(place, os.W_OK) for place in written):
        wanted = "a file in a directory that exists, where you may write"
        raise ConfigError(f"{output} cannot be written.", wanted=wanted)
    for path in filter(None, inputs):
        if output.exists() and Path(path).exists() and output.samefile(path):
            raise ConfigError(f"{output} is read: it cannot be written, too.", do="choose another --output")


def _write(library: "Library", load: "Load", jobs: int | Literal["auto"], output: Path | None, *, resume: bool) -> None:
    """All lines, or those that the output lacks."""
    from regard.cli.lines_done import LinesDone
    from regard.cli.progress import counted
    from regard.tasks.crew import Workshop
    from regard.tasks.unfinished import Output

    known = library.survey(counted)
    out = Stdout() if output is None else Output(output, library.making(known))
    done = out.begun(resume=resume)
    total = known.lines if known else len(library.source.texts)
    shown = LinesDone("translating", done=done, total=total)
    if done:
        complete = f"{output} is complete already: it has a line for each of the input (more was not compared)"
        shown.say(f"going on after line {done:,} of {total:,}" if done < total else complete)
    workers = (out.jobs() or jobs) if resume and jobs == "auto" else jobs
    workshop = Workshop(load, library.how, workers, shown.say, out.remember)
    try:
        shown.count(library.run(workshop, out.write, done, known))
        out.finish()
    except KeyboardInterrupt:
        if out.lasting:
            shown.say(f"broken off; to go on, call the same command with --resume (what is done is in {output})")
        raise
    finally:
        out.close()


class Stdout:
    """Standard output, as if it were a file that nobody goes on with."""

    lasting = False

    def begun(self, *, resume: bool) -> int:
        return 0

    def jobs(self) -> int | None:
        return None

    def remember(self, jobs: int) -> None:
        """For nobody."""

    def write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def finish(self) -> None:
        """Nothing is left to do."""

    def close(self) -> None:
        """It stays open."""
