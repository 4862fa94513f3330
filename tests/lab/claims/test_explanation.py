import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from scipy.stats import kendalltau
from torch import nn

from regard.data.readers import ParallelText
from regard.lab.claim import Setting
from regard.lab.claims import explanation
from regard.lab.claims.explanation import (
    KNOWS,
    THRESHOLD,
    kendall,
    labelled,
    shuffled,
    steady,
    taught,
    unmoved_words,
)
from regard.lab.shop import Shop


@pytest.mark.parametrize("seed", range(5))
def test_kendall_is_that_of_scipy(seed: int) -> None:
    chance = random.Random(seed)
    first, second = ([chance.randint(0, 6) / 6 for _ in range(20)] for _ in range(2))
    assert kendall(first, second) == pytest.approx(kendalltau(first, second).statistic)


def test_kendall_is_one_in_the_same_order_minus_one_in_the_opposite_and_zero_without_any() -> None:
    assert kendall([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]) == 1.0
    assert kendall([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]) == -1.0
    assert kendall([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]) == 0.0
    assert kendall([1.0], [2.0]) == 0.0


def test_shuffled_weights_are_the_same_weights_elsewhere() -> None:
    weights = torch.rand(4, 1, 3, 50)
    other = shuffled(weights, torch.Generator().manual_seed(1))
    assert torch.equal(weights.sort(-1).values, other.sort(-1).values)
    assert not torch.equal(weights, other)
    assert not torch.equal(weights[0, 0, 0].argsort(), other[0, 0, 0].argsort())


def test_who_knows_little_explains_nothing_however_steady() -> None:
    assert steady([1.0, 0.5], known=KNOWS) == THRESHOLD
    assert steady([1.0, 1.0], known=KNOWS - 0.01) == 0.0


def test_only_sentences_that_the_classifier_gets_right_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets four of five right; the fifth never stays the same."""
    rows = [(str(number), "right") for number in range(5)]
    said = [SimpleNamespace(label="wrong" if text == "4" else "right") for text, _ in rows]
    monkeypatch.setattr(explanation, "labelled", lambda text: rows)
    monkeypatch.setattr(explanation, "taught", lambda shop, updates: SimpleNamespace(classify=lambda texts: said))
    monkeypatch.setattr(explanation, "agreement", lambda classifier, text: 0.25 * int(text))
    monkeypatch.setattr(explanation, "unmoved", lambda classifier, text, seed: 0.0 if text == "4" else 1.0)
    monkeypatch.setattr(explanation, "unmoved_words", lambda translator, pairs, row, seed: [0.0, 1.0])
    monkeypatch.setattr(explanation, "EncodedPairs", SimpleNamespace(encode=lambda *given: ["a pair"]))
    translator, text = SimpleNamespace(tokenizers=None), SimpleNamespace(sources=(), targets=())
    shop: Any = SimpleNamespace(load=lambda name: translator, text=lambda split: text)
    found = explanation.measure(Setting(1, True, shop))
    assert (found.value, found.control) == (1.0, 0.5)
    assert [told for name, told in found.numbers.items() if "they agree" in name] == [0.6]


class Says(nn.Module):
    """Says one row of words when it is first asked, and another one when its weights are dealt out anew."""

    def __init__(self, *rows: list[int]) -> None:
        super().__init__()
        self.output, self.rows = nn.Identity(), list(rows)

    def forward(self, *batch: Any) -> torch.Tensor:
        return nn.functional.one_hot(torch.tensor([self.rows.pop(0)]), 9)


def test_only_words_that_were_right_can_stay_right() -> None:
    batch = SimpleNamespace(source=None, source_lengths=None, target=torch.tensor([[0, 5, 6, 7, 8]]))
    pairs: Any = SimpleNamespace(batch=lambda rows, tokenizers: batch)
    translator: Any = SimpleNamespace(model=Says([5, 6, 1, 8], [5, 2, 7, 8]), tokenizers=None)
    assert unmoved_words(translator, pairs, 0, seed=1) == [1.0, 0.0, 1.0]


def test_the_translation_tells_the_meaning() -> None:
    sources = ("After going fishing, Anna walked to the bank.", "I like it.", "The bank and the bat.")
    targets = ("钓鱼之后，安娜走到了河岸。", "我喜欢。", "河岸和蝙蝠。")
    assert labelled(ParallelText(sources, targets, ())) == [(sources[0], "bank: 河岸")]


def test_two_seeds_at_once_do_not_write_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(Shop, "text", lambda shop, split: ParallelText(("The bank.",), ("河岸。",), ()))
    monkeypatch.setattr(Shop, "train", lambda shop, name, settings: asked.append(settings))
    monkeypatch.setattr(explanation, "load", lambda directory: None)
    for seed in (1, 2):
        taught(Shop(tmp_path, seed=seed), updates=1)
    files = [file for settings in asked for files in settings["data"].values() for file in files]
    assert len(set(files)) == 4
    assert all(Path(file).read_text(encoding="utf-8") == "The bank.\tbank: 河岸\n" for file in files)
