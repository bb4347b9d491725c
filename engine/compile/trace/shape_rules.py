"""Shape rules: output shapes of operators from their input shapes, for traces with symbolic dimensions.

A rule is called like the operator's kernel, with arrays whose ``shape`` may contain symbolic dimensions, and returns a
shape, or a list with one shape per output. It is plain arithmetic; its comparisons become guards. If an operator has no
rule, or its rule returns None or a different shape than the kernel, the plan is for the current input shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...cpu.neural.windows import output_length
from ..graph import ArrayFunction

__all__ = ["INNER", "shapes_of"]

Shape = tuple[Any, ...]
INNER: Any = object()
"""Shape of an output that an operator keeps for its own gradient rule; it depends on the kernel's internals."""
_RULES: dict[str, Callable[..., Any]] = {}


def shapes_of(
    operator: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], made: Sequence[tuple[int, ...] | None]
) -> list[Any] | None:
    """Return the symbolic shape of each output, or INNER; None without an applicable rule.

    Args:
        operator: the entry of the table, or an ArrayFunction.
        inputs: its operands.
        attrs: its attributes.
        made: the shapes of its outputs in this run; None for outputs that are not arrays.
    """
    if isinstance(operator, ArrayFunction):
        if operator.is_check:
            return []
        rule = _broadcast if isinstance(operator.kernel, np.ufunc) else _ARRAY_RULES.get(operator.name)
    else:
        rule = _broadcast if operator.scalar else _RULES.get(operator.name)
    shapes = None if rule is None else rule(*inputs, **attrs)
    if shapes is None:
        return None
    shapes = shapes if isinstance(shapes, list) else [shapes]
    if len(shapes) != len(made):
        return None
    for shape, real in zip(shapes, made, strict=True):
        if shape is not INNER and (None in (shape, real) or _numbers(shape) != real):
            return None
    return list(shapes)


def _numbers(shape: Shape) -> tuple[int, ...]:
    return tuple([n if type(n) is int else n.number for n in shape])


