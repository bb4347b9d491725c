"""Attention in blocks of queries and keys, whose scores stay in the cache, forward and back (Dao et al. 2022).

Each block of keys of a head is copied by columns once, times the scale, since BLAS multiplies by such a matrix fastest.
A part's queries are multiplied by one block of keys after the other. Results are correct for the keys so far, and are
rescaled when a larger score is found. The backward pass recomputes weights from the scores and their log-sum-exp.

Each line of ``starts`` has the addresses of one head's matrices; ``leads`` the distances of their rows, in their order.
A mask's address is 0 where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..library.blas import NO, YES, cached_product
from ..library.loops import choose, exp, f32, floats, give_back, greater, helper, i64, kernel, read_array, start, take

__all__ = ["KEYS", "ROWS", "attention", "attention_grad"]

ROWS, KEYS = 64, 128
"""Of a block."""

_ZERO, _ONE, _NONE, _NAN = np.float32(0), np.float32(1), np.float32(-np.inf), np.float32(np.nan)


@helper
def _turned(x: int, lead: int, rows: int, columns: int, factor: Any, y: Any) -> None:
    """Write x (rows, columns), times a factor, as y (columns, rows)."""
    for i in range(rows):
        line = floats(x + 4 * i * lead, columns)
        for j in range(columns):
            y[j * rows + i] = line[j] * factor


@helper
def _add(x: Any, y: Any) -> None:
    for i in range(x.size):
        x[i] += y[i]


@helper
def _scale(x: Any, factor: Any) -> None:
    for i in range(x.size):
        x[i] *= factor


@helper
def _largest(x: Any, maximum: Any) -> Any:
    for i in range(x.size):
        maximum = greater(maximum, x[i])
    return maximum


@helper
def _exponentials(x: Any, top: Any) -> Any:
    total = _ZERO
    for i in range(x.size):
        power = exp(x[i] - top)
        x[i] = power
        total += power
    return total


@kernel(read_array(i64, 2), read_array(i64), i64, i64, i64, i64, i64, i64, f32)
def attention(
    first: int,
    stop: int,
    starts: Any,
    leads: Any,
    across: int,
    each: int,
    length: int,
    keys: int,
    depth: int,
    width: int,
    scale: Any,
) -> None:
    """Compute softmax(q @ k.T * scale + mask) @ v of float32 matrices, and the log-sum-exp of each row of scores.

    In ``starts``: q (length, depth), k (keys, depth), v (keys, width), the mask (length, keys), the result
    (length, width) and the sums (length,). Each head's queries are ``across`` parts of ``each``.
    """
    memory = take(4 * (depth * KEYS + ROWS * KEYS + 2 * each))
    turned, scores = floats(memory, depth * KEYS), floats(memory + 4 * depth * KEYS, ROWS * KEYS)
    tops = floats(memory + 4 * (depth + ROWS) * KEYS, each)
    totals = floats(memory + 4 * ((depth + ROWS) * KEYS + each), each)
    for part in range(first, stop):
        q, k, v, mask, y, sums = starts[part // across]
        begin = part % across * each
        end = min(begin + each, length)
        tops[:], totals[:] = _NONE, _ZERO
        for key in range(0, keys, KEYS):
            some, beta = min(KEYS, keys - key), f32(0 if key == 0 else 1)
            _turned(k + 4 * key * leads[1], leads[1], some, depth, scale, turned)
            for row in range(begin, end, ROWS):
                high = min(ROWS, end - row)
                a, b, c = q + 4 * row * leads[0], start(turned), start(scores)
                cached_product(NO, NO, high, some, depth, a, leads[0], b, some, _ZERO, c, some)
                for i in range(high):
                    line, at = scores[i * some : (i + 1) * some], row + i - begin
                    if mask != 0:
                        _add(line, floats(mask + 4 * ((row + i) * leads[3] + key), some))
                    before = tops[at]
                    top = _largest(line, before)
                    # If all scores so far are -inf, nothing is subtracted: the weights are 0 and not NaN.
                    total = _exponentials(line, choose(top == _NONE, _ZERO, top))
                    if top != before and key != 0:
                        factor = exp(before - top)
                        totals[at] *= factor
                        _scale(floats(y + 4 * (row + i) * leads[4], width), factor)
                    tops[at] = top
                    totals[at] += total
                a, b, c = start(scores), v + 4 * key * leads[2], y + 4 * row * leads[4]
                cached_product(NO, NO, high, width, some, a, some, b, leads[2], beta, c, leads[4])
        of_rows = floats(sums, length)
        for i in range(begin, end):
            total = totals[i - begin]
            of_rows[i] = choose(total == _ZERO, _NAN, tops[i - begin] + f32(np.log(total)))
            _scale(floats(y + 4 * i * leads[4], width), _ONE / total)
    give_back(memory)


@helper
def _dot(x: Any, y: Any) -> Any:
    total = _ZERO
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@helper
def _weights(x: Any, top: Any) -> None:
    for i in range(x.size):
        x[i] = exp(x[i] - top)


@helper
def _slopes(of_weights: Any, weights: Any, inner: Any, scale: Any) -> None:
    for i in range(weights.size):
        of_weights[i] = (of_weights[i] - inner) * weights[i] * scale


@kernel(read_array(i64, 2), read_array(i64), i64, i64, i64, i64, i64, i64, i64, f32)
def attention_grad(
    first: int,
    stop: int,
    starts: Any,
    leads: Any,
    across: int,
    each: int,
    distance: int,
    length: int,
    keys: int,
    depth: int,
    width: int,
    scale: Any,
) -> None:
    """Compute the gradients for q, k and v from that of the result.

    In ``starts``: q, k, v, the mask, the result and the sums as of ``attention``, the gradient by the result, and
    those for q, k and v. Each head's keys are ``across`` parts of ``each``, whose gradients for q lie ``distance``
    elements from each other, to be added up.
    """
    memory = take(4 * ((depth + width + 2 * ROWS) * KEYS + length))
    of_keys, of_values = floats(memory, depth * KEYS), floats(memory + 4 * depth * KEYS, width * KEYS)
    behind = memory + 4 * (depth + width) * KEYS
    weights, slopes = floats(behind, ROWS * KEYS), floats(behind + 4 * ROWS * KEYS, ROWS * KEYS)
    inner = floats(behind + 8 * ROWS * KEYS, length)
    for part in range(first, stop):
        q, k, v, mask, y, sums, g, dq, dk, dv = starts[part // across]
        dq += 4 * (part % across) * distance
        begin, of_rows = part % across * each, floats(sums, length)
        for i in range(length):
            inner[i] = _dot(floats(g + 4 * i * leads[6], width), floats(y + 4 * i * leads[4], width))
        for key in range(begin, min(begin + each, keys), KEYS):
            some = min(KEYS, keys - key)
            _turned(k + 4 * key * leads[1], leads[1], some, depth, scale, of_keys)
            _turned(v + 4 * key * leads[2], leads[2], some, width, _ONE, of_values)
            for row in range(0, length, ROWS):
                high, beta = min(ROWS, length - row), f32(0 if row == 0 else 1)
                its_q, its_g = q + 4 * row * leads[0], g + 4 * row * leads[6]
                b, c = start(of_keys), start(weights)
                cached_product(NO, NO, high, some, depth, its_q, leads[0], b, some, _ZERO, c, some)
                b, c = start(of_values), start(slopes)
                cached_product(NO, NO, high, some, width, its_g, leads[6], b, some, _ZERO, c, some)
                for i in range(high):
                    line = weights[i * some : (i + 1) * some]
                    if mask != 0:
                        _add(line, floats(mask + 4 * ((row + i) * leads[3] + key), some))
                    _weights(line, of_rows[row + i])
                    _slopes(slopes[i * some : (i + 1) * some], line, inner[row + i], scale)
                a, c = start(weights), dv + 4 * key * leads[9]
                cached_product(YES, NO, some, width, high, a, some, its_g, leads[6], beta, c, leads[9])
                a, c = start(slopes), dk + 4 * key * leads[8]
                cached_product(YES, NO, some, depth, high, a, some, its_q, leads[0], beta, c, leads[8])
                b, beta, c = k + 4 * key * leads[1], f32(0 if key == begin else 1), dq + 4 * row * leads[7]
                cached_product(NO, NO, high, depth, some, a, some, b, leads[1], beta, c, leads[7])
    give_back(memory)
