"""Padding of tensors: by constants, the edge, reflected or wrapped elements, ramps, means and extremes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import check_int, check_one_of
from ...base.types import TensorLike
from ...tensors.dtype import float64
from ...tensors.tensor import Tensor
from .arrays import asarray, new_tensor
from .shapes import apply_along_axis

__all__ = ["pad"]

_COPIES = ("edge", "reflect", "symmetric", "wrap")
_EXTREMES = {"maximum": ops.amax, "minimum": ops.amin, "mean": ops.mean}
_MODES = ("constant", "empty", "linear_ramp", *_COPIES, *_EXTREMES)


def pad(
    arr: TensorLike,
    pad_width: Any,
    mode: str | Callable[..., Any] = "constant",
    stat_length: Any = None,
    constant_values: Any = 0,
    end_values: Any = 0,
    reflect_type: str = "even",
    **kwargs: Any,
) -> Tensor:
    """Pad a tensor before and after each axis, one axis after the other.

    Args:
        arr: the tensor to pad.
        pad_width: the number of elements: an int, a pair (before, after), or such a pair for each axis.
        mode: the values. "constant": ``constant_values``; "empty": zeros, though unspecified; "edge": the outermost
            element; "reflect": those within, from the second on, in reverse order; "symmetric": the same from the first
            on; "wrap": those from the other end; "linear_ramp": from the outermost element evenly to ``end_values``;
            "maximum", "minimum", "mean": of the outermost ``stat_length`` elements. A function gets each vector along
            an axis, padded with zeros, the pair of widths, the axis and ``kwargs``, and returns the final vector.
        stat_length: the number of elements for "maximum", "minimum" and "mean"; in the form of ``pad_width``; None is
            all.
        constant_values: for "constant", in the form of ``pad_width``.
        end_values: for "linear_ramp", in the form of ``pad_width``.
        reflect_type: for "reflect" and "symmetric": "even": unchanged; "odd": twice the outermost element minus them.
        **kwargs: passed to a function, in a dictionary.

    Returns:
        a Tensor of the dtype of ``arr``.

    Raises:
        ValueError: an unknown ``mode`` or ``reflect_type``, a negative width, values that do not fit the axes, or an
            axis without elements that is padded otherwise than by constants.
    """
    x = asarray(arr)
    widths = _pairs(pad_width, x.ndim, "pad_width")
    for width in itertools.chain(*widths):
        check_int(width, "numpy.pad", "pad_width")
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError(f"For 'numpy.pad', 'pad_width' must not be negative, but got {pad_width}")
    if callable(mode):
        return _by_function(x, mode, widths, kwargs)
    check_one_of(mode, _MODES, "numpy.pad", "mode")
    check_one_of(reflect_type, ("even", "odd"), "numpy.pad", "reflect_type")
    ends = _pairs({"constant": constant_values, "linear_ramp": end_values}.get(mode, 0), x.ndim, "constant_values")
    counts = _pairs(stat_length, x.ndim, "stat_length")
    for axis, (before, behind) in enumerate(widths):
        if not before and not behind:
            continue
        lines = ops.moveaxis(x, axis, 0)
        if not lines.shape[0] and mode not in ("constant", "empty"):
            raise ValueError(f"For 'numpy.pad', axis {axis} must have elements for the mode {mode!r}")
        if mode in _COPIES and not (mode in ("reflect", "symmetric") and reflect_type == "odd"):
            sources = np.pad(np.arange(lines.shape[0]), (before, behind), mode)  # type: ignore[call-overload]
            padded = lines[new_tensor(sources)]
        elif mode in _COPIES:
            padded = _odd(lines, before, behind, first=mode == "reflect")
        else:
            head = _block(lines, mode, before, ends[axis][0], counts[axis][0])
            tail = _block(ops.flip(lines, (0,)), mode, behind, ends[axis][1], counts[axis][1])
            padded = ops.cat([head, lines, ops.flip(tail, (0,))], 0)
        x = ops.moveaxis(padded, 0, axis)
    return x


def _pairs(value: Any, axes: int, argument: str) -> list[tuple[Any, Any]]:
    """Return (before, after) for each axis."""
    try:
        array = np.asarray(value.asnumpy() if isinstance(value, Tensor) else value, object if value is None else None)
        return [tuple(pair) for pair in np.broadcast_to(array, (axes, 2)).tolist()]
    except ValueError:
        raise ValueError(
            f"For 'numpy.pad', '{argument}' must be a number, a pair or a pair for each of {axes} axes, but got {value}"
        ) from None


def _block(lines: Tensor, mode: str, width: int, end: Any, count: int | None) -> Tensor:
    """Return the block of lines to insert before the first line, from the outside inward."""
    shape = (width, *lines.shape[1:])
    if mode in ("constant", "empty"):
        return ops.full(shape, end, dtype=lines.dtype)
    integral = not (lines.dtype.is_floating_point or lines.dtype.is_complex)
    if mode in _EXTREMES:
        used = lines if count is None else lines[:count]
        padding = _EXTREMES[mode](used.astype(float64) if integral else used, 0, True)
    else:
        steps = np.arange(width).reshape(-1, *[1] * (lines.ndim - 1)) / max(width, 1)
        parts = new_tensor(steps, float64 if integral else lines.dtype)
        padding = end + (lines[:1] - end) * parts
    return ops.broadcast_to((ops.round(padding) if mode == "mean" and integral else padding).astype(lines.dtype), shape)


def _odd(lines: Tensor, before: int, behind: int, first: bool) -> Tensor:
    """Extend both ends by twice the outermost line minus the lines within, repeatedly.

    Args:
        lines: the tensor to extend, along the first axis.
        before: the number of lines before it.
        behind: the number of lines after it.
        first: whether the outermost line itself is left out.
    """
    skip = int(first)
    if lines.shape[0] == 1 and first:
        return ops.cat([lines] * (before + 1 + behind), 0)
    extended = lines
    while before or behind:
        length = extended.shape[0] - skip
        front, back = min(before, length), min(behind, length)
        head = 2 * extended[:1] - ops.flip(extended[skip : skip + front], (0,))
        flipped = ops.flip(extended, (0,))
        tail = 2 * extended[-1:] - flipped[skip : skip + back]
        extended = ops.cat([head, extended, tail], 0)
        before, behind = before - front, behind - back
    return extended


def _by_function(
    x: Tensor, function: Callable[..., Any], widths: list[tuple[Any, Any]], options: dict[str, Any]
) -> Tensor:
    for axis, (before, behind) in enumerate(widths):
        lines = ops.moveaxis(x, axis, 0)
        zeros = [ops.zeros((width, *lines.shape[1:]), x.dtype) for width in (before, behind)]
        x = ops.moveaxis(ops.cat([zeros[0], lines, zeros[1]], 0), 0, axis)
    for axis, pair in enumerate(widths):
        x = apply_along_axis(function, axis, x, pair, axis, options)
    return x
