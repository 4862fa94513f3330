import json
import threading
from pathlib import Path

import numpy as np
import pytest

from regard.errors import ConfigError, DataError
from regard.insight import Token, TokenRow, Trace

from .example import ROWS, example


@pytest.fixture
def trace() -> Trace:
    return example()


def test_heads_are_given_whole_single_or_as_their_mean(trace: Trace) -> None:
    whole = trace.weights_of("decoder.1.cross")
    assert whole.shape == (3, 4, 6)
    np.testing.assert_array_equal(trace.weights_of("decoder.1.cross", 2), whole[2])
    np.testing.assert_allclose(trace.weights_of("decoder.1.cross", "mean"), whole.mean(axis=0))


def test_an_unknown_attention_lists_the_known_ones(trace: Trace) -> None:
    with pytest.raises(
        ConfigError, match=r"(?s)no attention called 'decoder.7.cross'.*encoder.0.self.*decoder.1.cross"
    ):
        trace.weights_of("decoder.7.cross")
    with pytest.raises(ConfigError, match=r"(?s)no attention called 'crosss'.*decoder.1.cross"):
        trace.select("crosss")


def test_a_head_out_of_range_says_how_many_there_are(trace: Trace) -> None:
    for head in (3, -1):
        with pytest.raises(ConfigError, match=r"(?s)no head .*3 heads.*0 to 2"):
            trace.weights_of("decoder.1.cross", head)


def test_part_of_a_name_and_a_layer_select_attentions(trace: Trace) -> None:
    assert trace.select("cross") == ("decoder.0.cross", "decoder.1.cross")
    assert trace.select("decoder.self", 1) == ("decoder.1.self",)
    assert trace.select(layer=0) == ("encoder.0.self", "decoder.0.self", "decoder.0.cross")
    assert trace.select() == trace.names
    with pytest.raises(ConfigError, match=r"no layer 9"):
        trace.select("cross", 9)


def test_words_keep_the_sum_of_every_row(trace: Trace) -> None:
    words = trace.by_words()
    assert words.rows["source"].labels == ("the", "river", "bank", ".", "</s>")
    assert words.rows["prediction"].labels == ("河岸", "边", "。", "</s>")
    for name in words.names:
        np.testing.assert_allclose(words.weights[name].sum(axis=-1), 1, atol=1e-6)


def test_a_word_gets_the_sum_and_gives_the_mean_of_its_tokens(trace: Trace) -> None:
    words, tokens = trace.by_words().weights["encoder.0.self"], trace.weights["encoder.0.self"]
    np.testing.assert_allclose(words[:, 0, 2], tokens[:, 0, 2] + tokens[:, 0, 3], rtol=1e-6)  # reads ba|nk
    np.testing.assert_allclose(words[:, 2, 0], (tokens[:, 2, 0] + tokens[:, 3, 0]) / 2, rtol=1e-6)  # ba|nk ask


def test_words_of_words_are_the_same_words(trace: Trace) -> None:
    once = trace.by_words()
    twice = once.by_words()
    assert twice.rows == once.rows
    assert all(np.array_equal(twice.weights[name], once.weights[name]) for name in once.names)


def test_leaving_out_specials_drops_them_and_says_how_much_they_got(trace: Trace) -> None:
    rest = trace.without_specials()
    assert rest.rows["target"].labels == ("河岸", "边", "。") == rest.rows["prediction"].labels
    before, after = trace.weights["decoder.0.cross"], rest.weights["decoder.0.cross"]
    np.testing.assert_array_equal(after, before[:, :3, :5])  # not renormalised
    assert rest.meta["dropped"]["decoder.0.cross"] == pytest.approx(before[:, :3, 5].mean(), abs=1e-5)


def test_shifted_rows_are_labelled_by_the_word_that_was_read(trace: Trace) -> None:
    assert trace.rows_of("decoder.1.cross")[0].labels == ("河岸", "边", "。", "</s>")
    assert trace.shifted().rows_of("decoder.1.cross")[0].labels == ("<s>", "河岸", "边", "。")
    assert trace.shifted().axes["decoder.1.self"] == ("target", "target")


def test_shifting_is_refused_where_the_labels_would_be_wrong(trace: Trace) -> None:
    with pytest.raises(ConfigError, match="shifted\\(\\) first"):
        trace.without_specials().shifted()
    with pytest.raises(ConfigError, match="no steps to shift"):
        trace.shifted().shifted()
    assert trace.shifted().without_specials().rows_of("decoder.1.cross")[0].labels == ("河岸", "边", "。")


