"""Models that write several languages: what they are asked for, and the codes that they know."""

import doctest

import pytest

from regard.errors import ConfigError
from regard.server.api import languages
from regard.text import target_codes
from regard.text.target_codes import code_before, coded, named

SEVERAL = ["cmn_Hans", "cmn_Hant", "fra", "fr_CA", "yue_Hant", "por", "pt"]


def test_what_the_docstrings_show_is_so() -> None:
    for module in (target_codes, languages):
        found = doctest.testmod(module)
        assert found.attempted
        assert not found.failed


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ("fr", "fra"), ("fra", "fra"), ("FR", "fra"), ("fr-CA", "fr_CA"), ("fr_ca", "fr_CA"), ("zh-Hans", "cmn_Hans"),
        ("zh-Hant", "cmn_Hant"), ("cmn_Hant", "cmn_Hant"), ("yue-Hant", "yue_Hant"), ("pt", "pt"), ("por", "por"),
    ],
)  # fmt: skip
def test_a_language_is_found_by_its_name_and_by_its_code(wanted: str, code: str) -> None:
    assert code_before(wanted, named(SEVERAL)) == f">>{code}<< "


def test_every_code_has_a_name_of_its_own() -> None:
    assert sorted(named(SEVERAL).values()) == sorted(SEVERAL)
    assert named(reversed(SEVERAL)) == named(SEVERAL)


def test_what_a_model_does_not_write_is_told() -> None:
    with pytest.raises(ConfigError, match="does not write 'zh-Hand'") as told:
        code_before("zh-Hand", named(SEVERAL))
    assert "did you mean zh-Han" in str(told.value)
    with pytest.raises(ConfigError, match="one language only"):
        code_before("fr", {})


@pytest.mark.parametrize("text", ["", "a", "a >>fra<< b", ">>fra", ">>a b<< c", ">> <<"])
def test_a_text_without_a_code_has_none(text: str) -> None:
    assert coded(text) == ("", text)
