"""Does a model that has read an encyclopedia learn to write like Shakespeare faster than one that has read nothing?

A GPT-2 (gpt2:tiny) is trained on Wikipedia's articles, then on nine tenths of Shakespeare for some minutes; beside it,
the same model from nothing, with a tokenizer of its own, for the same minutes. All are scored on the last tenth. The
perplexity of a token says little across tokenizers: that of a character (and bits a character) can be compared.
Runs that are there already are not made again.

    .venv/bin/python bench/styles.py [--minutes 10] [--reading 25] [--data ../shared/data] [--out runs/styles]
"""

import argparse
import gzip
from pathlib import Path
from typing import Any

import regard
from pretraining import split
from regard.data.raw import TextReader
from regard.evaluation.lm import figures
from regard.tasks.running_text import HeldOut
from runs import trained

HERE = Path(__file__).resolve().parents[1]
SETTINGS = ["--task", "lm", "batch.tokens=1024"]
"""For all: there is little time, so many updates of few tokens."""
TINY = [*SETTINGS, "--model", "gpt2:tiny", "tokenizer.size=2000"]


def halves(data: Path, out: Path) -> dict[str, Path]:
    """The first nine tenths of Shakespeare, and the rest."""
    with gzip.open(data / "shakespeare" / "input.txt.gz", "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    files = {"train": out / "shakespeare-train.txt", "val": out / "shakespeare-val.txt"}
    cut = int(0.9 * len(text))
    out.mkdir(parents=True, exist_ok=True)
    for path, part in zip(files.values(), (text[:cut], text[cut:]), strict=True):
        path.write_text(part, encoding="utf-8", newline="")
    return files


def given(files: dict[str, Path]) -> list[str]:
    return [word for name, path in files.items() for word in (f"--{name}", str(path))]


def scored(model: Path, text: Path) -> dict[str, Any]:
    loaded = regard.load(model)
    return figures(loaded.model, HeldOut.read(TextReader([str(text)]), loaded.tokenizer))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10, help="of learning Shakespeare")
    parser.add_argument("--reading", type=float, default=25, help="minutes of reading Wikipedia")
    parser.add_argument("--data", type=Path, default=HERE.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=Path("runs/styles"))
    options = parser.parse_args()
    out, minutes = options.out, ["--minutes", str(options.minutes)]
    articles = split(options.data / "wikipedia" / "enwik8-first-20MB.xml.gz", out / "wikipedia")
    plays = halves(options.data, out)
    runs = {
        "has read Wikipedia": ("wiki", [*TINY, *given(articles), "--minutes", str(options.reading)]),
        "then Shakespeare": ("both", [*SETTINGS, "--init", str(out / "wiki"), *given(plays), *minutes]),
        "Shakespeare from nothing": ("plays", [*TINY, *given(plays), *minutes]),
    }
    print(f"Held-out Shakespeare; {options.minutes:g} minutes of learning it\n", flush=True)
    print("| model | perplexity of a token | of a character | bits a character |\n|---|---|---|---|", flush=True)
    for told, (name, command) in runs.items():
        trained(command, out / name)
        found = scored(out / name, plays["val"])
        bits = found["bits_per_character"]
        print(f"| {told} | {found['perplexity']:.2f} | {2**bits:.3f} | {bits:.3f} |", flush=True)


if __name__ == "__main__":
    main()