def test_a_sentence_names_the_three_that_get_most() -> None:
    rows = {"source": TokenRow.of(["the", "river", "bank", "is", "wide"], "en")}
    weights = np.full((2, 5, 5), 0.2, dtype=np.float32)
    weights[1, 2] = [0.2, 0.61, 0.1, 0.09, 0]
    weights[1, 3] = [0, 0, 0, 1, 0]
    trace = Trace(rows, {"encoder.0.self": weights}, {"encoder.0.self": ("source", "source")})
    said = "*bank* gives 0.61 to *river*, 0.20 to *the*, 0.10 to *bank*"
    assert trace.sentence("encoder.0.self", 1, "bank") == said == trace.sentence("encoder.0.self", 1, 2)
    assert trace.sentence("encoder.0.self", 1, "is") == "*is* gives 1.00 to *is*"
    with pytest.raises(ConfigError, match=r"(?s)no 'money'.*the river bank is wide"):
        trace.sentence("encoder.0.self", 1, "money")


def test_where_only_the_class_looks_no_word_does() -> None:
    rows = {"text": TokenRow.of(["the", "cat"]), "class": TokenRow.of(["animal"])}
    weights = {"pooling": np.array([[[0.25, 0.75]]], dtype=np.float32)}
    trace = Trace(rows, weights, {"pooling": ("class", "text")})
    assert trace.sentence("pooling", 0, "animal") == "*animal* gives 0.75 to *cat*, 0.25 to *the*"
    with pytest.raises(ConfigError, match=r"(?s)'cat' does not look .*only the class does.*'animal'.*leave --word out"):
        trace.sentence("pooling", 0, "cat")


@pytest.mark.parametrize("suffix", [".npz", ".json", ".NPZ"])
@pytest.mark.parametrize("view", ["by_words", "without_specials", "shifted", None])
def test_a_saved_trace_comes_back_exactly(trace: Trace, tmp_path: Path, suffix: str, view: str | None) -> None:
    trace = getattr(trace, view)() if view else trace
    path = trace.save(tmp_path / "new" / f"trace{suffix}")
    assert path.is_file()
    assert Trace.load(path) == trace
    assert Trace.load(path).weights["encoder.0.self"].dtype == np.float32


def test_traces_that_differ_in_anything_are_not_equal(trace: Trace) -> None:
    assert trace == example()
    assert trace != trace.shifted()
    assert trace != example(heads=2)
    assert trace != "trace"


def test_an_empty_text_survives_saving(tmp_path: Path) -> None:
    rows = {"source": TokenRow("", ()), "target": TokenRow.of(["a"])}
    trace = Trace(rows, {"x": np.zeros((2, 1, 0), np.float32)}, {"x": ("target", "source")})
    for name in ("t.npz", "t.json"):
        assert Trace.load(trace.save(tmp_path / name)) == trace
    assert trace.by_words().without_specials().weights["x"].shape == (2, 1, 0)


def test_json_is_readable_and_plain(trace: Trace, tmp_path: Path) -> None:
    text = trace.save(tmp_path / "t.json").read_text(encoding="utf-8")
    assert "河岸" in text
    first = json.loads(text)["weights"]["encoder.0.self"][0][0][0]
    assert len(str(first)) <= 12  # the shortest decimal of a float32


def test_nothing_pickled_is_ever_loaded(tmp_path: Path) -> None:
    path = tmp_path / "evil.npz"
    np.savez(path, header=np.array([print], dtype=object))
    with pytest.raises(DataError, match=r"(?s)not a trace, or is damaged.*allow_pickle=False"):
        Trace.load(path)


def test_a_file_that_is_no_trace_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no trace at"):
        Trace.load(tmp_path / "none.npz")
    for name, content in (("a.npz", "PK??"), ("b.json", "[1, 2"), ("c.json", "[]"), ("d.json", '{"format": "x"}')):
        (tmp_path / name).write_text(content)
        with pytest.raises(DataError):
            Trace.load(tmp_path / name)


def test_an_unknown_suffix_lists_the_known_ones(trace: Trace, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"(?s)\.pkl.*\.npz, \.json, \.svg, \.png, \.html"):
        trace.save(tmp_path / "t.pkl")
    with pytest.raises(ConfigError, match=r"(?s)\.svg.*\.npz, \.json"):
        Trace.load(tmp_path / "t.svg")


def test_weights_that_do_not_fit_the_tokens_are_refused() -> None:
    with pytest.raises(DataError, match=r"(?s)weights of x do not fit.*\(2, 4, 4\).*heads, 6 of source, 4 of target"):
        Trace(ROWS, {"x": np.zeros((2, 4, 4), np.float32)}, {"x": ("source", "target")})
    with pytest.raises(DataError, match=r"(?s)a row that the trace does not have.*memory"):
        Trace(ROWS, {"x": np.zeros((2, 4, 4), np.float32)}, {"x": ("target", "memory")})
    with pytest.raises(DataError, match="which rows it joins"):
        Trace(ROWS, {"x": np.zeros((2, 4, 4), np.float32)}, {})
    with pytest.raises(DataError, match="outside its text"):
        TokenRow("ab", (Token("abc", 0, 3),))
    with pytest.raises(DataError, match="plain JSON"):
        Trace(ROWS, {}, {}, {"model": threading.Lock()})
