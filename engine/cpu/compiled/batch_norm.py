"""Batch normalization, forward and back: each channel is a run of numbers in memory, taken twice.

Sums are in float32 over blocks, whose numbers are in the first cache when they are read again, and in float64 over
these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .loops import f32, f64, floats, given, helper, i64, kernel, made

__all__ = ["batch_norm", "batch_norm_grad"]

_BLOCK = 4096


@helper
def _sum(x: Any) -> Any:
    total = f32(0)
    for i in range(x.size):
        total += x[i]
    return total


@helper
def _apart(x: Any, middle: Any) -> Any:
    total, squares = f32(0), f32(0)
    for i in range(x.size):
        apart = x[i] - middle
        total += apart
        squares += apart * apart
    return total, squares


@helper
def _statistics(address: int, count: int) -> Any:
    """The mean and the biased variance, block by block (Chan, Golub and LeVeque 1979, "Updating Formulae").

    Those of a block are taken about a number near its mean, which need not be the mean itself.
    """
    total, mean, squares = f64(0), f64(0), f64(0)
    for start in range(0, count, _BLOCK):
        x = floats(address + 4 * start, min(_BLOCK, count - start))
        size, added = f64(x.size), f64(_sum(x))
        near = f32(added / size)
        away, its_squares = _apart(x, near)
        apart = f64(near) + f64(away) / size - mean
        mean += apart * size / (start + size)
        squares += f64(its_squares) - f64(away) * f64(away) / size + apart * apart * size * start / (start + size)
        total += added
    # Where a number is infinite its distance to the mean is none, but there is a mean.
    return (mean if mean == mean else total / count), (squares if not squares < 0 else f64(0)) / count


@kernel(i64, i64, i64, i64, i64, f64, given(), given(), made(f32, 2))
def batch_norm(
    first: int, stop: int, x: int, y: int, channels: int, count: int, each: int, epsilon: float,
    gamma: Any, beta: Any, statistics: Any,
) -> None:  # fmt: skip
    """(x - mean) / sqrt(var + epsilon) * gamma + beta of x (channels, count), ``each`` channels to a part.

    ``statistics`` (2, channels) are the mean and the variance.
    """
    for channel in range(first * each, min(stop * each, channels)):
        at = 4 * channel * count
        average, variance = _statistics(x + at, count)
        mean, scale, shift = f32(average), f32(f64(gamma[channel]) / np.sqrt(variance + epsilon)), beta[channel]
        statistics[0, channel], statistics[1, channel] = mean, f32(variance)
        old, new = floats(x + at, count), floats(y + at, count)
        for i in range(count):
            new[i] = (old[i] - mean) * scale + shift


@helper
def _products(g: Any, x: Any, mean: Any) -> Any:
    total, along = f32(0), f32(0)
    for i in range(x.size):
        total += g[i]
        along += g[i] * (x[i] - mean)
    return total, along


@kernel(i64, i64, i64, i64, i64, i64, f64, given(), given(), given(), made(f32, 2))
def batch_norm_grad(
    first: int, stop: int, g: int, x: int, dx: int, channels: int, count: int, each: int, epsilon: float,
    gamma: Any, mean: Any, variance: Any, sums: Any,
) -> None:  # fmt: skip
    """The gradients for x, and in ``sums`` (2, channels) for gamma and beta."""
    for channel in range(first * each, min(stop * each, channels)):
        at, middle = 4 * channel * count, mean[channel]
        total, along = f64(0), f64(0)
        for start in range(0, count, _BLOCK):
            size, place = min(_BLOCK, count - start), at + 4 * start
            one, other = _products(floats(g + place, size), floats(x + place, size), middle)
            total += f64(one)
            along += f64(other)
        rstd = 1 / np.sqrt(f64(variance[channel]) + epsilon)
        sums[0, channel], sums[1, channel] = f32(along * rstd), f32(total)
        scale, shift = f32(f64(gamma[channel]) * rstd), f32(total / f64(count))
        slope = f32(along * rstd * rstd / f64(count))
        arrived, old, new = floats(g + at, count), floats(x + at, count), floats(dx + at, count)
        for i in range(count):
            new[i] = (arrived[i] - shift - (old[i] - middle) * slope) * scale
