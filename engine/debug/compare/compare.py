"""``compare``: comparison of two runs, capture by capture; the first difference is where they diverge."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..record.capture import Capture
from ..record.ring import CaptureRing
from ..record.tables import html_table, text_table
from ..session import DebugSession
from .difference import Difference, distance, farthest

__all__ = ["Comparison", "ComparisonRow", "compare"]

# Rows of the printed table: the first ones show where two runs diverge.
_MAX_ROWS = 20
_COLUMNS = ("step", "value", "verdict", "shape", "dtype", "difference", "relative", "at", "a there", "b there")
_NUMERIC = ("step", "difference", "relative", "a there", "b there")


@dataclass(frozen=True, eq=False)
class ComparisonRow:
    """One capture position of both runs, or of one of them.

    Attributes:
        step: the number of the step in each run, from 1.
        key: the position in words, as ``Capture.key``.
        verdict: "equal", "differs", "other shape", "other dtype", "only in a" or "only in b".
        a, b: the captures; None if missing.
        difference: the largest difference; None if nothing can be subtracted.
    """

    step: int
    key: str
    verdict: str
    a: Capture | None
    b: Capture | None
    difference: Difference | None = None


@dataclass(frozen=True, repr=False)
class Comparison:
    """Result of ``compare``, in the order of the first run; it prints as a table of the differences."""

    rows: list[ComparisonRow]
    dropped: int
    """The number of captures that the sessions had evicted or dropped."""

    @property
    def differing(self) -> list[ComparisonRow]:
        """The rows that are not equal."""
        return [row for row in self.rows if row.verdict != "equal"]

    @property
    def equal(self) -> bool:
        """True if nothing differs."""
        return not self.differing

    @property
    def first(self) -> ComparisonRow | None:
        """The first row that is not equal: where the two runs diverge."""
        return next(iter(self.differing), None)

    @property
    def summary(self) -> str:
        """The outcome in one line."""
        first = self.first
        if first is None:
            text = f"{len(self.rows)} captures, all equal"
        else:
            text = (
                f"{len(self.differing)} of {len(self.rows)} captures differ, "
                f"the first in step {first.step}: {first.key} ({first.verdict})"
            )
        return f"{text}; {self.dropped} were dropped before" if self.dropped else text

    def __str__(self) -> str:
        rows = [_cells(row) for row in self.differing[:_MAX_ROWS]]
        return "\n".join([self.summary, *([text_table(_COLUMNS, rows, _NUMERIC)] if rows else []), *self._more()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [_cells(row) for row in self.differing[:_MAX_ROWS]]
        table = [html_table(_COLUMNS, rows, _NUMERIC)] if rows else []
        return "\n".join([f"<p>{html.escape(self.summary)}</p>", *table, *(f"<p>{line}</p>" for line in self._more())])

    def _more(self) -> list[str]:
        remaining = len(self.differing) - _MAX_ROWS
        return [f"and {remaining} more"] if remaining > 0 else []


def compare(
    a: DebugSession | Iterable[Capture], b: DebugSession | Iterable[Capture], rtol: float = 0.0, atol: float = 0.0
) -> Comparison:
    """Compare the captures of two sessions (or two lists of captures) of the same cells.

    Captures match if they have the same step (counted from the first one of each run), cell, call, direction and slot.
    Elements are equal if they differ by no more than ``atol + rtol * the larger of the two``; NaN equals NaN.

    Raises:
        TypeError: ``a`` or ``b`` is neither a session nor a list of captures.
        ValueError: a tolerance that is negative or not finite.
    """
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < math.inf:
            raise ValueError(f"compare: {name} must be a finite number from 0 on, got {tolerance!r}")
    captures_a, captures_b = _by_position(a, "a"), _by_position(b, "b")
    only_in_b: dict[Any, list[Any]] = {}  # by the preceding position that both runs have
    previous: Any = None
    for position in captures_b:
        if position in captures_a:
            previous = position
        else:
            only_in_b.setdefault(previous, []).append(position)
    rows = [_row(position, None, captures_b[position], rtol, atol) for position in only_in_b.get(None, ())]
    for position, capture in captures_a.items():
        rows.append(_row(position, capture, captures_b.get(position), rtol, atol))
        rows += [_row(added, None, captures_b[added], rtol, atol) for added in only_in_b.get(position, ())]
    rings = [run.captures for run in (a, b) if isinstance(run, DebugSession)]
    return Comparison(rows, sum(ring.dropped + ring.given_up for ring in rings))


_Position = tuple[int, str, str, int]


def _by_position(run: Any, name: str) -> dict[_Position, Capture]:
    """Return a run's captures by position: step from 1 on, key, origin, number of earlier ones with the same three."""
    captures = run.captures if isinstance(run, DebugSession) else run
    if not isinstance(captures, CaptureRing | list | tuple) or not all(isinstance(item, Capture) for item in captures):
        raise TypeError(f"compare: {name} must be a DebugSession or a list of Captures, got {type(run).__name__}")
    captures_by_position: dict[_Position, Capture] = {}
    first = min((capture.step for capture in captures), default=0)
    for capture in captures:
        repeat = 0
        while (position := (capture.step - first + 1, capture.key, capture.origin, repeat)) in captures_by_position:
            repeat += 1
        captures_by_position[position] = capture
    return captures_by_position


def _row(position: _Position, a: Capture | None, b: Capture | None, rtol: float, atol: float) -> ComparisonRow:
    step, key = position[:2]
    if a is None or b is None:
        return ComparisonRow(step, key, "only in b" if a is None else "only in a", a, b)
    if a.shape != b.shape:
        return ComparisonRow(step, key, "other shape", a, b)
    first, second = a.value.asnumpy(), b.value.asnumpy()
    has_same_dtype = first.dtype == second.dtype
    if has_same_dtype and np.array_equal(first, second, equal_nan=True):
        return ComparisonRow(step, key, "equal", a, b)
    if not first.size:
        return ComparisonRow(step, key, "other dtype", a, b)
    is_close = False
    first, second = _wide(first), _wide(second)
    if rtol or atol:
        tolerance = atol + rtol * np.nan_to_num(np.maximum(np.abs(first), np.abs(second)), nan=0.0, posinf=0.0)
        is_close = not (distance(first, second) > tolerance).any()
    verdict = "other dtype" if not has_same_dtype else "equal" if is_close else "differs"
    return ComparisonRow(step, key, verdict, a, b, farthest(first, second))


def _wide(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _cells(row: ComparisonRow) -> list[str]:
    captures = [capture for capture in (row.a, row.b) if capture is not None]
    shapes = dict.fromkeys("x".join(map(str, capture.shape)) or "()" for capture in captures)
    dtypes = dict.fromkeys(capture.dtype for capture in captures)
    figures = [""] * 5
    if row.difference is not None:
        figures = [*row.difference.cells(), f"{row.difference.value:.6g}", f"{row.difference.other:.6g}"]
    return [str(row.step), row.key, row.verdict, ", ".join(shapes), ", ".join(dtypes), *figures]
