"""Half precision in products: every model trains in it, and loses little."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.models.small import CHOICES

ROOT = Path(__file__).parents[2]


NEAR = {"bfloat16": 0.05, "float16": 0.01}


@cache
def distances() -> dict[str, dict[str, dict[str, float]]]:
    environment = {
        **os.environ, "ONEDNN_MAX_CPU_ISA": "AVX512_CORE", "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.models.half", *NEAR]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, dict[str, float]]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize(("dtype", "near"), NEAR.items())
def test_loss_and_gradients_in_half_precision_are_near_those_in_full(name: str, dtype: str, near: float) -> None:
    found = distances()[dtype][name]
    assert found["loss"] < near / 4
    assert found["gradients"] < 3 * near
