"""regard look --web: the page of a model, in a browser."""

import logging
import os
import sys
import webbrowser
from collections.abc import Mapping
from threading import Thread
from urllib.parse import quote, urlencode


def web(model: str, asked: Mapping[str, object], *, browser: bool) -> None:
    """Serves one model on a free port of this machine until Ctrl-C, and opens its page; asked: what it begins with."""
    from regard.server.app import serve
    from regard.server.settings import Settings

    def started(address: str) -> None:
        told = {name: value for name, value in asked.items() if value not in (None, 0)}
        place = f"{address}/" + (f"#{urlencode(told, quote_via=quote)}" if told else "")
        sys.stdout.write(f"{place}\n")
        sys.stdout.flush()
        sys.stderr.write("regard: Ctrl-C ends it\n")
        if browser and has_display():
            Thread(target=webbrowser.open, args=(place,), daemon=True).start()  # some browsers keep who opens them

    logging.basicConfig(level=logging.WARNING, format="regard: %(message)s", stream=sys.stderr)
    sys.stderr.write(f"regard: loading {model}\n")
    serve(Settings((model,), port=0), started)


def has_display() -> bool:
    """Whether there is a screen for a browser to open on."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
