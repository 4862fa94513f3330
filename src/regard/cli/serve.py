"""regard serve"""

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.computing import Engine, told


def serve(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help="Model directories, or ids on the hub.", show_default=False)
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen at; with others than this machine's, give keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0: any that is free.")] = 8000,
    api_key_file: Annotated[
        Path | None, typer.Option(help="File with keys, one a line; requests must bring one of them.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="A page of that origin may ask: https://example.org. Again for more.")
    ] = None,
    engine: Engine = "auto",
    max_batch_tokens: Annotated[int, typer.Option(help="Most tokens that a model computes together.")] = 4096,
    max_concurrent: Annotated[int, typer.Option(help="Requests at a time; more are answered 503.")] = 256,
    timeout: Annotated[float, typer.Option(help="Seconds that a request may take.")] = 60.0,
) -> None:
    """Serve models over HTTP: LibreTranslate's and OpenAI's APIs, and our own. GET /docs describes them."""
    from regard.server.app import serve as run
    from regard.server.settings import Keys, Settings

    settings = Settings(
        tuple(models),
        host=host,
        port=port,
        keys=Keys() if api_key_file is None else Keys.read(api_key_file),
        origins=tuple(allow_origin or ()),
        engine=engine,
        max_batch_tokens=max_batch_tokens,
        max_concurrent=max_concurrent,
        timeout=timeout,
    )
    logging.basicConfig(level=logging.WARNING, format="regard: %(message)s", stream=sys.stderr)
    if not settings.on_loopback and not settings.keys:
        told(
            f"WARNING: EVERYBODY WHO CAN REACH {host} CAN USE THIS SERVER, without a key.\n"
            "  do this: give --api-key-file, or leave out --host and put a proxy before it"
        )
    told(f"loading {', '.join(models)}")
    run(settings, lambda address: told(f"serving at {address} (described at {address}/docs)"))
