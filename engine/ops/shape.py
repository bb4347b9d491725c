"""Operators that move elements without computing: shape, order, joining, splitting, element type, identity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.backend import to_host
from ..core.dtype import DType, numpy_dtype, promote
from ..core.operator import Operator
from ..core.surfaces import REQUIRED, declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from .arguments import axes_of, check_tensor, ints_of
from .elementwise import array_dtype, broadcast_to_operator, cast_operator

__all__ = [
    "broadcast_to", "cast", "cat", "chunk", "concat", "expand_dims", "flatten", "flip", "identity", "move_to", "pad",
    "permute", "reshape", "split", "squeeze", "stack", "stop_gradient", "swapaxes", "tile", "transpose", "unsqueeze",
]  # fmt: skip

_reshape = Operator(
    "reshape",
    lambda x, shape: x.reshape(shape),
    (lambda F, g, out, x, shape: F.reshape(g, shape=tuple(x.shape)),),
    keeps_dtype=True,
)
_transpose = Operator(
    "transpose",
    lambda x, axes: x.transpose(axes),
    (lambda F, g, out, x, axes: F.transpose(g, axes=tuple(int(i) for i in np.argsort(axes))),),
    keeps_dtype=True,
)
_flip = Operator(
    "flip",
    lambda x, axes: array_module(x).flip(x, axes),
    (lambda F, g, out, x, axes: F.flip(g, axes=axes),),
)
identity = Operator(
    "identity",
    lambda x: x.view(),
    (lambda F, g, out, x: g,),
    doc="The same values, a new tensor.",
    keeps_dtype=True,
    primitive=(prim("Identity"), prim("Reusing")),
)
_contiguous = Operator(
    "contiguous",
    lambda x: x.copy(order="C"),
    (lambda F, g, out, x: g,),
    doc="The same values, laid out row by row.",
    keeps_dtype=True,
)
slice_operator = Operator(
    "slice_axis",
    lambda x, axis, start, stop: x[(slice(None),) * axis + (slice(start, stop),)],
    (lambda F, g, out, x, axis, start, stop: F.pad_axis(g, axis=axis, before=start, after=x.shape[axis] - stop),),
    keeps_dtype=True,
)


def _moved(x: Any, to: str) -> Any:
    if to == "CPU":
        return to_host(x)
    import cupy

    return cupy.asarray(x)


def _place_of(x: Any) -> str:
    return "CPU" if isinstance(x._array if isinstance(x, Tensor) else x, np.ndarray) else "GPU"


move_operator = Operator(
    "move_to",
    _moved,
    (lambda F, g, out, x, to: F.move_to(g, to=_place_of(x)),),
    doc='The same values on another device, "CPU" or "GPU".',
    keeps_dtype=True,
)


def _pad_axis_kernel(x: Any, axis: int, before: int, after: int) -> Any:
    return array_module(x).pad(x, [(before, after) if i == axis else (0, 0) for i in range(x.ndim)])


_pad_axis = Operator(
    "pad_axis",
    _pad_axis_kernel,
    (lambda F, g, out, x, axis, before, after: F.slice_axis(g, axis=axis, start=before, stop=before + x.shape[axis]),),
)


def _concat_rule(F: Any, needs: list[bool], g: Any, out: Any, *parts: Any, axis: int) -> list[Any]:
    found, start = [], 0
    for part, needed in zip(parts, needs, strict=True):
        stop = start + part.shape[axis]
        found.append(F.slice_axis(g, axis=axis, start=start, stop=stop) if needed else None)
        start = stop
    return found


_concat = Operator(
    "concat",
    lambda *parts, axis: array_module(parts[0]).concatenate(parts, axis=axis),
    joint_vjp=_concat_rule,
)


def _pad_kernel(x: Any, widths: tuple[tuple[int, int], ...], mode: str, value: float) -> Any:
    xp = array_module(x)
    return xp.pad(x, widths, mode=mode, **({"constant_values": value} if mode == "constant" else {}))


def _pad_rule(F: Any, g: Any, out: Any, x: Any, widths: Any, mode: str, value: float) -> Any:
    if mode != "constant":
        raise NotImplementedError(f"For 'pad', mode {mode!r} has no gradient; use mode 'constant'")
    for axis, (before, _) in enumerate(widths):
        g = F.slice_axis(g, axis=axis, start=before, stop=before + x.shape[axis])
    return g


_pad = Operator("pad", _pad_kernel, (_pad_rule,))


@declare(method="contiguous")
def _contiguous_of_tensor(input: Tensor) -> Tensor:
    """The same values laid out row by row; the tensor itself where they are already."""
    return input if input.is_contiguous() else _contiguous(input)


@declare(primitive=prim("Reshape"), mint=True, numpy=renamed(input="x", shape="new_shape"))
def reshape(input: Tensor, shape: Any) -> Tensor:
    """The elements in their order in another shape; one axis may be -1.

    Raises:
        ValueError: the number of elements does not fit.
    """
    wanted = ints_of(shape, "reshape", "shape")
    check_tensor(input, "reshape")
    known = math.prod(n for n in wanted if n != -1)
    if wanted.count(-1) > 1 or (known != input.size if -1 not in wanted else (known == 0 or input.size % known)):
        raise ValueError(f"For 'reshape', {input.size} elements of shape {input.shape} do not fit into {wanted}")
    return _reshape(input, shape=wanted)


@declare(method="reshape")
def _reshape_of_tensor(input: Tensor, *shape: Any) -> Tensor:
    """The elements in another shape."""
    return reshape(input, shape[0] if len(shape) == 1 else shape)


@declare(method="view")
def _view_of_tensor(input: Tensor, *shape: Any) -> Tensor:
    """The elements in another shape, or their bytes as another dtype, which gradients do not pass."""
    if len(shape) == 1 and isinstance(shape[0], DType):
        return Tensor._wrap(input._array.view(numpy_dtype(shape[0])))
    return _reshape_of_tensor(input, *shape)


@declare(
    primitive=prim("Transpose"),
    mint=renamed("permute", defaults={"dims": REQUIRED}),
    numpy=renamed(input="a", dims="axes"),
)
def transpose(input: Tensor, dims: Any = None) -> Tensor:
    """The axes in the order of ``dims``; reversed without it.

    Raises:
        ValueError: ``dims`` is no order of all axes.
    """
    check_tensor(input, "transpose")
    wanted = tuple(reversed(range(input.ndim))) if dims is None else ints_of(dims, "transpose", "dims")
    order = tuple(n % input.ndim if -input.ndim <= n < input.ndim else n for n in wanted)
    if sorted(order) != list(range(input.ndim)):
        raise ValueError(f"For 'transpose', 'dims' must order the {input.ndim} axes of 'input', but got {wanted}")
    return _transpose(input, axes=order)


permute = transpose


@declare(method="permute")
def _permute_of_tensor(input: Tensor, *axis: Any) -> Tensor:
    """The axes in another order."""
    return transpose(input, axis[0] if len(axis) == 1 and not isinstance(axis[0], int) else axis)


@declare(method=("swapaxes", "swapdims"), mint=("swapaxes", renamed("transpose", axis0="dim0", axis1="dim1")))
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two axes exchanged."""
    order = list(range(check_tensor(input, "swapaxes").ndim))
    first, second = (axes_of(axis, input.ndim, "swapaxes") for axis in (axis0, axis1))
    if first is not None and second is not None:  # a 0-d tensor has none
        order[first[0]], order[second[0]] = second[0], first[0]
    return transpose(input, tuple(order))


