"""New tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.backend import to_device
from ..core.dtype import float32, int64, numpy_dtype
from ..core.parameter import Parameter
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from .arguments import ints_of
from .elementwise import cast_operator
from .loss import one_hot_array
from .shape import broadcast_to, cast, identity

__all__ = [
    "arange", "assign", "assign_add", "assign_sub", "bartlett_window", "blackman_window", "eye", "fill", "fills",
    "full", "full_like", "hamming_window", "hann_window", "kaiser_window", "linspace", "logspace", "one_hot", "ones",
    "ones_like", "zero_", "zeros", "zeros_like",
]  # fmt: skip


@np.errstate(all="ignore")
def _filled(shape: Any, value: Any, dtype: Any, name: str) -> Tensor:
    wanted = ints_of(shape, name, "size")
    if any(n < 0 for n in wanted):
        raise ValueError(f"For '{name}', 'size' must not be negative, but got {wanted}")
    return Tensor._wrap(to_device(np.full(wanted, value, numpy_dtype(dtype))))


@declare(primitive=prim("Zeros"))
def zeros(size: Any, dtype: Any = None) -> Tensor:
    """Zeros of shape ``size``; Float32 without ``dtype``."""
    return _filled(size, 0, dtype or float32, "zeros")


@declare(primitive=prim("Ones"))
def ones(size: Any, dtype: Any = None) -> Tensor:
    """Ones of shape ``size``; Float32 without ``dtype``."""
    return _filled(size, 1, dtype or float32, "ones")


@declare(mint=True)
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` everywhere."""
    return _filled(size, fill_value, dtype or Tensor(fill_value).dtype, "full")


@declare(primitive=prim("Fill"))
def fill(type: Any, shape: Any, value: Any) -> Tensor:
    """``value`` everywhere; ``type`` is the dtype."""
    return _filled(shape, value, type, "fill")


@np.errstate(all="ignore")
def _like(x: Tensor, value: Any, dtype: Any, name: str) -> Tensor:
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{name}', 'input' must be a Tensor, but got {type_name(x)}")
    wanted = x._array.dtype if dtype is None else numpy_dtype(dtype)
    return Tensor._wrap(array_module(x._array).full(x.shape, value, wanted))


def type_name(x: Any) -> str:
    """The name of a value's class."""
    return type(x).__name__


@declare(
    primitive=prim("ZerosLike"), mint=True, numpy=[renamed(name, input="a") for name in ("zeros_like", "empty_like")]
)
def zeros_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Zeros of the input's shape, dtype and device."""
    return _like(input, 0, dtype, "zeros_like")


def zero_(input: Tensor) -> Tensor:
    """In place: zeros."""
    input._rebind(zeros_like(input)._array)
    return input


@declare(primitive=prim("OnesLike"), mint=True)
def ones_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Ones of the input's shape, dtype and device."""
    return _like(input, 1, dtype, "ones_like")


