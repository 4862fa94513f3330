"""A coloured text as a page that needs nothing else; what is known of a part is told where the mouse rests on it."""

from collections.abc import Iterator
from html import escape

from regard.insight.parts import DARK, PALETTE, Coloured
from regard.insight.wrapping import drawable

LEVELS = 32
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """body { margin: 0 auto; max-width: 52rem; padding: 1.5rem 1rem 4rem; background: #fff; color: #1b1b1b;
  font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, "PingFang SC", "Hiragino Sans GB",
    "Microsoft YaHei", "Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Zen Hei", sans-serif; }
h1 { font-size: 1.25rem; margin: 0 0 .25rem; }
p { color: #595959; margin: .25rem 0; }
.legend { display: flex; gap: .6rem; align-items: center; margin: 1rem 0; color: #595959; font-size: .9rem; }
.bar { width: 14rem; height: .8rem; border: 1px solid #d6d6d6; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.9; font-size: 1.05rem; color: #1b1b1b; }
.text span { padding: .12em 0; border-radius: 3px; box-shadow: inset 1px 0 #fff; }
"""


def page(coloured: Coloured) -> str:
    """The whole page."""
    title, *more = coloured.heading or ("",)
    lines = "".join(f"<p>{_safe(line)}</p>\n" for line in more)
    return f"""<!DOCTYPE html>
<html lang="{_safe(coloured.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="regard">
<title>{_safe(title)}</title>
<style>
{STYLE}{"".join(_colours())}</style>
</head>
<body>
<h1>{_safe(title)}</h1>
{lines}<div class="legend">0<div class="bar"></div>{coloured.most:.3g} &nbsp; {_safe(coloured.legend)}</div>
<div class="text">{"".join(_spans(coloured))}</div>
</body>
</html>
"""


def _spans(coloured: Coloured) -> Iterator[str]:
    done = 0
    for part, share in zip(coloured.joined(), coloured.shares(), strict=True):
        yield _safe(coloured.text[done : part.start])
        said = _safe(coloured.text[part.start : part.end]).replace("\n", "↵\n")
        level = round(share * (LEVELS - 1))
        yield f'<span class="c{level}" title="{_safe(part.note)}">{said}</span>'
        done = part.end
    yield _safe(coloured.text[done:])


def _colours() -> Iterator[str]:
    """A class for each level, and the bar of all."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    shares = [level / (LEVELS - 1) for level in range(LEVELS)]
    colours = [to_hex(colormaps[PALETTE](share)) for share in shares]
    yield f".bar {{ background: linear-gradient(to right, {', '.join(colours)}); }}\n"
    for level, (share, colour) in enumerate(zip(shares, colours, strict=True)):
        ink = " color: #fff;" if share > DARK else ""
        yield f".c{level} {{ background: {colour};{ink} }}\n"


def _safe(text: str) -> str:
    return escape(drawable(text), quote=True)
