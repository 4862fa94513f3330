"""The bench: models are made, then claims measured, some at once; what is done is kept and not done again."""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard import bundle
from regard.errors import BundleError, RegardError
from regard.files import write_text
from regard.lab import circumstances
from regard.lab.claim import Claim, Measured, Setting
from regard.lab.compare.directory import advised
from regard.lab.processes import run_all
from regard.lab.recipes import RECIPES
from regard.lab.shop import Shop
from regard.training.directory import RUN

SEEDS, QUICK_SEEDS = (4, 5, 6), (1,)
"""Some statistics were sharpened after a look at quick runs with seed 1. So the full run judges with seeds that nobody
has looked at."""
KEPT = "lab.json"
PARTS = ("recall", "timing")
"""Files beside this one that belong to the experiment of whichever claim imports them."""
SHOP = ("shop", "corpus")
"""Those that belong to the experiment of whichever claim takes texts or models from the shop."""


@dataclass(frozen=True)
class Making:
    """A model that some claim needs."""

    shop: Shop
    name: str

    @property
    def label(self) -> str:
        return f"model {self.name}, seed {self.shop.seed}"

    @property
    def done(self) -> bool:
        return all((self.shop.place(self.name) / name).exists() for name in (bundle.CARD, bundle.WEIGHTS, RUN))

    def work(self) -> bool:
        with advised(self.shop.place(self.name)):
            made = self.shop.made(self.name)
            if not self.done:
                raise BundleError(f"{made} is not complete.")
        return True


