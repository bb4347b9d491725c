"""Recurrent layers over a whole sequence: tanh and relu cells, LSTM and GRU, as one operator with one gradient.

Time is the first axis. Gates are in the order of MindSpore and PyTorch: i, f, g, o (LSTM), r, z, n (GRU). The kernels
are in ``engine/cpu/neural/recurrent.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...autograd.backward import backward
from ...base.argument_checks import check_bool, check_int, check_number, check_positive_int
from ...base.surfaces import declare, prim
from ...base.types import Array, Functions
from ...cpu.array_module import array_module
from ...cpu.neural import recurrent as recurrent_kernels
from ...tape.tape import Recording
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_tensor
from ..linalg.matmul import matmul
from ..shapes.broadcasting import zeros_operator
from ..shapes.concatenation import concat, stack
from ..shapes.reshape import reshape

__all__: list[str] = []

GATES = recurrent_kernels.GATES


def _rule(
    F: Any, needs: list[bool], g: tuple[Any, ...], out: tuple[Any, ...], *inputs: Any, kind: str, reverse: bool
) -> list[Any]:
    if F.wraps:
        return _rule_on_tensors(F, g, inputs, kind, reverse)
    gradients = F.recurrent_grad(
        g[0], g[1], g[2], *inputs, out[3], out[4], out[5], kind=kind, reverse=reverse, with_x=needs[0]
    )
    return [*gradients, None]


def _rule_on_tensors(F: Functions, g: tuple[Any, ...], inputs: Sequence[Any], kind: str, reverse: bool) -> list[Any]:
    """Return the gradients for higher orders: record the sequence again, step by step from operators of the table."""
    indices = [i for i, x in enumerate(inputs[:7]) if x is not None]
    fresh: Any = [None if x is None else F.identity(x) for x in inputs[:7]]
    with Recording([fresh[i]._array for i in indices]) as tape:
        outputs = _steps(F, fresh, inputs[7], kind, reverse)
    seeds = [
        (y._array, gy) for y, gy in zip(outputs, g[:3], strict=True) if gy is not None and id(y._array) in tape.tracked
    ]
    gradients = backward(tape, seeds, F)
    return [None if x is None else gradients.get(id(x._array)) for x in fresh] + [None]


def _steps(
    F: Functions, operands: Sequence[Any], keep: Tensor | None, kind: str, reverse: bool
) -> tuple[Any, Any, Any]:
    x, h, c, w_ih, w_hh, b_ih, b_hh = operands
    size = w_hh.shape[1]
    outputs: list[Any] = [None] * x.shape[0]

    def part(gate: Tensor, k: int) -> Tensor:
        return F.slice_axis(gate, axis=1, start=k * size, stop=(k + 1) * size)

    def product(a: Tensor, b: Tensor) -> Tensor:
        return F.matmul(a, b, transpose_a=False, transpose_b=True)

    for t in range(x.shape[0] - 1, -1, -1) if reverse else range(x.shape[0]):
        xt = F.reshape(F.slice_axis(x, axis=0, start=t, stop=t + 1), shape=tuple(x.shape[1:]))
        from_input, from_state = product(xt, w_ih), product(h, w_hh)
        if b_ih is not None:
            from_input, from_state = from_input + b_ih, from_state + b_hh
        new_c = c
        if kind == "lstm":
            gate = from_input + from_state
            i, f, o = (F.sigmoid(part(gate, k)) for k in (0, 1, 3))
            new_c = f * c + i * F.tanh(part(gate, 2))
            new_h = o * F.tanh(new_c)
        elif kind == "gru":
            r, z = (F.sigmoid(part(from_input, k) + part(from_state, k)) for k in (0, 1))
            n = F.tanh(part(from_input, 2) + r * part(from_state, 2))
            new_h = n + z * (h - n)
        else:
            gate = from_input + from_state
            new_h = F.tanh(gate) if kind == "tanh" else F.relu(gate)
        out = new_h
        if keep is not None:
            live = Tensor._wrap(keep._array[t])
            out = F.where(live, new_h, 0.0)
            new_h = F.where(live, new_h, h)
            new_c = new_c if c is None else F.where(live, new_c, c)
        h, c = new_h, new_c
        outputs[t] = F.reshape(out, shape=(1, *out.shape))
    return F.concat(*outputs, axis=0), h, h if c is None else c


_recurrent = Operator("recurrent", recurrent_kernels.forward, joint_vjp=_rule)
_recurrent_grad = Operator("recurrent_grad", recurrent_kernels.back)


def recurrent(
    x: Tensor,
    h0: Tensor,
    c0: Tensor | None,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    kind: str,
    reverse: bool = False,
    lengths: Array | None = None,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Run one layer of a recurrent network in one direction, over a whole sequence.

    Args:
        x: the inputs (T, N, I).
        h0: the first hidden state (N, H).
        c0: the first cell state (N, H) of an LSTM, else None.
        w_ih: the weights of the inputs (gates * H, I); gates i, f, g, o (LSTM), r, z, n (GRU).
        w_hh: the weights of the hidden state (gates * H, H).
        b_ih: the bias of the inputs (gates * H,), or None for none.
        b_hh: the bias of the hidden state (gates * H,); None where ``b_ih`` is.
        kind: "tanh", "relu", "lstm" or "gru".
        reverse: whether to run from the last step to the first.
        lengths: how many steps of each sample count, integers (N,), or None for all. After these the state stays and
            the output is 0.

    Returns:
        The hidden states (T, N, H), the last one (N, H), and the last cell state of an LSTM, else None.

    Raises:
        ValueError: an unknown ``kind``.
    """
    if kind not in GATES:
        raise ValueError(f"For 'recurrent', 'kind' must be one of {list(GATES)}, but got {kind!r}")
    keep = None
    if lengths is not None:
        xp = array_module(x._array)
        keep = Tensor._wrap((xp.arange(x.shape[0])[:, None] < lengths[None, :])[:, :, None])
    out = _recurrent(x, h0, c0, w_ih, w_hh, b_ih, b_hh, keep, kind=kind, reverse=reverse)
    return out[0], out[1], out[2] if kind == "lstm" else None


