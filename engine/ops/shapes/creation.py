"""Creation of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.argument_checks import check_not_negative, check_real, check_type
from ...base.surfaces import alias, declare, prim, renamed
from ...base.types import Array, DTypeLike, Number, Operand, Shape, TensorLike
from ...cpu.array_module import array_module
from ...tape import taps
from ...tensors.backend import to_device, to_host
from ...tensors.dtype import DType, float32, float64, int32, int64, numpy_dtype, promote, promote_scalar, wrapped
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant, constant_array, generate
from ..arguments import bool_of, check_operand, check_same_dtype, check_tensor, ints_of, one_axis
from .broadcasting import cast_operator
from .conversion import cast
from .copying import identity
from .reshape import broadcast_to, reshape

__all__ = [
    "arange",
    "assign",
    "assign_add",
    "assign_sub",
    "bartlett_window",
    "blackman_window",
    "eye",
    "fill",
    "fills",
    "full",
    "full_like",
    "hamming_window",
    "hann_window",
    "kaiser_window",
    "linspace",
    "logspace",
    "one_hot",
    "ones",
    "ones_like",
    "zero_",
    "zeros",
    "zeros_like",
]


def one_hot_array(labels: Array, depth: int, dtype: np.dtype[Any] | type) -> Array:
    """Return 1 in the column of each label, 0 elsewhere; a label outside [0, depth) gives zeros.

    Args:
        labels: integers of any shape.
        depth: the number of columns.
        dtype: of the result.

    Returns:
        An array (..., depth).
    """
    xp = array_module(labels)
    return (labels[..., None] == constant_array(xp.arange(depth, dtype=labels.dtype))).astype(dtype)


@np.errstate(all="ignore")
def _filled(shape: Shape, value: Operand, dtype: DTypeLike, name: str) -> Tensor:
    lengths = ints_of(shape, name, "size")
    if any(n < 0 for n in lengths):
        raise ValueError(f"For '{name}', 'size' must not be negative, but got {lengths}")
    if isinstance(value, Tensor):
        return _spread(value, lengths, numpy_dtype(dtype), name)
    kind = numpy_dtype(dtype)
    check_type(value, Number | np.generic, name, "fill_value", "a number or a Tensor")
    return generate(_full, shape=lengths, fill_value=wrapped(value, kind), dtype=kind)


def _full(shape: tuple[int, ...], fill_value: Any, dtype: np.dtype[Any]) -> Any:
    return to_device(np.full(shape, fill_value, dtype))


def _spread(value: Tensor, shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> Tensor:
    """Return the one element of a tensor everywhere; it gets the sum of the gradient."""
    if value.size != 1:
        raise ValueError(f"For '{name}', the value must be one number, but got a tensor of shape {value.shape}")
    return broadcast_to(cast_operator(reshape(value, ()), dtype=dtype), shape).contiguous()


@declare(primitive=prim("Zeros"))
def zeros(size: Shape, dtype: DTypeLike | None = None) -> Tensor:
    """Return a tensor of zeros.

    Args:
        size: the shape: an int, several, or an integer tensor.
        dtype: of the result; Float32 by default.

    Returns:
        A tensor of shape ``size``.

    Raises:
        TypeError: ``size`` is of the wrong type.
        ValueError: a length is negative.
    """
    return _filled(size, 0, dtype or float32, "zeros")


@declare(primitive=prim("Ones"))
def ones(shape: Shape, dtype: DTypeLike | None = None) -> Tensor:
    """Return a tensor of ones.

    Args:
        shape: an int, several, or an integer tensor.
        dtype: of the result; Float32 by default.

    Returns:
        A tensor of this shape.

    Raises:
        TypeError: ``shape`` is of the wrong type.
        ValueError: a length is negative.
    """
    return _filled(shape, 1, dtype or float32, "ones")


@declare(mint=True)
def full(size: Shape, fill_value: Operand, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return a tensor that holds ``fill_value`` everywhere.

    Args:
        size: the shape: an int, several, or an integer tensor.
        fill_value: a number, or a tensor of one element, which gets the sum of the gradient.
        dtype: of the result; by default that of ``fill_value``.

    Returns:
        A tensor of shape ``size``.

    Raises:
        TypeError: ``size`` is of the wrong type.
        ValueError: a length is negative, or ``fill_value`` has several elements.
    """
    return _filled(size, fill_value, dtype or Tensor(fill_value).dtype, "full")


