"""How far apart two arrays are, and where most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Difference", "distance", "element", "farthest"]


@dataclass(frozen=True)
class Difference:
    """The elements that are farthest apart.

    Attributes:
        absolute: how far.
        relative: to the larger of the two.
        index: which element; None where it is not of one element.
        value, other: the two.
    """

    absolute: float
    relative: float
    index: tuple[int, ...] | None
    value: complex
    other: complex

    def cells(self) -> list[str]:
        """It as columns of a table: absolute, relative, where."""
        at = "" if self.index is None else f"[{', '.join(map(str, self.index))}]"
        return [f"{self.absolute:.3g}", f"{self.relative:.3g}", at]


def distance(one: Any, other: Any) -> Any:
    """How far apart elements are: not at all if both are NaN or the same Inf, infinitely if one is."""
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(one - other)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))


def farthest(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> Difference:
    """The largest difference of two arrays of one shape, which is not empty."""
    place = int(np.argmax(distance(one, other)))
    index = tuple(int(k) for k in np.unravel_index(place, one.shape))
    return element(one[index].item(), other[index].item(), index)


def element(value: complex, other: complex, index: tuple[int, ...] | None) -> Difference:
    """The difference of two numbers."""
    absolute = float(distance(np.asarray(value), np.asarray(other)))
    larger = max(abs(value), abs(other))
    relative = 0.0 if absolute == 0 else absolute / larger if math.isfinite(absolute) else math.inf
    return Difference(absolute, relative, index, value, other)
