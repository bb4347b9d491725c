"""Numbers by step: bounded in memory, with every extreme, and with names that tell several of a kind apart."""

from __future__ import annotations

import math
import threading
import tracemalloc

import numpy as np

from hookscope.engine.debug import Point, Scalars, Series
from hookscope.engine.debug.record.scalars import MAX_BUCKETS, MAX_SERIES


def series_of(values: list[float]) -> Series:
    series = Series()
    for step, value in enumerate(values):
        series.add(Point(step, value, step))
    return series


def test_a_hundred_thousand_steps_take_little_memory_and_keep_every_extreme() -> None:
    rng = np.random.default_rng(3)
    values = rng.standard_normal(100_000).tolist()
    values[41_234], values[77_001] = 50.0, -50.0
    values[5], values[60_000], values[60_001] = math.nan, math.inf, -math.inf
    tracemalloc.start()
    series = series_of(values)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    points = series.points()
    assert len(points) <= 6 * MAX_BUCKETS
    assert size < 1_000_000
    assert (series.count, series.nonfinite) == (100_000, 3)
    steps = {point.step: point.value for point in points}
    assert {0, 41_234, 77_001, 5, 60_000, 60_001, 99_999} <= steps.keys()
    assert (steps[41_234], steps[77_001], steps[99_999]) == (50.0, -50.0, values[-1])
    assert math.isnan(steps[5])
    assert (series.high, series.low) == (Point(41_234, 50.0, 41_234), Point(77_001, -50.0, 77_001))
    # A bucket has 256 points, the smallest power of two of which 400 times as many are 100,000 or more.
    for begin in range(0, 100_000, 256):
        part = [value for value in values[begin : begin + 256] if math.isfinite(value)]
        finite = [value for step, value in steps.items() if begin <= step < begin + 256 and math.isfinite(value)]
        assert (max(finite), min(finite)) == (max(part), min(part))


def test_few_points_are_all_kept_in_the_order_of_their_arrival() -> None:
    series = Series()
    points = [Point(3, 1.0, 1), Point(2, 2.0, 2), Point(2, 3.0, 3), Point(9, math.nan, 4)]
    for point in points:
        series.add(point)
    stored = series.points()
    assert [point.step for point in stored] == [3, 2, 2, 9]
    assert stored[:3] == points[:3]


def test_one_loss_has_the_plain_name_and_those_of_several_weights_tell_whose_they_are() -> None:
    scalars = Scalars()
    scalars.add_loss("d", lambda: "discriminator", 1, 0.5)
    assert list(scalars.series()) == ["loss"]
    scalars.add_loss("g", lambda: "generator", 1, 0.7)
    scalars.add_loss("e", lambda: "generator", 1, 0.7)
    scalars.add_loss("all", lambda: "", 1, 0.7)
    assert list(scalars.series()) == ["loss of discriminator", "loss of generator", "loss of generator (2)", "loss"]


def test_a_logged_loss_stands_beside_the_recorded_one() -> None:
    scalars = Scalars()
    scalars.add("loss", Point(1, 2.0, 1))
    assert list(scalars.series()) == ["loss"]
    scalars.add_loss("w", lambda: "", 1, 0.5)
    assert {name: points[0].value for name, points in scalars.points().items()} == {"loss": 0.5, "loss (logged)": 2.0}


def test_names_without_end_are_refused_from_a_number_on() -> None:
    scalars = Scalars()
    accepted = [scalars.add(f"loss at {k}", Point(k, 0.0, k)) for k in range(MAX_SERIES + 3)]
    assert accepted == [True] * MAX_SERIES + [False] * 3
    assert scalars.add("loss at 0", Point(1, 1.0, 1))


def test_threads_lose_no_point() -> None:
    scalars = Scalars()

    def work(name: str) -> None:
        for step in range(2_000):
            scalars.add(name, Point(step, float(step), step))
            scalars.add("common", Point(step, float(step), step))

    threads = [threading.Thread(target=work, args=(f"thread {k}",)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: series.count for name, series in scalars.series().items()} == {
        "common": 8_000,
        **{f"thread {k}": 2_000 for k in range(4)},
    }
    assert scalars.count == 16_000