@declare(primitive=prim("Fill"))
def fill(type: DTypeLike, shape: Shape, value: Operand) -> Tensor:
    """Return a tensor that holds ``value`` everywhere.

    Args:
        type: the dtype of the result.
        shape: an int, several, or an integer tensor.
        value: a number, or a tensor of one element, which gets the sum of the gradient.

    Returns:
        A tensor of this shape and dtype.

    Raises:
        TypeError: ``shape`` is of the wrong type.
        ValueError: a length is negative, or ``value`` has several elements.
    """
    return _filled(shape, value, type, "fill")


@np.errstate(all="ignore")
def _like(x: Tensor, value: Operand, dtype: DTypeLike | None, name: str) -> Tensor:
    check_tensor(x, name)
    result_dtype = x._array.dtype if dtype is None else numpy_dtype(dtype)
    if isinstance(value, Tensor):
        return _spread(value, x.shape, result_dtype, name)
    check_type(value, int | float | complex, name, "fill_value", "a Tensor or a number")
    return generate(
        array_module(x._array).full, shape=x.shape, fill_value=wrapped(value, result_dtype), dtype=result_dtype
    )


@declare(primitive=prim("ZerosLike"), mint=True)
def zeros_like(input: Tensor, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return zeros of the input's shape and device.

    Args:
        input: a tensor of any shape.
        dtype: of the result; by default that of ``input``.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _like(input, 0, dtype, "zeros_like")


def zero_(input: Tensor) -> Tensor:
    """Make all elements of a tensor 0, in place.

    Args:
        input: the tensor.

    Returns:
        ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    check_tensor(input, "zero_")._rebind(zeros_like(input)._array)
    return input


@declare(primitive=prim("OnesLike"), mint=True)
def ones_like(input: Tensor, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return ones of the input's shape and device.

    Args:
        input: a tensor of any shape.
        dtype: of the result; by default that of ``input``.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _like(input, 1, dtype, "ones_like")


@declare(primitive=prim("Fills"), mint=True)
def full_like(input: Tensor, fill_value: Operand, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return ``fill_value`` everywhere, in the input's shape and on its device.

    Args:
        input: a tensor of any shape.
        fill_value: a number, or a tensor of one element, which gets the sum of the gradient.
        dtype: of the result; by default that of ``input``.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``fill_value`` has several elements.
    """
    return _like(check_operand(input, "full_like"), fill_value, dtype, "full_like")


fills = alias(full_like, renamed("fills", without=("dtype",), input="x", fill_value="value"))


@declare(primitive=prim("FillV2"))
def _fill_v2(shape: Shape, value: Tensor) -> Tensor:
    """Return a tensor that holds ``value`` everywhere, in its dtype.

    Args:
        shape: an int, several, or an integer tensor.
        value: a tensor of one element, which gets the sum of the gradient.

    Returns:
        A tensor of this shape.

    Raises:
        TypeError: ``value`` is not a Tensor, or ``shape`` is of the wrong type.
        ValueError: a length is negative, or ``value`` has several elements.
    """
    return full(shape, check_tensor(value, "FillV2", "value"), dtype=value.dtype)


@declare(method=True)
def _new_full(
    input: Tensor, size: Shape, fill_value: Operand, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Return ``fill_value`` everywhere in a new tensor.

    Args:
        input: the tensor whose dtype is the default.
        size: the shape: an int, several, or an integer tensor.
        fill_value: a number, or a tensor of one element, which gets the sum of the gradient.
        dtype: of the result; by default that of this tensor.
        device: ignored; the result is on the device of new tensors.

    Returns:
        A tensor of shape ``size``.

    Raises:
        TypeError: ``size`` is of the wrong type.
        ValueError: a length is negative, or ``fill_value`` has several elements.
    """
    return full(size, fill_value, dtype=dtype or input.dtype)


@declare(method=("new_zeros", "new_empty"))
def _new_zeros(input: Tensor, size: Shape, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return a new tensor of zeros.

    Args:
        input: the tensor whose dtype is the default.
        size: the shape: an int, several, or an integer tensor.
        dtype: of the result; by default that of this tensor.
        device: ignored; the result is on the device of new tensors.

    Returns:
        A tensor of shape ``size``.

    Raises:
        TypeError: ``size`` is of the wrong type.
        ValueError: a length is negative.
    """
    return full(size, 0, dtype=dtype or input.dtype)


@declare(method=True)
def _new_ones(input: Tensor, size: Shape, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return a new tensor of ones.

    Args:
        input: the tensor whose dtype is the default.
        size: the shape: an int, several, or an integer tensor.
        dtype: of the result; by default that of this tensor.
        device: ignored; the result is on the device of new tensors.

    Returns:
        A tensor of shape ``size``.

    Raises:
        TypeError: ``size`` is of the wrong type.
        ValueError: a length is negative.
    """
    return full(size, 1, dtype=dtype or input.dtype)


@declare(in_place="copy_")
def _copied_into(input: Tensor, src: TensorLike, non_blocking: bool = False) -> Tensor:
    """Return the values of ``src`` in this tensor's dtype, broadcast to its shape; the gradient goes to ``src``.

    Args:
        input: the tensor.
        src: a tensor, an array or a number.
        non_blocking: ignored; the copy is complete when the call returns.

    Returns:
        The tensor.

    Raises:
        ValueError: ``src`` does not broadcast to the tensor's shape.
    """
    values = cast(src, input.dtype)
    return values if values.shape == input.shape else broadcast_to(values, input.shape)


@declare(method=("fill", "fills"), in_place="fill_")
def _filled_with(input: Tensor, value: Operand) -> Tensor:
    """Return ``value`` everywhere, in this tensor's shape and dtype.

    Args:
        input: the tensor.
        value: a number, or a tensor that broadcasts to the tensor's shape and gets the gradient.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: ``value`` does not broadcast to the tensor's shape.
    """
    return _copied_into(input, value) if isinstance(value, Tensor) else full_like(input, value)


declare(in_place="zero_")(zeros_like)


@declare(mint=True)
@np.errstate(all="ignore")
def arange(
    start: Operand = 0, end: Operand | None = None, step: Operand = 1, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Return start, start + step, start + 2 * step, ... as long as it is before ``end``; no gradient passes.

    Args:
        start: the first number, a number or a 0-d tensor; if it is the only one, it is ``end``, and the first is 0.
        end: the end, not included.
        step: the difference of two numbers, negative to count down; not 0. If it leads away from ``end``, there are
            none.
        dtype: of the result; without it Float32 if one of the three is a float, else Int64.

    Returns:
        A vector.

    Raises:
        ValueError: ``step`` is 0.
    """
    if end is None:
        start, end = 0, start
    values: list[Any] = [x.item() if isinstance(x, Tensor) else x for x in (start, end, step)]
    for value, argument in zip(values, ("start", "end", "step"), strict=True):
        check_type(value, int | float | np.number, "arange", argument, "a number")
    if values[2] == 0:
        raise ValueError("For 'arange', 'step' must not be 0")
    result_dtype = dtype or (float32 if any(isinstance(x, float) for x in values) else int64)
    start, stop, step = values
    return generate(_arange, start=start, stop=stop, step=step, dtype=numpy_dtype(result_dtype))


def _arange(start: Any, stop: Any, step: Any, dtype: np.dtype[Any]) -> Any:
    return to_device(np.arange(start, stop, step).astype(dtype))


@declare(primitive=prim("LinSpace"))
@np.errstate(all="ignore")
def linspace(start: Operand, end: Operand, steps: int) -> Tensor:
    """Return start + k * (end - start) / (steps - 1) for k from 0 to steps - 1, both ends included. No gradient passes.

    Args:
        start: the first number, a number or a 0-d tensor.
        end: the last number, likewise.
        steps: the length of the result, an int of at least 1; with 1 it is ``start``.

    Returns:
        A tensor (steps,): Float64 if ``start`` or ``end`` is a Float64 tensor, else Float32.

    Raises:
        TypeError: ``steps`` is not an int.
        ValueError: ``steps`` is below 1, or a tensor has axes.
    """
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer):
        raise TypeError(f"For 'linspace', 'steps' must be an int, but got {type(steps).__name__}")
    if steps < 1:
        raise ValueError(f"For 'linspace', 'steps' must be at least 1, but got {steps}")
    limits = {"start": start, "end": end}
    for argument, value in limits.items():
        if isinstance(value, Tensor) and value.ndim:
            raise ValueError(f"For 'linspace', '{argument}' must be one number, but got shape {value.shape}")
    wide = any(isinstance(x, Tensor) and x.dtype is float64 for x in limits.values())
    low, high = (_number(value, "linspace", argument) for argument, value in limits.items())
    return constant(to_device(np.linspace(low, high, steps, dtype=np.float64 if wide else np.float32)))


def _number(value: Operand, name: str, argument: str) -> Any:
    number = value.item() if isinstance(value, Tensor) else value
    return check_type(number, int | float | np.number, name, argument, "a number or a Tensor of one")


@declare(primitive=prim("LogSpace", steps=10, base=10, dtype=float32))
@np.errstate(all="ignore")
def logspace(start: Operand, end: Operand, steps: int, base: int = 10, *, dtype: DTypeLike = float32) -> Tensor:
    """Return base ** (start + k * (end - start) / (steps - 1)) for k from 0 to steps - 1; no gradient passes.

    Args:
        start: the first exponent, a number or a 0-d tensor.
        end: the last exponent, likewise.
        steps: the length of the result, not negative.
        base: the base of the powers.
        dtype: of the result.

    Returns:
        A tensor (steps,).

    Raises:
        ValueError: ``steps`` is negative.
    """
    check_not_negative(steps, "logspace", "steps")
    low, high = _number(start, "logspace", "start"), _number(end, "logspace", "end")
    check_real(base, "logspace", "base")
    return constant(to_device(np.logspace(low, high, steps, base=base).astype(numpy_dtype(dtype))))


def _window(
    name: str,
    window_length: int | Tensor,
    periodic: bool,
    dtype: DTypeLike | None,
    formula: Callable[[Array], Array],
    default_dtype: DType = float32,
) -> Tensor:
    """Return the formula at k / n, n being the length, or with both ends one less."""
    length = window_length.item() if isinstance(window_length, Tensor) else window_length
    if isinstance(length, bool) or not isinstance(length, int | np.integer):
        raise TypeError(f"For '{name}', 'window_length' must be an int, but got {length!r}")
    check_not_negative(int(length), name, "window_length")
    result_dtype = numpy_dtype(dtype or default_dtype)
    if result_dtype.kind not in "fV":
        raise TypeError(f"For '{name}', 'dtype' must be floating, but got {dtype}")
    if length <= 1:
        return ones((int(length),), dtype or default_dtype)
    phase = np.arange(length) / (length if bool_of(periodic, name, "periodic") else length - 1)
    return constant(to_device(formula(phase).astype(result_dtype)))


@declare(primitive=prim("BartlettWindow", periodic=True, dtype=float32))
def bartlett_window(window_length: int | Tensor, periodic: bool = True, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return Bartlett's triangle, 1 - |2 k / n - 1|.

    Args:
        window_length: the length, an int or a 0-d integer tensor; not negative.
        periodic: whether n is the length, for use with ``fft``; otherwise n is one less, and both ends are included.
        dtype: of the result, floating; Float32 by default.

    Returns:
        A tensor (window_length,); of length 1 it holds 1.

    Raises:
        TypeError: ``window_length`` is not an int, or ``dtype`` not floating.
        ValueError: ``window_length`` is negative.
    """
    return _window("bartlett_window", window_length, periodic, dtype, lambda t: 1 - np.abs(2 * t - 1))


@declare(primitive=prim("BlackmanWindow", periodic=True, dtype=float32))
def blackman_window(window_length: int | Tensor, periodic: bool = True, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return Blackman's window, 0.42 - 0.5 * cos(2 pi k / n) + 0.08 * cos(4 pi k / n).

    Args:
        window_length: the length, an int or a 0-d integer tensor; not negative.
        periodic: whether n is the length, for use with ``fft``; otherwise n is one less, and both ends are included.
        dtype: of the result, floating; Float32 by default.

    Returns:
        A tensor (window_length,); of length 1 it holds 1.

    Raises:
        TypeError: ``window_length`` is not an int, or ``dtype`` not floating.
        ValueError: ``window_length`` is negative.
    """

    def formula(t: Array) -> Array:
        return np.asarray(0.42 - 0.5 * np.cos(2 * np.pi * t) + 0.08 * np.cos(4 * np.pi * t))

    return _window("blackman_window", window_length, periodic, dtype, formula)


@declare(primitive=prim("HammingWindow", periodic=True, alpha=0.54, beta=0.46, dtype=float32))
def hamming_window(
    window_length: int | Tensor,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return Hamming's window, alpha - beta * cos(2 pi k / n).

    Args:
        window_length: the length, an int or a 0-d integer tensor; not negative.
        periodic: whether n is the length, for use with ``fft``; otherwise n is one less, and both ends are included.
        alpha: the mean of the cosine.
        beta: its height.
        dtype: of the result, floating; Float32 by default.

    Returns:
        A tensor (window_length,); of length 1 it holds 1.

    Raises:
        TypeError: ``window_length`` is not an int, or ``dtype`` not floating.
        ValueError: ``window_length`` is negative.
    """
    return _window(
        "hamming_window", window_length, periodic, dtype, lambda t: np.asarray(alpha - beta * np.cos(2 * np.pi * t))
    )


def hann_window(window_length: int | Tensor, periodic: bool = True, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return Hann's window, 0.5 - 0.5 * cos(2 pi k / n).

    Args:
        window_length: the length, an int or a 0-d integer tensor; not negative.
        periodic: whether n is the length, for use with ``fft``; otherwise n is one less, and both ends are included.
        dtype: of the result, floating; Float64 by default.

    Returns:
        A tensor (window_length,); of length 1 it holds 1.

    Raises:
        TypeError: ``window_length`` is not an int, or ``dtype`` not floating.
        ValueError: ``window_length`` is negative.
    """
    return _window(
        "hann_window", window_length, periodic, dtype, lambda t: np.asarray(0.5 - 0.5 * np.cos(2 * np.pi * t)), float64
    )


def kaiser_window(
    window_length: int | Tensor, periodic: bool = True, beta: float = 12.0, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Return Kaiser's window, I0(beta * sqrt(1 - (2 k / n - 1) ** 2)) / I0(beta), with Bessel's modified function I0.

    Args:
        window_length: the length, an int or a 0-d integer tensor; not negative.
        periodic: whether n is the length, for use with ``fft``; otherwise n is one less, and both ends are included.
        beta: how narrow it is; 0 for a rectangle.
        dtype: of the result, floating; Float64 by default.

    Returns:
        A tensor (window_length,); of length 1 it holds 1.

    Raises:
        TypeError: ``window_length`` is not an int, or ``dtype`` not floating.
        ValueError: ``window_length`` is negative.
    """

    def formula(t: Array) -> Array:
        return np.asarray(np.i0(beta * np.sqrt(1 - (2 * t - 1) ** 2)) / np.i0(beta))

    return _window("kaiser_window", window_length, periodic, dtype, formula, float64)


@declare(primitive=prim("Eye"), mint=True)
def eye(n: int, m: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Return ones on the main diagonal of a matrix, zeros elsewhere.

    Args:
        n: the number of rows, not negative.
        m: the number of columns; by default ``n``.
        dtype: of the result; Float32 by default.

    Returns:
        A tensor (n, m).

    Raises:
        TypeError: a number is not an int.
        ValueError: a number is negative.
    """
    for argument, value in (("n", n), ("m", n if m is None else m)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError(f"For 'eye', '{argument}' must be an int, but got {type(value).__name__}")
        check_not_negative(value, "eye", argument)
    return constant(to_device(np.eye(n, m, dtype=numpy_dtype(dtype or float32))))


@declare(primitive=prim("OneHot", axis=-1))
def one_hot(indices: Tensor, depth: int, on_value: Operand = 1, off_value: Operand = 0, axis: int = -1) -> Tensor:
    """Return ``on_value`` at each index along a new axis, ``off_value`` elsewhere; no gradient passes.

    Args:
        indices: a tensor of integers; one outside [0, depth) gives ``off_value`` only.
        depth: the length of the new axis, not negative.
        on_value: a number, or a 0-d tensor.
        off_value: a number, or a 0-d tensor of the same dtype; a number takes that of ``on_value``.
        axis: the position of the new axis, in [-1, ndim]; -1 is after all others.

    Returns:
        A tensor with one axis more than ``indices``, in the dtype of ``on_value``.

    Raises:
        TypeError: ``indices`` is not an integer Tensor, or the values have two dtypes.
        ValueError: ``depth`` is negative, or ``axis`` out of range.
    """
    if check_tensor(indices, "one_hot", "indices")._array.dtype.kind not in "iu":
        raise TypeError(f"For 'one_hot', 'indices' must be integers, but got {indices.dtype}")
    check_not_negative(depth, "one_hot", "depth")
    one_axis(axis, indices.ndim + 1, "one_hot")
    on = on_value if isinstance(on_value, Tensor) else Tensor(on_value)
    off = off_value if isinstance(off_value, Tensor) else Tensor(off_value, on.dtype)
    if on.dtype is not off.dtype:
        raise TypeError(
            f"For 'one_hot', 'on_value' and 'off_value' must have one dtype, but got {on.dtype} and {off.dtype}"
        )
    on, off = (check_operand(value, "one_hot") for value in (on, off))
    hot = one_hot_array(indices._array, depth, np.bool_)
    xp = array_module(hot)
    mask = hot if axis == -1 else xp.moveaxis(hot, -1, axis)
    made = Tensor._wrap(xp.where(mask, on._array, off._array))
    if taps.operator_taps:
        taps.notify_operator("one_hot", (indices,), made, {})
    return made


def _written(name: str, variable: Tensor, value: Operand) -> Tensor:
    """Return the value to write to a variable: of its shape (one element for one element) and no wider dtype."""
    if not isinstance(variable, Tensor):
        raise TypeError(f"For '{name}', 'variable' must be a Parameter or Tensor, but got {type(variable).__name__}")
    check_type(value, Tensor | bool | int | float, name, "value", "a Tensor or a number")
    dtype = variable._array.dtype
    tensor = value if isinstance(value, Tensor) else Tensor(value)
    if tensor.shape != variable.shape and not tensor.size == variable.size == 1:
        raise ValueError(f"For '{name}', 'value' must have the shape {variable.shape}, but got {tensor.shape}")
    if (promote(dtype, tensor._array.dtype) if isinstance(value, Tensor) else promote_scalar(dtype, value)) != dtype:
        raise TypeError(
            f"For '{name}', 'value' must have a dtype that fits into {variable.dtype}, but got {tensor.dtype}; cast it"
        )
    return cast_operator(reshape(tensor, variable.shape), dtype=dtype)


def _rebound(variable: Tensor, new: Tensor) -> Tensor:
    variable._rebind(new._array, by_user=True)
    return Tensor._wrap(new._array)


@declare(primitive=prim("Assign"))
def assign(variable: Parameter, value: Operand) -> Tensor:
    """Set a parameter or tensor to new values, in place.

    Args:
        variable: the parameter or tensor.
        value: a tensor of its shape, of a dtype that fits into that of ``variable``; for one element also a number.

    Returns:
        The new values, in a Tensor of their own: later assignments do not change it.

    Raises:
        TypeError: ``variable`` is neither a Parameter nor a Tensor, ``value`` neither a Tensor nor a number, or of a
            wider dtype.
        ValueError: the shapes differ.
    """
    return _rebound(variable, identity(_written("assign", variable, value)))


@declare(primitive=prim("AssignAdd"))
def assign_add(variable: Parameter, value: Operand) -> Tensor:
    """Add to a parameter or tensor, in place.

    Args:
        variable: the parameter or tensor.
        value: the tensor to add, of its shape and of a dtype that fits into that of ``variable``; for one element also
            a number.

    Returns:
        The new values, in a Tensor of their own: later additions do not change it.

    Raises:
        TypeError: ``variable`` is neither a Parameter nor a Tensor, ``value`` neither a Tensor nor a number, or of a
            wider dtype.
        ValueError: the shapes differ.
    """
    return _rebound(variable, variable + _written("assign_add", variable, value))


@declare(primitive=prim("AssignSub"))
def assign_sub(variable: Parameter, value: Operand) -> Tensor:
    """Subtract from a parameter or tensor, in place.

    Args:
        variable: the parameter or tensor.
        value: the tensor to subtract, of its shape and of a dtype that fits into that of ``variable``; for one element
            also a number.

    Returns:
        The new values, in a Tensor of their own: later subtractions do not change it.

    Raises:
        TypeError: ``variable`` is neither a Parameter nor a Tensor, ``value`` neither a Tensor nor a number, or of a
            wider dtype.
        ValueError: the shapes differ.
    """
    return _rebound(variable, variable - _written("assign_sub", variable, value))


@declare(primitive=prim("RaggedRange", "Tsplits"))
def _ragged_range(starts: Tensor, limits: Tensor, deltas: Tensor, *, Tsplits: DTypeLike) -> tuple[Tensor, Tensor]:
    """Return rows start, start + delta, ... up to the limit, which is not included, one after the other.

    Args:
        starts: the first number of each row: a vector, or a tensor without axes for one row; Int32, Int64, Float32 or
            Float64.
        limits: the end of each row, of the same shape and dtype.
        deltas: the step of each row, likewise, not 0. A row that steps away from its limit is empty.
        Tsplits: the dtype of the splits, Int32 or Int64.

    Returns:
        The splits, one more than rows: row i is values[splits[i]:splits[i + 1]]; and the values, in the dtype of
        ``starts``.

    Raises:
        TypeError: an input is not a Tensor of such a dtype, the dtypes differ, or an unsupported ``Tsplits``.
        ValueError: the shapes differ or have more than one axis, or a step is 0.
    """
    name = "RaggedRange"
    inputs = {"starts": starts, "limits": limits, "deltas": deltas}
    check_same_dtype(name, **{key: check_tensor(tensor, name, key) for key, tensor in inputs.items()})
    kind = starts._array.dtype
    if kind.kind not in "if" or kind.itemsize < 4:
        raise TypeError(f"For '{name}', 'starts' must be Int32, Int64, Float32 or Float64, but got {starts.dtype}")
    if Tsplits not in (int32, int64):
        raise TypeError(f"For '{name}', 'Tsplits' must be int32 or int64, but got {Tsplits}")
    if starts.ndim > 1 or not starts.shape == limits.shape == deltas.shape:
        raise ValueError(
            f"For '{name}', 'starts', 'limits' and 'deltas' must have one shape of at most 1 axis, "
            f"but got {starts.shape}, {limits.shape} and {deltas.shape}"
        )
    begin, end, step = (to_host(tensor._array).reshape(-1) for tensor in inputs.values())
    if (step == 0).any():
        raise ValueError(f"For '{name}', 'deltas' must not be 0, but got {step.tolist()}")
    counts = -((end - begin) // -step) if kind.kind == "i" else np.ceil((end - begin) / step)
    counts = np.maximum(counts, 0).astype(np.int64)
    within = np.concatenate([np.arange(n) for n in counts]) if counts.sum() else np.zeros(0, np.int64)
    values = np.repeat(begin, counts) + within * np.repeat(step, counts)
    splits = np.concatenate([[0], np.cumsum(counts)]).astype(numpy_dtype(Tsplits))
    return Tensor._wrap(to_device(splits)), Tensor._wrap(to_device(values.astype(kind)))


@declare(primitive=prim("RangeV2", maxlen=1000000))
def _range_of_tensors(start: Tensor, limit: Tensor, delta: Tensor, *, maxlen: int) -> Tensor:
    """Return start, start + delta, ... up to ``limit``, which is not included.

    Args:
        start: the first number, a tensor without axes of Int32, Int64, Float32 or Float64.
        limit: the end, likewise and of the same dtype.
        delta: the difference of neighboring numbers, likewise; not 0.
        maxlen: the largest number of elements; as in MindSpore more are not an error.

    Returns:
        A vector of that dtype.

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: one has axes, or ``delta`` leads away from ``limit``.
    """
    name = "RangeV2"
    check_not_negative(maxlen, name, "maxlen")
    check_same_dtype(
        name,
        start=check_tensor(start, name, "start"),
        limit=check_tensor(limit, name, "limit"),
        delta=check_tensor(delta, name, "delta"),
    )
    if start._array.dtype not in (np.int32, np.int64, np.float32, np.float64):
        raise TypeError(f"For '{name}', 'start' must be Int32, Int64, Float32 or Float64, but got {start.dtype}")
    if start.ndim or limit.ndim or delta.ndim:
        raise ValueError(f"For '{name}', 'start', 'limit' and 'delta' must have no axes")
    begin, last, step = (tensor._array.item() for tensor in (start, limit, delta))
    if step == 0 or (last - begin) * step < 0:
        raise ValueError(f"For '{name}', 'delta' must lead from {begin} to {last}, but got {step}")
    return constant(to_device(np.arange(begin, last, step, dtype=start._array.dtype)))
