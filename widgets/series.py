"""A number by step, with as many points as a small curve has room for."""

from __future__ import annotations

import math
from collections.abc import Iterable

MOST_POINTS = 60


def thinned(series: Iterable[tuple[int, float]], most: int = MOST_POINTS) -> list[tuple[int, float]]:
    """The series with at most so many points: of each stretch of equal length the largest, or what is not finite."""
    points = list(series)
    length = -(-len(points) // most)
    if length < 2:
        return points
    stretches = (points[begin : begin + length] for begin in range(0, len(points), length))
    return [max(stretch, key=lambda point: point[1] if math.isfinite(point[1]) else math.inf) for stretch in stretches]


def drawable(series: Iterable[tuple[int, float]]) -> list[tuple[int, float | None]]:
    """The same as JSON can hold it: None where a number is not finite."""
    return [(step, value if math.isfinite(value) else None) for step, value in thinned(series)]
