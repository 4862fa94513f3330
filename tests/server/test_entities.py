"""A model of scenes is not served, and the owner is told what to do instead."""

from pathlib import Path

import pytest

from regard.errors import ConfigError
from regard.server.messages import Order
from regard.server.work.worker import loaded
from tests.runs import run_tree
from tests.tasks.test_entities import tree_of


def test_a_model_that_reads_no_text_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    run_tree(tree_of(tmp_path, updates=2, warmup=1), tmp_path / "out")
    with pytest.raises(ConfigError, match=r"only models of texts are served(.|\n)*regard predict"):
        loaded(Order(str(tmp_path / "out"), 100, "torch"))
