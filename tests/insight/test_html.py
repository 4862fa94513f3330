"""A trace as a page of its own."""

import json
import re
import zlib
from base64 import b64decode, b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load

from regard.insight import TokenRow, Trace
from regard.insight.html import page
from regard.insight.packed import pack
from tests.insight.example import example, softmax


def held(content: str) -> bytes:
    found = re.search(r'<script type="application/octet-stream" id="trace"[^>]*>([^<]*)</script>', content)
    assert found is not None
    return zlib.decompress(b64decode(found[1]))


def told(content: bytes) -> dict[str, object]:
    size = int.from_bytes(content[:8], "little")
    return {key: json.loads(value) for key, value in json.loads(content[8 : 8 + size])["__metadata__"].items()}


def large(tokens: int, layers: int, heads: int) -> Trace:
    row = TokenRow.of([f"word{i}" for i in range(tokens)])
    names = [f"encoder.{layer}.self" for layer in range(layers)]
    weights = {name: softmax(seed, heads, tokens, tokens) for seed, name in enumerate(names)}
    return Trace({"text": row}, weights, dict.fromkeys(names, ("text", "text")))


def test_a_page_holds_the_weights_and_tokens_of_its_trace() -> None:
    trace = example()
    content = held(page(trace))
    for name, weights in load(content).items():
        np.testing.assert_allclose(weights, trace.weights[name], atol=5e-4)
    rows = told(content)["rows"]
    assert isinstance(rows, dict)
    assert [token["text"] for token in rows["prediction"]["tokens"]] == ["河岸", "边", "。", "</s>"]
    assert rows["source"]["words"] == [group[0] for group in trace.rows["source"].words()]


def test_a_page_of_100_tokens_and_144_heads_is_less_than_2_mb() -> None:
    trace = large(100, 12, 12)
    content = page(trace)
    assert len(content.encode()) < 2_000_000
    for name, weights in load(held(content)).items():
        np.testing.assert_allclose(weights / 255, trace.weights[name], atol=0.5 / 255 + 1e-6)


def test_a_page_may_run_its_own_script_and_load_nothing() -> None:
    content = page(example())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', content)
    assert policy is not None
    assert policy[1].startswith("default-src 'none';")
    for kind, text in (("script", "script"), ("style", "style")):
        inside = re.search(rf"<{text}(?: type=\"module\")?>(.*?)</{text}>", content, re.DOTALL)
        assert inside is not None
        digest = b64encode(sha256(inside[1].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy[1]
    assert not re.search(r'(?:src|href)="(?!data:)', re.sub(r"<script.*?</script>", "", content, flags=re.DOTALL))


def test_what_a_page_shows_first_is_data_and_never_markup() -> None:
    content = page(example(), {"gold": '"><script>alert(1)</script>', "layer": 1})
    view = re.search(r'data-view="([^"]*)"', content)
    assert view is not None
    assert json.loads(unescape(view[1])) == {"gold": '"><script>alert(1)</script>', "layer": 1}
    assert "<script>alert" not in content


def test_a_notebook_gets_the_page_in_a_frame_of_its_own() -> None:
    shown = example().show(height=400, layer=1)._repr_html_()
    inside = re.search(r'srcdoc="([^"]*)"', shown)
    assert inside is not None
    assert unescape(inside[1]) == page(example(), {"layer": 1})
    assert 'sandbox="allow-scripts allow-downloads"' in shown
    assert "400px" in shown
    assert example()._repr_html_() == example().show()._repr_html_()


def test_a_trace_is_saved_as_a_page(tmp_path: Path) -> None:
    path = example().save(tmp_path / "look.html")
    assert path.read_text(encoding="utf-8") == page(example())


@pytest.mark.parametrize(("format", "close"), [("uint8", 0.5 / 255 + 1e-6), ("float16", 5e-4)])
def test_packed_weights_are_those_of_the_trace(format: str, close: float) -> None:
    trace = example()
    content = pack(trace, format)
    one = told(content)["one"]
    assert isinstance(one, float)
    for name, weights in load(content).items():
        assert weights.dtype.name == format
        np.testing.assert_allclose(weights.astype(float) / one, trace.weights[name], atol=close)
