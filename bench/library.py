"""A library is translated, killed and gone on with: is the output the same byte for byte, and how fast is each way?

Lines of the built-in corpus (or of --input) are translated by a model that is trained on it in a few minutes (or by
--model): once for each number of processes, then again with SIGKILL at random moments and --resume. All outputs must
be equal. The memory of all processes is looked at meanwhile.

    python bench/library.py [--lines 100000] [--jobs 1 auto] [--kills 5] [--model DIR] [--input FILE] [--scratch DIR]
"""

import argparse
import filecmp
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from regard.data.corpora import build, sentences
from regard.lab.corpus import write_corpus
from runs import trained

SETTINGS = (
    "model.encoder_layers=3", "model.decoder_layers=3", "tokenizer.size=2000", "batch.tokens=2048",
    "training.updates=600", "training.warmup=100", "training.average=0.99",
)  # fmt: skip


@dataclass(frozen=True)
class Pass:
    """One start of the command: how long, how much memory at most (all processes), how many lines the output had in the
    end, and whether it was killed."""

    seconds: float
    peak: int
    lines: int
    killed: bool


def written(path: Path, count: int) -> Path:
    """Sentences of the built-in corpus that no model was trained on in this order; every hundredth line is empty."""
    with path.open("w", encoding="utf-8") as file:
        for number, pair in enumerate(islice(sentences(77), count), start=1):
            file.write(f"{pair.source if number % 100 else ''}\n")
    return path


def model(directory: Path) -> str:
    data = write_corpus(build(1, train=20_000, validation=200, test=200), directory / "data")
    files = ["--train", *data["train"], "--val", *data["val"], "--langs", "en-zh"]
    trained([*files, "--model", "transformer:tiny", *SETTINGS], directory / "model")
    return str(directory / "model")


def lines_in(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def resident(pid: int) -> int:
    """Bytes of a process and of those that it has started."""
    try:
        own = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, IndexError):
        return 0
    return own + sum(resident(int(child)) for child in children)


def run(words: list[str], out: Path, kill_at: int | None = None, moment: float = 0.0) -> Pass:
    """Starts the command; kills it when the output has so many bytes, and a moment later."""
    began, peak = time.monotonic(), 0
    process = subprocess.Popen([sys.executable, "-m", "regard", "translate", *words, "--output", str(out)])
    while process.poll() is None:
        peak = max(peak, resident(process.pid))
        if kill_at is not None and out.exists() and out.stat().st_size >= kill_at:
            time.sleep(moment)
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.02)
    code = process.wait()
    if code not in (0, -signal.SIGKILL):
        raise SystemExit("The translation has failed.")
    return Pass(time.monotonic() - began, peak, lines_in(out), killed=code != 0)


def broken_and_mended(words: list[str], out: Path, size: int, kills: int, draw: random.Random) -> list[Pass]:
    """Killed so often, at a random moment of each stretch, and each time gone on with."""
    passes: list[Pass] = []
    for number in range(kills):
        at = max(1, int(size * (number + draw.random()) / kills))
        again = ["--resume"] if passes else []
        passes.append(run([*words, *again], out, at, draw.uniform(0, 0.5)))
    return [*passes, run([*words, "--resume"], out)]


def fresh(path: Path) -> Path:
    for old in (path, path.with_name(path.name + ".regard.json")):
        old.unlink(missing_ok=True)
    return path


def both_ways(words: list[str], jobs: str, scratch: Path, kills: int, seed: int) -> tuple[Path, Path]:
    """The output that was made in one go, and the one that was broken off; says how it went."""
    whole, broken = (fresh(scratch / f"{name}.{jobs}.txt") for name in ("whole", "broken"))
    ways = [*words, "--jobs", jobs]
    once = run(ways, whole)
    passes = broken_and_mended(ways, broken, whole.stat().st_size, kills, random.Random(seed))
    killed = [f"{one.lines:,}" for one in passes if one.killed]
    if kills and not killed:
        raise SystemExit("It was always faster than the kill: take more --lines.")
    print(
        f"--jobs {jobs}: {once.lines:,} lines in {once.seconds:,.0f} s, {once.lines / once.seconds:,.0f} lines/s, "
        f"{once.peak / 1e6:,.0f} MB at most\n"
        f"  killed {len(killed)} times, after lines {', '.join(killed)}: {sum(one.seconds for one in passes):,.0f} s, "
        f"{max(one.peak for one in passes) / 1e6:,.0f} MB at most",
        flush=True,
    )
    return whole, broken


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--jobs", nargs="+", default=["1", "auto"])
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--beam", default="1")
    parser.add_argument("--model", help="a translator; else one is trained")
    parser.add_argument("--input", type=Path, help="lines to translate; else those of the built-in corpus")
    parser.add_argument("--scratch", type=Path, help="where to write; a model that is there is used again")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    asked = options()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = asked.scratch or Path(temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        source = asked.input or written(scratch / "library.txt", asked.lines)
        words = [asked.model or model(scratch), "--input", str(source), "--beam", asked.beam]
        outputs = [path for jobs in asked.jobs for path in both_ways(words, jobs, scratch, asked.kills, asked.seed)]
        equal = [filecmp.cmp(outputs[0], path, shallow=False) for path in outputs]
        complete = lines_in(outputs[0]) == lines_in(source)
        print(f"{sum(equal)} of {len(equal)} outputs are equal byte for byte, {'' if complete else 'NOT '}complete")
        sys.exit(not (all(equal) and complete))


if __name__ == "__main__":
    main()
