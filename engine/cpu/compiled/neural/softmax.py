"""Softmax and its logarithm along rows, and their gradients: each row is in a cache when it is read again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..library.loops import RUN, exp, f32, f64, floats, helper, i64, kernel, largest

__all__ = ["log_softmax", "log_softmax_grad", "softmax", "softmax_grad"]


@helper
def _exponentials(x: Any, y: Any, top: Any) -> Any:
    """Write exp(x - top) to y; return their sum."""
    total = f64(0)
    for start in range(0, x.size, RUN):
        old, new, part = x[start : start + RUN], y[start : start + RUN], f32(0)
        for i in range(old.size):
            power = exp(old[i] - top)
            new[i] = power
            part += power
        total += f64(part)
    return total


@helper
def _scaled(x: Any, factor: Any) -> None:
    for i in range(x.size):
        x[i] *= factor


@kernel(i64, i64, i64, i64, i64)
def softmax(first: int, stop: int, x: int, y: int, rows: int, count: int, each: int) -> None:
    """Compute softmax of x (rows, count), ``each`` rows to a part."""
    for row in range(first * each, min(stop * each, rows)):
        old, new = floats(x + 4 * row * count, count), floats(y + 4 * row * count, count)
        _scaled(new, f32(1 / _exponentials(old, new, largest(old))))


@helper
def _differences(x: Any, y: Any, top: Any, length: Any) -> None:
    for i in range(x.size):
        y[i] = (x[i] - top) - length


@kernel(i64, i64, i64, i64, i64)
def log_softmax(first: int, stop: int, x: int, y: int, rows: int, count: int, each: int) -> None:
    """Compute log-softmax of x (rows, count), ``each`` rows to a part."""
    for row in range(first * each, min(stop * each, rows)):
        old, new = floats(x + 4 * row * count, count), floats(y + 4 * row * count, count)
        top = largest(old)
        _differences(old, new, top, f32(np.log(_exponentials(old, new, top))))


@helper
def _dot(x: Any, y: Any) -> Any:
    total = f64(0)
    for start in range(0, x.size, RUN):
        x_run, y_run, part = x[start : start + RUN], y[start : start + RUN], f32(0)
        for i in range(x_run.size):
            part += x_run[i] * y_run[i]
        total += f64(part)
    return total


@helper
def _of_softmax(g: Any, y: Any, dx: Any, inner: Any) -> None:
    for i in range(g.size):
        dx[i] = (g[i] - inner) * y[i]


@kernel(i64, i64, i64, i64, i64, i64)
def softmax_grad(first: int, stop: int, g: int, y: int, dx: int, rows: int, count: int, each: int) -> None:
    """Compute the gradient from the output y (rows, count)."""
    for row in range(first * each, min(stop * each, rows)):
        at = 4 * row * count
        gradient, out = floats(g + at, count), floats(y + at, count)
        _of_softmax(gradient, out, floats(dx + at, count), f32(_dot(gradient, out)))


@helper
def _sum(x: Any) -> Any:
    total = f64(0)
    for start in range(0, x.size, RUN):
        run, part = x[start : start + RUN], f32(0)
        for i in range(run.size):
            part += run[i]
        total += f64(part)
    return total


@helper
def _of_log_softmax(g: Any, y: Any, dx: Any, total: Any) -> None:
    for i in range(g.size):
        dx[i] = g[i] - exp(y[i]) * total


@kernel(i64, i64, i64, i64, i64, i64)
def log_softmax_grad(first: int, stop: int, g: int, y: int, dx: int, rows: int, count: int, each: int) -> None:
    """Compute the gradient from the output y (rows, count)."""
    for row in range(first * each, min(stop * each, rows)):
        at = 4 * row * count
        gradient = floats(g + at, count)
        _of_log_softmax(gradient, floats(y + at, count), floats(dx + at, count), f32(_sum(gradient)))
