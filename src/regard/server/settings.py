"""What a server is told when it starts."""

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path

from regard.errors import ConfigError

KEY = re.compile("[!-~]{1,200}")
"""What a key may be."""


ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s*]+")


class Keys:
    """The keys that open the server. Without any, it is open. Only their digests are kept."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._digests = [_digest(key) for key in keys]

    @classmethod
    def read(cls, path: Path) -> "Keys":
        """From a file, a key a line; empty lines and those that begin with # are none."""
        try:
            lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"The keys in {path} cannot be read.", found=str(error)) from None
        keys = [line for line in lines if line and not line.startswith("#")]
        if not keys:
            raise ConfigError(f"There is no key in {path}.", wanted="a key a line")
        if odd := [number for number, key in enumerate(keys, 1) if not KEY.fullmatch(key)]:
            wanted = "letters, digits and signs of ASCII without spaces, at most 200: headers can hold no other"
            raise ConfigError(f"Key {odd[0]} in {path} could never be sent.", wanted=wanted)
        return cls(keys)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def fit(self, given: str) -> bool:
        """Whether this is one of the keys. It takes equally long whatever is given, and wherever it differs."""
        asked = _digest(given)
        return sum(hmac.compare_digest(asked, known) for known in self._digests) > 0


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True)
class Settings:
    """`models`: directories or ids on the hub, as the person who starts the server gives them."""

    models: tuple[str, ...]
    host: str = "127.0.0.1"
    port: int = 8000
    keys: Keys = field(default_factory=Keys)
    origins: tuple[str, ...] = ()
    """Pages of other origins that may ask: https://example.org."""
    engine: str = "auto"
    """Who computes: see regard.engines."""
    max_batch_tokens: int = 4096
    """Most tokens that a model computes together."""
    max_concurrent: int = 256
    """Requests that are in the server at a time, running or waiting."""
    timeout: float = 60.0
    """Seconds that a request may take."""
    max_body: int = 1 << 20
    """Bytes that a request may have."""
    arrival: float = 15.0
    """Seconds in which a request must have come in, from its first byte to its last."""

    def __post_init__(self) -> None:
        for flag, value, possible, wanted in (
            ("--port", self.port, 0 <= self.port < 65536, "0 (any that is free) to 65535"),
            ("--max-batch-tokens", self.max_batch_tokens, self.max_batch_tokens >= 1, "1 or more"),
            ("--max-concurrent", self.max_concurrent, self.max_concurrent >= 1, "1 or more"),
            ("--timeout", self.timeout, 0 < self.timeout < 1e6, "seconds, more than 0"),
        ):
            if not possible:
                raise ConfigError(f"{flag} {value} cannot be used.", wanted=wanted)

        for origin in self.origins:
            if not ORIGIN.fullmatch(origin):
                wanted = "what a browser sends as Origin: https://example.org, http://localhost:3000"
                raise ConfigError(f"--allow-origin {origin} cannot be used.", wanted=wanted)

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False
