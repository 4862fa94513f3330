"""What the hooks of docs/ make of a page."""

import importlib.util
import inspect
import re
import sys
from textwrap import dedent
from types import ModuleType

import pytest
from typer.testing import CliRunner

from regard.attention import MultiHead, scaled_dot
from regard.cli.main import COMMANDS, app
from regard.server.app import routes
from regard.training.settings import TrainingConfig
from tests.docs.blocks import DOCS


def hook(name: str) -> ModuleType:
    """A hook as MkDocs loads it."""
    spec = importlib.util.spec_from_file_location(f"hooks_{name}", DOCS / "hooks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("path", "name", "object"),
    [
        ("attention/scores.py", "scaled_dot", scaled_dot),
        ("attention/multihead.py", "MultiHead._split", MultiHead._split),
    ],
)
def test_code_is_taken_by_name_as_python_itself_finds_it(path: str, name: str, object: object) -> None:
    lines, first = inspect.getsourcelines(inspect.unwrap(object))  # type: ignore[arg-type]
    assert hook("sources").taken(path, name) == (first, dedent("".join(lines)).rstrip("\n"))


def test_a_table_is_taken_whole() -> None:
    _, lines = hook("sources").taken("attention/scores.py", "SCORES")
    assert lines.startswith("SCORES = {")
    assert lines.endswith("}")


def test_a_name_that_is_gone_breaks_the_build() -> None:
    with pytest.raises(LookupError, match="attend.py has no attended"):
        hook("sources").on_page_markdown("```source\nattention/attend.py attended\n```")


def test_an_indented_block_stays_indented() -> None:
    shown = hook("sources").on_page_markdown("??? success\n\n    ```source\n    attention/scores.py dot\n    ```")
    assert all(line.startswith("    ") for line in shown.splitlines()[2:] if line)


def test_a_formula_becomes_mathml_a_line() -> None:
    drawn = hook("formulas").on_page_markdown("```math\na = b\nc = \\sqrt{d}\n```")
    assert drawn.count("<math") == 2
    assert "<msqrt>" in drawn


def test_each_page_leads_to_the_other_language_and_back() -> None:
    counterpart = hook("languages").counterpart
    assert counterpart("tutorial/bert.md") == "zh/tutorial/bert.md"
    assert counterpart(counterpart("tutorial/bert.md")) == "tutorial/bert.md"


def test_the_reference_has_every_option_that_help_has() -> None:
    page = hook("commands").written()
    for command in COMMANDS:
        section = page.split(f"## regard {command.__name__}\n")[1].split("\n## ")[0]
        told = CliRunner().invoke(app, [command.__name__, "--help"], env={"COLUMNS": "300"}).stdout
        options = {word for word in told.replace("│", " ").split() if word.startswith("--")} - {"--help"}
        spoken = {word.strip(".,:;()") for word in re.split(r"[`/\s]+", section)}
        assert {option.strip(".,:;()") for option in options} <= spoken, command.__name__


def test_the_reference_has_every_setting_and_its_default() -> None:
    page = hook("settings").written()
    for key in TrainingConfig.model_fields:
        assert f"`training.{key}`" in page
    assert "| `training.updates` | whole number > 0 | `10000` |" in page
    assert "`gpt2:char`" in page


def test_the_reference_has_every_path_of_the_server() -> None:
    page = hook("paths").written()
    for path, methods in routes().openapi()["paths"].items():
        for method in methods:
            assert f"### {method.upper()} {path}\n" in page
