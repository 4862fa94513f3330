"""What CTranslate2 finds is what torch finds."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard import engines
from regard.attention import capture
from regard.decoding import Hypothesis
from regard.errors import BundleError
from regard.tasks.crew import one_thread
from regard.tasks.engine import Engine, TorchEngine
from regard.tasks.searching import Asked, Search
from regard.tasks.translator import Translator
from tests.engines.translators import KINDS, TEXTS, engine, joint, learned, letters, random
from tests.models.pretrained import marians


def asked(translator: Translator, texts: list[str] = TEXTS) -> list[Asked]:
    source = translator.tokenizers.source
    return [Asked((*ids, source.end)) for ids in source.encode_all(texts)]


def everything(found: Any, count: int) -> list[list[Hypothesis]]:
    """In the order of the texts; each must be there once."""
    by_number = {number: some for batch, many in found for number, some in zip(batch, many, strict=True)}
    assert sorted(by_number) == list(range(count))
    return [by_number[number] for number in range(count)]


def assert_same(ours: list[list[Hypothesis]], theirs: list[list[Hypothesis]], tolerance: float = 1e-3) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        assert [(one.tokens, one.finished) for one in mine] == [(one.tokens, one.finished) for one in other]
        for one, two in zip(mine, other, strict=True):
            assert (one.score, one.log_prob) == (
                pytest.approx(two.score, abs=tolerance),
                pytest.approx(two.log_prob, abs=10 * tolerance),
            )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_transformer_chooses_the_same_tokens(kind: str, tmp_path: Path) -> None:
    """Cut off at one limit for all: there, too, they agree."""
    translator = random(kind)
    fast, given, how = engine(translator, tmp_path), asked(translator), Search(beam=1)
    found = everything(fast._searched(given, how), len(given))
    assert_same(everything(translator.engine.search(given, how), len(given)), found)
    assert len({one.tokens for (one,) in found}) > len(given) / 2


def test_one_matrix_for_all_is_written_once(tmp_path: Path) -> None:
    translator = joint()
    fast, given, how = engine(translator, tmp_path), asked(translator), Search(beam=1)
    assert_same(
        everything(translator.engine.search(given, how), len(given)), everything(fast._searched(given, how), len(given))
    )
    matrix = translator.model.target_embedding.weight.numel() * 4
    assert (next(tmp_path.rglob("model.bin")).stat().st_size) < matrix + sum(
        p.numel() * 4 for name, p in translator.model.named_parameters() if "embedding" not in name
    ) + 60_000


@pytest.mark.parametrize(
    "how",
    [
        {"beam": 1},
        {"beam": 2},
        {"beam": 5, "nbest": 3},
        {"beam": 4, "penalty": 0.0},
        {"beam": 3, "penalty": 0.6},
        {"beam": 4, "nbest": 4, "patience": 0.5},
        {"beam": 5, "patience": 0.25},
        {"beam": 3, "patience": 0.01},
        {"beam": 3, "patience": 2.5},
        {"beam": 1, "patience": 0.3},
        {"beam": 1, "patience": math.inf},
    ],
    ids=str,
)
def test_searches_find_the_same(how: dict[str, Any], tmp_path: Path) -> None:
    translator = learned()
    texts = letters(60, tmp_path)
    given, search = asked(translator, texts), Search(**how)
    ours = everything(translator.engine.search(given, search), len(given))
    found = everything(engine(translator, tmp_path).search(given, search), len(given))
    same = [a[0].tokens == b[0].tokens for a, b in zip(ours, found, strict=True)]
    assert sum(same) >= 0.99 * len(same)
    best = [(a[:1], b[:1]) for a, b, well in zip(ours, found, same, strict=True) if well]
    assert_same([a for a, _ in best], [b for _, b in best])
    assert len({len(one[0].tokens) for one in ours}) > 5
    assert all(one.finished for some in ours for one in some[:1])


def test_a_marian_chooses_the_same(tmp_path: Path) -> None:
    """With its habits: padding is banned, the end is forced at the limit. Its weights are chance, so that many
    hypotheses are nearly as good, and rounding decides which of them a beam keeps."""
    marians.write(tmp_path / "model", seed=9)
    translator = regard.load(tmp_path / "model")
    given = asked(translator, marians.sentences(60))
    fast = engine(translator, tmp_path)
    for beam, least in ((1, 60), (4, 50)):
        search = translator.search(beam=beam)
        ours = everything(translator.engine.search(given, search), len(given))
        found = everything(fast.search(given, search), len(given))
        assert sum(a[0].tokens == b[0].tokens for a, b in zip(ours, found, strict=True)) >= least
    assert translator.habits.banned
    assert translator.habits.forced_end


def test_what_comes_to_its_limit_is_what_torch_makes_of_it(tmp_path: Path) -> None:
    """Each text has a limit of its own."""
    translator = random(limit=None)
    fast, given = engine(translator, tmp_path), asked(translator)
    for how in (Search(beam=1), Search(beam=3, nbest=2)):
        ours = everything(translator.engine.search(given, how), len(given))
        assert_same(ours, everything(fast.search(given, how), len(given)))
    cut = everything(fast.search(given, Search(beam=1, scores=False)), len(given))  # then without torch
    wanted = everything(translator.engine.search(given, Search(beam=1)), len(given))
    assert [(one.tokens, one.finished) for (one,) in cut] == [(one.tokens, one.finished) for (one,) in wanted]
    assert any(not one.finished for some in ours for one in some)


def test_scores_are_left_out_if_nobody_wants_them(tmp_path: Path) -> None:
    translator = learned()
    fast, given = engine(translator, tmp_path), asked(translator, ["a b c"])
    ((_, ((found,),)),) = fast.search(given, Search(beam=1, scores=False))
    ((_, ((scored,),)),) = fast.search(given, Search(beam=1))
    assert math.isnan(found.score)
    assert scored.score < 0
    assert found.tokens == scored.tokens


@pytest.mark.parametrize(
    ("how", "prefix", "told"),
    [
        ({"sample": True, "seed": 4}, "", "--sample"),
        ({"beam": 2, "repetition_penalty": 1.3}, "", "--repetition-penalty"),
        ({"beam": 2, "no_repeat_ngram": 2}, "", "--no-repeat-ngram"),
        ({"beam": 2}, "b", "--prefix"),
        ({"beam": 9}, "", "--beam 9"),
        ({"beam": 2, "patience": math.inf}, "", "--patience inf"),
        ({"beam": 2, "patience": 1e30}, "", "--patience 1e+30"),
    ],
    ids=str,
)
def test_what_it_cannot_do_torch_does_and_that_is_said_once(
    how: dict[str, Any], prefix: str, told: str, tmp_path: Path
) -> None:
    translator, texts, said = learned(), letters(9, tmp_path), list[str]()
    wanted = translator.translate(texts, prefix=prefix, **how)
    translator.use(engine(translator, tmp_path, say=said.append))
    for _ in range(2):
        assert translator.translate(texts, prefix=prefix, **how) == wanted
    assert said == [f"{told}: computed by torch, ctranslate2 cannot"]


def test_attention_goes_to_torch_and_that_is_said_once(tmp_path: Path) -> None:
    translator, said = learned(), list[str]()
    wanted = translator.attention("a b c", "c b a")
    translator.use(engine(translator, tmp_path, say=said.append))
    for _ in range(2):
        found = translator.attention("a b c", "c b a")
        assert all((found.weights[name] == wanted.weights[name]).all() for name in wanted.weights)
    assert said == ["attention: computed by torch, ctranslate2 cannot"]


def test_a_translation_that_is_looked_into_is_made_by_torch(tmp_path: Path) -> None:
    translator, said = learned(), list[str]()
    translator.use(engine(translator, tmp_path, say=said.append))
    with capture(translator.model) as recording:
        translator.translate("a b c")
    assert recording.names
    assert said == ["attention: computed by torch, ctranslate2 cannot"]


def test_int8_is_nearly_the_same_and_says_what_it_is(tmp_path: Path) -> None:
    translator, texts = learned(), letters(60, tmp_path)
    wanted = translator.translate(texts)
    small = engine(translator, tmp_path, "int8")
    found = translator.use(small).translate(texts)
    assert sum(a == b for a, b in zip(wanted, found, strict=True)) >= 0.9 * len(texts)
    assert small.name == "ctranslate2-int8"
    given = asked(translator, texts[:5])
    exact = everything(
        TorchEngine(translator.model, translator.tokenizers, translator.habits).search(given, Search()), 5
    )
    rounded = everything(small.search(given, Search()), 5)
    assert any(a[0].score != pytest.approx(b[0].score, abs=1e-6) for a, b in zip(exact, rounded, strict=True))


def test_it_uses_as_many_threads_as_torch_has_when_it_is_first_used(tmp_path: Path) -> None:
    translator = learned()
    fast = engine(translator, tmp_path)
    with one_thread():
        translator.use(fast).translate("a b")
    assert (fast.converted.open().num_translators, isinstance(fast, Engine)) == (1, True)


def test_torch_keeps_its_threads_when_it_is_opened(tmp_path: Path) -> None:
    """CTranslate2 sets the number of threads for all that compute in the process."""
    torch.set_num_threads(2)
    first, second = (engines.use(learned(), "ctranslate2", place=tmp_path / name) for name in "ab")
    for translator in (first, second):
        translator.translate("a b")
        assert translator.engine.converted.open().num_translators == 2
        assert torch.get_num_threads() == 2


def test_of_several_who_ask_nobody_waits_for_another(tmp_path: Path) -> None:
    with one_thread():
        served = engines.use(learned(), "ctranslate2", place=tmp_path, askers=2)
        assert served.engine.converted.open().num_translators == 2


def test_a_damaged_conversion_is_told(tmp_path: Path) -> None:
    translator = engines.use(learned(), "ctranslate2", place=tmp_path)
    weights = translator.engine.converted.directory / "model.bin"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(BundleError, match="(?s)cannot be read.*delete that directory"):
        translator.translate("a b")


def test_empty_texts_stay_empty(tmp_path: Path) -> None:
    translator = learned()
    translator.use(engine(translator, tmp_path))
    assert translator.translate(["", "  "]) == ["", ""]
    assert translator.translate(["", "a b", " "], beam=1)[0::2] == ["", ""]
