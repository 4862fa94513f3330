"""How fast our GPT-2 of characters trains, beside a plain transcription of nanoGPT's recipe for a CPU, at equal sizes.

4 layers, 4 heads, 128 wide, blocks of 64, 12 of them an update, float32, uncompiled: configs/shakespeare-char-cpu.toml.
Theirs is what nanoGPT does, in torch's own parts: nn.Linear, scaled_dot_product_attention, AdamW as it comes. A second
time, it gets what regard sets up for itself: a malloc that keeps freed memory, and the fused Adam. Ours also keeps its
moving average of the weights, and has twice the rate, so that losses do not compare.

Each contestant is a process of its own and draws its own blocks; that is timed, too. They take turns, another one going
first from round to round; the others wait.

    .venv-bench/bin/python bench/language.py [--data FILE] [--rounds N] [--json FILE]
"""

import argparse
import gzip
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from math import sqrt
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from racing import in_turn, spread, started
from regard import bundle
from regard.config import load_toml, merge
from regard.data.corpora import build
from regard.memory import keep_freed_memory
from regard.tasks.lm import LMTask
from regard.training.loop import learner, steps
from regard.training.settings import resolve

BENCH = Path(__file__).resolve().parent
SHAKESPEARE = BENCH.parents[1] / "shared" / "data" / "shakespeare" / "input.txt.gz"
RECIPE = BENCH.parent / "configs" / "shakespeare-char-cpu.toml"
OURS, PLAIN, FAVOURED = "regard", "nanoGPT's recipe", "nanoGPT's recipe, malloc and Adam as ours"
WARM_UP, UPDATES = 20, 20  # before the first round, and in every turn
LAYERS, HEADS, WIDTH, BLOCK, BATCH = 4, 4, 128, 64, 12
PEAK, LEAST, RISING, ALL = 1e-3, 1e-4, 100, 2000  # of its learning rate

Update = Callable[[], float]


@dataclass(frozen=True)
class Facts:
    """What a contestant is."""

    version: str
    parameters: int


@dataclass(frozen=True)
class Turn:
    """What a contestant did in one round; `loss` is the mean of its updates."""

    seconds: float
    cpu_seconds: float
    loss: float


