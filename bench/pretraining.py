"""Pretrains a small BERT on Wikipedia, and says what it has learned beside what one can guess without a model.

Every twentieth article is held out. The recipe is configs/bert-tiny-wikipedia.toml; a run that was cut short goes on.

    .venv/bin/python bench/pretraining.py [--data FILE.xml.gz] [--out DIR] [section.key=value …]
"""

import argparse
import subprocess
import sys
from pathlib import Path

from regard.data.documents import DocumentReader
from regard.files import write_text

HERE = Path(__file__).resolve().parents[1]
DUMP = HERE.parent / "shared" / "data" / "wikipedia" / "enwik8-first-20MB.xml.gz"
RECIPE = HERE / "configs" / "bert-tiny-wikipedia.toml"
HELD_OUT = 20


def split(dump: Path, out: Path) -> dict[str, Path]:
    """The articles of a dump as plain text: a sentence a line, a blank line between two articles."""
    files = {"train": out / "train.txt", "val": out / "val.txt"}
    if not all(file.exists() for file in files.values()):
        articles = ["".join(f"{sentence}\n" for sentence in article) for article in DocumentReader([str(dump)])]
        out.mkdir(parents=True, exist_ok=True)
        write_text(files["val"], "\n".join(articles[::HELD_OUT]))
        write_text(files["train"], "\n".join(text for i, text in enumerate(articles) if i % HELD_OUT))
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DUMP)
    parser.add_argument("--out", type=Path, default=Path("runs/bert-tiny"))
    parser.add_argument("settings", nargs="*", help="section.key=value …")
    options = parser.parse_args()
    files = split(options.data, options.out / "text")
    command = [sys.executable, "-m", "regard", "train", "--config", str(RECIPE), "--out", str(options.out / "model")]
    for name, file in files.items():
        command += [f"--{name}", str(file)]
    again = ["--resume"] if (options.out / "model").exists() else []
    subprocess.run([*command, *again, *options.settings], check=True)


if __name__ == "__main__":
    main()
