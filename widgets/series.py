"""Time series by step, reduced to as many points as a small curve can show."""

from __future__ import annotations

import math
from collections.abc import Iterable

MOST_POINTS = 60


def downsampled(series: Iterable[tuple[int, float]], limit: int = MOST_POINTS) -> list[tuple[int, float]]:
    """Return at most `limit` points of the series: of each interval of equal length, a nonfinite or the largest one."""
    points = list(series)
    length = -(-len(points) // limit)
    if length < 2:
        return points
    stretches = (points[begin : begin + length] for begin in range(0, len(points), length))
    return [max(stretch, key=lambda point: point[1] if math.isfinite(point[1]) else math.inf) for stretch in stretches]


def drawable(series: Iterable[tuple[int, float]]) -> list[tuple[int, float | None]]:
    """Return the reduced series in JSON types: None for a number that is not finite."""
    return [(step, value if math.isfinite(value) else None) for step, value in downsampled(series)]
