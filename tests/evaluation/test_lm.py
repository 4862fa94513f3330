"""Perplexity by windows that slide: equal to a token at a time, and to what transformers gives."""

import json
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from torch.nn.functional import cross_entropy

import regard
from regard.errors import ConfigError
from regard.evaluation import lm
from regard.evaluation.lm import figures, total_loss
from regard.models.gpt2 import GPT2
from regard.models.pretrained.gpt2 import write_gpt2
from regard.tasks.running_text import HeldOut
from regard.text.byte_bpe import train_byte_bpe
from regard.text.characters import character_tokenizer
from tests.commands import Run
from tests.models.gpt2s import gpt2
from tests.oracles import shake
from tests.runs import run_tree
from tests.tasks.test_lm import characters

LIMIT = 8
TEXT = "A cat, a cat's cat — 猫!\n\n  Cats at 12 o'clock.\r\n"


def one_at_a_time(model: GPT2, ids: np.ndarray, stride: int) -> float:
    """Each token from the window that holds it: the first one, or the first of those that follow it."""
    total = 0.0
    for place in range(1, len(ids)):
        beyond = max(0, place - LIMIT)
        first = -(-beyond // stride) * stride
        last = max(0, len(ids) - 1 - LIMIT)
        context = torch.from_numpy(ids[min(first, last) : place])[None]
        with torch.inference_mode():
            total -= float(model.output(model(context))[0, -1].log_softmax(-1)[ids[place]])
    return total


@pytest.mark.parametrize("stride", [1, 3, 4, 8])
@pytest.mark.parametrize("tokens", [2, 5, 9, 10, 17, 40])
@pytest.mark.parametrize("together", [1, 3])
def test_windows_give_what_one_token_at_a_time_gives(
    tokens: int, stride: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lm, "BATCH_TOKENS", together * LIMIT)
    model = gpt2(dtype=torch.float64, limit=LIMIT)
    ids = np.random.default_rng(tokens).integers(0, 17, tokens)
    assert total_loss(model, ids, stride) == pytest.approx(one_at_a_time(model, ids, stride), rel=1e-9)


@pytest.mark.parametrize("stride", [1, 3, 4, 8])
def test_every_token_sees_as_many_as_it_was_promised(stride: int) -> None:
    ids = np.arange(41)
    seen = {}
    for rows, new in lm._windows(ids, LIMIT, stride):
        for row in rows:
            for back in range(new):
                place = int(row[-1 - back])
                assert place not in seen
                seen[place] = len(row) - 1 - back
    assert sorted(seen) == list(range(1, 41))
    for place, context in seen.items():
        assert context >= min(place, LIMIT - stride + 1)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of ours in the files of transformers."""
    tokenizer = train_byte_bpe([TEXT] * 3, 290)
    torch.manual_seed(0)
    model = GPT2(gpt2(limit=LIMIT).config, vocabulary=len(tokenizer))
    shake(model, seed=1)
    directory = tmp_path_factory.mktemp("exported")
    write_gpt2(model, tokenizer, directory)
    return directory


def test_the_loss_of_a_short_text_is_that_of_transformers(exported: Path) -> None:
    ours, theirs = regard.load(exported), transformers.GPT2LMHeadModel.from_pretrained(exported).eval()
    given = transformers.AutoTokenizer.from_pretrained(exported)("<|endoftext|>A cat, a")["input_ids"]
    text = HeldOut.of(["A cat, a", ""], ours.tokenizer)
    assert text.ids.tolist() == given
    assert 3 < len(given) <= LIMIT
    tokens = torch.tensor([given])
    with torch.inference_mode():
        wanted = float(theirs(tokens, labels=tokens).loss)
    assert figures(ours.model, text)["loss"] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("stride", [3, 8])
def test_the_loss_of_a_long_text_is_that_of_transformers(stride: int, exported: Path) -> None:
    ours, theirs = regard.load(exported), transformers.GPT2LMHeadModel.from_pretrained(exported).eval()
    ids = HeldOut.of([3 * TEXT, ""], ours.tokenizer).ids[: 1 + LIMIT + 3 * stride]
    assert len(ids) == 1 + LIMIT + 3 * stride
    total, done = 0.0, 0
    for begin in range(0, 3 * stride + 1, stride):  # as their guide to perplexity has it
        window = torch.from_numpy(ids[begin : begin + LIMIT + 1])[None]
        wanted = window[0, 1:].clone()
        wanted[: done - begin] = -100
        with torch.inference_mode():
            logits = theirs(window[:, :-1]).logits[0]
        total += float(cross_entropy(logits, wanted, reduction="sum", ignore_index=-100))
        done = begin + LIMIT
    assert total_loss(ours.model, ids, stride) == pytest.approx(total, rel=1e-5)


def test_a_text_is_counted_in_tokens_characters_and_bytes() -> None:
    tokenizer = character_tokenizer(["abc ü"])
    text = HeldOut.of(["ab", " ü", "", "caé", ""], tokenizer)
    assert text.ids.tolist() == [tokenizer.end, *tokenizer.encode("ab ü"), tokenizer.end, *tokenizer.encode("caé")]
    assert (text.characters, text.bytes, text.unknown) == (7, 9, 1)
    torch.manual_seed(0)
    model = GPT2(gpt2(limit=LIMIT).config, vocabulary=len(tokenizer))
    found = figures(model, text)
    assert found["tokens"] == 8
    assert found["loss"] == pytest.approx(total_loss(model, text.ids, LIMIT // 2) / 8)
    assert found["perplexity"] == pytest.approx(exp(found["loss"]))
    assert found["bits_per_character"] == pytest.approx(found["loss"] * 8 / log(2) / 7)
    assert found["bits_per_byte"] == pytest.approx(found["loss"] * 8 / log(2) / 9)
    assert (found["score"], found["stride"]) == (-found["loss"], LIMIT // 2)
    assert "1 of 8 tokens stand for what the tokenizer does not know" in found["headline"]


@pytest.mark.parametrize("stride", [0, -1, LIMIT + 1])
def test_a_stride_that_would_leave_tokens_out_is_refused(stride: int) -> None:
    with pytest.raises(ConfigError, match=f"cannot move on by {stride} tokens.\n  wanted: 1 to 8"):
        total_loss(gpt2(limit=LIMIT), np.arange(10), stride)


def test_the_command_scores_raw_text(tmp_path: Path, run: Run) -> None:
    run_tree(characters(tmp_path), tmp_path / "model")
    words = ("evaluate", tmp_path / "model", "--data", tmp_path / "val.txt")
    code, out, err = run(*words)
    assert code == 0, err
    assert "perplexity" in out
    assert "windows move on by 16" in out
    card = json.loads((tmp_path / "model" / "card.json").read_text())["scores"]["val"]
    _, out, _ = run(*words, "--json")
    assert json.loads(out)["loss"] == pytest.approx(card["loss"])
    _, out, _ = run(*words, "--json", "--stride", 1)
    assert json.loads(out)["stride"] == 1
    code, _, err = run(*words, "--stride", 33)
    assert code == 1
    assert "1 to 32" in err
    code, _, err = run("evaluate", tmp_path / "model")
    assert code == 1
    assert "nothing to evaluate on" in err