@declare(primitive=prim("Fills"), mint=True)
def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` in the input's shape, dtype and device."""
    return _like(input, fill_value, dtype, "full_like")


fills = full_like


@declare(primitive=prim("FillV2"))
def _fill_v2(shape: Any, value: Tensor) -> Tensor:
    """``value``, a 0-d tensor, everywhere in its dtype."""
    return full(shape, value.item(), dtype=value.dtype)


@declare(method=True)
def _new_full(input: Tensor, size: Any, fill_value: Any, dtype: Any = None, device: str | None = None) -> Tensor:
    """``fill_value`` everywhere in a new tensor of shape ``size``, in this one's dtype without ``dtype``."""
    return full(size, fill_value, dtype=dtype or input.dtype)


@declare(method=("new_zeros", "new_empty"))
def _new_zeros(input: Tensor, size: Any, dtype: Any = None, device: str | None = None) -> Tensor:
    """Zeros of shape ``size``, in this tensor's dtype without ``dtype``."""
    return full(size, 0, dtype=dtype or input.dtype)


@declare(method=True)
def _new_ones(input: Tensor, size: Any, dtype: Any = None, device: str | None = None) -> Tensor:
    """Ones of shape ``size``, in this tensor's dtype without ``dtype``."""
    return full(size, 1, dtype=dtype or input.dtype)


@declare(in_place="copy_")
def _copied_into(input: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """The values of ``src``, spread over this tensor's shape."""
    given = cast(src, input.dtype)
    return given if given.shape == input.shape else broadcast_to(given, input.shape)


@declare(method=("fill", "fills"), in_place="fill_")
def _filled_with(input: Tensor, value: Any) -> Tensor:
    """``value``, a number or a tensor, everywhere."""
    return _copied_into(input, value) if isinstance(value, Tensor) else full_like(input, value)


declare(in_place="zero_")(zeros_like)
fills = full_like


@declare(mint=True)
@np.errstate(all="ignore")
def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """start, start + step, ... before ``end``; Int64 for ints, Float32 for floats.

    Raises:
        ValueError: ``step`` is 0.
    """
    if end is None:
        start, end = 0, start
    values = [x.item() if isinstance(x, Tensor) else x for x in (start, end, step)]
    if values[2] == 0:
        raise ValueError("For 'arange', 'step' must not be 0")
    wanted = dtype or (float32 if any(isinstance(x, float) for x in values) else int64)
    return Tensor._wrap(to_device(np.arange(*values).astype(numpy_dtype(wanted))))


@declare(primitive=prim("LinSpace"))
@np.errstate(all="ignore")
def linspace(start: float, end: float, steps: int) -> Tensor:
    """``steps`` numbers evenly spaced from ``start`` to ``end``, both included."""
    return Tensor._wrap(to_device(np.linspace(start, end, steps, dtype=np.float32)))


@declare(primitive=prim("LogSpace", steps=10, base=10, dtype=float32))
@np.errstate(all="ignore")
def logspace(start: float, end: float, steps: int, base: int = 10, *, dtype: Any = float32) -> Tensor:
    """``base`` to the powers of ``steps`` numbers evenly spaced from ``start`` to ``end``."""
    low, high = (x.item() if isinstance(x, Tensor) else x for x in (start, end))
    return Tensor._wrap(to_device(np.logspace(low, high, steps, base=base).astype(numpy_dtype(dtype))))


def _window(name: str, formula: Any, doc: str) -> Any:
    def window(window_length: Any, periodic: bool = True, *shape: float, dtype: Any = None, **named: float) -> Tensor:
        length = int(window_length)
        if length < 0:
            raise ValueError(f"For '{name}', 'window_length' must not be negative, but got {length}")
        if length <= 1:
            return ones((length,), dtype)
        turn = np.arange(length) / (length if periodic else length - 1)
        return Tensor._wrap(to_device(formula(turn, *shape, **named).astype(numpy_dtype(dtype or float32))))

    window.__name__ = window.__qualname__ = name
    window.__doc__ = doc
    return window


bartlett_window = declare(primitive=prim("BartlettWindow", periodic=True, dtype=float32))(
    _window("bartlett_window", lambda t: 1 - np.abs(2 * t - 1), "Bartlett's triangle.")
)
blackman_window = declare(primitive=prim("BlackmanWindow", periodic=True, dtype=float32))(
    _window(
        "blackman_window",
        lambda t: 0.42 - 0.5 * np.cos(2 * np.pi * t) + 0.08 * np.cos(4 * np.pi * t),
        "Blackman's window.",
    )
)
hamming_window = declare(primitive=prim("HammingWindow", periodic=True, alpha=0.54, beta=0.46, dtype=float32))(
    _window(
        "hamming_window",
        lambda t, alpha=0.54, beta=0.46: alpha - beta * np.cos(2 * np.pi * t),
        "alpha - beta * cos(2 pi k / n).",
    )
)
hann_window = _window("hann_window", lambda t: 0.5 - 0.5 * np.cos(2 * np.pi * t), "Hann's window.")
kaiser_window = _window(
    "kaiser_window",
    lambda t, beta=12.0: np.i0(beta * np.sqrt(1 - (2 * t - 1) ** 2)) / np.i0(beta),
    "Kaiser's window.",
)


@declare(primitive=prim("Eye"), mint=True)
def eye(n: int, m: int | None = None, dtype: Any = None) -> Tensor:
    """Ones on the diagonal."""
    return Tensor._wrap(to_device(np.eye(n, m, dtype=numpy_dtype(dtype or float32))))


@declare(primitive=prim("OneHot", axis=-1))
def one_hot(indices: Tensor, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    """``on_value`` where the last axis (or ``axis``) is the index, ``off_value`` elsewhere."""
    if not isinstance(indices, Tensor):
        raise TypeError(f"For 'one_hot', 'indices' must be a Tensor, but got {type_name(indices)}")
    on = on_value if isinstance(on_value, Tensor) else Tensor(on_value)
    off = off_value if isinstance(off_value, Tensor) else Tensor(off_value, on.dtype)
    hot = one_hot_array(indices._array, depth, np.bool_)
    xp = array_module(hot)
    placed = hot if axis == -1 else xp.moveaxis(hot, -1, axis)
    return Tensor._wrap(xp.where(placed, on._array, off._array))


@declare(primitive=prim("Assign"))
def assign(variable: Parameter, value: Any) -> Parameter:
    """Give a parameter (or tensor) new values, cast to its dtype.

    Raises:
        TypeError: ``variable`` is no Parameter and no Tensor.
        ValueError: the shapes differ.
    """
    if not isinstance(variable, Tensor):
        raise TypeError(f"For 'assign', 'variable' must be a Parameter or Tensor, but got {type_name(variable)}")
    new = value if isinstance(value, Tensor) else Tensor(value)
    if new.shape != variable.shape and new.size != 1:
        raise ValueError(f"For 'assign', 'value' must have the shape {variable.shape}, but got {new.shape}")
    same = new if new.shape == variable.shape else broadcast_to(new, variable.shape)
    cast = cast_operator(same, dtype=variable._array.dtype)
    variable._rebind((identity(cast) if cast._array is same._array else cast)._array)
    return variable


@declare(primitive=prim("AssignAdd"))
def assign_add(variable: Parameter, value: Any) -> Parameter:
    """Add to a parameter."""
    return assign(variable, variable + value)


@declare(primitive=prim("AssignSub"))
def assign_sub(variable: Parameter, value: Any) -> Parameter:
    """Subtract from a parameter."""
    return assign(variable, variable - value)
