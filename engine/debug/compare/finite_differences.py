"""Slope of a function along a line by finite differences, and the comparison with a claimed slope."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Slope", "slope_along"]

# The two one-sided slopes differ by the curvature times the step, which halves with the step; at a kink the difference
# does not depend on the step.
_KEEPS_ITS_SIZE = 0.75
# Terms of a sum are rounded to half a digit each; two sums are subtracted.
_ROUNDINGS = 8


class Slope(NamedTuple):
    """Result of finite differences.

    Attributes:
        claimed: the claimed slope.
        value: the slope by differences.
        tolerance: the allowed distance of the two.
        kink: whether the function has no slope here, or differences cannot determine it.
    """

    claimed: float
    value: float
    tolerance: float
    kink: bool

    @property
    def distance(self) -> float:
        """The distance of the two slopes; infinite if the claim is NaN."""
        distance = abs(self.value - self.claimed)
        return math.inf if math.isnan(distance) else distance

    @property
    def wrong(self) -> bool:
        """True if the claim is refuted."""
        return not self.kink and self.distance > self.tolerance


def slope_along(
    function: Callable[[float], tuple[float, float]],
    claimed: float,
    step: float,
    allowed: float,
    epsilon: float,
    one_variable: bool = True,
) -> Slope:
    """Compare a claimed slope at 0 with finite differences.

    Two values of the function suffice if central differences agree with the claim. Otherwise, three more distinguish a
    wrong claim from a kink. At a kink in one variable, every slope between the left one and the right one is accepted;
    along a line through many variables, every slope is, since each of them chose its own.

    Args:
        function: returns its value and the sum of the magnitudes of the terms of the value.
        claimed: the claimed slope.
        step: the distance to either side.
        allowed: the allowed distance of the slope from the claim.
        epsilon: the epsilon of the dtype that the function computes in.
        one_variable: whether only one variable changes along the line.
    """
    plus, size = function(step)
    minus, _ = function(-step)
    full_step_slope = (plus - minus) / (2 * step)
    rounding = _ROUNDINGS * epsilon * size / step
    if abs(full_step_slope - claimed) <= allowed + rounding:
        return Slope(claimed, full_step_slope, allowed + rounding, False)
    half_plus, _ = function(step / 2)
    half_minus, _ = function(-step / 2)
    center, _ = function(0.0)
    half_step_slope = (half_plus - half_minus) / step
    if not (math.isfinite(full_step_slope) and math.isfinite(half_step_slope)):
        return Slope(claimed, half_step_slope, math.inf, True)
    value = (4 * half_step_slope - full_step_slope) / 3  # Richardson: the error of third order cancels
    tolerance = allowed + 4 * rounding
    if abs(value - claimed) <= tolerance:
        return Slope(claimed, value, tolerance, False)
    if abs(value - claimed) <= tolerance + 3 * abs(half_step_slope - full_step_slope):
        return Slope(claimed, value, tolerance, True)
    left, right = 2 * (center - half_minus) / step, 2 * (half_plus - center) / step
    jump = abs(right - left)
    is_kink = jump > _KEEPS_ITS_SIZE * abs(plus - 2 * center + minus) / step and jump > tolerance
    is_between = min(left, right) - tolerance <= claimed <= max(left, right) + tolerance
    return Slope(claimed, value, tolerance, is_kink and (is_between or not one_variable))