@declare(
    primitive=prim(
        "LSTM", "input_size", "hidden_size", "num_layers", "has_bias", "bidirectional", "dropout", proj_size=0
    )
)
def _lstm_class(
    input: Tensor,
    h: Tensor,
    c: Tensor,
    w: Tensor,
    *,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    has_bias: bool,
    bidirectional: bool,
    dropout: float,
    proj_size: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Run one layer of long short-term memory over a whole sequence, with all weights in one tensor.

    Args:
        input: the sequence (T, N, input_size).
        h: the first hidden state (directions, N, P), P being ``proj_size`` or, without one, ``hidden_size``.
        c: the first cell state (directions, N, hidden_size).
        w: of any shape, concatenated, each for one direction and then for the other: the weights of the inputs
            (4 * hidden_size, input_size), gates i, f, g, o; those of the hidden state (4 * hidden_size, P); the
            projection (P, hidden_size); the bias (4 * hidden_size,), or two of them, which are added.
        input_size: the length of an input.
        hidden_size: the length of the cell state.
        num_layers: must be 1; ``nn.LSTM`` has several.
        has_bias: whether there is a bias in ``w``.
        bidirectional: whether a second direction runs from the last step to the first.
        dropout: in [0, 1]; it acts between layers, of which there is one.
        proj_size: the length of the hidden state, below ``hidden_size``; 0 is ``hidden_size``, without a projection.

    Returns:
        The hidden states (T, N, directions * P), the last ones (directions, N, P), the last cell states (directions, N,
        hidden_size), and two tensors (1, 1) of 0, instead of which MindSpore returns what its gradient needs.

    Raises:
        TypeError: an input is not a Tensor, a size is not an int, ``has_bias`` or ``bidirectional`` is not a bool, or
            ``dropout`` is not a number.
        ValueError: a size is out of range, or the shapes do not fit.
    """
    for argument, size in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        check_positive_int(size, "LSTM", argument)
    for argument, flag in (("has_bias", has_bias), ("bidirectional", bidirectional)):
        check_bool(flag, "LSTM", argument)
    check_number(dropout, "LSTM", "dropout", within=(0.0, 1.0))
    if num_layers != 1:
        raise ValueError(f"For 'LSTM', 'num_layers' must be 1, but got {num_layers}; nn.LSTM has several layers")
    if not 0 <= check_int(proj_size, "LSTM", "proj_size") < hidden_size:
        raise ValueError(f"For 'LSTM', 'proj_size' must be in [0, {hidden_size}), but got {proj_size}")
    directions, gates, state_size = 1 + bidirectional, 4 * hidden_size, proj_size or hidden_size
    if check_tensor(input, "LSTM").ndim != 3 or input.shape[2] != input_size:
        raise ValueError(f"For 'LSTM', 'input' must have the shape (T, N, {input_size}), but got {input.shape}")
    for argument, state, length in (("h", h, state_size), ("c", c, hidden_size)):
        if check_tensor(state, "LSTM", argument).shape != (directions, input.shape[1], length):
            expected = (directions, input.shape[1], length)
            raise ValueError(f"For 'LSTM', '{argument}' must have the shape {expected}, but got {state.shape}")
    shapes: list[tuple[int, ...]] = [(gates, input_size), (gates, state_size)]
    shapes += [(proj_size, hidden_size)] * bool(proj_size) + [(gates,)] * has_bias
    element_count = directions * sum(math.prod(shape) for shape in shapes)
    if has_bias and check_tensor(w, "LSTM", "w").size == element_count + directions * gates:
        shapes.append((gates,))
        element_count += directions * gates
    if check_tensor(w, "LSTM", "w").size != element_count:
        raise ValueError(f"For 'LSTM', 'w' must have {element_count} elements, but got {w.size}")
    flat, parts, begin = reshape(w, (-1,)), list[list[Tensor]](), 0
    for shape in shapes:
        parts.append([])
        for _ in range(directions):
            parts[-1].append(reshape(flat[begin : begin + math.prod(shape)], shape))
            begin += math.prod(shape)
    runs = []
    for direction in range(directions):
        w_ih, w_hh, *biases = (part[direction] for part in parts)
        project = biases.pop(0) if proj_size else None
        b_ih, b_hh = (*biases, zeros_operator(biases[0]))[:2] if biases else (None, None)
        runs.append(
            _one_way(input, h[direction], c[direction], w_ih, w_hh, b_ih, b_hh, project, reverse=direction == 1)
        )
    states, last_h, last_c = zip(*runs, strict=True)
    empty = constant(array_module(input._array).zeros((1, 1), input._array.dtype))
    return concat(states, 2), stack(last_h, 0), stack(last_c, 0), empty, empty


def _one_way(
    x: Tensor,
    h: Tensor,
    c: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    project: Tensor | None,
    reverse: bool,
) -> tuple[Tensor, Tensor, Any]:
    if project is None:
        return recurrent(x, h, c, w_ih, w_hh, b_ih, b_hh, "lstm", reverse)
    # The projection becomes part of the weights of the hidden state; the first state, which is projected already, is
    # a further input of the first step.
    xp = array_module(x._array)
    is_first = xp.zeros((x.shape[0], 1, 1), x._array.dtype)
    is_first[-1 if reverse else 0] = 1
    wide = concat([x, Tensor._wrap(is_first) * h], 2)
    start = constant(xp.zeros((x.shape[1], project.shape[1]), x._array.dtype))
    states, last, cell = recurrent(
        wide, start, c, concat([w_ih, w_hh], 1), matmul(w_hh, project), b_ih, b_hh, "lstm", reverse
    )
    return matmul(states, project, False, True), matmul(last, project, False, True), cell
