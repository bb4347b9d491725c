"""Reductions: in which dtype each is computed, and that they take no ``initial`` and no ``where``."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from .counts import launched
from .facts import BFLOAT16, REDUCTIONS, Loop

if TYPE_CHECKING:
    from .arrays import ndarray

__all__ = ["reduce"]

HALVES = (np.dtype(np.float16), BFLOAT16)
# The variance is a mean and sums of squares, and its root one more; sums along an axis are in parts and then of parts.
LAUNCHES = {"var": 2, "std": 3, "cumsum": 2, "cumprod": 2, "ptp": 2}


def reduce(
    name: str, array: ndarray, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **more: Any
) -> Any:
    """Return ``array.<name>(...)``: a new array, of no dimensions too, or ``out``."""
    from .arrays import converted, ndarray, wrapped

    if isinstance(out, np.ndarray) or not isinstance(out, ndarray | None):
        raise TypeError("Output arguments type must be cupy.ndarray")
    operand, result = _dtypes(name, array.dtype, None if dtype is None else np.dtype(dtype))
    launched(f"ndarray.{name}", LAUNCHES.get(name, 1))
    values = converted(array._values, np.dtype(np.float32) if operand in HALVES else operand)
    if not name.startswith("cum"):
        more["keepdims"] = bool(keepdims)
    with np.errstate(all="ignore"):
        actual = np.asarray(getattr(np, name)(values, axis=axis, **_layout(name, values), **more))
    actual = converted(actual, result)
    if out is None:
        return wrapped(np.ascontiguousarray(actual).reshape(actual.shape))
    if out.shape != actual.shape:
        raise ValueError("Out shape is mismatched")
    out._values[...] = converted(actual, out.dtype)
    return out


def _layout(name: str, values: Any) -> dict[str, Any]:
    """Return the keyword that keeps NumPy's sums of small integers in the chosen dtype."""
    return {"dtype": values.dtype} if name in ("sum", "prod", "cumsum", "cumprod") and values.dtype.kind != "b" else {}


@functools.cache
def _dtypes(name: str, argument: np.dtype[Any], requested: np.dtype[Any] | None) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return the dtype in which the elements come, and that of the result."""
    if name in ("argmax", "argmin"):
        return argument, np.dtype(np.int64)
    if name in ("mean", "var", "std"):
        real = np.dtype(np.float64) if argument.kind in "biu" else argument
        if requested is not None:
            return requested, requested
        return real, np.empty(0, real).real.dtype if name != "mean" else real
    kind = {"cumsum": "sum", "cumprod": "prod", "ptp": "max"}.get(name, name)
    if requested is not None:
        result = next((loop for loop in REDUCTIONS[f"{kind} with dtype"] if loop[1][0] == requested), None)
    else:
        result = _first(REDUCTIONS[kind], argument)
    if result is None:
        raise TypeError(f"Wrong type ({requested or argument}) of arguments for cupy_{name}")
    # Of the same dtype by loops where no loop is exact: what can be cast to it without loss, as NumPy says.
    return (result[0][0] if requested is None else requested), result[1][0]


def _first(loops: tuple[Loop, ...], argument: np.dtype[Any]) -> Loop | None:
    return next((loop for loop in loops if np.can_cast(argument, loop[0][0])), None)
