"""A trace as a page that needs nothing else: style, script and weights are inside it, and it may load nothing."""

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from typing import Any

from regard.insight import assets
from regard.insight.packed import pack
from regard.insight.trace import Trace

EXACT = 300_000
"""Up to so many weights are kept with three digits (float16); more of them as pictures need them (uint8)."""


def page(trace: Trace, view: Mapping[str, Any] | None = None) -> str:
    """The whole page. view: what it shows first, as its address tells it (layer=2, head="mean", words=1 …)."""
    count = sum(heads.size for heads in trace.weights.values())
    data = _packed(pack(trace, "float16" if count <= EXACT else "uint8"))
    style, script = assets.style(), assets.joined()
    policy = (
        f"default-src 'none'; script-src '{_source(script)}'; style-src '{_source(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>\n'
    state = escape(json.dumps(dict(view or {}), ensure_ascii=False), quote=True)
    held = f'<script type="application/octet-stream" id="trace" data-view="{state}">{data}</script>\n'
    shell = assets.shell().replace(assets.STYLE, head).replace(assets.DATA, held)
    return shell.replace(assets.SCRIPT, f'<script type="module">{script}</script>')


@dataclass(frozen=True, eq=False)
class Shown:
    """A trace in a notebook: the page in a frame. height: pixels."""

    trace: Trace
    height: int = 760
    view: Mapping[str, Any] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """What a notebook shows of it. The frame is shut off from the notebook around it."""
        inside = escape(page(self.trace, self.view), quote=True)
        return (
            f'<iframe title="where the model looks" srcdoc="{inside}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {int(self.height)}px; border: 0"></iframe>'
        )


def _packed(content: bytes) -> str:
    return b64encode(zlib.compress(content, 9)).decode("ascii")


def _source(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode('ascii')}"
