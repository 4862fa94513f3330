"""Small models of every kind that the page shows. The translators have learned a few sentences by heart."""

from pathlib import Path
from typing import Any

from tests.runs import run_tree
from tests.server.serving import write_classifier, write_encoder, write_generator
from tests.unchecked import unchecked

PAIRS = (
    ("Emma came to the bank after going fishing.", "钓鱼之后，艾玛来到了河岸。"),
    ("Emma came to the bank after borrowing money.", "借钱之后，艾玛来到了银行。"),
    ("Linda mentioned the bank before going fishing.", "钓鱼之前，琳达提到了河岸。"),
    ("Tom photographed the bank after going fishing.", "钓鱼之后，汤姆拍下了河岸。"),
    ("Lucy ran to the bank before borrowing money.", "借钱之前，露西跑到了银行。"),
    ("The cook reached the bank after rowing a boat.", "划船之后，厨师到达了河岸。"),
    ("The bank is wet.", "河岸湿。"),
    ("I draw the bank.", "我画河岸。"),
    ("We see the bank.", "我们看见河岸。"),
)
SENTENCE, TRANSLATION = PAIRS[0]
RECURRENT = {"width": 48, "embedding": 32, "limit": 120, "dropout": 0.0, "tie": "none"}
SIZES: dict[str, dict[str, Any]] = {
    "transformer": {
        "width": 48, "heads": 4, "hidden": 96, "encoder_layers": 2, "decoder_layers": 2, "limit": 120, "dropout": 0.0,
    },
    "bahdanau": {"alignment": 24, "readout": 0, **RECURRENT},
    "luong": {"layers": 1, "window": "global", **RECURRENT},
    "rnn": RECURRENT,
}  # fmt: skip
UPDATES = {"transformer": 150}
RATES = {"transformer": 5e-3}


def write_models(home: Path) -> dict[str, Path]:
    """By name."""
    (home / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS), encoding="utf-8")
    with unchecked():
        found = {name: _translator(home, name) for name in SIZES}
    return found | {
        "gpt2": write_generator(home / "gpt2", limit=64),
        "bert": write_encoder(home / "bert"),
        "sorter": write_classifier(home / "sorter"),
    }


def _translator(home: Path, name: str) -> Path:
    tree = {
        "task": "translation",
        "model": {"name": name, "preset": "tiny", **SIZES[name]},
        "tokenizer": {"size": 420},
        "batch": {"tokens": 400},
        "data": {"train": [str(home / "pairs.tsv")], "val": [str(home / "pairs.tsv")], "langs": ["en", "zh"]},
        "training": {
            "updates": UPDATES.get(name, 60), "warmup": 10, "validate_every": 30, "threads": 1,
            "learning_rate": RATES.get(name, 3e-3),
        },
    }  # fmt: skip
    run_tree(tree, home / name)
    return home / name
