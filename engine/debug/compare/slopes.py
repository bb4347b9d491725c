"""The slope of a function along a line by finite differences, with a judgment of what it is worth."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Slope", "slope_along"]

# The two one-sided slopes differ by the curvature times the step, which halves with the step; at a kink they
# differ by as much however small the step.
_KEEPS_ITS_SIZE = 0.75
# Terms of a sum are rounded to half a digit each; two sums are subtracted.
_ROUNDINGS = 8


class Slope(NamedTuple):
    """What differences give.

    Attributes:
        claimed: the slope that was to be judged.
        value: the slope by differences.
        tolerance: how far apart the two may be.
        kink: the function has no slope here, or differences cannot tell.
    """

    claimed: float
    value: float
    tolerance: float
    kink: bool

    @property
    def distance(self) -> float:
        """How far apart the two are; infinite where the claim is NaN."""
        distance = abs(self.value - self.claimed)
        return math.inf if math.isnan(distance) else distance

    @property
    def wrong(self) -> bool:
        """Whether the claim is refuted."""
        return not self.kink and self.distance > self.tolerance


def slope_along(
    function: Callable[[float], tuple[float, float]],
    claimed: float,
    step: float,
    allowed: float,
    epsilon: float,
    one_variable: bool = True,
) -> Slope:
    """Judge a claimed slope at 0.

    Two values of the function are enough where central differences agree with the claim. Where they do not, three
    more tell a wrong claim from a kink. At a kink in one variable every slope between the left one and the right one
    will do; along a line through many, whatever each of them chose.

    Args:
        function: gives its value and the sum of the magnitudes of the terms that the value is the sum of.
        claimed: the slope that is to be judged.
        step: how far to go to either side.
        allowed: how far from the claim the slope may be.
        epsilon: of the dtype that the function computes in.
        one_variable: whether only one variable changes along the line.
    """
    plus, size = function(step)
    minus, _ = function(-step)
    wide = (plus - minus) / (2 * step)
    rounding = _ROUNDINGS * epsilon * size / step
    if abs(wide - claimed) <= allowed + rounding:
        return Slope(claimed, wide, allowed + rounding, False)
    half_plus, _ = function(step / 2)
    half_minus, _ = function(-step / 2)
    here, _ = function(0.0)
    narrow = (half_plus - half_minus) / step
    if not (math.isfinite(wide) and math.isfinite(narrow)):
        return Slope(claimed, narrow, math.inf, True)
    value = (4 * narrow - wide) / 3  # Richardson: the error of third order cancels
    tolerance = allowed + 4 * rounding
    if abs(value - claimed) <= tolerance:
        return Slope(claimed, value, tolerance, False)
    if abs(value - claimed) <= tolerance + 3 * abs(narrow - wide):
        return Slope(claimed, value, tolerance, True)
    left, right = 2 * (here - half_minus) / step, 2 * (half_plus - here) / step
    jump = abs(right - left)
    kept = jump > _KEEPS_ITS_SIZE * abs(plus - 2 * here + minus) / step and jump > tolerance
    between = min(left, right) - tolerance <= claimed <= max(left, right) + tolerance
    return Slope(claimed, value, tolerance, kept and (between or not one_variable))
