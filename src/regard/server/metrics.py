"""Figures of a running server, as Prometheus reads them (text format 0.0.4)."""

import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Labels = tuple[str, ...]
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
OTHER = "other"
"""Stands for paths that do not exist: there is no end of them."""
RECENT = 0.1
"""How much a new request counts in the mean of how long they take."""


class Counter:
    """How often something happened, or how much of it there was."""

    kind = "counter"

    def __init__(self, name: str, about: str, labels: Labels = ()) -> None:
        self.name, self.about, self.labels = name, about, labels
        self._values: dict[Labels, float] = {}

    def add(self, *labels: str, amount: float = 1.0) -> None:
        self._values[labels] = self._values.get(labels, 0.0) + amount

    def lines(self) -> Iterator[str]:
        for labels, value in sorted(self._values.items()):
            yield f"{self.name}{_told(self.labels, labels)} {value:.15g}"


class Gauge:
    """How much there is now: asked when it is told."""

    kind = "gauge"

    def __init__(
        self, name: str, about: str, labels: Labels, read: Callable[[], Iterable[tuple[Labels, float]]]
    ) -> None:
        self.name, self.about, self.labels, self._read = name, about, labels, read

    def lines(self) -> Iterator[str]:
        for labels, value in sorted(self._read()):
            yield f"{self.name}{_told(self.labels, labels)} {value:.15g}"


class Histogram:
    """How often a figure was at most so large."""

    kind = "histogram"

    def __init__(self, name: str, about: str, labels: Labels, bounds: Sequence[float]) -> None:
        self.name, self.about, self.labels, self._bounds = name, about, labels, tuple(bounds)
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def see(self, value: float, *labels: str) -> None:
        counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + value

    def lines(self) -> Iterator[str]:
        for labels, counts in sorted(self._counts.items()):
            so_far = 0
            for bound, count in zip((*self._bounds, "+Inf"), counts, strict=True):
                so_far += count
                limit = bound if isinstance(bound, str) else f"{bound:g}"
                yield f"{self.name}_bucket{_told((*self.labels, 'le'), (*labels, limit))} {so_far}"
            yield f"{self.name}_sum{_told(self.labels, labels)} {self._sums[labels]:.15g}"
            yield f"{self.name}_count{_told(self.labels, labels)} {so_far}"


class Metrics:
    """All figures of a server."""

    def __init__(self) -> None:
        of_model = ("model",)
        self.requests = Counter("regard_requests_total", "Requests by path and status.", ("path", "status"))
        self.latency = Histogram(
            "regard_request_seconds", "From the first byte to the last of the answer.", ("path",), SECONDS
        )
        self.waited = Histogram("regard_queue_seconds", "How long a text waited to be computed.", of_model, SECONDS)
        self.batches = Histogram("regard_batch_size", "Texts that are computed together.", of_model, SIZES)
        self.tokens = Counter("regard_tokens_total", "Tokens that were read, and made.", ("model", "direction"))
        self.restarts = Counter("regard_worker_restarts_total", "Processes of models that were lost.", of_model)
        self.gauges: list[Gauge] = []
        self.mean_seconds = 0.0
        """How long recent requests took, about."""

    def answered(self, path: str, status: int, seconds: float) -> None:
        self.requests.add(path, str(status))
        self.latency.see(seconds, path)
        self.mean_seconds += RECENT * (seconds - self.mean_seconds)

    def text(self) -> str:
        figures: list[Counter | Gauge | Histogram] = [self.requests, self.latency, self.waited, self.batches]
        figures += [self.tokens, self.restarts, *self.gauges]
        lines: list[str] = []
        for one in figures:
            lines += [f"# HELP {one.name} {one.about}", f"# TYPE {one.name} {one.kind}", *one.lines()]
        return "\n".join(lines) + "\n"


class Measured:
    """Notes each request of an application. paths: those that exist."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: Collection[str]) -> None:
        self._app, self._metrics, self._paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.monotonic(), 499  # unless something is answered, the client has gone

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            path = scope["path"] if scope["path"] in self._paths else OTHER
            self._metrics.answered(path, status, time.monotonic() - begun)


def _told(names: Labels, values: Labels) -> str:
    pairs = (f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True))
    told = ",".join(pairs)
    return f"{{{told}}}" if told else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