@dataclass(frozen=True)
class Measuring:
    """A claim with one seed."""

    shop: Shop
    claim: Claim

    @property
    def label(self) -> str:
        return f"claim {self.claim.name}, seed {self.shop.seed}"

    @property
    def file(self) -> Path:
        return self.shop.directory / "claims" / f"{self.claim.name}.{self.shop.seed}.json"

    @property
    def done(self) -> bool:
        """Measured, and by what the claim says today."""
        return self.record is not None

    @property
    def record(self) -> dict[str, Any] | None:
        """What was measured, None if nothing that can be used: what is damaged is measured again."""
        try:
            kept = bundle.read_json(self.file)
            Measured.of(kept)
            sound = float(kept["seconds"]) >= 0 and float(kept["cpu_seconds"]) >= 0
            ours = (kept["claim"], kept["seed"]) == (self.written, self.shop.seed)
        except (BundleError, ValueError, TypeError, KeyError):
            return None
        return kept if sound and ours else None

    @property
    def written(self) -> str:
        return written(self.claim, quick=self.shop.quick)

    def work(self) -> bool:
        claim, here = self.written, circumstances.present()
        torch.set_num_threads(1 if self.claim.alone else self.shop.threads)
        torch.manual_seed(self.shop.seed)
        began = time.perf_counter(), time.process_time()
        measured = self.claim.measure(Setting(self.shop.seed, self.shop.quick, self.shop))
        took = {"seconds": time.perf_counter() - began[0], "cpu_seconds": time.process_time() - began[1]}
        record = {
            "claim": claim,
            "seed": self.shop.seed,
            "circumstances": here,
            **took,
            **measured.record(),
        }
        write_text(self.file, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        return True


@dataclass(frozen=True)
class Found:
    """A claim and what each seed has given."""

    claim: Claim
    seeds: tuple[int, ...]
    measured: tuple[Measured, ...]
    seconds: tuple[float, ...]
    cpu_seconds: tuple[float, ...]
    circumstances: tuple[dict[str, Any], ...] = ()
    """When, where and with what, as far as that was kept."""


def usual_seeds(*, quick: bool) -> tuple[int, ...]:
    """Those of a run that names none."""
    return QUICK_SEEDS if quick else SEEDS


def written(claim: Claim, *, quick: bool) -> str:
    """A fingerprint of the file that a claim is written in, of the PARTS that it uses, of the SHOP if it uses that, of
    whether it is in a hurry, and of how its models are trained then: a changed experiment is made again."""
    source = Path(str(sys.modules[claim.measure.__module__].__file__)).read_bytes()
    used = [part for part in PARTS if f"from regard.lab.{part} import".encode() in source]
    used += SHOP if claim.models or b"setting.shop" in source else ()
    parts = [Path(__file__).with_name(f"{part}.py").read_bytes() for part in used]
    models = [RECIPES[name] for name in claim.models if name in RECIPES]
    recipes = [(recipe.tree(quick=quick), recipe.start, recipe.text) for recipe in models]
    return hashlib.sha256(b"".join([source, *parts, json.dumps([quick, recipes]).encode()])).hexdigest()[:16]


def run(claims: Sequence[Claim], shop: Shop, *, seeds: Sequence[int], jobs: int, say: Callable[[str], None]) -> None:
    """Measures what is not measured yet: first the models, several at once, then the claims, last those that need the
    machine for themselves. What fails is raised at the end. The directory must have been begun."""
    left = missing(claims, shop, seeds)
    if not left:
        return
    say("writing the built-in corpus …")
    shop.stock()
    models = dict.fromkeys((piece.shop, name) for piece in left for name in piece.claim.models)
    failed: list[RegardError] = []
    run_all([Making(*model) for model in models], jobs, say, failed=failed)
    ready = [piece for piece in left if all(Making(piece.shop, name).done for name in piece.claim.models)]
    for piece in left:
        if piece not in ready:
            say(f"{piece.label} is left out: a model that it needs has failed")
    run_all([piece for piece in ready if not piece.claim.alone], jobs, say, failed=failed)
    run_all([piece for piece in ready if piece.claim.alone], 1, say, failed=failed)
    if failed:
        raise failed[0]


def missing(claims: Sequence[Claim], shop: Shop, seeds: Sequence[int]) -> list[Measuring]:
    """What is not measured yet."""
    pieces = [Measuring(shop.of(seed), claim) for seed in seeds for claim in claims]
    return [piece for piece in pieces if not piece.done]


def begin(shop: Shop) -> None:
    """Makes the directory ours; what was begun in a hurry is not continued at leisure, nor the other way round."""
    kept = shop.directory / KEPT
    try:
        begun, free = kept.exists(), not shop.directory.is_dir() or not any(shop.directory.iterdir())
    except OSError as error:
        raise BundleError(f"{shop.directory} cannot be used: {error.strerror}.", do="choose another --out") from None
    if begun:
        _agree(shop)
        return
    if shop.directory.exists() and not shop.directory.is_dir():
        raise BundleError(f"{shop.directory} is no directory.", do="choose another --out")
    if not free:
        raise BundleError(f"{shop.directory} is not empty.", do="choose another --out; the lab goes on in its own")
    write_text(kept, json.dumps({"quick": shop.quick, "claims": []}) + "\n")


def _agree(shop: Shop) -> None:
    kept = shop.directory / KEPT
    do = f'choose another --out; or write {{"quick": {json.dumps(shop.quick)}}} into it, if it was the lab\'s'
    try:
        began = bundle.read_json(kept).get("quick")
    except BundleError as error:
        raise error.instead(do) from None
    if not isinstance(began, bool):
        raise BundleError(f"{kept} is not as the lab writes it.", found=f"quick: {began!r}", do=do)
    if began != shop.quick:
        mode = "without --quick" if shop.quick else "with --quick"
        raise BundleError(f"{shop.directory} was begun {mode}.", do="go on in the same way, or choose another --out")


def found(claims: Sequence[Claim], shop: Shop, seeds: Sequence[int]) -> list[Found]:
    """What is known: of each claim that was measured with every seed."""
    results = []
    for claim in claims:
        records = [record for seed in seeds if (record := Measuring(shop.of(seed), claim).record)]
        if len(records) == len(seeds):
            seconds, cpu = (tuple(float(record[key]) for record in records) for key in ("seconds", "cpu_seconds"))
            when = tuple(filter(circumstances.sound, (record.get("circumstances") for record in records)))
            results.append(Found(claim, tuple(seeds), tuple(map(Measured.of, records)), seconds, cpu, when))
    return results
