"""Who computes in a server."""

import os
import subprocess
import sys
from pathlib import Path

import regard
from regard import engines
from tests.engines.translators import learned_directory
from tests.server.serving import served, waited_for

TEXTS = ["a b c", "d e f g", "", "b a"]


def test_an_engine_that_is_named_computes_where_it_can(models: dict[str, Path]) -> None:
    with served(learned_directory(), models["sorter"], words=("--engine", "ctranslate2-int8")) as running:
        told = {one["name"]: one["engine"] for one in running.get("/info")[1]["models"]}
        assert told == {"run": "ctranslate2-int8", "sorter": "torch"}
        found = running.post("/translate", {"q": TEXTS, "source": "xx", "target": "yy"})[1]["translatedText"]
        assert found == engines.load(learned_directory(), "ctranslate2-int8").translate(TEXTS)
        asked = {"model": "run", "text": "a b c", "name": "cross", "layer": 0}
        assert running.post("/attention", asked)[0] == 200
        waited_for(lambda: "attention: computed by torch, ctranslate2-int8 cannot" in "".join(running.log))
        assert "sorter: computed by torch; --engine ctranslate2-int8 is for translations" in "".join(running.log)


def test_torch_computes_if_it_is_named() -> None:
    with served(learned_directory(), words=("--engine", "torch")) as running:
        assert running.get("/info")[1]["models"][0]["engine"] == "torch"
        found = running.post("/translate", {"q": TEXTS, "source": "xx", "target": "yy"})[1]["translatedText"]
        assert found == regard.load(learned_directory()).translate(TEXTS)


def test_an_engine_that_does_not_exist_is_told() -> None:
    command = [sys.executable, "-m", "regard", "serve", str(learned_directory()), "--port", "0", "--engine", "fast"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False, timeout=120)
    assert done.returncode == 1
    assert "There is no engine 'fast'" in done.stderr
    assert "Traceback" not in done.stderr
