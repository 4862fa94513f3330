"""How fast a GPT-2 of 124 million parameters writes, beside transformers and CTranslate2 with the same weights, and
beside the mere reading of these weights.

Random weights; greedy, 32 tokens of prompt and 64 new ones, one text and eight at once, in float32. Each contestant is
a process of its own; they take turns, another one going first from round to round, the others wait. In every round all
weights that a step needs are also read once (their sum): nothing that computes with each of them can be faster at one
text than that. The first round is not counted: there the texts are compared.

    .venv-bench/bin/python bench/generation.py [--rounds N] [--threads N] [--scratch DIR] [--json FILE]
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import torch

from racing import in_turn, spread, started

OURS, PEER, FAST, READ = "regard", "transformers", "ctranslate2", "reading (sum)"
PROMPT, NEW, SIZES = 32, 64, (1, 8)
LETTERS = range(0x20000, 0x20000 + 42_000), range(0x4E00, 0x4E00 + 8_255)
"""With <|endoftext|> and <unk>, as many as GPT-2 has tokens: a character is a token."""
AIMS = {(PEER, 1): 1.1, (PEER, 8): 1.3, (FAST, 1): 0.9, (FAST, 8): 0.9, (READ, 1): 0.75}
"""How many times as fast ours is to be."""
Texts = list[list[int]]
Write = Callable[[Texts], Texts]


@dataclass(frozen=True)
class Turn:
    """What a contestant did: seconds, CPU seconds, and the tokens that it wrote."""

    seconds: float
    cpu_seconds: float
    texts: Texts


def prepare(directory: Path, seed: int = 1) -> Texts:
    """A model of GPT-2's shape as transformers has it, and prompts. Strong positions let it say many things."""
    from regard.models.gpt2 import GPT2, GPT2Config
    from regard.models.pretrained.gpt2 import write_gpt2
    from regard.text.characters import character_tokenizer

    torch.manual_seed(seed)
    tokenizer = character_tokenizer("".join(map(chr, some)) for some in LETTERS)
    model = GPT2(GPT2Config(), vocabulary=len(tokenizer))
    with torch.no_grad():
        model.positions.weight *= 30
    write_gpt2(model, tokenizer, directory / "model")
    return torch.randint(len(tokenizer) - 2, (max(SIZES), PROMPT)).tolist()


def ours(directory: Path, threads: int) -> tuple[Write, str]:
    import regard

    generator = regard.load(directory / "model")

    def write(prompts: Texts) -> Texts:
        texts = [generator.tokenizer.decode(prompt) for prompt in prompts]
        found = generator.generate(texts, temperature=0.0, max_new_tokens=NEW)
        return [list(one.tokens) for (one,) in found]

    return write, f"regard, torch {torch.__version__}"


def theirs(directory: Path, threads: int) -> tuple[Write, str]:
    import transformers

    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModelForCausalLM.from_pretrained(directory / "model").eval()

    def write(prompts: Texts) -> Texts:
        tokens = torch.tensor(prompts)
        with torch.inference_mode():
            found = model.generate(
                tokens, attention_mask=torch.ones_like(tokens), do_sample=False, max_new_tokens=NEW, pad_token_id=0
            )
        return [row[PROMPT:] for row in found.tolist()]

    return write, f"transformers {transformers.__version__}"


def fastest(directory: Path, threads: int) -> tuple[Write, str]:
    import ctranslate2
    import transformers

    converted = directory / "ctranslate2"
    if not converted.exists():
        ctranslate2.converters.TransformersConverter(str(directory / "model")).convert(str(converted))
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory / "model")
    generator = ctranslate2.Generator(str(converted), device="cpu", compute_type="float32", intra_threads=threads)

    def write(prompts: Texts) -> Texts:
        tokens = [tokenizer.convert_ids_to_tokens(prompt) for prompt in prompts]
        found = generator.generate_batch(tokens, max_length=NEW, sampling_topk=1, include_prompt_in_result=False)
        return [list(one.sequences_ids[0]) for one in found]

    return write, f"ctranslate2 {ctranslate2.__version__}"


def reading(directory: Path, threads: int) -> tuple[Write, str]:
    """All weights that a step needs, once for each token of the longest text: all but the positions."""
    import regard

    model = regard.load(directory / "model").model
    held = torch.cat([tensor.flatten() for name, tensor in model.named_parameters() if "positions" not in name])

    def write(prompts: Texts) -> Texts:
        for _ in range(NEW):
            held.sum()
        return [[] for _ in prompts]

    return write, f"{held.numel():,} weights, {held.numel() * held.element_size() / 1e6:.0f} MB"


