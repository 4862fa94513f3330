"""Which engine computes."""

import multiprocessing
from pathlib import Path

import pytest

import regard
from regard import engines
from regard.engines import choice, installed
from regard.errors import ConfigError
from tests.engines.translators import learned, learned_directory, random
from tests.tasks.aligners import diagonal


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without CTranslate2."""
    monkeypatch.setattr(installed, "PACKAGE", "ctranslate2_is_not_here")
    installed.library.cache_clear()


def test_auto_takes_ctranslate2_in_full_precision(tmp_path: Path) -> None:
    found = engines.use(random(), "auto", place=tmp_path)
    assert found.engine.name == "ctranslate2"
    assert (tmp_path / "engines").is_dir()


@pytest.mark.parametrize("engine", ["torch", "ctranslate2", "ctranslate2-int8"])
def test_an_engine_is_taken_by_its_name(engine: str) -> None:
    found = engines.load(learned_directory(), engine)
    assert found.engine.name == engine
    assert found.translate("a b c") == learned().translate("a b c")


def test_torch_is_taken_back(tmp_path: Path) -> None:
    translator = engines.use(random(), "ctranslate2", place=tmp_path)
    assert engines.use(translator, "torch").engine.name == "torch"


def test_what_regard_load_gives_is_torch() -> None:
    assert regard.load(learned_directory()).engine.name == "torch"


def test_without_ctranslate2_auto_is_torch_and_says_nothing(absent: None) -> None:
    said: list[str] = []
    assert engines.use(random(), "auto", say=said.append).engine.name == "torch"
    assert said == []


def test_without_ctranslate2_its_name_tells_how_to_install_it(absent: None) -> None:
    with pytest.raises(ConfigError, match=r"(?s)CTranslate2 is not installed.*pip install 'regard\[fast\]'"):
        engines.use(random(), "ctranslate2")


def test_a_model_without_a_form_goes_to_torch_and_that_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    assert engines.use(diagonal(), "auto", say=said.append).engine.name == "torch"
    assert said == ["computed by torch: Diagonal has no form in CTranslate2."]
    with pytest.raises(ConfigError, match="(?s)Diagonal has no form in CTranslate2.*wanted: Transformer"):
        engines.use(diagonal(), "ctranslate2")


def test_the_precision_is_never_changed_unasked() -> None:
    translator, said = random(), list[str]()
    translator.model.double()
    assert engines.use(translator, "auto", say=said.append).engine.name == "torch"
    assert said == ["computed by torch: CTranslate2 computes in float32 on the CPU here."]
    with pytest.raises(ConfigError, match="found: torch.float64 on cpu"):
        engines.use(translator, "ctranslate2")


def test_an_engine_that_does_not_exist_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="(?s)no engine 'ctranslate'.*ctranslate2"):
        choice.load("nowhere", "ctranslate")


def test_processes_that_start_at_once_share_one_conversion(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.starmap(translated, [(str(learned_directory()), text) for text in ("a b", "c d")])
    assert found == learned().translate(["a b", "c d"])
    assert len(list((learned_directory() / "engines").iterdir())) == 1


def translated(directory: str, text: str) -> str:
    """In another process."""
    found: str = engines.load(directory, "ctranslate2").translate(text)
    return found
