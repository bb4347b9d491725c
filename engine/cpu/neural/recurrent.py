"""CPU kernels of recurrent layers over a whole sequence: tanh and relu cells, LSTM and GRU, and their gradient.

Time is the first axis. Gates are in the order i, f, g, o (LSTM) and r, z, n (GRU). Computations that depend on the
previous state run step by step; the products for the gradients of weights and inputs are one for all steps. Large work
in float32 is done by ``compiled.neural.recurrent``, with a part of the samples on each thread.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from ..array_module import Array, array_module
from ..arrays.matmul import matmul
from ..compiling import address, is_on, kernels, ready
from ..threads import share, single_threaded_blas, small_products

__all__ = ["GATES", "back", "forward"]

GATES = {"tanh": 1, "relu": 1, "gru": 3, "lstm": 4}
_KINDS = ("tanh", "relu", "gru", "lstm")
"""In the order of their numbers in the kernels."""
_SINGLE = np.dtype(np.float32)
_LEAST = 1 << 19
"""Multiplications of all steps from which the compiled kernels are faster."""


def forward(
    x: Array,
    h0: Array,
    c0: Array | None,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    keep: Array | None,
    kind: str,
    reverse: bool,
) -> tuple[Array, ...]:
    """Return the hidden states (T, N, H) of x (T, N, I), the last h and c (N, H), and saved values for the gradient.

    ``keep`` (T, N, 1) is 1 for valid steps of a sample: elsewhere its state stays and its output is 0.
    """
    way = _compiled_forward if _is_compiled(x, h0, c0, w_ih, w_hh, b_ih, b_hh) else _forward
    return way(x, h0, c0, w_ih, w_hh, b_ih, b_hh, keep, kind, reverse)


def back(
    g: Array | None,
    gh: Array | None,
    gc: Array | None,
    x: Array,
    h0: Array,
    c0: Array | None,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    keep: Array | None,
    gates: Array,
    states: Array,
    hidden: Array,
    kind: str,
    reverse: bool,
    with_x: bool = True,
) -> tuple[Array, ...]:
    """Return the gradients for x (``with_x``), h0, c0, w_ih, w_hh, b_ih, b_hh; an absent one is empty.

    ``g``, ``gh`` and ``gc`` are those of the first three results of ``forward``, None for 0; ``gates``, ``states`` and
    ``hidden`` are its other results.
    """
    way = _compiled_back if _is_compiled(x, h0, c0, w_ih, w_hh, b_ih, b_hh) else _back
    return way(g, gh, gc, x, h0, c0, w_ih, w_hh, b_ih, b_hh, keep, gates, states, hidden, kind, reverse, with_x)


def _is_compiled(x: Array, *others: Array | None) -> bool:
    w_ih, w_hh = others[2:4]
    if x.shape[0] * x.shape[1] * (w_ih.size + w_hh.size) < _LEAST or not is_on():  # type: ignore[union-attr]
        return False
    return all(array is None or (type(array) is np.ndarray and array.dtype is _SINGLE) for array in (x, *others))


def _sizes(x: Array, w_hh: Array, kind: str, reverse: bool) -> tuple[int, int, int, int, list[int]]:
    """Return T, N and H, the number of parts, and the numbers for both kernels."""
    steps, count, _ = x.shape
    size = w_hh.shape[1]
    width = 16 if count >= 32 else 8  # columns that fill vector registers, and parts for two threads
    sizes = [steps, count, size, width, _KINDS.index(kind), reverse, small_products()]
    return steps, count, size, -(-count // width), sizes


def _in_steps(x: Array) -> tuple[Array, int, int]:
    """Return a sequence (T, N, I) with contiguous innermost axis, and the strides of its steps and samples in elements.

    A sequence with the batch first is not copied.
    """
    over, across, along = x.strides
    if not (x.flags.aligned and along == 4 and over >= 0 and across >= 0 and over % 4 == across % 4 == 0):
        x = np.array(x, order="C")
        over, across, _ = x.strides
    return x, over // 4, across // 4


def _alive(keep: Array | None) -> Array:
    return np.empty(0, np.uint8) if keep is None else ready(keep).view(np.uint8).reshape(-1)


def _compiled_forward(
    x: Array,
    h0: Array,
    c0: Array | None,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    keep: Array | None,
    kind: str,
    reverse: bool,
) -> tuple[Array, ...]:
    steps, count, size, parts, sizes = _sizes(x, w_hh, kind, reverse)
    gate_count = GATES[kind] if kind in ("lstm", "gru") else 0
    gates, hidden = (np.empty(steps * count * size * times, np.float32) for times in (gate_count, bool(gate_count)))
    states = np.empty((steps + 1, count, size), np.float32)
    outputs = states[:-1] if reverse else states[1:]
    if keep is not None:
        outputs = np.empty_like(outputs)
    last_c = np.empty((count, size if kind == "lstm" else 0), np.float32)
    x, *step_strides = _in_steps(x)
    inputs = [x, *[np.empty(0, np.float32) if array is None else ready(array) for array in (h0, c0, w_ih, w_hh)]]
    if b_ih is None or b_hh is None:
        bias = np.zeros((GATES[kind] + (kind == "gru")) * size, np.float32)
    else:
        both = b_ih + b_hh
        bias = both if kind != "gru" else np.concatenate([both[: 2 * size], b_ih[2 * size :], b_hh[2 * size :]])
    addresses = np.array([address(array) for array in (*inputs, gates, hidden, states, outputs, last_c)], np.int64)
    with single_threaded_blas("scipy"):
        numbers = np.array([*sizes, x.shape[2], *step_strides], np.int64)
        share(kernels("recurrent").forward, parts, addresses, numbers, bias, _alive(keep))
    # The returned state must not be one that a later step reads.
    last = np.array(states[0] if reverse else states[-1])
    return outputs, last, last_c, gates, states, hidden


def _compiled_back(
    g: Array | None,
    gh: Array | None,
    gc: Array | None,
    x: Array,
    h0: Array,
    c0: Array | None,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    keep: Array | None,
    gates: Array,
    states: Array,
    hidden: Array,
    kind: str,
    reverse: bool,
    with_x: bool = True,
) -> tuple[Array, ...]:
    steps, count, size, parts, sizes = _sizes(x, w_hh, kind, reverse)
    high, is_gru = w_hh.shape[0], kind == "gru"
    of_gates = np.empty((steps, count, high), np.float32)
    of_products = np.empty_like(of_gates) if is_gru else of_gates
    dh0, dc0 = np.empty((count, size), np.float32), np.empty((count if kind == "lstm" else 0, size), np.float32)
    sums = np.empty((parts, high + (size if is_gru else 0)), np.float32)
    g, *step_strides = (None, 0, 0) if g is None else _in_steps(g)
    inputs = [None if array is None else ready(array) for array in (gh, gc, c0, w_hh)]
    arrays = (g, *inputs, gates, hidden, states, of_gates, of_products, dh0, dc0)
    pointers = np.array([0 if array is None else address(array) for array in arrays], np.int64)
    with single_threaded_blas("scipy"):
        numbers = np.array([*sizes, *step_strides], np.int64)
        share(kernels("recurrent").back, parts, pointers, numbers, sums.reshape(-1), _alive(keep))
    flat, previous = of_gates.reshape(-1, high), states[1:] if reverse else states[:-1]
    if is_gru:
        of_w_ih = matmul(flat, ready(x).reshape(-1, x.shape[2]), True, False)
        of_w_hh = matmul(of_products.reshape(-1, high), previous.reshape(-1, size), True, False)
    else:  # in one product, which reads the gates' gradients once
        both = np.concatenate([x, previous], axis=2)
        of_weights = matmul(flat, both.reshape(len(flat), -1), True, False)
        of_w_ih, of_w_hh = map(ready, np.split(of_weights, [x.shape[2]], axis=1))
    total, nothing = sums.sum(axis=0), dh0[:0]
    return (
        matmul(flat, w_ih, False, False).reshape(x.shape) if with_x else nothing,
        dh0,
        dc0 if c0 is not None else nothing,
        of_w_ih,
        of_w_hh,
        total[:high] if b_ih is not None else nothing,
        (np.concatenate([total[: 2 * size], total[high:]]) if is_gru else total) if b_hh is not None else nothing,
    )


def _wide(x: Array | None) -> Any:
    return None if x is None else x if x.dtype.itemsize >= 4 else x.astype(np.float32)


def _samples_last(x: Array | None, xp: ModuleType) -> Any:
    return None if x is None else xp.ascontiguousarray(x.T)


def _forward(
    x: Array,
    h0: Array,
    c0: Array | None,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    keep: Array | None,
    kind: str,
    reverse: bool,
) -> tuple[Array, ...]:
    """Return the hidden states (T, N, H) of x (T, N, I), the last ones, and the saved values for the gradient.

    ``keep`` (T, N, 1) is 1 for valid steps of a sample: elsewhere its state stays and its output is 0.

    Inside, samples are the last axis, (T, H, N): each gate of a step is contiguous, and the product of a step
    takes 22 us instead of 39 (H 128, N 32).
    """
    xp = array_module(x)
    dtype = x.dtype
    x, h0, c0, w_ih, w_hh, b_ih, b_hh = map(_wide, (x, h0, c0, w_ih, w_hh, b_ih, b_hh))
    h, c = _samples_last(h0, xp), _samples_last(c0, xp)
    steps, count, _ = x.shape
    size = w_hh.shape[1]
    bias = None if b_ih is None else (b_ih if kind == "gru" else b_ih + b_hh)[:, None]
    scale: Any = None
    shift: Any = None
    if kind == "lstm":
        # sigmoid(x) = (1 + tanh(x / 2)) / 2: with the factor 1/2 in the products, one tanh serves all gates.
        scale = xp.full((4 * size, 1), 0.5, x.dtype)
        scale[2 * size : 3 * size] = 1.0
        shift = 1.0 - scale
        w_ih, w_hh, bias = w_ih * scale, w_hh * scale, None if bias is None else bias * scale
    gates = xp.matmul(w_ih, x.swapaxes(1, 2))
    if bias is not None:
        gates += bias
    states = xp.empty((steps, size, count), gates.dtype)
    # For an LSTM the cell states, for a GRU the candidates before the reset gate.
    hidden = xp.empty_like(states) if kind in ("lstm", "gru") else states[:0]
    outputs = states if keep is None else xp.zeros_like(states)
    product, scratch = xp.empty((gates.shape[1], count), gates.dtype), xp.empty((size, count), gates.dtype)
    for t in range(steps - 1, -1, -1) if reverse else range(steps):
        gate, previous_h, new_h = gates[t], h, states[t]
        xp.matmul(w_hh, h, out=product)
        if kind == "lstm":
            gate += product
            xp.tanh(gate, out=gate)
            gate *= scale
            gate += shift
            new_c = hidden[t]
            xp.multiply(gate[size : 2 * size], c, out=new_c)
            new_c += xp.multiply(gate[:size], gate[2 * size : 3 * size], out=scratch)
            xp.tanh(new_c, out=new_h)
            new_h *= gate[3 * size :]
            if keep is not None:
                new_c[...] = xp.where(keep[t].T, new_c, c)
            c = new_c
        elif kind == "gru":
            if b_hh is not None:
                product += b_hh[:, None]
            z, n = gate[size : 2 * size], gate[2 * size :]
            gate[: 2 * size] += product[: 2 * size]
            _sigmoid_in_place(gate[: 2 * size])
            hidden[t] = product[2 * size :]
            n += xp.multiply(gate[:size], hidden[t], out=scratch)
            xp.tanh(n, out=n)
            xp.subtract(previous_h, n, out=new_h)
            new_h *= z
            new_h += n
        else:
            gate += product
            xp.tanh(gate, out=new_h) if kind == "tanh" else xp.maximum(gate, 0, out=new_h)
        if keep is not None:
            outputs[t] = xp.where(keep[t].T, new_h, 0)
            new_h[...] = xp.where(keep[t].T, new_h, previous_h)
        h = new_h
    last = (h, c) if kind == "lstm" else (h, h[:0])
    # The returned state must not be one that a later step reads.
    results = (outputs.swapaxes(1, 2), *(xp.array(y.T) for y in last))
    return (*(y.astype(dtype, copy=False) for y in results), gates, states, hidden)


def _sigmoid_in_place(x: Array) -> None:
    # sigmoid(x) = (1 + tanh(x / 2)) / 2: one function call and no overflow.
    x *= 0.5
    array_module(x).tanh(x, out=x)
    x += 1.0
    x *= 0.5


def _back(
    g: Array | None,
    gh: Array | None,
    gc: Array | None,
    x: Array,
    h0: Array,
    c0: Array | None,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    keep: Array | None,
    gates: Array,
    states: Array,
    hidden: Array,
    kind: str,
    reverse: bool,
    with_x: bool = True,
) -> tuple[Array, ...]:
    """Return the gradients for x (``with_x``), h0, c0, w_ih, w_hh, b_ih, b_hh; an absent one is empty."""
    xp = array_module(x)
    dtypes = [None if y is None else y.dtype for y in (x, h0, c0, w_ih, w_hh, b_ih, b_hh)]
    g, gh, gc, x, h0, c0, w_ih, w_hh = map(_wide, (g, gh, gc, x, h0, c0, w_ih, w_hh))
    steps, size, count = states.shape
    # One row for each step and sample, for the sums over them; a step is computed in `d`, which stays in the cache.
    of_gates = xp.empty((steps, count, gates.shape[1]), gates.dtype)
    of_products = xp.empty_like(of_gates) if kind == "gru" else of_gates
    d, into = (xp.empty(gates.shape[1:], gates.dtype) for _ in range(2))
    zeros = xp.zeros((size, count), gates.dtype)
    dh = zeros if gh is None else gh.T.astype(gates.dtype)
    dc = zeros if gc is None or kind != "lstm" else gc.T.astype(gates.dtype)
    first_h, first_c, back = _samples_last(h0, xp), _samples_last(c0, xp), _samples_last(w_hh, xp)
    outer = None if g is None else g.swapaxes(1, 2)
    order = range(steps) if reverse else range(steps - 1, -1, -1)
    first, behind = (steps - 1, 1) if reverse else (0, -1)
    for t in order:
        previous_h = first_h if t == first else states[t + behind]
        live = None if keep is None else keep[t].T
        if outer is not None:
            dh = dh + (outer[t] if live is None else xp.where(live, outer[t], 0))
        passed_h = passed_c = None
        if live is not None:
            passed_h, dh = xp.where(live, 0, dh), xp.where(live, dh, 0)
            passed_c, dc = xp.where(live, 0, dc), xp.where(live, dc, 0)
        gate = gates[t]
        if kind == "lstm":
            dc = _lstm_back(xp, dh, dc, gate, hidden[t], first_c if t == first else hidden[t + behind], d)
            dh = back @ d
        elif kind == "gru":
            r, z, n = (gate[k * size : (k + 1) * size] for k in range(3))
            dn = dh * (1 - z) * (1 - n * n)
            d[size : 2 * size] = dh * (previous_h - n) * (z * (1 - z))
            d[:size] = dn * hidden[t] * (r * (1 - r))
            d[2 * size :] = dn
            into[: 2 * size] = d[: 2 * size]
            into[2 * size :] = dn * r
            of_products[t] = into.T
            dh = dh * z + back @ into
        else:
            bent = xp.tanh(gate) if kind == "tanh" else None
            d[...] = xp.where(gate > 0, dh, 0) if bent is None else dh * (1 - bent * bent)
            dh = back @ d
        of_gates[t] = d.T
        if passed_h is not None:
            dh, dc = dh + passed_h, dc + passed_c
    flat, products = (array.reshape(steps * count, gates.shape[1]) for array in (of_gates, of_products))
    within = states[1:] if reverse else states[:-1]
    edge = h0[None].astype(states.dtype)
    sequence = [within.swapaxes(1, 2), edge] if reverse else [edge, within.swapaxes(1, 2)]
    previous = (xp.concatenate(sequence) if steps else states.swapaxes(1, 2)).reshape(steps * count, size)
    gradients = (
        (flat @ w_ih).reshape(x.shape) if with_x else dh[:0],
        dh.T,
        dc.T if c0 is not None else dh[:0],
        flat.T @ x.reshape(steps * count, x.shape[2]),
        products.T @ previous,
        flat.sum(axis=0) if b_ih is not None else dh[:0],
        products.sum(axis=0) if b_hh is not None else dh[:0],
    )
    return tuple(y if d is None else y.astype(d, copy=False) for y, d in zip(gradients, dtypes, strict=True))


def _lstm_back(xp: ModuleType, dh: Array, dc: Array, gate: Array, c: Array, c_before: Array, d: Array) -> Array:
    """Compute one step: write the gradients of the gates' inputs to ``d``; return that of the previous cell state.

    The gates' slopes are computed here, step by step: for all steps at once they would not stay in the cache.
    """
    size = c.shape[0]
    i, f, n, o = (gate[k * size : (k + 1) * size] for k in range(4))
    bent = xp.tanh(c)
    xp.multiply(dh, bent, out=d[3 * size :])
    bent *= bent
    xp.subtract(1.0, bent, out=bent)
    bent *= o
    bent *= dh
    bent += dc
    xp.multiply(bent, n, out=d[:size])
    xp.multiply(bent, c_before, out=d[size : 2 * size])
    xp.multiply(bent, i, out=d[2 * size : 3 * size])
    slope = 1.0 - gate
    slope *= gate
    tanh_slope = xp.multiply(n, n, out=slope[2 * size : 3 * size])
    xp.subtract(1.0, tanh_slope, out=tanh_slope)
    d *= slope
    bent *= f
    return bent
