"""The files of the page: modules that can be joined, small enough, complete in both languages, nothing from outside."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from regard.insight import assets

MODULES = sorted(name for name in assets.files() if name.endswith(".js"))
TOP = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)


def text(name: str) -> str:
    return assets.files()[name].decode()


def names_in(module: str) -> list[str]:
    """What a module gives a name to: also the second of `const A = 1, B = 2;`."""
    further = [re.findall(r", ([A-Z_]+) = ", line) for line in text(module).split("\n") if line.startswith("const ")]
    return [*TOP.findall(text(module)), *(name for names in further for name in names)]


def test_the_page_weighs_less_than_300_kb() -> None:
    assert sum(map(len, assets.files().values())) < 300_000


def test_no_two_modules_give_the_same_name_to_different_things() -> None:
    named = [(name, module) for module in MODULES for name in names_in(module)]
    names = [name for name, _ in named]
    assert len(names) > 100
    assert sorted((name, module) for name, module in named if names.count(name) > 1) == []


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_and_exports_in_the_way_that_can_be_joined(module: str) -> None:
    lines = [line for line in text(module).split("\n") if line.startswith(("import", "export"))]
    rest = [line for line in lines if not assets.IMPORT.match(line + "\n") and not assets.EXPORT.match(line)]
    assert rest == []
    assert "import(" not in text(module)
    assert "</script" not in text(module).lower()


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_what_is_there_and_uses_it(module: str) -> None:
    for names, other in re.findall(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";', text(module), re.MULTILINE):
        body = assets.IMPORT.sub("", text(module))
        for name in (name.strip() for name in names.split(",")):
            assert re.search(rf"^export (?:async )?(?:function|const|class) {name}\b", text(other), re.MULTILINE), name
            assert re.search(rf"\b{name}\b", body), f"{module} does not use {name}"


def test_joined_modules_come_after_what_they_import() -> None:
    script = assets.joined()
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    assert script.index("function say(") < script.index("class Notice") < script.index("async function begin")
    assert all(f" {name}" in script for module in MODULES for name in TOP.findall(text(module)))


def test_joined_modules_are_a_script(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    path = tmp_path / "joined.mjs"
    path.write_text(assets.joined(), encoding="utf-8")
    subprocess.run([node, "--check", path], check=True)


@pytest.mark.parametrize("name", assets.files())
def test_no_file_names_another_place(name: str) -> None:
    addresses = re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", text(name))
    assert [one for one in addresses if "www.w3.org/" not in one] == []  # the name of SVG, which nobody fetches


def test_the_digest_changes_with_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    before = assets.digest()
    assets.digest.cache_clear()
    monkeypatch.setattr(assets, "files", lambda: {"main.js": b"1"})
    assert assets.digest() != before
    assets.digest.cache_clear()


def dictionary() -> dict[str, dict[str, str]]:
    """Of words.js: the object is JSON but for quotes around its keys, and a comma at the end."""
    body = text("words.js").split("export const WORDS = ")[1].split("\n};\n")[0] + "}"
    quoted = re.sub(r"([{,]\s*)(\w+):(?= )", r'\1"\2":', body)
    return dict(json.loads(re.sub(r",(\s*})", r"\1", quoted)))


def test_both_languages_have_all_words() -> None:
    words = dictionary()
    assert set(words) == {"en", "zh"}
    assert set(words["en"]) == set(words["zh"])
    for key, english in words["en"].items():
        holes = [sorted(re.findall(r"\{(\w+)\}", told)) for told in (english, words["zh"][key])]
        assert holes[0] == holes[1], key
        assert english.count("*") % 2 == 0, key
        assert english.count("*") == words["zh"][key].count("*"), key


def test_every_word_that_is_said_is_known() -> None:
    words = dictionary()["en"]
    said = {key for module in MODULES for key in re.findall(r'\bsay\("([\w.]+)"', text(module))}
    assert len(said) > 50
    assert said - set(words) == set()
