"""Figures as Prometheus reads them."""

import re

from regard.server.metrics import Gauge, Metrics

LINE = re.compile(r'[a-z_]+(\{[a-z_]+="([^"\\]|\\.)*"(,[a-z_]+="([^"\\]|\\.)*")*\})? (\d+(\.\d+)?(e[+-]?\d+)?|\+Inf)')


def test_every_line_is_one_that_prometheus_reads() -> None:
    metrics = Metrics()
    metrics.answered("/translate", 200, 0.3)
    metrics.waited.see(0.01, 'a "model"\n\\')
    metrics.tokens.add("m", "read", amount=12.0)
    metrics.gauges.append(Gauge("regard_x", "X.", ("model",), lambda: [(("m",), 2.0)]))
    lines = metrics.text().rstrip("\n").split("\n")
    assert lines[0].startswith("# HELP regard_requests_total ")
    assert lines[1] == "# TYPE regard_requests_total counter"
    assert [line for line in lines if not line.startswith("#") and not LINE.fullmatch(line)] == []
    assert 'regard_requests_total{path="/translate",status="200"} 1' in lines
    assert 'regard_tokens_total{model="m",direction="read"} 12' in lines
    assert 'regard_x{model="m"} 2' in lines


def test_a_histogram_counts_what_is_at_most_so_large() -> None:
    metrics = Metrics()
    for size in (1.0, 2.0, 3.0, 500.0):
        metrics.batches.see(size, "m")
    lines = metrics.text().split("\n")
    for bound, count in (("1", 1), ("2", 2), ("4", 3), ("256", 3), ("+Inf", 4)):
        assert f'regard_batch_size_bucket{{model="m",le="{bound}"}} {count}' in lines
    assert 'regard_batch_size_sum{model="m"} 506' in lines
    assert 'regard_batch_size_count{model="m"} 4' in lines


def test_the_mean_follows_what_requests_take() -> None:
    metrics = Metrics()
    for _ in range(100):
        metrics.answered("/x", 200, 2.0)
    assert 1.9 < metrics.mean_seconds <= 2.0
