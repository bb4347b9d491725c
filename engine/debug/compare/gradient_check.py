"""``check_gradient``: a cell's gradient beside the automatic gradient of its ``construct`` and beside differences.

Everything is computed in float64 on an isolated copy (``differentiated.py``), with random gradients arriving at the
outputs: with ones, errors that add up to nothing (in a softmax) would not show.

Differences are taken element by element (``slopes.py``). Of large values a random sample of elements is looked at,
those first where the gradient differs from the automatic one, and one random direction through all of them.

Of a gradient that is wrong, the reason says what it looks like, too (``likeness.py``).
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hookscope.engine.nn import Cell
from hookscope.engine.tape.progress import Work, progress

from .difference import Difference, distance, element
from .differentiated import DifferentiatedCall, Leaf, Reals
from .gradient_rows import GradientCheck, GradientRow
from .isolated import EPSILON
from .slopes import Slope
from .wrong_gradients import Compared, likenesses

__all__ = ["check_gradient"]

_WRT = ("all", "inputs", "parameters")
# Allowed relative difference by the dtype with the fewest digits on the way. In float64 differences of
# third order and rounding stay below 1e-8 for values near 1; in the others a few hundred roundings.
_RTOL = {"float64": 1e-5, "float32": 1e-3, "complex64": 1e-3, "float16": 3e-2, "bfloat16": 1e-1}
# An element far below the largest one is not held to its own digits: sums lose them.
_OF_LARGEST = 1e-3


def check_gradient(
    cell: Cell,
    *inputs: Any,
    sens: Any = None,
    wrt: str = "all",
    eps: float | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    samples: int = 64,
    seconds: float = 10.0,
    seed: int = 0,
) -> GradientCheck:
    """Compare a cell's gradient with the automatic one of its ``construct`` and with finite differences.

    The cell is not touched: no value, no mode, no random number, and its hooks do not run. A cell whose code insists
    on a narrower dtype is compared with the tolerance of that dtype. Where a gradient is wrong, its row's reason goes
    on with what it looks like, such as "transposed", if it looks like something simple.

    Args:
        cell: the cell; the bprops of the cells inside it are checked with it.
        *inputs: what it is called with.
        sens: the gradients that arrive at the outputs; random ones where none are given.
        wrt: "inputs", "parameters" or "all".
        eps: the step of the differences, times the element's magnitude where that is above 1.
        rtol, atol: what may differ; by default ``rtol`` goes by the dtype with the fewest digits on the way.
        samples: how many elements of each value to take differences at.
        seconds: about how long that may take; each value gets one element at least.
        seed: of the choice of elements and of ``sens``.

    Raises:
        TypeError: ``cell`` is no cell, or cannot be copied.
        ValueError: a bad option, or ``sens`` that does not fit the outputs.
        Stopped: somebody asked it to stop (``engine.progress``).
        Exception: whatever ``construct`` or ``bprop`` raises.
    """
    if not isinstance(cell, Cell):
        raise TypeError(f"check_gradient: cell must be a Cell, got {type(cell).__name__}")
    if wrt not in _WRT:
        raise ValueError(f"check_gradient: wrt must be one of {', '.join(_WRT)}, got {wrt!r}")
    for name, value in (("eps", eps), ("rtol", rtol), ("atol", atol), ("seconds", seconds)):
        if value is not None and not (isinstance(value, int | float) and 0 <= value < math.inf):
            raise ValueError(f"check_gradient: {name} must be a finite number from 0 on, got {value!r}")
    if eps == 0:
        raise ValueError("check_gradient: eps must be above 0")
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise ValueError(f"check_gradient: samples must be a positive integer, got {samples!r}")
    options = _Options(eps, rtol, atol, samples, seconds, seed)
    # Code that takes only its own dtype is checked in it; a mistake of another kind it makes again.
    with suppress(TypeError, ValueError, RuntimeError):
        return _Check(cell, inputs, sens, wrt, options, wide=True).result()
    return _Check(cell, inputs, sens, wrt, options, wide=False).result()


class _Options(NamedTuple):
    eps: float | None
    rtol: float | None
    atol: float
    samples: int
    seconds: float
    seed: int


class _Check:
    """One check; ``wide`` says whether in float64."""

    def __init__(self, cell: Cell, inputs: tuple[Any, ...], sens: Any, wrt: str, options: _Options, wide: bool) -> None:
        self.options = options
        self.random = np.random.default_rng(options.seed)
        self.call = DifferentiatedCall(cell, inputs, sens, wrt, self.random, wide)
        self.cell = cell
        self.name = f"{cell._path} ({type(cell).__name__})" if cell._path else type(cell).__name__

    def result(self) -> GradientCheck:
        """Compare leaf by leaf."""
        rows: list[GradientRow] = []
        compared: list[Compared] = []
        if self.call.leaves:
            counts = [min(leaf.numbers().size, self.options.samples) for leaf in self.call.leaves]
            with progress("gradient check", sum(counts), "elements", of=self.cell) as work:
                own = self.call.gradients(automatic=False)
                automatic: list[Any] = [None] * len(own)
                if self.call.copy.has_bprop:
                    automatic = self.call.gradients(automatic=True)
                deadline = time.monotonic()
                for leaf, mine, expected, count in zip(self.call.leaves, own, automatic, counts, strict=True):
                    deadline += self.options.seconds / len(self.call.leaves)
                    work.detail = leaf.name
                    begin = work.done
                    row, one = self._row(leaf, mine, expected, deadline, work)
                    rows.append(row)
                    compared.append(one)
                    work.advance(begin + count - work.done)  # those for which there was no time
                found = likenesses(self.call, compared, _RTOL[self.call.copy.narrowest], self.options.seed)
            rows = [
                row._replace(reason=f"{row.reason}; {phrase}") if phrase else row
                for row, phrase in zip(rows, found, strict=True)
            ]
        return GradientCheck(self.name, self.call.copy.narrowest, [*rows, *self.call.skipped])

    def _row(
        self, leaf: Leaf, own: Reals, automatic: Reals | None, deadline: float, work: Work
    ) -> tuple[GradientRow, Compared]:
        head = (leaf.name, leaf.kind, leaf.shape, leaf.dtype)
        if not own.size:
            return GradientRow(*head, "skipped", "no elements"), Compared(leaf, own, automatic, {}, 0.0, False)
        allowed = self._allowed(own if automatic is None else automatic)
        differs = np.zeros(own.size, bool) if automatic is None else distance(own, automatic) > allowed
        slopes = self._slopes(leaf, own, allowed, differs, deadline, work)
        verdict, reason = _verdict(slopes, automatic, differs)
        if verdict == "kink" and not self.call.finite:
            reason = "the output is not finite here"
        looked = {place // leaf.width: slope for place, slope in slopes.items() if place is not None}
        row = GradientRow(
            *head,
            verdict,
            reason,
            None if automatic is None else _farthest(leaf, own, automatic),
            _farthest_slope(leaf, slopes),
            len(looked),
            sum(slope.kink for slope in looked.values()),
            flat=(automatic is None or not automatic.any()) and not any(s.value for s in looked.values() if not s.kink),
        )
        judged = [slope.tolerance - allowed[place] for place, slope in slopes.items() if place is not None]
        error = max((float(one) for one in judged if math.isfinite(one)), default=0.0)
        return row, Compared(leaf, own, automatic, slopes, error, verdict == "wrong")

    def _allowed(self, reference: Reals) -> Reals:
        rtol = _RTOL[self.call.copy.narrowest] if self.options.rtol is None else self.options.rtol
        size = np.nan_to_num(np.abs(reference), nan=0.0, posinf=0.0)
        return np.asarray(self.options.atol + rtol * np.maximum(size, _OF_LARGEST * size.max()))

    def _slopes(
        self, leaf: Leaf, own: Reals, allowed: Reals, differs: npt.NDArray[np.bool_], deadline: float, work: Work
    ) -> dict[int | None, Slope]:
        """Slopes by element, and by None the one in a random direction, if elements are left out."""
        epsilon = EPSILON[self.call.copy.narrowest]
        # The error of central differences is least where rounding / step is about step^2.
        relative = self.options.eps or epsilon ** (1 / 3)
        at = leaf.numbers().astype(np.float64)
        found: dict[int | None, Slope] = {}
        for place in self._sample(own.size, differs):
            along = np.zeros(own.size)
            along[place] = 1.0
            step = relative * max(1.0, abs(float(at[place])))
            found[place] = self.call.slope(leaf, along, float(own[place]), step, float(allowed[place]), epsilon)
            work.advance()
            if time.monotonic() > deadline:
                break
        if len(found) < own.size and time.monotonic() <= deadline:
            along = np.where(differs, 0.0, self.random.choice((-1.0, 1.0), own.size))
            tolerance = float(np.sqrt(np.square(allowed).sum()))
            claimed = float(own[~differs] @ along[~differs])
            found[None] = self.call.slope(leaf, along, claimed, relative, tolerance, epsilon)
        return found

    def _sample(self, size: int, differs: npt.NDArray[np.bool_]) -> list[int]:
        """Which elements to look at: half of them, if so many are, where the gradients differ."""
        wanted = self.options.samples
        if size <= wanted:
            return list(range(size))
        suspects = self.random.permutation(np.flatnonzero(differs))[: (wanted + 1) // 2]
        others = self.random.choice(size, wanted, replace=False)
        return list(dict.fromkeys([*suspects.tolist(), *others.tolist()]))[:wanted]


def _verdict(
    slopes: dict[int | None, Slope], automatic: Reals | None, differs: npt.NDArray[np.bool_]
) -> tuple[str, str]:
    """The verdict on one gradient and its reason."""
    if any(slope.wrong for slope in slopes.values()):
        also = " and from the automatic gradient" if differs.any() else ""
        return "wrong", f"differs from finite differences{also}"
    if automatic is not None and differs.any():
        looked = [(slope, automatic[place]) for place, slope in slopes.items() if place is not None and differs[place]]
        # Where construct is detached on the way, the automatic gradient is the one that differences refute.
        borne_out = [not slope.kink and abs(slope.value - other) > slope.tolerance for slope, other in looked]
        if not looked or not all(slope.kink or fine for (slope, _), fine in zip(looked, borne_out, strict=True)):
            return "wrong", "differs from the automatic gradient"
        if any(borne_out):
            return "right", "differs from the automatic gradient, which finite differences refute"
        return "kink", "differs from the automatic gradient, but only where construct is not differentiable"
    if all(slope.kink for slope in slopes.values()):
        return "kink", "not differentiable where it was looked at"
    return "right", ""


def _farthest(leaf: Leaf, own: Reals, automatic: Reals) -> Difference:
    place = int(np.argmax(distance(own, automatic)))
    return _difference(leaf, place, float(own[place]), float(automatic[place]))


def _farthest_slope(leaf: Leaf, slopes: dict[int | None, Slope]) -> Difference | None:
    judged = [(place, slope) for place, slope in slopes.items() if not slope.kink]
    if not judged:
        return None
    # One that is wrong comes before one that is only far, in a direction along which slopes are large.
    place, slope = max(judged, key=lambda pair: (pair[1].wrong, pair[0] is not None, pair[1].distance))
    return _difference(leaf, place, slope.claimed, slope.value)


def _difference(leaf: Leaf, place: int | None, value: float, other: float) -> Difference:
    if place is None:
        return element(value, other, None)
    return element(value, other, tuple(int(k) for k in np.unravel_index(place // leaf.width, leaf.shape)))