CONTESTANTS: dict[str, Callable[[Path, int], tuple[Write, str]]] = {
    OURS: ours,
    PEER: theirs,
    FAST: fastest,
    READ: reading,
}


def play(link: Connection, name: str, directory: Path, threads: int) -> None:
    """The process of a contestant: it says what it is; given prompts, it takes a turn."""
    torch.set_num_threads(threads)
    write, version = CONTESTANTS[name](directory, threads)
    link.send(version)
    with suppress(EOFError):  # the driver has hung up
        while True:
            prompts = link.recv()
            began, cpu_began = time.perf_counter(), time.process_time()
            texts = write(prompts)
            link.send(Turn(time.perf_counter() - began, time.process_time() - cpu_began, texts))


def race(links: dict[str, Connection], prompts: Texts, rounds: int) -> Iterator[dict[tuple[str, int], Turn]]:
    """One works at a time, on one text and then on several."""
    for number in range(rounds + 1):
        found = {}
        for size in SIZES:
            for name in in_turn(links, number):
                if name == READ and size > 1:
                    continue
                links[name].send(prompts[:size])
                found[name, size] = links[name].recv()
        yield found


def check(turns: dict[tuple[str, int], Turn]) -> dict[str, float]:
    """The share of tokens that others choose as ours does; the bench ends where a text is too short, or too unlike."""
    found = {}
    for name in (PEER, FAST):
        pairs = [
            (a, b)
            for size in SIZES
            for one, other in zip(turns[OURS, size].texts, turns[name, size].texts, strict=True)
            for a, b in zip(one, other, strict=True)
        ]
        if len(pairs) != NEW * sum(SIZES):
            raise SystemExit(f"{len(pairs)} tokens were written, not {NEW * sum(SIZES)}.")
        found[name] = sum(a == b for a, b in pairs) / len(pairs)
        if found[name] < 0.9:  # two tokens that are nearly equally likely may part two texts
            raise SystemExit(f"{name} writes other texts: {found[name]:.0%} of the tokens are the same.")
    return found


def table(rounds: Sequence[dict[tuple[str, int], Turn]]) -> None:
    """A row for every contestant and size: medians and quartiles of the rounds."""
    columns = f"{'texts':>6}{'tokens/s':>22}{'tokens/CPU s':>22}{'cores had':>11}"
    print(f"\n{'median [quartiles]':<18}{columns}")
    for name, size in rounds[0]:
        mine = [turns[name, size] for turns in rounds]
        speeds = [[NEW * size / seconds for seconds in clock] for clock in _clocks(mine)]
        cores = median(turn.cpu_seconds / turn.seconds for turn in mine)
        print(f"{name:<18}{size:>6}{spread(speeds[0], '.1f'):>22}{spread(speeds[1], '.1f'):>22}{cores:>11.2f}")


def _clocks(turns: Sequence[Turn]) -> tuple[list[float], list[float]]:
    return [turn.seconds for turn in turns], [turn.cpu_seconds for turn in turns]


def verdict(rounds: Sequence[dict[tuple[str, int], Turn]]) -> dict[str, float]:
    """How many times as fast ours is, compared round by round, beside what is aimed at."""
    found = {}
    print()
    for (name, size), aim in AIMS.items():
        times = [turns[name, size].seconds / turns[OURS, size].seconds for turns in rounds]
        found[f"{name}, {size}"] = median(times)
        told = "reached" if median(times) >= aim else "not reached"
        print(f"ours / {name}, texts at once: {size}: {spread(times, '.2f')}; the aim is {aim}: {told}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--scratch", type=Path, help="directory for the models (1 GB); a temporary one if none")
    parser.add_argument("--json", type=Path, help="also write every round's figures here")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        prompts = prepare(Path(scratch))
        print(f"{PROMPT} tokens of prompt, {NEW} new ones, greedy, float32; {options.threads} threads; ", end="")
        print(f"load before the start {load:.1f} on {os.cpu_count()} cores", flush=True)
        with started(CONTESTANTS, play, Path(scratch), options.threads) as links:
            print("; ".join(str(link.recv()) for link in links.values()), flush=True)
            rounds = race(links, prompts, max(1, options.rounds))
            alike = check(next(rounds))
            turns = list(rounds)
    for name, share in alike.items():
        print(f"{share:.1%} of the tokens are those of {name}")
    table(turns)
    figures = verdict(turns)
    if options.json:
        told: list[Any] = [
            [{"name": name, "texts_at_once": size, **asdict(turn)} for (name, size), turn in each.items()]
            for each in turns
        ]
        run = {"threads": options.threads, "load": load, "alike": alike, "ours_over": figures}
        options.json.write_text(json.dumps({**run, "rounds": told}, indent=2) + "\n")


if __name__ == "__main__":
    main()
