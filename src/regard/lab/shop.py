"""Models that several claims look at, each trained once for each seed, as anybody would train it.

Everything is kept on disk, so that a run of the lab that was broken off goes on where it was.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from regard import bundle
from regard.config import Tree, merge, nearest
from regard.data.corpora import build
from regard.data.readers import ParallelText, read_pairs
from regard.errors import BundleError, ConfigError
from regard.evaluation.alignment import Gold, read_gold
from regard.evaluation.challenges import Challenge, read_challenges
from regard.files import write_text
from regard.lab.corpus import corpus_files, write_corpus, write_texts
from regard.lab.recipes import RECIPES
from regard.seeds import derive
from regard.tasks.translator import Translator
from regard.tasks.word_texts import WordPair, read_word_pairs
from regard.training.directory import RUN
from regard.training.run import train
from regard.training.start import Nobody, Watcher, prepare

LANGUAGES = ["en", "zh"]
GLANCE, GLANCES = "glance.tsv", 100
"""What a model is validated on while it is trained: claims score it themselves, on more."""


def unwatched(label: str) -> Watcher:
    """Nobody looks."""
    return Nobody()


@dataclass(frozen=True)
class Shop:
    """What is kept in a directory for one seed. Another process can be given it."""

    directory: Path
    seed: int = 1
    quick: bool = False
    threads: int = 1
    watch: Callable[[str], Watcher] = unwatched

    def of(self, seed: int) -> "Shop":
        """The same for another seed."""
        return replace(self, seed=seed)

    # the built-in corpus, the same for all seeds

    def stock(self) -> None:
        """Writes the built-in corpus, each language alone, and a few validation pairs for a glance at each model; not
        what is there."""
        if not (self.data / GLANCE).exists():
            corpus = build()
            write_corpus(corpus, self.data)
            write_texts(corpus, self.data)
            few = corpus.validation[:GLANCES]
            write_text(self.data / GLANCE, "".join(f"{pair.source}\t{pair.target}\n" for pair in few))

    @property
    def data(self) -> Path:
        return self.directory / "data"

    def text(self, split: str) -> ParallelText:
        """The sentences of train, val or test and their translations."""
        return read_pairs(corpus_files(self.data)[split])

    def gold(self, split: str) -> tuple[list[WordPair], list[Gold]]:
        """The words of val or test, and which belong together."""
        pairs = read_word_pairs([str(self.data / f"{split}.words")])
        return pairs, read_gold(str(self.data / f"{split}.links"), pairs, base=0)

    def challenges(self, *phenomena: str) -> list[Challenge]:
        """The pairs that differ in one thing; of these phenomena, if any are named."""
        found = read_challenges(self.data / "challenges.jsonl")
        return [one for one in found if not phenomena or one.phenomenon in phenomena]

    # models

    def place(self, name: str) -> Path:
        """Where the model of this name is, or will be."""
        return self.directory / "models" / f"{name}.{self.seed}"

    def load(self, name: str) -> Any:
        """The model of this name, trained if it is not; as `regard.load` gives it."""
        return bundle.load(self.made(name))

    def untrained(self, name: str) -> Translator:
        """The translator of this name with the weights that its training began with."""
        known, config = self.load(name), bundle.read_config(self.place(name))
        torch.manual_seed(derive(config["seed"], "init"))
        network = bundle.build_model(config, known.tokenizers.model_sizes())
        return Translator(network, known.tokenizers, langs=known.langs)

    def made(self, name: str) -> Path:
        """The directory of one of the RECIPES' models, trained if it is not."""
        if name not in RECIPES:
            raise ConfigError(f"There is no recipe for {name}.", do=nearest(name, RECIPES))
        recipe = RECIPES[name]
        pairs: Tree = {
            "train": corpus_files(self.data)["train"], "val": [str(self.data / GLANCE)], "langs": LANGUAGES,
        }  # fmt: skip
        alone: Tree = {"train": [str(self.data / f"train.{recipe.text}")]}
        start: Tree = {"seed": self.seed + recipe.start}
        data = alone if recipe.text else pairs
        return self.train(name, merge({"data": data}, recipe.tree(quick=self.quick), start))

    def train(self, name: str, tree: Tree) -> Path:
        """The directory of a model with these settings, trained if it is not. The seed is ours unless they have one."""
        out = self.place(name)
        tree = merge({"seed": self.seed}, tree, {"training": {"threads": self.threads}})
        if (out / bundle.CARD).exists():
            _same(out, tree)
            return out
        run = prepare(tree, out, self.watch(out.name), resume=out.exists())
        if not train(run).finished:
            raise KeyboardInterrupt
        return out


def _same(out: Path, tree: Tree) -> None:
    """A name means what it meant; where the files are, and how many threads there were, does not matter."""
    before = bundle.read_json(out / RUN).get("asked", {})
    if _lasting(before) != _lasting(tree):
        raise BundleError(
            f"{out} was trained with other settings.", do="choose another --out, or delete it to train it anew"
        )


def _lasting(tree: Tree) -> Tree:
    training = {key: value for key, value in tree.get("training", {}).items() if key != "threads"}
    return {key: value for key, value in tree.items() if key != "data"} | {"training": training}
