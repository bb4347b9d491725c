"""Batch normalization, forward and back: each channel is a run of numbers in memory, taken twice.

Sums are in float32 over runs of ``RUN`` elements and in float64 over these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..library.loops import RUN, f32, f64, floats, helper, i64, kernel, moments, read_array, written_array

__all__ = ["affine", "batch_norm", "batch_norm_grad"]


@kernel(i64, i64, i64, i64, i64, f64, read_array(), read_array(), written_array(f32, 2))
def batch_norm(
    first: int,
    stop: int,
    x: int,
    y: int,
    channels: int,
    count: int,
    each: int,
    epsilon: float,
    gamma: Any,
    beta: Any,
    statistics: Any,
) -> None:
    """Compute (x - mean) / sqrt(var + epsilon) * gamma + beta of x (channels, count), ``each`` channels to a part.

    ``statistics`` (2, channels) are the mean and the variance.
    """
    for channel in range(first * each, min(stop * each, channels)):
        at = 4 * channel * count
        average, variance = moments(x + at, count)
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


@kernel(i64, i64, i64, i64, i64, i64, f64, read_array(), read_array(), read_array(), written_array(f32, 2))
def batch_norm_grad(
    first: int,
    stop: int,
    g: int,
    x: int,
    dx: int,
    channels: int,
    count: int,
    each: int,
    epsilon: float,
    gamma: Any,
    mean: Any,
    variance: Any,
    sums: Any,
) -> None:
    """Compute the gradients for x, and in ``sums`` (2, channels) for gamma and beta."""
    for channel in range(first * each, min(stop * each, channels)):
        at, middle = 4 * channel * count, mean[channel]
        total, along = f64(0), f64(0)
        for start in range(0, count, RUN):
            size, offset = min(RUN, count - start), at + 4 * start
            g_sum, product_sum = _products(floats(g + offset, size), floats(x + offset, size), middle)
            total += f64(g_sum)
            along += f64(product_sum)
        rstd = 1 / np.sqrt(f64(variance[channel]) + epsilon)
        sums[0, channel], sums[1, channel] = f32(along * rstd), f32(total)
        scale, shift = f32(f64(gamma[channel]) * rstd), f32(total / f64(count))
        slope = f32(along * rstd * rstd / f64(count))
        gradient, old, new = floats(g + at, count), floats(x + at, count), floats(dx + at, count)
        for i in range(count):
            new[i] = (gradient[i] - shift - (old[i] - middle) * slope) * scale


@kernel(i64, i64, i64, i64, i64, read_array(), read_array(), read_array())
def affine(
    first: int, stop: int, x: int, y: int, runs: int, count: int, each: int, mean: Any, scale: Any, shift: Any
) -> None:
    """Compute (x - mean) * scale + shift of x (runs, count), channel after channel; ``each`` runs to a part."""
    for run in range(first * each, min(stop * each, runs)):
        channel = run % mean.size
        middle, factor, added = mean[channel], scale[channel], shift[channel]
        old, new = floats(x + 4 * run * count, count), floats(y + 4 * run * count, count)
        for i in range(count):
            new[i] = (old[i] - middle) * factor + added