# nanoGPT


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.c_proj = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        rows, length, width = x.shape
        q, k, v = self.c_attn(x).split(width, dim=2)
        q, k, v = (part.view(rows, length, HEADS, width // HEADS).transpose(1, 2) for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        projected: Tensor = self.c_proj(y.transpose(1, 2).contiguous().view(rows, length, width))
        return projected


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(WIDTH, bias=False), Attention()
        self.ln_2 = nn.LayerNorm(WIDTH, bias=False)
        self.c_fc = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.gelu = nn.GELU()
        self.c_proj = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        grown: Tensor = x + self.c_proj(self.gelu(self.c_fc(self.ln_2(x))))
        return grown


class Plain(nn.Module):
    """Its model, without the dropout that this recipe sets to zero."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, WIDTH), nn.Embedding(BLOCK, WIDTH)
        self.h = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.ln_f = nn.LayerNorm(WIDTH, bias=False)
        self.lm_head = nn.Linear(WIDTH, vocabulary, bias=False)
        self.wte.weight = self.lm_head.weight
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02 / (sqrt(2 * LAYERS) if name.endswith("c_proj.weight") else 1))

    def forward(self, tokens: Tensor, wanted: Tensor) -> Tensor:
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for layer in self.h:
            x = layer(x)
        logits = self.lm_head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), wanted.view(-1))


def drawn(ids: np.ndarray) -> tuple[Tensor, Tensor]:
    """Blocks from anywhere, and the same a token later."""
    places = torch.randint(len(ids) - BLOCK, (BATCH,)).tolist()
    tokens, wanted = (
        [torch.from_numpy(ids[i + by : i + by + BLOCK].astype(np.int64)) for i in places] for by in (0, 1)
    )
    return torch.stack(tokens), torch.stack(wanted)


def rate(update: int) -> float:
    """Up in a line, then down along a cosine, then level."""
    if update < RISING:
        return PEAK * (update + 1) / (RISING + 1)
    turned = np.pi * min(1.0, (update - RISING) / (ALL - RISING))
    return float(LEAST + 0.5 * (1 + np.cos(turned)) * (PEAK - LEAST))


def theirs(file: str, *, favours: bool) -> tuple[Facts, Update]:
    """A model, and what makes an update of it."""
    text = Path(file).read_text(encoding="utf-8")
    known = {character: id for id, character in enumerate(sorted(set(text)))}
    ids = np.array([known[character] for character in text], dtype=np.uint16)
    model = Plain(len(known)).train()
    matrices, others = ([p for p in model.parameters() if (p.dim() > 1) == wide] for wide in (True, False))
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=PEAK, betas=(0.9, 0.99), **({"fused": True} if favours else {}))
    done = 0

    def update() -> float:
        nonlocal done
        for group in optimizer.param_groups:
            group["lr"] = rate(done)
        loss = model(*drawn(ids))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        done += 1
        return loss.item()

    facts = Facts("nanoGPT, transcribed", sum(p.numel() for p in model.parameters()))
    return facts, update


# Ours


def ours(file: str) -> tuple[Facts, Update]:
    """The same by our recipe, through our own loop."""
    tree = merge(load_toml(RECIPE), {"data": {"train": [file]}})
    config = resolve(tree)
    sizes: Any = config.model
    assert (sizes.layers, sizes.heads, sizes.width, sizes.limit) == (LAYERS, HEADS, WIDTH, BLOCK)
    settings: Any = config.settings
    assert settings.batch.tokens == BATCH * BLOCK
    task = LMTask(settings, model=config.model, seed=config.seed)
    model = bundle.build_model(config.tree(), task.tokenizers.model_sizes())
    training = config.training.model_copy(update={"updates": 10**9})
    made = steps(learner(model, training), task, training, seed=config.seed)
    facts = Facts(f"regard {version('regard')}", sum(p.numel() for p in model.parameters()))
    return facts, lambda: next(made).losses["loss"]


# The driver


CONTESTANTS: dict[str, Callable[[str], tuple[Facts, Update]]] = {
    OURS: ours,
    PLAIN: lambda file: theirs(file, favours=False),
    FAVOURED: lambda file: theirs(file, favours=True),
}


def play(link: Connection, name: str, file: str, threads: int) -> None:
    """The process of a contestant: it sends Facts, then for each number of updates a Turn."""
    torch.set_num_threads(threads)
    if name != PLAIN:
        keep_freed_memory()
    torch.manual_seed(1)
    facts, update = CONTESTANTS[name](file)
    link.send(facts)
    with suppress(EOFError):  # the driver has hung up
        while count := link.recv():
            began, cpu_began = time.perf_counter(), time.process_time()
            losses = [update() for _ in range(count)]
            link.send(Turn(time.perf_counter() - began, time.process_time() - cpu_began, fmean(losses)))


def race(links: dict[str, Connection], rounds: int) -> Iterator[dict[str, Turn]]:
    """One works at a time. The round before the first only warms up."""
    for number in range(-1, rounds):
        turns: dict[str, Turn] = {}
        for name in in_turn(links, number):
            links[name].send(WARM_UP if number < 0 else UPDATES)
            turns[name] = links[name].recv()
        if number >= 0:
            yield turns


def table(rounds: Sequence[dict[str, Turn]], threads: int) -> dict[str, float]:
    """A row for every contestant, and how many times faster ours was, round by round."""
    print(f"\n{'median [quartiles]':<44}{'ms an update':>22}{'of CPU':>22}{'tokens/s':>12}{'last loss':>11}")
    found = {}
    for name in CONTESTANTS:
        times = [1000 * turns[name].seconds / UPDATES for turns in rounds]
        busy = [1000 * turns[name].cpu_seconds / UPDATES for turns in rounds]
        speed = 1000 * BATCH * BLOCK / median(times)
        row = f"{spread(times, '.1f'):>22}{spread(busy, '.1f'):>22}{speed:>12,.0f}{rounds[-1][name].loss:>11.2f}"
        print(f"{name:<44}{row}")
        found[name] = median(times)
    print(f"\n{len(rounds)} rounds of {UPDATES} updates each, {threads} threads")
    for name in (PLAIN, FAVOURED):
        ratios = [turns[name].seconds / turns[OURS].seconds for turns in rounds]
        print(f"ours / {name}: {spread(ratios, '.2f')} times as fast")
    reached = "reached" if found[OURS] <= found[PLAIN] else "not reached"
    print(f"an update is to take no longer than in {PLAIN}: {reached}")
    return found


def training_text(data: Path, scratch: Path) -> tuple[str, str]:
    """A file with the first nine tenths of the text, and what it is."""
    if data.exists():
        opened = gzip.open if data.suffix == ".gz" else open
        with opened(data, "rt", encoding="utf-8", newline="") as file:
            text, about = str(file.read()), str(data)
    else:
        text, about = "".join(f"{pair.source}\n" for pair in build().train), f"the built-in corpus (no {data})"
    path = scratch / "train.txt"
    path.write_text(text[: int(0.9 * len(text))], encoding="utf-8", newline="")
    return str(path), about


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=SHAKESPEARE, help="a text, .gz if its name says so")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="also write every round's figures here")
    options = parser.parse_args()
    load, threads = os.getloadavg()[0], torch.get_num_threads()
    with tempfile.TemporaryDirectory() as scratch:
        file, about = training_text(options.data, Path(scratch))
        with started(CONTESTANTS, play, file, threads) as links:
            facts: dict[str, Facts] = {name: link.recv() for name, link in links.items()}
            told = ", ".join(f"{name} {fact.parameters:,}" for name, fact in facts.items())
            print(f"torch {torch.__version__}, {threads} threads; load before {load:.1f} on {os.cpu_count()} cores")
            print(f"Data: {about}\nParameters: {told}", flush=True)
            rounds = list(race(links, max(1, options.rounds)))
    times = table(rounds, threads)
    if options.json:
        turns = [{name: asdict(turn) for name, turn in each.items()} for each in rounds]
        figures = {"data": about, "threads": threads, "load": load, "ms_an_update": times, "rounds": turns}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