@declare(method="transpose")
def _transpose_of_tensor(input: Tensor, *axes: Any) -> Tensor:
    """The axes in another order, or two of them exchanged; reversed without any."""
    if not axes:
        return transpose(input)
    if len(axes) == 2 and isinstance(axes[0], int):
        return swapaxes(input, *axes)
    return transpose(input, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


@declare(primitive=prim("Flatten"))
def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """The axes from ``start_dim`` to ``end_dim`` as one.

    Raises:
        ValueError: ``order`` other than "C" or "F", or axes that are not there.
    """
    if order not in ("C", "F"):
        raise ValueError(f"For 'flatten', 'order' must be 'C' or 'F', but got {order!r}")
    x = check_tensor(input, "flatten")
    if order == "F":
        return flatten(transpose(x), start_dim=start_dim, end_dim=end_dim)
    if x.ndim < 2 and start_dim == 1:
        return reshape(x, (x.size,))
    first, last = (axes_of(d, x.ndim, "flatten") for d in (start_dim, end_dim))
    start, stop = (first or (0,))[0], (last or (0,))[0]
    if start > stop:
        raise ValueError(f"For 'flatten', 'start_dim' {start_dim} must not come after 'end_dim' {end_dim}")
    return reshape(x, (*x.shape[:start], math.prod(x.shape[start : stop + 1]), *x.shape[stop + 1 :]))


@declare(method="flatten")
def _flatten_of_tensor(
    input: Tensor, order: str | int = "C", *dims: int, start_dim: int = 0, end_dim: int = -1
) -> Tensor:
    """The axes from ``start_dim`` to ``end_dim``, of all without them, as one."""
    if isinstance(order, int):
        start_dim, order, end_dim = order, "C", dims[0] if dims else end_dim
    if order == "C" and input.ndim == 0:
        return reshape(input, 1)
    return flatten(input, order, start_dim=start_dim, end_dim=end_dim)


@declare(primitive=prim("Squeeze", axis=()))
def squeeze(input: Tensor, axis: Any = None) -> Tensor:
    """Without the axes of length 1 (of those in ``axis``)."""
    x = check_tensor(input, "squeeze")
    dropped = axes_of(axis, x.ndim, "squeeze")
    kept = [n for i, n in enumerate(x.shape) if n != 1 or (dropped is not None and i not in dropped)]
    return reshape(x, tuple(kept))


@declare(method="squeeze")
def _squeeze_of_tensor(input: Tensor, *axis: Any) -> Tensor:
    """Without the axes of length 1 (of those in ``axis``)."""
    return squeeze(input, axis[0] if len(axis) == 1 else axis or None)


@declare(
    method=("expand_dims", "unsqueeze"),
    primitive=prim("ExpandDims"),
    mint=renamed("unsqueeze", input_x="input", axis="dim"),
)
def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    """One more axis of length 1 at ``axis``."""
    x = check_tensor(input_x, "expand_dims", "input_x")
    place = axes_of(axis, x.ndim + 1, "expand_dims")
    at = (place or (0,))[0]
    return reshape(x, (*x.shape[:at], 1, *x.shape[at:]))


unsqueeze = expand_dims


@declare(method=True, primitive=(prim("BroadcastTo", "shape"), prim("Expand")), mint=True)
def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """Repeated along axes of length 1 to fill ``shape``; -1 keeps an axis."""
    x = check_tensor(input, "broadcast_to")
    wanted = ints_of(shape, "broadcast_to", "shape")
    offset = len(wanted) - x.ndim
    filled = tuple(x.shape[i - offset] if n == -1 and i >= offset else n for i, n in enumerate(wanted))
    return broadcast_to_operator(x, shape=filled)


@declare(method=True, primitive=prim("Tile"), mint=True)
def tile(input: Tensor, dims: Any) -> Tensor:
    """The tensor repeated ``dims[i]`` times along axis i."""
    x = check_tensor(input, "tile")
    times = ints_of(dims, "tile", "dims")
    shape = (1,) * (len(times) - x.ndim) + x.shape
    times = (1,) * (len(shape) - len(times)) + times
    spread = reshape(x, tuple(n for pair in zip((1,) * len(shape), shape, strict=True) for n in pair))
    full = broadcast_to(spread, tuple(n for pair in zip(times, shape, strict=True) for n in pair))
    return reshape(full, tuple(t * n for t, n in zip(times, shape, strict=True)))


@declare(method=True)
def _repeat(input: Tensor, *repeats: Any) -> Tensor:
    """The whole tensor repeated along each axis.

    Raises:
        ValueError: fewer numbers than axes.
    """
    times = repeats[0] if len(repeats) == 1 and not isinstance(repeats[0], int) else repeats
    if len(times) < input.ndim:
        raise ValueError(
            f"For 'Tensor.repeat', 'repeats' must have at least {input.ndim} entries, but got {tuple(times)}"
        )
    return tile(input, tuple(times))


@declare(method=True, mint=True)
def flip(input: Tensor, dims: Any) -> Tensor:
    """The order reversed along ``dims``."""
    axes = axes_of(ints_of(dims, "flip", "dims"), check_tensor(input, "flip").ndim, "flip")
    return _flip(input, axes=axes)


@declare(
    primitive=(prim("Concat", axis=0), prim("ParallelConcat")), mint=(renamed(axis="dim"), renamed("cat", axis="dim"))
)
def concat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors joined along an axis they have.

    Raises:
        TypeError: ``tensors`` is no list or tuple of tensors.
        ValueError: it is empty, or shapes differ elsewhere than along ``axis``.
    """
    parts = _sequence(tensors, "concat")
    at = axes_of(axis, parts[0].ndim, "concat")
    first = parts[0]
    for part in parts:
        if part._array.dtype != first._array.dtype:
            common = first._array.dtype
            for other in parts:
                common = promote(common, other._array.dtype)
            parts = [p if p._array.dtype == common else cast_operator(p, dtype=common) for p in parts]
            break
    return _concat(*parts, axis=(at or (0,))[0])


cat = concat


@declare(
    primitive=(prim("Stack", axis=0), prim("Pack", axis=0)), mint=renamed(axis="dim"), numpy=renamed(tensors="arrays")
)
def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis."""
    parts = _sequence(tensors, "stack")
    for place, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise ValueError(
                f"For 'stack', all tensors must have the shape {parts[0].shape}, but entry {place} has {part.shape}"
            )
    return concat([expand_dims(part, axis) for part in parts], axis)


def _sequence(tensors: Any, name: str) -> list[Tensor]:
    if not isinstance(tensors, list | tuple):
        raise TypeError(f"For '{name}', 'tensors' must be a list or tuple of Tensors, but got {type(tensors).__name__}")
    if not tensors:
        raise ValueError(f"For '{name}', 'tensors' must not be empty")
    return [check_tensor(t, name, f"tensors[{i}]") for i, t in enumerate(tensors)]


@declare(method=True, mint=renamed(axis="dim"))
def split(tensor: Tensor, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Parts along ``axis``: each of one size (the last may be smaller), or of the sizes given."""
    x = check_tensor(tensor, "split", "tensor")
    at = (axes_of(axis, x.ndim, "split") or (0,))[0]
    length = x.shape[at]
    if isinstance(split_size_or_sections, int):
        if split_size_or_sections <= 0:
            raise ValueError(f"For 'split', the size of a part must be positive, but got {split_size_or_sections}")
        sizes = [split_size_or_sections] * (length // split_size_or_sections)
        sizes += [length % split_size_or_sections] if length % split_size_or_sections else []
    else:
        sizes = list(ints_of(split_size_or_sections, "split", "split_size_or_sections"))
        if sum(sizes) != length:
            raise ValueError(f"For 'split', the sizes {sizes} must add up to {length}, the length of axis {axis}")
    parts, start = [], 0
    for size in sizes:
        parts.append(slice_operator(x, axis=at, start=start, stop=start + size))
        start += size
    return tuple(parts)


@declare(primitive=prim("SplitV", size_splits=(), split_dim=0, num_split=1))
def _split_by_sizes(x: Tensor, size_splits: Any, split_dim: int, num_split: int) -> tuple[Tensor, ...]:
    """Parts of these sizes along ``split_dim``; one size may be -1, which is what the others leave."""
    sizes = list(size_splits)
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = x.shape[split_dim] - sum(sizes) - 1
    return split(x, sizes, split_dim)


@declare(method=True, mint=renamed(axis="dim"))
def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` parts of equal size along ``axis``; the last may be smaller."""
    if not isinstance(chunks, int) or chunks <= 0:
        raise ValueError(f"For 'chunk', 'chunks' must be a positive int, but got {chunks!r}")
    return split(input, max(1, -(-input.shape[axis] // chunks)), axis)


declare(primitive=prim("Split", axis=0, output_num=1))(lambda x, axis, output_num: chunk(x, output_num, axis))


@declare(mint=renamed("nn.functional.pad", input_x="input", padding="pad"))
def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Elements added at the ends of the last axes: ``padding`` is (before, after) pairs, last axis first."""
    x = check_tensor(input_x, "pad", "input_x")
    given = ints_of(padding, "pad", "padding")
    if len(given) % 2 or len(given) > 2 * x.ndim:
        raise ValueError(f"For 'pad', 'padding' must be pairs for at most {x.ndim} axes, but got {given}")
    if mode not in ("constant", "reflect", "edge"):
        mode = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    pairs = list(zip(given[::2], given[1::2], strict=True))
    widths = ((0, 0),) * (x.ndim - len(pairs)) + tuple(reversed(pairs))
    return _pad(x, widths=widths, mode=mode, value=0 if value is None else value)


@declare(primitive=prim("Pad", "paddings"))
def pad_by_axis(x: Tensor, paddings: Any) -> Tensor:
    """``x`` with 0 at the ends of its axes: ``paddings`` is a pair for each, the last axis last."""
    return pad(x, [n for pair in reversed(list(paddings)) for n in pair])


@declare(method=True)
def _resize(input: Tensor, *new_shape: Any) -> Tensor:
    """The first elements in another shape, filled up with 0."""
    wanted = new_shape[0] if len(new_shape) == 1 and not isinstance(new_shape[0], int) else new_shape
    count, flat = math.prod(wanted), reshape(input, (input.size,))
    if count > input.size:
        flat = pad(flat, (0, count - input.size))
    return reshape(flat[:count], wanted)


@declare(primitive=prim("Cast"))
def cast(input: Any, dtype: DType) -> Tensor:
    """The elements as another dtype.

    Raises:
        TypeError: ``dtype`` is no dtype.
    """
    x = input if isinstance(input, Tensor) else Tensor(input)
    wanted = numpy_dtype(dtype)
    return x if array_dtype(x) == wanted else cast_operator(x, dtype=wanted)


def move_to(input: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
    """The same values on "CPU" or "GPU"."""
    return check_tensor(input, "move_to").move_to(to, blocking)


declare(primitive=prim("IdentityN"))(lambda x: tuple(x))


@declare(primitive=prim("StopGradient"))
def stop_gradient(value: Any) -> Any:
    """The same values (of a tensor, or of the tensors in a tuple), through which no gradient passes."""
    if isinstance(value, tuple | list):
        return type(value)([stop_gradient(v) for v in value])
    return Tensor._wrap(value._array.view()) if isinstance(value, Tensor) else value
