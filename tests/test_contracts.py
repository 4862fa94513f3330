"""What DESIGN.md promises about the source itself."""

import ast
import re
from pathlib import Path

import pytest

import regard
from regard import catalogue
from regard.config import load_toml
from regard.training.settings import resolve

SOURCE = Path(regard.__file__).parent
MODELS = {*catalogue.MODELS, "transformer", "bert", "gpt", "gpt2", "bahdanau", "luong", "rnn", "word2vec", "marian"}


def words_of(code: str) -> set[str]:
    """The words of all names and strings in some code, lower-cased: TransformerConfig gives transformer, config."""
    texts = []
    for node in ast.walk(ast.parse(code)):
        for _, value in ast.iter_fields(node):
            values = value if isinstance(value, list) else [value]
            texts += [text for text in values if isinstance(text, str)]
    pieces = re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*", " ".join(texts))
    return {piece.lower() for piece in pieces} | {piece.lower().rstrip("0123456789") for piece in pieces}


def sources(folder: str) -> list[Path]:
    return sorted((SOURCE / folder).rglob("*.py"))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from regard.models.transformer import State", {"transformer"}),
        ("if isinstance(model, BertModel): pass", {"bert"}),
        ("name = options.get('name', 'gpt2')", {"gpt", "gpt2"}),
        ("is_luong = True", {"luong"}),
        ("def f(*, rnn=None): ...", {"rnn"}),
        ("model.bahdanau.align()", {"bahdanau"}),
        ("print(f'{x} of a GPT')", {"gpt"}),
        ("transformed = liberty + bertha", set()),
    ],
)
def test_a_model_that_is_named_would_be_found(code: str, found: set[str]) -> None:
    assert words_of(code) & MODELS == found


def test_training_knows_no_task() -> None:
    words = {"bleu", "langs", "translation", "translate", "translator", "pairs"}
    named = {path.name: words_of(path.read_text(encoding="utf-8")) & words for path in sources("training")}
    assert {path: found for path, found in named.items() if found} == {}


@pytest.mark.parametrize("folder", ["decoding", "training"])
def test_decoding_and_training_name_no_model(folder: str) -> None:
    named = {
        str(path.relative_to(SOURCE)): words_of(path.read_text(encoding="utf-8")) & MODELS for path in sources(folder)
    }
    assert len(named) > 3
    assert {path: models for path, models in named.items() if models} == {}


ROOT = SOURCE.parent.parent


def test_the_tree_in_the_readme_is_the_tree_on_disk() -> None:
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("```\nsrc/regard/")[1].split("```")[0]
    for line in block.strip("\n").split("\n"):
        inside = line.startswith("  ")
        names = re.findall(r"[\w.]+/|[\w]+\.(?:py|md)", line)
        folder, rest = (names[0], names[1:]) if names[0].endswith("/") else ("", names)
        base = (SOURCE if inside else ROOT) / folder
        assert base.exists(), f"{base} is in the README but not on disk"
        assert all((base / name).exists() for name in rest), f"{line!r} names what is not there: {rest}"


def test_every_folder_of_the_package_is_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    folders = [path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert [name for name in folders if f"  {name}/" not in text] == []


@pytest.mark.parametrize(("name", "task"), [(name, task) for name, tasks in catalogue.MODELS.items() for task in tasks])
def test_the_catalogue_names_the_presets_that_a_model_has(name: str, task: str) -> None:
    entry = catalogue.model_entry(name, task)
    assert set(catalogue.find(entry.presets)) == set(entry.preset_names)
    for preset in entry.preset_names:
        catalogue.find(entry.config).parse(catalogue.preset(entry, preset))


@pytest.mark.parametrize("name", catalogue.TASKS)
def test_the_catalogue_names_things_that_exist(name: str) -> None:
    entry = catalogue.TASKS[name]
    for reference in (entry.task, entry.tokenizers, entry.validate, entry.evaluate, entry.verbs):
        assert callable(catalogue.find(reference))


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.toml")), ids=lambda path: path.name)
def test_every_recipe_in_configs_can_be_used(path: Path) -> None:
    assert resolve(load_toml(path)).training.updates > 0


def test_every_decision_says_context_decision_and_what_follows() -> None:
    records = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert len(records) >= 5
    for record in records:
        text = record.read_text(encoding="utf-8")
        assert all(f"**{part}.**" in text for part in ("Context", "Decision", "Follows")), record.name


def test_nothing_is_called_a_drawer() -> None:
    drawers = {"utils", "helpers", "common", "misc", "manager"}
    assert [path for path in SOURCE.rglob("*") if path.stem in drawers] == []
