"""Tied matrices, presets, and settings that cannot be: for every model."""

from typing import Any

import pytest
import torch

from regard import catalogue
from regard.errors import ConfigError
from regard.models.bahdanau import BahdanauConfig
from regard.models.luong import LuongConfig
from regard.models.recurrent import RecurrentConfig
from tests.models.small import FAMILIES, SIZES, SOURCE_WORDS, TARGET_WORDS, small, untouched

every_family = pytest.mark.parametrize("family", FAMILIES)


def tied(family: str, tie: str, seed: int = 0) -> Any:
    """What is tied must be equally wide: where it can be given apart, 0 makes it so."""
    same = {key: 0 for key in ("embedding", "readout") if key in SIZES[family]}
    return small(family, tie=tie, seed=seed, **same)


def addresses(model: Any) -> tuple[int, int, int]:
    matrices = (model.source_embedding.weight, model.target_embedding.weight, model.output.weight)
    return tuple(matrix.data_ptr() for matrix in matrices)


@every_family
@pytest.mark.parametrize(("tie", "different"), [("all", 1), ("target", 2), ("none", 3)])
def test_tied_matrices_share_their_storage_and_others_do_not(tie: str, different: int, family: str) -> None:
    model = tied(family, tie)
    source, target, output = addresses(model)
    assert len({source, target, output}) == different
    assert (target == output) == (tie != "none")
    assert (source == target) == (tie == "all")
    assert model.source_embedding.weight.shape[0] == (TARGET_WORDS if tie == "all" else SOURCE_WORDS)
    assert model.output.weight.shape == (TARGET_WORDS, model.config.width)


@every_family
def test_tied_matrices_stay_tied_when_moved_and_loaded(family: str) -> None:
    model = tied(family, "all").to(torch.float64)
    assert len(set(addresses(model))) == 1
    model.load_state_dict(tied(family, "all", seed=9).state_dict())
    assert len(set(addresses(model))) == 1


@every_family
def test_one_matrix_for_two_vocabularies_is_refused(family: str) -> None:
    entry = catalogue.model_entry(family, "translation")
    config = catalogue.find(entry.config)(tie="all")
    make = catalogue.find(entry.model)
    with pytest.raises(ConfigError, match=r"(?s)model\.tie.*13 source tokens, 11 target tokens.*model\.tie=target"):
        make(config, source_vocabulary=13, target_vocabulary=11)
    with pytest.raises(ConfigError, match=r"(?s)model\.tie=all.*a vocabulary each.*model\.tie=target"):
        make(config, source_vocabulary=11, target_vocabulary=11, joint=False)


@every_family
def test_every_preset_makes_its_config_and_is_in_the_catalogue(family: str) -> None:
    entry = catalogue.model_entry(family, "translation")
    presets = catalogue.find(entry.presets)
    assert tuple(presets) == entry.preset_names
    for values in presets.values():
        assert catalogue.find(entry.config).parse(values).model_dump().items() >= values.items()


@every_family
def test_the_models_here_are_all_there_are(family: str) -> None:
    assert set(FAMILIES) == set(catalogue.model_names("translation"))
    assert isinstance(small(family), catalogue.find(catalogue.model_entry(family, "translation").model))


# What cannot be


@pytest.mark.parametrize("config", [RecurrentConfig, LuongConfig])
def test_an_odd_width_cannot_be_shared_by_two_directions(config: type[RecurrentConfig] | type[LuongConfig]) -> None:
    with pytest.raises(ConfigError, match=r"width 15 cannot be shared by two directions: it is odd"):
        config.parse({"width": 15, "directions": 2}, where="model")
    assert config.parse({"width": 15, "directions": 1}).width == 15
    assert config.parse({"width": 14, "directions": 2}).width == 14


@pytest.mark.parametrize("window", ["local-m", "local-p"])
def test_a_score_without_content_is_refused_in_a_window_naming_what_goes_together(window: str) -> None:
    with pytest.raises(ConfigError) as refused:
        LuongConfig.parse({"score": "location", "window": window}, where="model")
    message = str(refused.value)
    assert f"score location with window {window} is not in the paper" in message
    assert f"With window={window}: score=dot, general, concat." in message
    assert message.endswith("With score=location: window=global")


@pytest.mark.parametrize("score", ["dot", "general", "concat", "location"])
@pytest.mark.parametrize("window", ["global", "local-m", "local-p"])
def test_every_other_score_goes_with_every_window(score: str, window: str) -> None:
    if score != "location" or window == "global":
        model = small("luong", score=score, window=window)
        assert (model.config.score, model.config.window) == (score, window)


@pytest.mark.parametrize(
    ("family", "sizes", "found"),
    [
        ("bahdanau", {"embedding": 9, "readout": 12}, "12 for the output, 9 for the embedding"),
        ("luong", {"embedding": 9, "width": 16}, "16 for the output, 9 for the embedding"),
    ],
)
@pytest.mark.parametrize("tie", ["all", "target"])
def test_an_output_of_another_width_than_the_embedding_cannot_be_tied(
    tie: str, family: str, sizes: dict[str, int], found: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        untouched(family, {**SIZES[family], **sizes, "tie": tie})
    assert str(refused.value) == (
        "The output cannot share the matrix of the embedding: they are not equally wide.\n"
        f"  found: {found}\n"
        "  do this: make them equal (0 does), or set model.tie=none"
    )


@pytest.mark.parametrize(
    ("config", "values"),
    [
        (RecurrentConfig, {"cell": "rnn"}),
        (RecurrentConfig, {"context": "never"}),
        (RecurrentConfig, {"directions": 3}),
        (BahdanauConfig, {"normalise": "harder"}),
        (LuongConfig, {"score": "additive"}),
        (LuongConfig, {"window": "local"}),
        (LuongConfig, {"radius": 0}),
    ],
)
def test_a_value_that_there_is_not_is_refused_naming_the_setting(config: Any, values: dict[str, Any]) -> None:
    ((key, value),) = values.items()
    with pytest.raises(ConfigError, match=rf"(?s)model\.{key} cannot be used.*found: {value!r}"):
        config.parse(values, where="model")


# What the papers have


def test_the_papers_of_the_recurrent_models_had_these_sizes() -> None:
    def of(family: str, preset: str) -> Any:
        entry = catalogue.model_entry(family, "translation")
        return catalogue.find(entry.config).parse(catalogue.preset(entry, preset))

    cho = of("rnn", "cho")
    assert (cho.width, cho.embedding, cho.cell, cho.context, cho.directions) == (1000, 620, "gru-cho", "every-step", 1)
    sutskever = of("rnn", "sutskever")
    assert (sutskever.width, sutskever.layers, sutskever.cell) == (1000, 4, "lstm")
    assert (sutskever.reverse, sutskever.context, sutskever.directions) == (True, "start", 1)
    search = of("bahdanau", "paper")
    assert (search.width, search.embedding, search.readout, search.alignment or search.width) == (1000, 620, 500, 1000)
    luong = of("luong", "paper")
    assert (luong.width, luong.layers, luong.cell, luong.reverse, luong.dropout) == (1000, 4, "lstm", True, 0.2)
    assert (luong.score, luong.window, luong.radius, luong.input_feeding) == ("general", "local-p", 10, True)
