"""The pairs on which attention is watched: short, of different lengths, always the same."""

from pathlib import Path

from regard.training.start import prepare
from tests.runs import Silent, tiny_tree


def probes(directory: Path, lengths: list[int], **model: int) -> list[int]:
    """How many words the probes have if the validation set has sentences of these lengths."""
    tree = tiny_tree(directory)
    tree["model"] |= model
    rows = [" ".join("abcdefgh"[i % 8] for i in range(length)) for length in lengths]
    (directory / "val.tsv").write_text("".join(f"{row}\t{row}\n" for row in rows))
    found = prepare(tree, directory / "out", Silent()).task.probes()
    assert all(source == target for source, target in found)
    return [len(source.split()) for source, _ in found]


def test_probes_differ_in_length_and_none_is_long(tmp_path: Path) -> None:
    assert probes(tmp_path, [25, 3, 3, 20, 12, 5, 21, 8, 1, 28]) == [1, 5, 8, 20]


def test_where_lengths_are_few_probes_are_few(tmp_path: Path) -> None:
    assert probes(tmp_path, [4, 4, 4]) == [4]
    assert probes(tmp_path, [7, 4]) == [4, 7]
    assert probes(tmp_path, [25]) == []


def test_a_probe_is_never_longer_than_the_model_can_take(tmp_path: Path) -> None:
    assert probes(tmp_path, [2, 7, 10, 11, 15], limit=11) == [2, 7, 10]


def test_without_validation_data_there_are_no_probes(tmp_path: Path) -> None:
    tree = tiny_tree(tmp_path)
    del tree["data"]["val"]
    assert prepare(tree, tmp_path / "out", Silent()).task.probes() == []
