"""``check_gradient``: comparison of a cell's gradient with the automatic one of its ``construct`` and with differences.

Everything is computed in float64 on an isolated copy (``differentiated.py``). The output gradients are random, since
ones would not detect errors that sum to zero, as in a softmax.

Differences are taken element by element (``finite_differences.py``). For large values, a sample of the elements is
checked: first some where the gradient differs from the automatic one, then random ones. One random direction through
the other elements is checked as well.

For a wrong gradient, the reason also says what it resembles (``likeness.py``).
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
from .finite_differences import Slope
from .gradient_rows import GradientCheck, GradientRow
from .isolated import EPSILON
from .wrong_gradients import Compared, likenesses

__all__ = ["check_gradient"]

_WRT = ("all", "inputs", "parameters")
# Allowed relative difference by the dtype with the fewest digits in the computation. In float64, differences of third
# order and rounding stay below 1e-8 for values near 1; in the others a few hundred roundings.
_RTOL = {"float64": 1e-5, "float32": 1e-3, "complex64": 1e-3, "float16": 3e-2, "bfloat16": 1e-1}
# An element far below the largest one has a tolerance relative to that one: sums lose its digits.
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

    The cell is not changed: no value, no mode, no random state, and its hooks do not run. A cell that requires a
    narrower dtype is compared with the tolerance of that dtype. For a wrong gradient, the row's reason also says what
    it resembles, such as "transposed", if it resembles something simple.

    Args:
        cell: the cell; the bprops of its inner cells are checked with it.
        *inputs: the inputs of the call.
        sens: the output gradients; random ones by default.
        wrt: "inputs", "parameters" or "all".
        eps: the step of the differences, times the element's magnitude if that is above 1.
        rtol, atol: the tolerances; by default ``rtol`` depends on the dtype with the fewest digits in the computation.
        samples: the number of elements of each value to take differences at.
        seconds: approximate time limit; each value gets one element at least.
        seed: seed of the choice of elements and of ``sens``.

    Raises:
        TypeError: ``cell`` is not a cell, or cannot be copied.
        ValueError: a bad option, or ``sens`` that does not fit the outputs.
        Stopped: the check was stopped (``engine.tape.progress``).
        Exception: any exception of ``construct`` or ``bprop``.
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
    # Code that accepts only its own dtype is checked in it; for any other error, the second call raises it again.
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
    """One check, in float64 if ``wide``."""

    def __init__(self, cell: Cell, inputs: tuple[Any, ...], sens: Any, wrt: str, options: _Options, wide: bool) -> None:
        self.options = options
        self.random = np.random.default_rng(options.seed)
        self.call = DifferentiatedCall(cell, inputs, sens, wrt, self.random, wide)
        self.cell = cell
        self.name = f"{cell._path} ({type(cell).__name__})" if cell._path else type(cell).__name__

    def result(self) -> GradientCheck:
        """Compare leaf by leaf; return the check."""
        rows: list[GradientRow] = []
        compared: list[Compared] = []
        if self.call.leaves:
            counts = [min(leaf.numbers().size, self.options.samples) for leaf in self.call.leaves]
            with progress("gradient check", sum(counts), "elements", of=self.cell) as work:
                gradients = self.call.gradients(automatic=False)
                automatic: list[Any] = [None] * len(gradients)
                if self.call.copy.has_bprop:
                    automatic = self.call.gradients(automatic=True)
                deadline = time.monotonic()
                for leaf, gradient, expected, count in zip(self.call.leaves, gradients, automatic, counts, strict=True):
                    deadline += self.options.seconds / len(self.call.leaves)
                    work.detail = leaf.name
                    begin = work.done
                    row, comparison = self._row(leaf, gradient, expected, deadline, work)
                    rows.append(row)
                    compared.append(comparison)
                    work.advance(begin + count - work.done)  # those that were skipped for lack of time
                phrases = likenesses(self.call, compared, _RTOL[self.call.copy.narrowest], self.options.seed)
            rows = [
                row._replace(reason=f"{row.reason}; {phrase}") if phrase else row
                for row, phrase in zip(rows, phrases, strict=True)
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
        checked_slopes = {index // leaf.width: slope for index, slope in slopes.items() if index is not None}
        row = GradientRow(
            *head,
            verdict,
            reason,
            None if automatic is None else _farthest(leaf, own, automatic),
            _farthest_slope(leaf, slopes),
            len(checked_slopes),
            sum(slope.kink for slope in checked_slopes.values()),
            flat=(automatic is None or not automatic.any())
            and not any(other_slope.value for other_slope in checked_slopes.values() if not other_slope.kink),
        )
        excesses = [slope.tolerance - allowed[index] for index, slope in slopes.items() if index is not None]
        error = max((float(excess) for excess in excesses if math.isfinite(excess)), default=0.0)
        return row, Compared(leaf, own, automatic, slopes, error, verdict == "wrong")

    def _allowed(self, reference: Reals) -> Reals:
        rtol = _RTOL[self.call.copy.narrowest] if self.options.rtol is None else self.options.rtol
        size = np.nan_to_num(np.abs(reference), nan=0.0, posinf=0.0)
        return np.asarray(self.options.atol + rtol * np.maximum(size, _OF_LARGEST * size.max()))

    def _slopes(
        self, leaf: Leaf, own: Reals, allowed: Reals, differs: npt.NDArray[np.bool_], deadline: float, work: Work
    ) -> dict[int | None, Slope]:
        """Return slopes by element, and by None that of a random direction, if elements were left out."""
        epsilon = EPSILON[self.call.copy.narrowest]
        # The error of central differences is minimal where rounding / step is about step^2.
        relative = self.options.eps or epsilon ** (1 / 3)
        numbers = leaf.numbers().astype(np.float64)
        slopes: dict[int | None, Slope] = {}
        for index in self._sample(own.size, differs):
            direction = np.zeros(own.size)
            direction[index] = 1.0
            step = relative * max(1.0, abs(float(numbers[index])))
            slopes[index] = self.call.slope(leaf, direction, float(own[index]), step, float(allowed[index]), epsilon)
            work.advance()
            if time.monotonic() > deadline:
                break
        if len(slopes) < own.size and time.monotonic() <= deadline:
            direction = np.where(differs, 0.0, self.random.choice((-1.0, 1.0), own.size))
            tolerance = float(np.sqrt(np.square(allowed).sum()))
            claimed = float(own[~differs] @ direction[~differs])
            slopes[None] = self.call.slope(leaf, direction, claimed, relative, tolerance, epsilon)
        return slopes

    def _sample(self, size: int, differs: npt.NDArray[np.bool_]) -> list[int]:
        """Return the elements to check: up to half of them where the gradients differ."""
        count = self.options.samples
        if size <= count:
            return list(range(size))
        suspects = self.random.permutation(np.flatnonzero(differs))[: (count + 1) // 2]
        others = self.random.choice(size, count, replace=False)
        return list(dict.fromkeys([*suspects.tolist(), *others.tolist()]))[:count]


def _verdict(
    slopes: dict[int | None, Slope], automatic: Reals | None, differs: npt.NDArray[np.bool_]
) -> tuple[str, str]:
    """Return the verdict on one gradient and its reason."""
    if any(slope.wrong for slope in slopes.values()):
        suffix = " and from the automatic gradient" if differs.any() else ""
        return "wrong", f"differs from finite differences{suffix}"
    if automatic is not None and differs.any():
        compared = [
            (slope, automatic[index]) for index, slope in slopes.items() if index is not None and differs[index]
        ]
        # If construct is detached in between, the automatic gradient is the one that differences refute.
        refuted = [not slope.kink and abs(slope.value - reference) > slope.tolerance for slope, reference in compared]
        if not compared or not all(
            slope.kink or is_refuted for (slope, _), is_refuted in zip(compared, refuted, strict=True)
        ):
            return "wrong", "differs from the automatic gradient"
        if any(refuted):
            return "right", "differs from the automatic gradient, which finite differences refute"
        return "kink", "differs from the automatic gradient, but only where construct is not differentiable"
    if all(slope.kink for slope in slopes.values()):
        return "kink", "not differentiable where it was looked at"
    return "right", ""


def _farthest(leaf: Leaf, own: Reals, automatic: Reals) -> Difference:
    index = int(np.argmax(distance(own, automatic)))
    return _difference(leaf, index, float(own[index]), float(automatic[index]))


def _farthest_slope(leaf: Leaf, slopes: dict[int | None, Slope]) -> Difference | None:
    smooth = [(index, slope) for index, slope in slopes.items() if not slope.kink]
    if not smooth:
        return None
    # A wrong slope precedes one that is only distant, in a direction of large slopes.
    index, slope = max(smooth, key=lambda pair: (pair[1].wrong, pair[0] is not None, pair[1].distance))
    return _difference(leaf, index, slope.claimed, slope.value)


def _difference(leaf: Leaf, index: int | None, value: float, other: float) -> Difference:
    if index is None:
        return element(value, other, None)
    return element(
        value, other, tuple(int(coordinate) for coordinate in np.unravel_index(index // leaf.width, leaf.shape))
    )
