"""Normalization of rows, forward and back: each row is in the first cache when it is read again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..library.loops import f32, f64, floats, helper, i64, kernel, moments, read_array, written_array

__all__ = ["layer_norm", "layer_norm_grad"]


@helper
def _normalized(x: Any, y: Any, mean: Any, rstd: Any, gamma: Any, beta: Any) -> None:
    for i in range(x.size):
        y[i] = (x[i] - mean) * rstd * gamma[i] + beta[i]


@kernel(i64, i64, i64, i64, i64, f64, read_array(), read_array(), written_array(f32, 2))
def layer_norm(
    first: int,
    stop: int,
    x: int,
    y: int,
    rows: int,
    count: int,
    each: int,
    epsilon: float,
    gamma: Any,
    beta: Any,
    statistics: Any,
) -> None:
    """Compute (x - mean) / sqrt(var + epsilon) * gamma + beta of x (rows, count), ``each`` rows to a part.

    ``statistics`` (2, rows) are the mean and 1 / sqrt(var + epsilon).
    """
    for row in range(first * each, min(stop * each, rows)):
        at = 4 * row * count
        average, variance = moments(x + at, count)
        mean, rstd = f32(average), f32(1 / np.sqrt(variance + epsilon))
        statistics[0, row], statistics[1, row] = mean, rstd
        _normalized(floats(x + at, count), floats(y + at, count), mean, rstd, gamma, beta)


@helper
def _sums(g: Any, x: Any, mean: Any, rstd: Any, gamma: Any, of_gamma: Any, of_beta: Any) -> Any:
    total, along = f32(0), f32(0)
    for i in range(x.size):
        normal, scaled = (x[i] - mean) * rstd, g[i] * gamma[i]
        total += scaled
        along += scaled * normal
        of_gamma[i] += g[i] * normal
        of_beta[i] += g[i]
    return total, along


@helper
def _slopes(g: Any, x: Any, dx: Any, mean: Any, rstd: Any, gamma: Any, total: Any, along: Any) -> None:
    for i in range(x.size):
        dx[i] = (g[i] * gamma[i] - total - (x[i] - mean) * rstd * along) * rstd


@kernel(i64, i64, i64, i64, i64, i64, read_array(), read_array(), read_array(), written_array(f32, 3))
def layer_norm_grad(
    first: int,
    stop: int,
    g: int,
    x: int,
    dx: int,
    rows: int,
    count: int,
    each: int,
    gamma: Any,
    mean: Any,
    rstd: Any,
    sums: Any,
) -> None:
    """Compute the gradient for x; ``sums`` (parts, 2, count) are each part's for gamma and beta."""
    for part in range(first, stop):
        of_gamma, of_beta = sums[part, 0], sums[part, 1]
        of_gamma[:] = 0
        of_beta[:] = 0
        for row in range(part * each, min((part + 1) * each, rows)):
            at = 4 * row * count
            gradient, old, new = floats(g + at, count), floats(x + at, count), floats(dx + at, count)
            total, along = _sums(gradient, old, mean[row], rstd[row], gamma, of_gamma, of_beta)
            share = f32(1 / f64(count))
            _slopes(gradient, old, new, mean[row], rstd[row], gamma, total * share, along * share)
