"""What is compared: budgets, recipes, equal sizes."""

import pytest

from regard import catalogue
from regard.errors import ConfigError
from regard.lab.compare import Budget, Plan
from regard.lab.compare.plan import RECIPES, Entry
from regard.lab.compare.sizes import count, fit

VOCABULARY = {"source_vocabulary": 900, "target_vocabulary": 900, "joint": True}
LINEAGE = tuple(reversed(catalogue.model_names("translation")))


def plan(**changes: object) -> Plan:
    settings = {"models": LINEAGE, "settings": {"data": {}}, "budget": Budget(updates=100), **changes}
    return Plan(**settings)  # type: ignore[arg-type]


def test_a_budget_is_one_of_minutes_updates_and_tokens() -> None:
    for wrong in ({}, {"minutes": 1.0, "updates": 5}, {"updates": 0}, {"minutes": -1.0}):
        with pytest.raises(ConfigError, match="one budget"):
            Budget(**wrong)  # type: ignore[arg-type]
    assert str(Budget(minutes=7.5)) == "7.5 minutes"
    assert str(Budget(tokens=2_000_000)) == "2,000,000 target tokens"


def test_a_trial_gets_its_share_of_whatever_the_budget_is() -> None:
    assert Budget(minutes=10.0).part(0.2) == Budget(minutes=2.0)
    assert Budget(updates=101).part(0.2) == Budget(updates=20)
    assert Budget(tokens=1_000).part(0.2) == Budget(tokens=200)


def test_every_model_tries_the_same_recipes() -> None:
    tried = [plan(trials=3).recipes(entry) for entry in plan().entries]
    assert all(recipes == list(RECIPES[:3]) for recipes in tried)


def test_what_was_asked_for_is_not_tried_away() -> None:
    fixed = plan(trials=3, settings={"data": {}, "training": {"learning_rate": 0.005}})
    assert len(fixed.recipes(Entry.of("rnn"))) == 1
    assert fixed.tree(Entry.of("rnn"), RECIPES[1], seed=1)["training"]["learning_rate"] == 0.005


def test_own_settings_reach_their_model_only() -> None:
    models = ("rnn", "dot=luong:small", "luong")
    own = {"dot": {"score": "dot"}, "luong": {"score": "concat"}}
    some = plan(models=models, own=own, settings={"data": {}, "model": {"dropout": 0.4}})
    rnn, dot, luong = some.entries
    assert (rnn.name, dot.name, luong.name) == ("rnn", "dot", "luong")
    assert some.tree(luong, {}, seed=3)["model"] == {"dropout": 0.4, "score": "concat", "name": "luong"}
    assert some.tree(dot, {}, seed=3)["model"] == {
        "dropout": 0.4, "score": "dot", "name": "luong", "preset": "small",
    }  # fmt: skip
    assert some.tree(rnn, {}, seed=3) == {"data": {}, "model": {"dropout": 0.4, "name": "rnn"}, "seed": 3}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"models": ("rnn", "rnn")}, "once"),
        ({"models": ("a=rnn", "a=luong")}, "once"),
        ({"settings": {"data": {}, "training": {"updates": 7}}}, "contradicts the budget"),
        ({"models": ()}, "once"),
        ({"seeds": (1, 1)}, "different"),
        ({"trials": 99}, "0 to 6 trials"),
        ({"parameters": 0}, "(?s)--parameters must be above 0.*found: 0"),
        ({"parameters": -5}, "above 0"),
        ({"models": ("a/b=rnn",)}, "(?s)cannot be called 'a/b'.*letters, digits"),
        ({"models": ("..=rnn",)}, "cannot be called"),
        ({"models": ("a b=rnn",)}, "cannot be called"),
        ({"models": ("a=b=rnn",)}, "cannot be called"),
        ({"own": {"gpt": {"width": 3}}}, "gpt, which is not compared"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        plan(**wrong)


@pytest.mark.parametrize("model", LINEAGE)
@pytest.mark.parametrize("wanted", [700_000, 3_000_000])
def test_every_model_can_be_made_equally_large(model: str, wanted: int) -> None:
    tree = fit(plan().tree(Entry.of(model), {}, seed=1), wanted, VOCABULARY)
    assert count(tree, VOCABULARY) == pytest.approx(wanted, rel=0.1)


def test_a_size_that_cannot_be_reached_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"(?s)transformer cannot be given 1,000 parameters.*found.*within 10%"):
        fit(plan().tree(Entry.of("transformer"), {}, seed=1), 1_000, VOCABULARY)


def test_the_widths_are_the_nearest_ones() -> None:
    tree = plan().tree(Entry.of("bahdanau"), {}, seed=1)
    assert fit(tree, count(tree, VOCABULARY), VOCABULARY) == tree
