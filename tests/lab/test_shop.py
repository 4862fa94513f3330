"""Models that claims share: trained once, kept, and not mistaken for others."""

from functools import partial
from pathlib import Path

import pytest
import torch

from regard import bundle, load
from regard.data.corpora import build
from regard.errors import BundleError, ConfigError
from regard.lab.recipes import RECIPES
from regard.lab.shop import GLANCES, Shop
from regard.training.settings import resolve
from tests.runs import tiny_tree


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "lab", seed=3)


def test_a_model_is_trained_once_with_the_seed_of_the_shop(shop: Shop, tmp_path: Path) -> None:
    tree = {key: value for key, value in tiny_tree(tmp_path).items() if key != "seed"}
    out = shop.train("tiny", tree)
    written = (out / bundle.WEIGHTS).stat().st_mtime_ns
    assert bundle.read_card(out)["seed"] == 3
    assert shop.train("tiny", tree) == out
    assert (out / bundle.WEIGHTS).stat().st_mtime_ns == written
    assert load(out).translate(["a b"])
    assert shop.of(4).place("tiny") != out


def test_an_untrained_translator_is_the_same_network_with_weights_of_chance(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shop, "made", Shop.place)
    shop.train("tiny", tiny_tree(tmp_path))
    trained, once, again = shop.load("tiny"), shop.untrained("tiny"), shop.untrained("tiny")
    (known, *_), (first, *_), (second, *_) = (list(one.model.parameters()) for one in (trained, once, again))
    assert torch.equal(first, second)
    assert not torch.equal(first, known)
    assert once.translate(["a b"]) == again.translate(["a b"])


def test_an_untrained_translator_is_what_its_training_began_with(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shop, "made", Shop.place)
    shop.train("still", tiny_tree(tmp_path, updates=1, save_every=1, validate_every=1, learning_rate=1e-12))
    pairs = zip(*(one.model.parameters() for one in (shop.load("still"), shop.untrained("still"))), strict=True)
    assert all(torch.allclose(one, other, atol=1e-9) for one, other in pairs)


def test_a_name_means_the_settings_that_it_meant(shop: Shop, tmp_path: Path) -> None:
    shop.train("tiny", tiny_tree(tmp_path))
    with pytest.raises(BundleError, match="trained with other settings"):
        shop.train("tiny", tiny_tree(tmp_path, updates=13))


def test_a_model_without_a_recipe_is_refused_with_the_nearest_name(shop: Shop) -> None:
    with pytest.raises(ConfigError, match="did you mean bahdanau"):
        shop.made("bahdanaw")


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("quick", [True, False])
def test_every_recipe_is_one_that_training_takes(name: str, quick: bool) -> None:
    recipe = RECIPES[name]
    config = resolve(recipe.tree(quick=quick))
    assert config.training.updates == (recipe.quick if quick else recipe.full)
    assert config.training.updates % config.training.save_every == 0, "the last checkpoint is that of the end"


@pytest.mark.parametrize("name", RECIPES)
def test_a_training_that_is_killed_loses_little_and_one_that_is_stopped_keeps_what_is_to_be_drawn(name: str) -> None:
    for quick in (True, False):
        training = resolve(RECIPES[name].tree(quick=quick)).training
        assert training.save_every <= 500
        if RECIPES[name].kept > 1:  # a point of the curve each; every second file may be that of a stop
            assert training.updates // training.save_every == RECIPES[name].kept <= training.keep // 2


@pytest.mark.slow
def test_the_shop_has_the_built_in_corpus_with_its_links_and_challenges(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.lab.shop.build", partial(build, train=2_000))
    shop.stock()
    pairs, gold = shop.gold("test")
    assert len(pairs) == len(gold) == len(shop.text("test").sources) == 1000
    assert {one.phenomenon for one in shop.challenges("bank", "it")} == {"bank", "it"}
    assert len(shop.challenges()) == 900
    assert len((shop.data / "glance.tsv").read_text(encoding="utf-8").splitlines()) == GLANCES
