"""``compare``: two runs, capture by capture; the first that differs is where they part."""

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

# Rows of the printed table: the first ones tell where two runs part.
_SHOWN = 20
_COLUMNS = ("step", "value", "verdict", "shape", "dtype", "difference", "relative", "at", "a there", "b there")
_NUMERIC = ("step", "difference", "relative", "a there", "b there")


@dataclass(frozen=True, eq=False)
class ComparisonRow:
    """One place that both runs came to, or one of them.

    Attributes:
        step: counted from the first step of each run, from 1.
        key: the place in words, as ``Capture.key``.
        verdict: "equal", "differs", "other shape", "other dtype", "only in a" or "only in b".
        a, b: the captures; None where there is none.
        difference: the largest; None where there is nothing to subtract.
    """

    step: int
    key: str
    verdict: str
    a: Capture | None
    b: Capture | None
    difference: Difference | None = None


@dataclass(frozen=True, repr=False)
class Comparison:
    """What ``compare`` found, in the order of the first run; prints as a table of what differs."""

    rows: list[ComparisonRow]
    dropped: int
    """Captures that the sessions no longer had."""

    @property
    def differing(self) -> list[ComparisonRow]:
        """The rows that are not equal."""
        return [row for row in self.rows if row.verdict != "equal"]

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not self.differing

    @property
    def first(self) -> ComparisonRow | None:
        """The first row that is not equal: where the two runs part."""
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
        rows = [_cells(row) for row in self.differing[:_SHOWN]]
        return "\n".join([self.summary, *([text_table(_COLUMNS, rows, _NUMERIC)] if rows else []), *self._more()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [_cells(row) for row in self.differing[:_SHOWN]]
        table = [html_table(_COLUMNS, rows, _NUMERIC)] if rows else []
        return "\n".join([f"<p>{html.escape(self.summary)}</p>", *table, *(f"<p>{m}</p>" for m in self._more())])

    def _more(self) -> list[str]:
        more = len(self.differing) - _SHOWN
        return [f"and {more} more"] if more > 0 else []


def compare(
    a: DebugSession | Iterable[Capture], b: DebugSession | Iterable[Capture], rtol: float = 0.0, atol: float = 0.0
) -> Comparison:
    """Compare the captures of two sessions (or two lists of captures) that watched the same cells.

    Captures belong together that are of the same step (counted from the first one of each run), cell, call, direction
    and place. Elements are equal if they differ by no more than ``atol + rtol * the larger of the two``; NaN equals
    NaN.

    Raises:
        TypeError: something else to compare.
        ValueError: a tolerance that is negative or not finite.
    """
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < math.inf:
            raise ValueError(f"compare: {name} must be a finite number from 0 on, got {tolerance!r}")
    of_a, of_b = _by_place(a, "a"), _by_place(b, "b")
    only_in_b: dict[Any, list[Any]] = {}  # by the place in b that both have and that they follow
    before: Any = None
    for place in of_b:
        if place in of_a:
            before = place
        else:
            only_in_b.setdefault(before, []).append(place)
    rows = [_row(place, None, of_b[place], rtol, atol) for place in only_in_b.get(None, ())]
    for place, capture in of_a.items():
        rows.append(_row(place, capture, of_b.get(place), rtol, atol))
        rows += [_row(new, None, of_b[new], rtol, atol) for new in only_in_b.get(place, ())]
    rings = [x.captures for x in (a, b) if isinstance(x, DebugSession)]
    return Comparison(rows, sum(ring.dropped + ring.given_up for ring in rings))


_Place = tuple[int, str, str, int]


def _by_place(run: Any, name: str) -> dict[_Place, Capture]:
    """The captures by step, key, origin and how many came to the same place before."""
    captures = run.captures if isinstance(run, DebugSession) else run
    if not isinstance(captures, CaptureRing | list | tuple) or not all(isinstance(c, Capture) for c in captures):
        raise TypeError(f"compare: {name} must be a DebugSession or a list of Captures, got {type(run).__name__}")
    found: dict[_Place, Capture] = {}
    first = min((capture.step for capture in captures), default=0)
    for capture in captures:
        again = 0
        while (place := (capture.step - first + 1, capture.key, capture.origin, again)) in found:
            again += 1
        found[place] = capture
    return found


def _row(place: _Place, a: Capture | None, b: Capture | None, rtol: float, atol: float) -> ComparisonRow:
    step, key = place[:2]
    if a is None or b is None:
        return ComparisonRow(step, key, "only in b" if a is None else "only in a", a, b)
    if a.shape != b.shape:
        return ComparisonRow(step, key, "other shape", a, b)
    one, other = a.value.asnumpy(), b.value.asnumpy()
    same_dtype = one.dtype == other.dtype
    if same_dtype and np.array_equal(one, other, equal_nan=True):
        return ComparisonRow(step, key, "equal", a, b)
    if not one.size:
        return ComparisonRow(step, key, "other dtype", a, b)
    close = False
    one, other = _wide(one), _wide(other)
    if rtol or atol:
        allowed = atol + rtol * np.nan_to_num(np.maximum(np.abs(one), np.abs(other)), nan=0.0, posinf=0.0)
        close = not (distance(one, other) > allowed).any()
    verdict = "other dtype" if not same_dtype else "equal" if close else "differs"
    return ComparisonRow(step, key, verdict, a, b, farthest(one, other))


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