def _of(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def put(rule: Callable[..., Any]) -> Callable[..., Any]:
        _RULES.update(dict.fromkeys(names, rule))
        return rule

    return put


def _shape(x: Any) -> Shape:
    shape: Shape = getattr(x, "shape", ())
    return shape


def _is_one(n: Any) -> bool:
    """Return whether an axis of this length broadcasts; a symbolic one is at least 2 (``Lengths.no_broadcast``)."""
    return type(n) is int and n == 1


def _joined(*shapes: Shape) -> Shape:
    """Return the broadcast shape of several shapes."""
    lengths: list[Any] = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for axis, n in enumerate(shape, len(lengths) - len(shape)):
            if _is_one(n):
                continue
            if _is_one(lengths[axis]) or (lengths[axis] == n and type(n) is int):  # the comparison becomes a guard
                lengths[axis] = n
    return tuple(lengths)


@_of(
    "bitwise_not",
    "floor_divide",
    "remainder",
    "fmod",
    "cbrt",
    "sinc",
    "signbit",
    "population_count",
    "logaddexp",
    "logaddexp2",
    "gcd",
    "lcm",
    "nextafter",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "complex",
    "real",
    "imag",
    "conj",
    "lgamma",
    "digamma",
    "erfinv",
    "zeta",
    "igamma",
    "igammac",
    "bessel_i0e",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0e",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
)
def _broadcast(*operands: Any, **attrs: Any) -> Shape:
    return _joined(*map(_shape, operands))


@_of(
    "stop_gradient",
    "write_through",
    "flip",
    "identity",
    "contiguous",
    "move_to",
    "softmax",
    "softmax_grad",
    "log_softmax",
    "log_softmax_grad",
    "cumsum",
    "cumprod",
    "logcumsumexp",
    "deepcopy",
    "dropout",
    "dropout_kept",
    "affine_of_channels",
    "fft",
    "order",
    "running_extreme",
    "scatter_reduce",
)
def _same(x: Any, *others: Any, **attrs: Any) -> Shape:
    return _shape(x)


@_of("dropout2d")
def _twice(x: Any, **attrs: Any) -> list[Shape]:
    return [x.shape, x.shape]


@_of("broadcast_to")
def _broadcast_to(x: Any, shape: Shape) -> Shape | None:
    return tuple(shape) if _numbers(_joined(x.shape, tuple(shape))) == _numbers(tuple(shape)) else None


@_of(
    "sum_to",
    "scatter_add",
    "conv2d_input_grad",
    "conv3d_input_grad",
    "avg_pool2d_grad",
    "avg_pool3d_grad",
    "max_pool2d_grad",
    "max_pool3d_grad",
)
def _as_told(*operands: Any, shape: Shape, **attrs: Any) -> Shape:
    return tuple(shape)


@_of("reshape")
def _reshape(x: Any, shape: Shape) -> Shape:
    lengths = tuple(shape)
    if -1 not in [n for n in lengths if type(n) is int]:
        return lengths
    index = next(index for index, n in enumerate(lengths) if type(n) is int and n == -1)
    known_product = math.prod((*lengths[:index], *lengths[index + 1 :]))
    return (*lengths[:index], math.prod(x.shape) // known_product, *lengths[index + 1 :]) if known_product else lengths


@_of("transpose")
def _transpose(x: Any, axes: tuple[int, ...]) -> Shape:
    return tuple([x.shape[axis] for axis in axes])


def _with_axis(shape: Shape, axis: int, n: Any) -> Shape:
    axis %= len(shape)
    return (*shape[:axis], n, *shape[axis + 1 :])


@_of("slice_axis")
def _slice_axis(x: Any, axis: int, start: Any, stop: Any) -> Shape:
    return _with_axis(x.shape, axis, _sliced(slice(start, stop), x.shape[axis]))


@_of("parts")
def _parts(x: Any, axis: int, sizes: Shape) -> list[Shape]:
    return [_with_axis(x.shape, axis, size) for size in sizes]


@_of("pad_axis")
def _pad_axis(x: Any, axis: int, before: Any, after: Any) -> Shape:
    return _with_axis(x.shape, axis, before + x.shape[axis] + after)


@_of("concat")
def _concat(*parts: Any, axis: int) -> Shape:
    for part in parts[1:]:
        for n, other_length in zip(_with_axis(parts[0].shape, axis, 0), _with_axis(part.shape, axis, 0), strict=True):
            if n != other_length:
                return ()
    return _with_axis(parts[0].shape, axis, sum([part.shape[axis] for part in parts]))


@_of("pad")
def _pad(x: Any, widths: Any, **attrs: Any) -> Shape:
    return tuple([before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)])


def _sliced(part: slice, n: Any) -> Any:
    """Return the number of elements that a slice selects from ``n``; None if unknown."""
    step = 1 if part.step is None else part.step
    if type(step) is not int or step == 0:
        return None
    if step < 0:
        return n if step == -1 and part.start is None and part.stop is None else None
    ends = []
    for end, otherwise in ((part.start, 0), (part.stop, n)):
        if end is None:
            end = otherwise
        elif not isinstance(end, int):
            return None
        elif end < 0:
            end = 0 if end + n < 0 else end + n
        elif end > n:
            end = n
        ends.append(end)
    start, stop = ends
    return 0 if stop <= start else (stop - start + step - 1) // step


@_of("setitem")
def _setitem(x: Any, value: Any, index: Any) -> Shape | None:
    part = _getitem(x, index)
    if part is None:
        return None
    _joined(part, _shape(value))
    return _shape(x)


@_of("getitem")
def _getitem(x: Any, index: Any) -> Shape | None:
    parts = list(index) if isinstance(index, tuple) else [index]
    arrays = [part for part in parts if hasattr(part, "dtype")]
    ints = [part for part in parts if isinstance(part, int) and not isinstance(part, bool)]
    if any(part.dtype.kind == "b" for part in arrays) or any(isinstance(part, bool) for part in parts):
        return None
    consumed = sum(part is not None and part is not Ellipsis for part in parts)
    full_slices = [slice(None)] * (x.ndim - consumed)
    position = next((number for number, part in enumerate(parts) if part is Ellipsis), len(parts))
    parts[position : position + 1] = full_slices
    if arrays:  # combined with arrays, ints act as arrays
        if ints:
            return None
        positions = [number for number, part in enumerate(parts) if hasattr(part, "dtype") or isinstance(part, int)]
        if positions != list(range(positions[0], positions[-1] + 1)):
            return None
        parts[positions[0] : positions[-1] + 1] = [_IndexArrays(_joined(*map(_shape, arrays)), len(positions))]
    lengths: list[Any] = []
    axis = 0
    for part in parts:
        if part is None:
            lengths.append(1)
            continue
        if isinstance(part, _IndexArrays):
            lengths += part.shape
            axis += part.axes
            continue
        if isinstance(part, slice):
            lengths.append(_sliced(part, x.shape[axis]))
            if lengths[-1] is None:
                return None
        elif not -x.shape[axis] <= part < x.shape[axis]:
            return None
        axis += 1
    return tuple(lengths)


class _IndexArrays:
    """Index arrays on consecutive axes, and the shape that they broadcast to."""

    def __init__(self, shape: Shape, axes: int) -> None:
        self.shape = shape
        self.axes = axes


@_of("sum", "mean", "amax", "amin", "all", "any", "prod", "argmax", "argmin")
def _reduced(x: Any, axis: Any, keepdims: bool) -> Shape:
    axes = (
        range(x.ndim) if axis is None else [number % x.ndim for number in ((axis,) if isinstance(axis, int) else axis)]
    )
    lengths = [(1 if index in axes else n) for index, n in enumerate(x.shape)]
    return tuple(lengths if keepdims else [n for index, n in enumerate(lengths) if index not in axes])


@_of("max_along", "min_along")
def _along(x: Any, axis: int, keepdims: bool) -> list[Shape]:
    return [_reduced(x, axis, keepdims)] * 2


@_of("matmul")
def _matmul(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Shape | None:
    if a.ndim < 2 or b.ndim < 2:
        if transpose_a or transpose_b:
            return None
        if a.ndim == 1:
            return () if b.ndim == 1 and a.shape == b.shape else (*b.shape[:-2], *b.shape[-1:]) if b.ndim > 1 else None
        return a.shape[:-1] if a.shape[-1] == b.shape[0] else None
    rows, inner_a = a.shape[-2:][:: -1 if transpose_a else 1]
    inner_b, columns = b.shape[-2:][:: -1 if transpose_b else 1]
    return (*_joined(a.shape[:-2], b.shape[:-2]), rows, columns) if inner_a == inner_b else None


@_of("linear")
def _linear(x: Any, weight: Any, bias: Any, activation: Any) -> Shape | None:
    return (*x.shape[:-1], weight.shape[0]) if x.shape[-1] == weight.shape[1] else None


@_of("weighted_sums")
def _weighted_sums(x: Any, weights: Any, axis: int) -> Shape:
    if x.shape[axis] != weights.shape[0]:
        return ()
    return _with_axis(x.shape, axis, weights.shape[1])


@_of("einsum")
def _einsum(*operands: Any, terms: tuple[str, ...], result: str) -> Shape | None:
    lengths: dict[str, Any] = {}
    for x, term in zip(operands, terms, strict=True):
        if len(term) != x.ndim or not term.isalpha():
            return None
        for letter, n in zip(term, x.shape, strict=True):
            (lengths[letter],) = _joined((lengths.get(letter, 1),), (n,))
    return tuple([lengths[letter] for letter in result]) if result.isalpha() or not result else None


@_of("conv2d", "conv3d")
def _conv(x: Any, weight: Any, stride: Shape, pads: Shape, dilation: Shape, group: int) -> Shape:
    lengths = _windows(x.shape[2:], weight.shape[2:], stride, pads, dilation)
    return (x.shape[0], weight.shape[0], *lengths) if x.shape[1] == weight.shape[1] * group else ()


@_of("conv2d_bias")
def _conv_bias(x: Any, weight: Any, bias: Any, **how: Any) -> Shape:
    return _conv(x, weight, **how)


def _windows(lengths: Shape, kernel: Shape, stride: Shape, pads: Shape, dilation: Shape) -> Shape:
    settings = zip(lengths, kernel, stride, dilation, pads[::2], pads[1::2], strict=True)
    return tuple([output_length(n, k, s, d, before + after) for n, k, s, d, before, after in settings])


@_of("conv2d_weight_grad", "conv3d_weight_grad")
def _conv_weight_grad(g: Any, x: Any, kernel: Shape, stride: Shape, pads: Shape, dilation: Shape, group: int) -> Shape:
    return (g.shape[1], x.shape[1] // group, *kernel)


@_of("avg_pool2d", "avg_pool3d")
def _avg_pool(x: Any, kernel: Shape, stride: Shape, pads: Shape) -> Shape:
    return (*x.shape[:2], *_windows(x.shape[2:], kernel, stride, pads, (1,) * len(kernel)))


@_of("max_pool2d", "max_pool3d")
def _max_pool(x: Any, kernel: Shape, stride: Shape, pads: Shape, dilation: Shape) -> list[Shape]:
    return [(*x.shape[:2], *_windows(x.shape[2:], kernel, stride, pads, dilation))] * 2


@_of("max_pool2d_pick", "max_pool3d_pick")
def _max_pool_pick(x: Any, positions: Any, **attrs: Any) -> Shape:
    return _shape(positions)


@_of("sparse_softmax_cross_entropy")
def _cross_entropy(logits: Any, labels: Any, ignore_index: int) -> list[Shape]:
    return [(logits.shape[0],)] * 2 if logits.shape[0] == labels.shape[0] else []


@_of("sparse_softmax_cross_entropy_grad")
def _cross_entropy_grad(g: Any, logits: Any, *others: Any, **attrs: Any) -> Shape:
    return _shape(logits)


@_of("layer_norm")
def _layer_norm(x: Any, gamma: Any, beta: Any, begin_norm_axis: int, epsilon: float) -> list[Shape]:
    begin = begin_norm_axis % x.ndim
    return [x.shape, *[(*x.shape[:begin], *([1] * (x.ndim - begin)))] * 2]


@_of("rms_norm")
def _rms_norm(x: Any, gamma: Any, epsilon: float) -> list[Shape]:
    return [x.shape, (*x.shape[: x.ndim - gamma.ndim], *[1] * gamma.ndim)]


@_of("batch_norm")
def _batch_norm(x: Any, gamma: Any, beta: Any, epsilon: float) -> list[Shape]:
    return [x.shape, gamma.shape, gamma.shape]


@_of("attention")
def _attention(q: Any, k: Any, v: Any, mask: Any, scale: float) -> list[Shape]:
    batch = _joined(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    _joined((*batch, q.shape[-2], k.shape[-2]), _shape(mask))
    return [(*batch, q.shape[-2], v.shape[-1]), (*batch, q.shape[-2])] if k.shape[-2] == v.shape[-2] else []


@_of("attention_weights")
def _attention_weights(q: Any, k: Any, mask: Any, scale: float) -> Shape:
    scores = (*_joined(q.shape[:-2], k.shape[:-2]), q.shape[-2], k.shape[-2])
    _joined(scores, _shape(mask))
    return scores


@_of("recurrent")
def _recurrent(x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, *others: Any, kind: str, **attrs: Any) -> list[Any]:
    steps, count, width = x.shape
    size = w_hh.shape[1]
    shapes = [(steps, count, size), (count, size), (count, size if kind == "lstm" else 0), INNER, INNER, INNER]
    return shapes if count == h0.shape[0] and width == w_ih.shape[1] else []


@_of("im2col")
def _im2col(x: Any, kernel: Shape, stride: Shape, pads: Shape, dilation: Shape) -> Shape:
    lengths = _windows(x.shape[2:], kernel, stride, pads, dilation)
    return (x.shape[0], x.shape[1] * math.prod(kernel), math.prod(lengths))


def _as_filled(*operands: Any, shape: Shape, **attrs: Any) -> Shape:
    return tuple(shape)


def _by_numpy(x: Any, axis: Any = None, *others: Any, keepdims: bool = False, **attrs: Any) -> Shape | None:
    return None if others else _reduced(x, axis, keepdims)


def _number(*operands: Any, **attrs: Any) -> Shape:
    return ()


def _counted_up(start: Any, stop: Any, step: Any) -> Shape | None:
    if not (isinstance(start, int) and isinstance(stop, int) and type(step) is int and step == 1):
        return None
    return (stop - start if stop > start else 0,)


_ARRAY_RULES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("astype", "argsort", "sort", "flip", "roll", "cumsum", "clip", "round", "conj"), _same),
    "_in_numbers": _same,
    **dict.fromkeys(("sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin"), _by_numpy),
    "__getitem__": _getitem,
    "reshape": lambda x, *shape: _reshape(x, shape[0] if isinstance(shape[0], tuple) else shape),
    "where": _broadcast,
    "_counted": _number,
    "_correction": _number,
    "_counting_mask": _same,
    "_class_indices": _same,
    "_shares": _same,
    "_mixed": _same,
    "_moved_statistics": lambda *arrays, **attrs: [_shape(x) for x in arrays[:2]],
    "zeros": _as_filled,
    "ones": _as_filled,
    "full": _as_filled,
    "_full": _as_filled,
    "_triangle": _as_filled,
    "_numbered": _as_filled,
    "uniform_at": lambda seed, offset, shape, **attrs: tuple(shape),
    "normal_at": lambda seed, offset, shape, **attrs: tuple(shape),
    "arange": lambda *operands, start, stop, step, **attrs: _counted_up(start, stop, step),
    "_arange": lambda *operands, start, stop, step, **attrs: _counted_up(start, stop, step),
}
"""Rules for functions that are not in the operator table, by name."""
