"""Values that reach a loss from outside the tape, compared with the outputs that code reads as NumPy numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.tensors.backend import to_host
from hookscope.engine.tensors.tensor import Tensor

if TYPE_CHECKING:
    from hookscope.engine.tape.tape import Recording

    from .course import Course

__all__ = ["NumpySources", "rank_correlation"]

_MAX_READINGS = 8
_MAX_OPERATORS = 200
_MAX_ELEMENTS = 4096
# Numbers of one step, and of all steps, that are compared.
_PER_STEP, _MOST, _FEWEST = 32, 320, 20
# Steps from one comparison to the next.
_APART = 5
# A correlation is larger than another by this, or may be so by chance.
_CLEARLY = 0.02

_STATISTICS: dict[str, Callable[..., Any]] = {
    "mean": np.mean,
    "deviation": np.std,
    "size": lambda array, axis: np.abs(array).mean(axis=axis),
    "maximum": np.max,
}


class NumpySources:
    """Tracker, in one gradient call, of what is read as numbers and of what is made from values without a gradient."""

    def __init__(self) -> None:
        self._readings: list[tuple[Any, bool]] = []  # and whether the weights made it
        self._made: dict[int, tuple[Any, list[Any]]] = {}  # by the array's id, which the first item keeps valid
        self._before: set[int] = set()

    @property
    def has_readings(self) -> bool:
        """True if a value that depends on the weights was read as numbers."""
        return any(is_output for _, is_output in self._readings)

    def add_reading(self, array: Any, is_output: bool) -> None:
        """Record a value that is read as numbers, and whether it depends on the weights."""
        if len(self._readings) < _MAX_READINGS and array.size <= _MAX_ELEMENTS and array.dtype.kind in "fV":
            self._readings.append((array, is_output))

    def add_operator(self, inputs: tuple[Any, ...], output: Any, recording: Recording) -> None:
        """Record an operator whose output has no gradient; before the first reading, only that it made its output.

        Inputs from the network itself, as through stop_gradient, or from the caller were not read through NumPy.
        """
        if len(self._made) < _MAX_OPERATORS and output.size <= _MAX_ELEMENTS:
            values = [value._array if isinstance(value, Tensor) else value for value in inputs]
            self._made[id(output)] = (
                output,
                [
                    value
                    for value in values
                    if self._readings and id(value) not in recording.tracked and not recording.is_other_argument(value)
                ],
            )

    def compare(self, term: Any, course: Course) -> tuple[float, int, tuple[int, ...]] | None:
        """Compare what a term was made from with what was read, in this step and before.

        Args:
            term: the term, an array or a number.
            course: the course of the term, which keeps the numbers from step to step.

        Returns:
            the largest correlation of ranks in magnitude, the number of steps, and the shape of what was read; None if
            they do not fit or are too few, or if the term follows what was read of the data as well.
        """
        best: tuple[float, int, tuple[int, ...]] | None = None
        of_data = 0.0
        for number, source in enumerate(self._sources(term)):
            for index, (reading, is_output) in enumerate(self._readings):
                for name, expected in _candidates(to_host(reading).astype(np.float64), source.size):
                    ours, theirs = course.pools.setdefault((number, index, name), ([], []))
                    ours += source[:_PER_STEP].tolist()
                    theirs += expected[:_PER_STEP].tolist()
                    del ours[:-_MOST], theirs[:-_MOST]
                    if len(ours) < _FEWEST or course.count % _APART:
                        continue
                    correlation = rank_correlation(ours, theirs)
                    if not is_output:
                        of_data = max(of_data, abs(correlation))
                    elif best is None or abs(correlation) > abs(best[0]):
                        steps = min(course.count, len(ours) // min(source.size, _PER_STEP))
                        best = correlation, steps, tuple(reading.shape)
        return None if best is None or abs(best[0]) - of_data < _CLEARLY else best

    def _sources(self, term: Any) -> list[Any]:
        """Return the elements of the values that a term was made from, if no operator of this call made them."""
        known, pending = {id(array) for array, _ in self._readings}, [term]
        rows: list[Any] = []
        while pending and len(rows) < 4:
            value = pending.pop()
            made = self._made.get(id(value))
            if made is not None and made[0] is value:
                pending += made[1]
            elif id(value) not in known and hasattr(value, "dtype") and value.size and value.dtype.kind in "fV":
                if value.size <= _MAX_ELEMENTS:
                    rows.append(to_host(value).reshape(-1).astype(np.float64))
            elif isinstance(value, float):
                rows.append(np.array([value]))
        return rows


def _candidates(reading: Any, size: int) -> list[tuple[str, Any]]:
    """Return statistics of what was read that have as many elements as what a term was made from."""
    rows: list[tuple[str, Any]] = []
    with np.errstate(all="ignore"):  # the user may have turned warnings into errors
        if size == reading.size:
            rows += [("itself", reading.reshape(-1)), ("magnitude", np.abs(reading).reshape(-1))]
        for name, statistic in _STATISTICS.items():
            if size == 1 and reading.size > 1:
                rows.append((name, np.reshape(statistic(reading, axis=None), 1)))
            for axis in range(reading.ndim) if reading.ndim > 1 else ():
                if reading.shape[axis] > 1 and size == reading.size // reading.shape[axis] > 1:
                    rows.append((f"{name} {axis}", np.asarray(statistic(reading, axis=axis)).reshape(-1)))
    return rows


def rank_correlation(first: list[float], second: list[float]) -> float:
    """Return Spearman's correlation of two lists; 0 if either holds one value alone, or a NaN."""
    ranks = [np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(float) for values in (first, second)]
    if not np.isfinite([*first, *second]).all() or len(set(first)) < 3 or len(set(second)) < 3:
        return 0.0
    centered = [values - values.mean() for values in ranks]
    return float((centered[0] * centered[1]).sum() / np.sqrt((centered[0] ** 2).sum() * (centered[1] ** 2).sum()))
