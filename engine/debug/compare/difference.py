"""Largest difference between two arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Difference", "distance", "element", "farthest"]


@dataclass(frozen=True)
class Difference:
    """The elements of two arrays that differ most.

    Attributes:
        absolute: the absolute difference.
        relative: the difference relative to the larger of the two.
        index: the index of the element; None if it is not a single element.
        value, other: the two elements.
    """

    absolute: float
    relative: float
    index: tuple[int, ...] | None
    value: complex
    other: complex

    def cells(self) -> list[str]:
        """Return the columns of a table: absolute, relative, index."""
        index_text = "" if self.index is None else f"[{', '.join(map(str, self.index))}]"
        return [f"{self.absolute:.3g}", f"{self.relative:.3g}", index_text]


def distance(value: Any, other: Any) -> Any:
    """Return the distance of elements: 0 if both are NaN or the same Inf, infinite if only one is."""
    with np.errstate(invalid="ignore", over="ignore"):
        differences = np.abs(value - other)
    is_equal = (value == other) | (np.isnan(value) & np.isnan(other))
    return np.where(is_equal, 0.0, np.where(np.isnan(differences), np.inf, differences))


def farthest(array: npt.NDArray[Any], other: npt.NDArray[Any]) -> Difference:
    """Return the largest difference of two arrays of the same shape, which are not empty."""
    position = int(np.argmax(distance(array, other)))
    index = tuple(int(coordinate) for coordinate in np.unravel_index(position, array.shape))
    return element(array[index].item(), other[index].item(), index)


def element(value: complex, other: complex, index: tuple[int, ...] | None) -> Difference:
    """Return the difference of two numbers."""
    absolute = float(distance(np.asarray(value), np.asarray(other)))
    larger = max(abs(value), abs(other))
    relative = 0.0 if absolute == 0 else absolute / larger if math.isfinite(absolute) else math.inf
    return Difference(absolute, relative, index, value, other)
