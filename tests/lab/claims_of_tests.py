"""Claims that are measured in no time: other processes import them."""

from collections.abc import Sequence
from dataclasses import replace

from regard.errors import DataError
from regard.lab import bench
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.shop import Shop
from regard.report import Plot, Series


def measure(setting: Setting) -> Measured:
    counted = setting.shop.directory / "counted.txt"
    with counted.open("a") as file:
        file.write(f"{setting.seed}\n")
    return Measured(0.8, 0.1 * setting.seed, {"quick": float(setting.quick)}, {"heights": [1.0, 2.0]})


def too_good(setting: Setting) -> Measured:
    return Measured(0.8, 0.7)


def fails(setting: Setting) -> Measured:
    raise DataError("There is nothing to measure.")


def draw(measured: Sequence[Measured]) -> list[Figure]:
    return [Plot("bars", ["a", "b"], [Series("height", measured[0].series["heights"])], "who", "height")]


def draw_nothing(measured: Sequence[Measured]) -> list[Figure]:
    return []


HOLDS = Claim(
    name="holds",
    title="Tall is high",
    question="Is it?",
    source="Nobody 1999",
    statistic="The height.",
    threshold=0.5,
    control="a short one.",
    measure=measure,
    draw=draw,
)
NO_TEST = replace(HOLDS, name="no_test", title="All is high", measure=too_good, draw=draw_nothing, alone=True)
FAILS = replace(HOLDS, name="fails", title="Nothing is high", measure=fails)


def measure_all(shop: Shop, seeds: tuple[int, ...] = (1,)) -> list[bench.Found]:
    """As the lab does it, in this process."""
    for claim in (HOLDS, NO_TEST):
        for seed in seeds:
            piece = bench.Measuring(shop.of(seed), claim)
            assert piece.done or piece.work()
    return bench.found([HOLDS, NO_TEST], shop, seeds)
