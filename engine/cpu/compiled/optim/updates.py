"""Steps of optimizers over many tensors in one call, each element read and written once.

``blocks`` has a line for each run of elements: the tensor it is of, its first element, how many. ``tensors`` has a line
for each tensor: the addresses of the gradient, then of the parameter and each state as they are and as they shall be,
which may be the same. ``numbers`` has a line for each tensor.
"""

from __future__ import annotations

from typing import Any

from ..library.loops import f32, floats, give_back, helper, i64, kernel, read_array, square_root, take
from ..library.spans import copy

__all__ = ["BLOCK", "adam", "momentum"]

BLOCK = 4096
"""The most elements of a run: all arrays of one stay in the cache between the loops."""


# Loops that write where they read: LLVM does not vectorize a loop over two addresses that may be equal.


@helper
def _begin(address: int, new_address: int, count: int) -> None:
    """Copy the old elements to the new ones."""
    if new_address != address:
        copy(new_address, address, count)


@helper
def _average(x: Any, y: Any, of_x: Any, of_y: Any) -> None:
    for i in range(x.size):
        x[i] = of_x * x[i] + of_y * y[i]


@helper
def _average_of_squares(x: Any, y: Any, of_x: Any, of_y: Any) -> None:
    for i in range(x.size):
        x[i] = of_x * x[i] + of_y * y[i] * y[i]


@helper
def _divided(p: Any, m: Any, v: Any, rate: Any, eps: Any, root: Any, keep: Any, decay: Any) -> None:
    for i in range(p.size):
        p[i] = keep * p[i] - rate * (m[i] / (root * square_root(v[i]) + eps) + decay * p[i])


@kernel(read_array(i64, 2), read_array(i64, 2), read_array(f32, 2))
def momentum(first: int, stop: int, blocks: Any, tensors: Any, numbers: Any) -> None:
    """Compute v = factor * v + share * g; p - rate * v, or p - rate * (g + factor * v) if ``nesterov`` is not 0."""
    for part in range(first, stop):
        tensor, start, count = blocks[part]
        at = 4 * start
        g = floats(tensors[tensor, 0] + at, count)
        _begin(tensors[tensor, 1] + at, tensors[tensor, 2] + at, count)
        p = floats(tensors[tensor, 2] + at, count)
        _begin(tensors[tensor, 3] + at, tensors[tensor, 4] + at, count)
        v = floats(tensors[tensor, 4] + at, count)
        rate, factor, share, nesterov = numbers[tensor]
        _average(v, g, factor, share)
        if nesterov != f32(0):
            _average(p, g, f32(1), -rate)
            _average(p, v, f32(1), -rate * factor)
        else:
            _average(p, v, f32(1), -rate)


@kernel(read_array(i64, 2), read_array(i64, 2), read_array(f32, 2))
def adam(first: int, stop: int, blocks: Any, tensors: Any, numbers: Any) -> None:
    """Compute a step of Adam.

    m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g * g; keep * p - rate * (m / d + decay * p), where
    d = root * sqrt(v) + eps; where ``nesterov`` is not 0, beta1 * m + (1 - beta1) * g takes the place of m in the last.
    """
    memory = take(4 * BLOCK)
    ahead = floats(memory, BLOCK)
    for part in range(first, stop):
        tensor, start, count = blocks[part]
        at = 4 * start
        g = floats(tensors[tensor, 0] + at, count)
        _begin(tensors[tensor, 1] + at, tensors[tensor, 2] + at, count)
        p = floats(tensors[tensor, 2] + at, count)
        _begin(tensors[tensor, 3] + at, tensors[tensor, 4] + at, count)
        m = floats(tensors[tensor, 4] + at, count)
        _begin(tensors[tensor, 5] + at, tensors[tensor, 6] + at, count)
        v = floats(tensors[tensor, 6] + at, count)
        rate, beta1, rest1, beta2, rest2, eps, root, keep, decay, nesterov = numbers[tensor]
        _average(m, g, beta1, rest1)
        _average_of_squares(v, g, beta2, rest2)
        if nesterov != f32(0):
            copy(memory, tensors[tensor, 4] + at, count)
            _average(ahead[:count], g, beta1, rest1)
            _divided(p, ahead[:count], v, rate, eps, root, keep, decay)
        else:
            _divided(p, m, v, rate, eps, root, keep, decay)
    give_back(memory)
