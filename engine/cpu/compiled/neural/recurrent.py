"""A recurrent layer over a whole sequence, forward and back; a part is some of the samples, through all steps.

Within a part samples are the last axis: the results of a step lie as (gates * H, n). Each gate is then contiguous, and
both products of a step are small; ``product`` passes them to BLAS in its fastest form. Values that others read, states
and gradients of gates, are written by rows, (T, N, H).

``gates`` and ``hidden`` hold for each part, from its first sample on, (T, gates * H, n) and (T, H, n): for an LSTM the
gates after their functions and the cell states, for a GRU the gates and the candidates before the reset gate; other
layers have neither. ``states`` (T + 1, N, H) has the first state before the others, or behind them in ``reverse``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..library.blas import NO, YES, product
from ..library.loops import (
    choose,
    floats,
    give_back,
    helper,
    i64,
    kernel,
    read_array,
    sigmoid,
    start,
    take,
    tanh,
    u8,
    written_array,
)
from ..library.spans import clear

__all__ = ["GRU", "LSTM", "RELU", "TANH", "back", "forward"]

TANH, RELU, GRU, LSTM = range(4)

_ZERO, _ONE = np.float32(0), np.float32(1)


# Loops over contiguous numbers. Each reads few arrays: for many, LLVM does not check whether they overlap, and does not
# vectorize the loop.


@helper(once=True)
def _sigmoids(x: Any, shift: Any) -> None:
    for i in range(x.size):
        x[i] = sigmoid(x[i] + shift[i])


@helper(once=True)
def _tanhs(x: Any, shift: Any) -> None:
    for i in range(x.size):
        x[i] = tanh(x[i] + shift[i])


@helper(once=True)
def _positive(x: Any, shift: Any) -> None:
    for i in range(x.size):
        y = x[i] + shift[i]
        x[i] = choose(y <= _ZERO, _ZERO, y)


@helper(once=True)
def _copy(x: Any, y: Any) -> None:
    for i in range(x.size):
        x[i] = y[i]


@helper(once=True)
def _add(x: Any, y: Any) -> None:
    for i in range(x.size):
        x[i] += y[i]


@helper(once=True)
def _add_product(x: Any, y: Any, z: Any) -> None:
    for i in range(x.size):
        x[i] += y[i] * z[i]


@helper(once=True)
def _multiply(x: Any, y: Any) -> None:
    for i in range(x.size):
        x[i] *= y[i]


@helper(once=True)
def _product(x: Any, y: Any, z: Any) -> None:
    for i in range(x.size):
        x[i] = y[i] * z[i]


@helper(once=True)
def _product_with_tanh(x: Any, y: Any, z: Any) -> None:
    for i in range(x.size):
        x[i] = y[i] * tanh(z[i])


@helper(once=True)
def _between(x: Any, y: Any, share: Any) -> None:
    """Write y + share * (x - y) to x."""
    for i in range(x.size):
        x[i] = y[i] + share[i] * (x[i] - y[i])


@helper(once=True)
def _through_sigmoid(d: Any, y: Any) -> None:
    for i in range(d.size):
        d[i] *= y[i] * (_ONE - y[i])


@helper(once=True)
def _through_tanh(d: Any, y: Any) -> None:
    for i in range(d.size):
        d[i] *= _ONE - y[i] * y[i]


@helper(once=True)
def _through_positive(d: Any, y: Any) -> None:
    for i in range(d.size):
        d[i] = choose(y[i] > _ZERO, d[i], _ZERO)


@helper(once=True)
def _through_update(d: Any, z: Any) -> None:
    for i in range(d.size):
        d[i] *= _ONE - z[i]


@helper(once=True)
def _times_difference(x: Any, y: Any, z: Any) -> None:
    for i in range(x.size):
        x[i] *= y[i] - z[i]


@helper(once=True)
def _into_columns(target: Any, rows: int, distance: int, n: int) -> None:
    """Copy rows at an address, ``distance`` apart, to the columns of (length, n)."""
    length = target.size // n
    source = floats(rows, (n - 1) * distance + length)
    for j in range(length):
        for s in range(n):
            target[j * n + s] = source[s * distance + j]


@helper(once=True)
def _into_rows(rows: int, distance: int, source: Any, n: int) -> None:
    length = source.size // n
    target = floats(rows, (n - 1) * distance + length)
    for s in range(n):
        for j in range(length):
            target[s * distance + j] = source[j * n + s]


@helper
def _repeat(values: Any, n: int, result: Any) -> None:
    for i in range(values.size):
        for s in range(n):
            result[i * n + s] = values[i]


@kernel(read_array(i64), read_array(i64), read_array(), read_array(u8))
def forward(first: int, stop: int, addresses: Any, sizes: Any, bias: Any, keep: Any) -> None:
    """Compute all steps of some samples.

    Args:
        first: the first part.
        stop: behind the last one.
        addresses: of the inputs (T, N, I), h0 and c0 (N, H), the weights (G, I) and (G, H); of the results: gates,
            hidden, states, outputs (T, N, H) and the last cell state (N, H).
        sizes: T, N, H, samples of a part, the kind, whether in reverse, whether in small products; I, and how many
            elements the inputs' steps are apart, and their samples.
        bias: G numbers, of a GRU 4 H: those of the reset and update gates, and both of the candidate.
        keep: (T, N), 0 where a sample is over; empty where none is.
    """
    steps, count, size, width, kind, reverse, small, inputs, over, across = sizes
    x, h0, c0, w_ih, w_hh, gates, hidden, states, outputs, last_c = addresses
    high = (4 if kind == LSTM else 3 if kind == GRU else 1) * size
    for part in range(first, stop):
        begin = part * width
        n = min(width, count - begin)
        flat = size * n
        memory = take(4 * (bias.size * n + inputs * n + high * n + 3 * flat))
        shift, now = floats(memory, bias.size * n), floats(memory + 4 * bias.size * n, inputs * n)
        behind = memory + 4 * (bias.size + inputs) * n
        single, h = floats(behind, high * n), floats(behind + 4 * high * n, flat)
        behind += 4 * (high * n + flat)
        before, first_c = floats(behind, flat), floats(behind + 4 * flat, flat)
        _repeat(bias, n, shift)
        _into_columns(h, h0 + 4 * begin * size, size, n)
        if kind == LSTM:
            _into_columns(first_c, c0 + 4 * begin * size, size, n)
        c_before = first_c
        _into_rows(states + 4 * size * (begin + (steps * count if reverse else 0)), size, h, n)
        for step in range(steps):
            t = steps - 1 - step if reverse else step
            gate, cell = single, first_c
            if kind >= GRU:
                gate = floats(gates + 4 * high * (steps * begin + t * n), high * n)
                cell = floats(hidden + 4 * size * (steps * begin + t * n), flat)
            _into_columns(now, x + 4 * (t * over + begin * across), across, n)
            product(NO, NO, high, n, inputs, w_ih, inputs, start(now), n, _ZERO, start(gate), n, small)
            if keep.size:
                _copy(before, h)
            at = start(gate)
            if kind == GRU:
                product(NO, NO, 2 * size, n, size, w_hh, size, start(h), n, _ONE, at, n, small)
                of_candidate = w_hh + 8 * size * size
                product(NO, NO, size, n, size, of_candidate, size, start(h), n, _ZERO, start(cell), n, small)
                _sigmoids(gate[: 2 * flat], shift[: 2 * flat])
                _add(cell, shift[3 * flat :])
                _add_product(gate[2 * flat :], gate[:flat], cell)
                _tanhs(gate[2 * flat :], shift[2 * flat : 3 * flat])
                _between(h, gate[2 * flat :], gate[flat : 2 * flat])
            else:
                product(NO, NO, high, n, size, w_hh, size, start(h), n, _ONE, at, n, small)
                if kind == LSTM:
                    _sigmoids(gate[: 2 * flat], shift[: 2 * flat])
                    _tanhs(gate[2 * flat : 3 * flat], shift[2 * flat : 3 * flat])
                    _sigmoids(gate[3 * flat :], shift[3 * flat :])
                    _product(cell, gate[flat : 2 * flat], c_before)
                    _add_product(cell, gate[:flat], gate[2 * flat : 3 * flat])
                    _product_with_tanh(h, gate[3 * flat :], cell)
                else:
                    if kind == TANH:
                        _tanhs(gate, shift)
                    else:
                        _positive(gate, shift)
                    _copy(h, gate)
            row = count * t + begin
            if keep.size:
                for s in range(n):
                    if keep[row + s] == 0:
                        for j in range(size):
                            h[j * n + s] = before[j * n + s]
                            if kind == LSTM:
                                cell[j * n + s] = c_before[j * n + s]
            c_before = cell
            _into_rows(states + 4 * size * (row if reverse else row + count), size, h, n)
            if keep.size:
                _into_rows(outputs + 4 * size * row, size, h, n)
                for s in range(n):
                    if keep[row + s] == 0:
                        floats(outputs + 4 * size * (row + s), size)[:] = _ZERO
        if kind == LSTM:
            _into_rows(last_c + 4 * begin * size, size, c_before, n)
        give_back(memory)


@kernel(read_array(i64), read_array(i64), written_array(), read_array(u8))
def back(first: int, stop: int, addresses: Any, sizes: Any, sums: Any, keep: Any) -> None:
    """Compute the gradients of the gates before their functions, by rows, and those of the first states.

    Args:
        first: the first part.
        stop: behind the last one.
        addresses: of the gradients of outputs (T, N, H), last h and last c (N, H), each 0 for none; of c0, the
            weights (G, H), gates, hidden and states; of the results: the gradients (T, N, G) of the products of inputs
            and weights, for a GRU also those of the state's products, and (N, H) of h0 and c0.
        sizes: T, N, H, samples of a part, the kind, whether in reverse, whether in small products; how many elements
            the outputs' gradients of steps are apart, and of samples.
        sums: for each part G sums of the gradients over steps and samples, and, of a GRU, H more: of the candidate's.
        keep: (T, N), 0 where a sample is over; empty where none is.
    """
    steps, count, size, width, kind, reverse, small, over, across = sizes
    g, gh, gc, c0, w_hh, gates, hidden, states, of_gates, of_products, dh0, dc0 = addresses
    high = (4 if kind == LSTM else 3 if kind == GRU else 1) * size
    for part in range(first, stop):
        begin = part * width
        n = min(width, count - begin)
        flat = size * n
        # Behind the gradients of a GRU's gates comes that of the candidate with the reset gate.
        of_d = (high + (size if kind == GRU else 0)) * n
        memory = take(4 * (2 * of_d + 7 * flat))
        d, total = floats(memory, of_d), floats(memory + 4 * of_d, of_d)
        behind = memory + 8 * of_d
        dh, dc, bent = floats(behind, flat), floats(behind + 4 * flat, flat), floats(behind + 8 * flat, flat)
        first_c, other = floats(behind + 12 * flat, flat), floats(behind + 16 * flat, flat)
        dh_over, dc_over = floats(behind + 20 * flat, flat), floats(behind + 24 * flat, flat)
        clear(memory, 2 * of_d + 2 * flat)
        if gh:
            _into_columns(dh, gh + 4 * begin * size, size, n)
        if kind == LSTM:
            _into_columns(first_c, c0 + 4 * begin * size, size, n)
            if gc:
                _into_columns(dc, gc + 4 * begin * size, size, n)
        for step in range(steps):
            t = step if reverse else steps - 1 - step
            row = count * t + begin
            if keep.size:
                _copy(dh_over, dh)
                _copy(dc_over, dc)
            if g:
                _into_columns(other, g + 4 * (t * over + begin * across), across, n)
                _add(dh, other)
            gate = floats(gates + 4 * high * (steps * begin + t * n), high * n)
            cell = floats(hidden + 4 * size * (steps * begin + t * n), flat)
            if kind == LSTM:
                c_before = first_c
                if step < steps - 1:
                    neighbor = t + 1 if reverse else t - 1
                    c_before = floats(hidden + 4 * size * (steps * begin + neighbor * n), flat)
                i, f, o = gate[:flat], gate[flat : 2 * flat], gate[3 * flat :]
                bent[:] = _ONE
                _product_with_tanh(bent, bent, cell)
                _product(d[3 * flat :], dh, bent)
                _product(other, dh, o)
                _through_tanh(other, bent)
                _add(dc, other)
                _product(d[:flat], dc, gate[2 * flat : 3 * flat])
                _product(d[flat : 2 * flat], dc, c_before)
                _product(d[2 * flat : 3 * flat], dc, i)
                _through_sigmoid(d[: 2 * flat], gate[: 2 * flat])
                _through_tanh(d[2 * flat : 3 * flat], gate[2 * flat : 3 * flat])
                _through_sigmoid(d[3 * flat :], o)
                _multiply(dc, f)
            elif kind == GRU:
                r, z, candidate = gate[:flat], gate[flat : 2 * flat], gate[2 * flat :]
                _into_columns(bent, states + 4 * size * (row + count if reverse else row), size, n)
                dn = d[2 * flat : 3 * flat]
                _copy(dn, dh)
                _through_update(dn, z)
                _through_tanh(dn, candidate)
                _copy(d[flat : 2 * flat], dh)
                _times_difference(d[flat : 2 * flat], bent, candidate)
                _product(d[:flat], dn, cell)
                _through_sigmoid(d[: 2 * flat], gate[: 2 * flat])
                _product(d[3 * flat :], dn, r)
                _multiply(dh, z)
            else:
                _into_columns(bent, states + 4 * size * (row if reverse else row + count), size, n)
                _copy(d, dh)
                if kind == TANH:
                    _through_tanh(d, bent)
                else:
                    _through_positive(d, bent)
            if keep.size:
                for s in range(n):
                    if keep[row + s] == 0:
                        for j in range(d.size // n):
                            d[j * n + s] = _ZERO
            _add(total, d)
            _into_rows(of_gates + 4 * high * row, high, d[: high * n], n)
            into, at = start(dh), start(d)
            if kind == GRU:
                _into_rows(of_products + 4 * high * row, high, d[: 2 * flat], n)
                _into_rows(of_products + 4 * (high * row + 2 * size), high, d[3 * flat :], n)
                product(YES, NO, size, n, 2 * size, w_hh, size, at, n, _ONE, into, n, small)
                of_candidate = w_hh + 8 * size * size
                product(YES, NO, size, n, size, of_candidate, size, at + 12 * flat, n, _ONE, into, n, small)
            else:
                product(YES, NO, size, n, high, w_hh, size, at, n, _ZERO, into, n, small)
            if keep.size:
                for s in range(n):
                    if keep[row + s] == 0:
                        for j in range(size):
                            dh[j * n + s], dc[j * n + s] = dh_over[j * n + s], dc_over[j * n + s]
        length = total.size // n
        for j in range(length):
            result = _ZERO
            for s in range(n):
                result += total[j * n + s]
            sums[part * length + j] = result
        _into_rows(dh0 + 4 * begin * size, size, dh, n)
        if kind == LSTM:
            _into_rows(dc0 + 4 * begin * size, size, dc, n)
        give_back(memory)
