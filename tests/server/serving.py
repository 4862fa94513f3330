"""A server in a process of its own, as a person starts it, and small models for it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from regard.models.pretrained.gpt2 import write_gpt2
from regard.text.detection import profile
from regard.weights import read_tensors, write_tensors
from tests.models.pretrained.checkpoints import theirs, write
from tests.runs import run_tree, tiny_tree
from tests.tasks.generators import pair

SENTENCES = {
    "en": ["The lion that chased the zebra was tired.", "Where is the house by the river?", "She would not say why."],
    "de": ["Der Löwe, der das Zebra jagte, war müde.", "Wo ist das Haus am Fluss?", "Sie wollte nicht sagen, warum."],
    "zh": ["追赶斑马的狮子累了。", "河边的房子在哪里？", "她不愿意说为什么。"],
}
PATIENCE = 120.0


@dataclass
class Running:
    """A server that runs. `log`: what it has said so far."""

    process: subprocess.Popen[str]
    address: str
    log: list[str]

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def get(self, path: str, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        return self.call(urllib.request.Request(self.address + path, headers=headers or {}))

    def post(self, path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        """body: what JSON can hold, or bytes to be sent as they are."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        kinds = {"content-type": "application/json", **(headers or {})}
        return self.call(urllib.request.Request(self.address + path, data=data, headers=kinds))

    def call(self, request: urllib.request.Request) -> tuple[int, Any]:
        """Status, and what the answer holds."""
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, _read(answer.headers.get("content-type", ""), answer.read())
        except urllib.error.HTTPError as error:
            return error.code, _read(error.headers.get("content-type", ""), error.read())

    def workers(self) -> list[int]:
        """The processes of its models."""
        listed = subprocess.run(
            ["ps", "--ppid", str(self.process.pid), "-o", "pid=,args="], capture_output=True, text=True, check=True
        )
        lines = [line.split(None, 1) for line in listed.stdout.splitlines()]
        return [int(pid) for pid, command in lines if "multiprocessing.spawn" in command]


def _read(kind: str, content: bytes) -> Any:
    return json.loads(content) if kind.startswith("application/json") else content


@contextmanager
def served(*models: Path, words: tuple[object, ...] = ()) -> Iterator[Running]:
    """`regard serve MODEL … --port 0 …` until the `with` ends."""
    command = [sys.executable, "-m", "regard", "serve", *map(str, models), "--port", "0", *map(str, words)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, start_new_session=True
    )
    log: list[str] = []
    Thread(target=_note, args=(process, log), daemon=True).start()
    try:
        waited_for(lambda: _address(log) or process.poll() is not None)
        address = _address(log)
        assert address, "".join(log)
        yield Running(process, address, log)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()


def waited_for(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Until something is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.05)


def _note(process: subprocess.Popen[str], log: list[str]) -> None:
    assert process.stderr is not None
    with process.stderr as lines:
        log.extend(iter(lines.readline, ""))


def _address(log: list[str]) -> str:
    found = re.search(r"serving at (http://\S+)", "".join(log))
    return found.group(1) if found else ""


def write_translator(directory: Path, name: str, langs: tuple[str, str], /, **model: Any) -> Path:
    """One that was trained for a moment, and answers nonsense, but another for each text. Its card tells languages
    apart."""
    tree = tiny_tree(directory)
    tree["data"]["langs"] = list(langs)
    tree["model"] = model or tree["model"]
    run_tree(tree, directory / name)
    _enliven(directory / name / "model.safetensors")
    return _with_profiles(directory / name, langs)


def another(translator: Path, name: str, langs: tuple[str, str]) -> Path:
    """The same model, said to be for other languages."""
    copied = Path(shutil.copytree(translator, translator.parent / name))
    config = json.loads((copied / "config.json").read_text())
    config["data"]["langs"] = list(langs)
    (copied / "config.json").write_text(json.dumps(config))
    return _with_profiles(copied, langs)


def write_generator(directory: Path, *, limit: int = 40) -> Path:
    """A language model as transformers has it. It looks at 40 tokens."""
    directory.mkdir()
    _, generator = pair(0, limit=limit)
    write_gpt2(generator.model.float(), generator.tokenizer, directory)
    return directory


def write_encoder(directory: Path) -> Path:
    return write(directory, theirs("BertForMaskedLM"))


def write_classifier(directory: Path, **config: Any) -> Path:
    labels = {0: "order", 1: "complaint", 2: "thanks"}
    return write(directory, theirs("BertForSequenceClassification", num_labels=3, id2label=labels, **config))


def _enliven(weights: Path) -> None:
    """Larger weights: what is hardly trained would say the same of everything."""
    tensors, _ = read_tensors(weights)
    write_tensors(weights, {name: 2.5 * tensor if tensor.ndim > 1 else tensor for name, tensor in tensors.items()})


def _with_profiles(model: Path, langs: tuple[str, str]) -> Path:
    card = json.loads((model / "card.json").read_text())
    card["language_profile"] = {lang: profile(SENTENCES[lang]) for lang in langs if lang in SENTENCES}
    (model / "card.json").write_text(json.dumps(card))
    return model
