"""Axes of a chart: the range of its numbers, positions on it, and ticks at round numbers. axes.js does the same."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple


class Axis(NamedTuple):
    """A linear axis from a low to a high number, which differ."""

    low: float
    high: float

    def position(self, value: float) -> float:
        """Return where a number is between low (0) and high (1); halves keep the largest numbers finite."""
        return (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)

    def ticks(self, most: int) -> list[float]:
        """Return at most this number of round numbers on the axis, in their order."""
        span = self.high / 2 - self.low / 2
        step = _round_step(span / most * 2)
        if not (0 < step < math.inf) or not math.isfinite(self.low / step):
            return [self.low, self.high]
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def axis(values: Iterable[float]) -> Axis | None:
    """Return an axis for the finite ones of these numbers; None if there are none."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return None
    low, high = min(finite), max(finite)
    if low < high and high / 2 - low / 2 > 0:
        return Axis(low, high)
    margin = abs(low) / 10 or 1.0
    return Axis(low - margin, high + margin)


def _round_step(step: float) -> float:
    """Return the next of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step)) if step > 0 else 0.0
    return next((factor * power for factor in (1, 2, 5) if factor * power >= step * (1 - 1e-9)), 10 * power)


def tick_text(value: float) -> str:
    """Return the text of a tick: short, without rounding errors."""
    return f"{value:.4g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e") if value else "0"
