"""Complex numbers and Fourier transforms.

The gradient of a real result with respect to a complex input z = x + iy is dx + i dy, so that of a linear map is
its conjugate transpose: for a Fourier transform, the transform in the other direction.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ...base.argument_checks import check_real, check_size
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike, Ints
from ...cpu.array_module import array_module
from ...tensors.dtype import complex64, complex128, float32, numpy_dtype
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import along, check_broadcast, check_tensor, int_of, ints_of, one_axis
from ..shapes import broadcasting
from ..shapes.broadcasting import as_dtype, as_floats, cast_operator, zeros_operator
from ..shapes.concatenation import concat, stack
from ..shapes.copying import identity
from ..shapes.rearranging import roll
from ..shapes.reshape import flip
from . import comparison, exponentials
from .trigonometry import atan2

__all__ = [
    "angle",
    "complex",
    "conj",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "imag",
    "irfft",
    "irfft2",
    "irfftn",
    "polar",
    "real",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
    "view_as_real",
]


def _join(x: Array, y: Array) -> Array:
    # Unlike x + 1j * y, the real part of which is NaN where y is infinite.
    real, kind = (np.float64, complex128) if np.float64 in (x.dtype, y.dtype) else (np.float32, complex64)
    return array_module(x).stack((x.astype(real), y.astype(real)), -1).view(kind.numpy)[..., 0]


_complex = Operator(
    "complex", _join, (lambda F, g, out, x, y: F.real(g), lambda F, g, out, x, y: F.imag(g)), analytic=False
).declare("x + i y.")
_real = Operator("real", lambda x: x.real.copy(), (lambda F, g, out, x: F.complex(g, F.zeros_like(g)),), analytic=False)
_imag = Operator("imag", lambda x: x.imag.copy(), (lambda F, g, out, x: F.complex(F.zeros_like(g), g),), analytic=False)
_conj = Operator("conj", np.conjugate, (lambda F, g, out, x: F.conj(g),), analytic=False)


def _transform(x: Array, axis: int, inverse: bool) -> Array:
    """Return the sum of x * exp(-+ 2 pi i j k / n), without a factor."""
    xp = array_module(x)
    result = xp.fft.ifft(x, axis=axis) * x.shape[axis] if inverse else xp.fft.fft(x, axis=axis)
    return result.astype(x.dtype)


_fft = Operator(
    "fft", _transform, (lambda F, g, out, x, axis, inverse: F.fft(g, axis=axis, inverse=not inverse),), analytic=False
)


def _is_complex(x: Tensor) -> bool:
    return bool(x._array.dtype.kind == "c")


@declare(primitive=prim("Complex"))
def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Return the complex numbers real + i imag.

    Args:
        real: the real parts, a tensor.
        imag: the imaginary parts, a tensor that broadcasts with ``real``.

    Returns:
        A tensor of the shape that both broadcast to: Complex128 if one of them is Float64, else Complex64.

    Raises:
        TypeError: an argument is not a Tensor.
    """
    real, imag = check_tensor(real, "complex", "real"), check_tensor(imag, "complex", "imag")
    dtype = np.dtype(np.float64) if np.float64 in (real._array.dtype, imag._array.dtype) else float32.numpy
    shape = check_broadcast("complex", real=real.shape, imag=imag.shape)
    x, y = (broadcasting.broadcast_to_operator(as_dtype(v, dtype), shape=shape) for v in (real, imag))
    return _complex(x, y)


@declare(method=True, primitive=prim("Real"), mint=True)
def real(input: Tensor) -> Tensor:
    """Return the real part, element by element; a real tensor is returned as it is.

    Args:
        input: a tensor of any shape.

    Returns:
        A tensor of the same shape: Float32 of Complex64, Float64 of Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _real(input) if _is_complex(check_tensor(input, "real")) else identity(input)


@declare(method=True, primitive=prim("Imag"), mint=True)
def imag(input: Tensor) -> Tensor:
    """Return the imaginary part, element by element; zeros of a real tensor.

    Args:
        input: a tensor of any shape.

    Returns:
        A tensor of the same shape: Float32 of Complex64, Float64 of Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _imag(input) if _is_complex(check_tensor(input, "imag")) else zeros_operator(input)


@declare(method=True, primitive=prim("Conj"))
def conj(input: Tensor) -> Tensor:
    """Return the complex conjugate, real - i imag, element by element; a real tensor is returned as it is.

    Args:
        input: a tensor of any shape.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _conj(input) if _is_complex(check_tensor(input, "conj")) else identity(input)


@declare(method=True, primitive=prim("Angle"))
def angle(input: Tensor) -> Tensor:
    """Return the angle atan2(imag, real) of complex numbers; of real ones pi where negative, else 0; NaN of NaN.

    Args:
        input: a tensor of any shape.

    Returns:
        Radians in a tensor of the same shape: Float32 of Complex64 and integers, Float64 of Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    x = check_tensor(input, "angle")
    if _is_complex(x):
        return atan2(imag(x), real(x))
    x = as_floats(x)
    return comparison.where(comparison.isnan(x), x, comparison.where(comparison.lt(x, 0), math.pi, zeros_operator(x)))


@declare(primitive=prim("Polar"), mint=True)
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Return abs * cos(angle) + i abs * sin(angle), the complex numbers of these lengths and angles.

    Args:
        abs: the lengths, a tensor.
        angle: the angles in radians, a tensor that broadcasts with ``abs``.

    Returns:
        A tensor of the shape that both broadcast to: Complex128 if one of them is Float64, else Complex64.
    """
    return complex(abs * exponentials.cos(angle), abs * exponentials.sin(angle))


def view_as_real(input: Tensor) -> Tensor:
    """Return a copy with the real and imaginary parts side by side in a new last axis.

    Args:
        input: a complex tensor of any shape.

    Returns:
        A tensor of shape (..., 2): Float32 of Complex64, Float64 of Complex128.

    Raises:
        TypeError: ``input`` is not a complex Tensor.
    """
    if not _is_complex(check_tensor(input, "view_as_real")):
        raise TypeError(f"For 'view_as_real', 'input' must be complex, but got {input.dtype}")
    return stack([_real(input), _imag(input)], -1)


def _prepared(x: Tensor, name: str) -> Tensor:
    """Return ``x`` as complex numbers of the same precision."""
    tensor = check_tensor(x, name)
    if _is_complex(tensor):
        return tensor
    kind = complex128 if tensor._array.dtype == np.float64 else complex64
    floats = cast_operator(tensor, dtype=np.dtype(np.float64 if kind is complex128 else np.float32))
    return _complex(floats, zeros_operator(floats))


def _sized(x: Tensor, n: int, axis: int) -> Tensor:
    """Return ``x`` with ``n`` entries along ``axis``: cut, or padded with zeros at the end."""
    length = x.shape[axis]
    if n < length:
        return x[along(x, axis, slice(0, n))]
    if n == length:
        return x
    padding = constant(
        array_module(x._array).zeros((*x.shape[:axis], n - length, *x.shape[axis + 1 :]), x._array.dtype)
    )
    return concat([x, padding], axis)


def _scaled(x: Tensor, count: int, norm: str | None, inverse: bool, name: str) -> Tensor:
    if not isinstance(norm, str | None) or norm not in (None, "backward", "forward", "ortho"):
        raise ValueError(f"For '{name}', 'norm' must be 'backward', 'forward' or 'ortho', but got {norm!r}")
    power = {"ortho": 0.5, "forward": 0.0 if inverse else 1.0}.get(norm or "backward", 1.0 if inverse else 0.0)
    return x * float(count) ** -power if power else x


def _lengths(x: Tensor, s: Ints | None, dim: Ints | None, name: str, least: int = 0) -> tuple[list[int], list[int]]:
    """Return the axes to transform, at least ``least``, and their lengths."""
    lengths = None if s is None else ints_of(s, name, "s")
    if dim is None:
        axes = list(range(0 if lengths is None else max(x.ndim - len(lengths), 0), x.ndim))
    else:
        axes = [one_axis(d, x.ndim, name) for d in ints_of(dim, name, "dim")]
    if len(axes) < least or (axes and not x.ndim):
        raise ValueError(f"For '{name}', there must be an axis to transform, but got shape {x.shape} and 'dim' {dim}")
    sizes = [x.shape[i] for i in axes] if lengths is None else list(lengths)
    if len(sizes) != len(axes):
        raise ValueError(f"For '{name}', 's' and 'dim' must have one length, but got {s} and {dim}")
    for n in sizes:
        if n < 1:
            raise ValueError(f"For '{name}', a length must be positive, but got {n}")
    check_size(lengths or (), name, "s" if name[-1] in "n2" else "n")
    return axes, sizes


def _full_transform(x: Tensor, s: Ints | None, dim: Ints | None, norm: str | None, inverse: bool, name: str) -> Tensor:
    result: Any = _prepared(x, name)
    axes, sizes = _lengths(result, s, dim, name)
    for axis, n in zip(axes, sizes, strict=True):
        result = _fft(_sized(result, n, axis), axis=axis, inverse=inverse)
    return _scaled(result, math.prod(sizes), norm, inverse, name)


def _half(x: Tensor, s: Ints | None, dim: Ints | None, norm: str | None, name: str) -> Tensor:
    """Return the first half of the transform of real numbers along the last axis; the rest are its conjugates."""
    if _is_complex(check_tensor(x, name)):
        raise TypeError(f"For '{name}', 'input' must be real, but got {x.dtype}")
    axes, sizes = _lengths(x, s, dim, name, least=1)
    transform = _full_transform(x, s, dim, norm, name.startswith("i"), name)
    return transform[along(transform, axes[-1], slice(0, sizes[-1] // 2 + 1))]


def _from_half(x: Tensor, s: Ints | None, dim: Ints | None, norm: str | None, inverse: bool, name: str) -> Tensor:
    """Return the inverse of ``_half``, with the conjugates as the other half."""
    signal: Any = _prepared(x, name)
    axes, sizes = _lengths(signal, s, dim, name, least=1)
    if s is None:
        sizes[-1] = 2 * (signal.shape[axes[-1]] - 1)
    for axis, n in zip(axes[:-1], sizes[:-1], strict=True):
        signal = _fft(_sized(signal, n, axis), axis=axis, inverse=inverse)
    axis, n = axes[-1], sizes[-1]
    if n < 1:
        raise ValueError(f"For '{name}', a length must be positive, but got {n}")
    half = _sized(signal, n // 2 + 1, axis)
    # The imaginary part of the first entry, and of the middle one of an even length, has no effect on the real result.
    mirrored = flip(half[along(half, axis, slice(1, (n + 1) // 2))], axis)
    full = concat([half, _conj(mirrored)], axis)
    return _scaled(_real(_fft(full, axis=axis, inverse=inverse)), math.prod(sizes), norm, inverse, name)


def _lengths_of(n: int | None) -> tuple[int] | None:
    return None if n is None else (n,)


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the discrete Fourier transform: the sum over j of input[j] * exp(-2 pi i j k / n), along ``dim``.

    Args:
        input: a tensor, real or complex; integers become floating.
        n: the length to cut or zero-pad the input to; by default its own.
        dim: the axis, in [-ndim, ndim).
        norm: the factor of the sum: "backward" (as None) is 1, "ortho" 1 / sqrt(n), "forward" 1 / n.

    Returns:
        A tensor with ``n`` entries along ``dim``: Complex64, or Complex128 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``n`` or ``dim`` is not an int.
        ValueError: ``n`` is below 1, ``dim`` is out of range, or ``norm`` is unknown.
    """
    return _full_transform(input, _lengths_of(n), dim, norm, False, "fft")


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the inverse of ``fft``: the sum over k of input[k] * exp(2 pi i j k / n), divided by n, along ``dim``.

    Args:
        input: a tensor, real or complex; integers become floating.
        n: the length to cut or zero-pad the input to; by default its own.
        dim: the axis, in [-ndim, ndim).
        norm: the factor of the sum: "backward" (as None) is 1 / n, "ortho" 1 / sqrt(n), "forward" 1.

    Returns:
        A tensor with ``n`` entries along ``dim``: Complex64, or Complex128 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``n`` or ``dim`` is not an int.
        ValueError: ``n`` is below 1, ``dim`` is out of range, or ``norm`` is unknown.
    """
    return _full_transform(input, _lengths_of(n), dim, norm, True, "ifft")


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the first n // 2 + 1 entries of ``fft`` of real numbers; the others are their conjugates.

    Args:
        input: a tensor, real; integers become floating.
        n: the length to cut or zero-pad the input to; by default its own.
        dim: the axis, in [-ndim, ndim).
        norm: the factor of the sum: "backward" (as None) is 1, "ortho" 1 / sqrt(n), "forward" 1 / n.

    Returns:
        A tensor with n // 2 + 1 entries along ``dim``: Complex64, or Complex128 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a real Tensor, or ``n`` or ``dim`` is not an int.
        ValueError: ``n`` is below 1, ``dim`` is out of range, or ``norm`` is unknown.
    """
    return _half(input, _lengths_of(n), dim, norm, "rfft")


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the inverse of ``rfft``: real numbers from the first n // 2 + 1 entries of their transform.

    Args:
        input: a tensor, the first half of a transform; integers become floating.
        n: the length of the result; by default 2 * (length - 1). The input is cut or zero-padded.
        dim: the axis, in [-ndim, ndim).
        norm: the factor of the sum: "backward" (as None) is 1 / n, "ortho" 1 / sqrt(n), "forward" 1.

    Returns:
        A real tensor with ``n`` entries along ``dim``: Float32, or Float64 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``n`` or ``dim`` is not an int.
        ValueError: ``n`` is below 1, ``dim`` is out of range, or ``norm`` is unknown.
    """
    return _from_half(input, _lengths_of(n), dim, norm, True, "irfft")


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return ``fft`` of a signal whose second half is the conjugate of the first, x[n - j] = conj(x[j]): real numbers.

    Args:
        input: a tensor, the first half of the signal, n // 2 + 1 entries; integers become floating.
        n: the length of the result; by default 2 * (length - 1). The input is cut or zero-padded.
        dim: the axis, in [-ndim, ndim).
        norm: the factor of the sum: "backward" (as None) is 1, "ortho" 1 / sqrt(n), "forward" 1 / n.

    Returns:
        A real tensor with ``n`` entries along ``dim``: Float32, or Float64 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``n`` or ``dim`` is not an int.
        ValueError: ``n`` is below 1, ``dim`` is out of range, or ``norm`` is unknown.
    """
    return _from_half(input, _lengths_of(n), dim, norm, False, "hfft")


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the inverse of ``hfft``: the first n // 2 + 1 entries of ``ifft`` of real numbers.

    Args:
        input: a tensor, real; integers become floating.
        n: the length to cut or zero-pad the input to; by default its own.
        dim: the axis, in [-ndim, ndim).
        norm: the factor of the sum: "backward" (as None) is 1 / n, "ortho" 1 / sqrt(n), "forward" 1.

    Returns:
        A tensor with n // 2 + 1 entries along ``dim``: Complex64, or Complex128 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a real Tensor, or ``n`` or ``dim`` is not an int.
        ValueError: ``n`` is below 1, ``dim`` is out of range, or ``norm`` is unknown.
    """
    return _half(input, _lengths_of(n), dim, norm, "ihfft")


def fftn(input: Tensor, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None) -> Tensor:
    """Return ``fft`` along each of the axes ``dim``.

    Args:
        input: a tensor, real or complex; integers become floating.
        s: the lengths along the axes that the input is cut or filled up with 0 to; its own without it.
        dim: the axes, in [-ndim, ndim); without it the last ones, as many as ``s`` has lengths, or all of them.
        norm: the factor of the sum: "backward" (as None) is 1, "ortho" 1 / sqrt(n), "forward" 1 / n.
            n is the product of the lengths.

    Returns:
        A tensor with the lengths ``s`` along the axes: Complex64, or Complex128 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``s`` or ``dim`` not ints.
        ValueError: a length below 1, an axis out of range, ``s`` and ``dim`` of different lengths, or an unknown
            ``norm``.
    """
    return _full_transform(input, s, dim, norm, False, "fftn")


def ifftn(input: Tensor, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None) -> Tensor:
    """Return the inverse of ``fftn``: ``ifft`` along each of the axes ``dim``.

    Args:
        input: a tensor, real or complex; integers become floating.
        s: the lengths along the axes that the input is cut or filled up with 0 to; its own without it.
        dim: the axes, in [-ndim, ndim); without it the last ones, as many as ``s`` has lengths, or all of them.
        norm: the factor of the sum: "backward" (as None) is 1 / n, "ortho" 1 / sqrt(n), "forward" 1.
            n is the product of the lengths.

    Returns:
        A tensor with the lengths ``s`` along the axes: Complex64, or Complex128 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``s`` or ``dim`` not ints.
        ValueError: a length below 1, an axis out of range, ``s`` and ``dim`` of different lengths, or an unknown
            ``norm``.
    """
    return _full_transform(input, s, dim, norm, True, "ifftn")


def rfftn(input: Tensor, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None) -> Tensor:
    """Return ``rfft`` along the last of the axes ``dim``, ``fft`` along the others.

    Args:
        input: a tensor, real; integers become floating.
        s: the lengths along the axes that the input is cut or filled up with 0 to; its own without it.
        dim: the axes, in [-ndim, ndim); without it the last ones, as many as ``s`` has lengths, or all of them.
        norm: the factor of the sum: "backward" (as None) is 1, "ortho" 1 / sqrt(n), "forward" 1 / n.
            n is the product of the lengths.

    Returns:
        A tensor with the lengths ``s``, the last one s // 2 + 1: Complex64, or Complex128 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a real Tensor, or ``s`` or ``dim`` not ints.
        ValueError: a length below 1, an axis out of range, ``s`` and ``dim`` of different lengths, or an unknown
            ``norm``.
    """
    return _half(input, s, dim, norm, "rfftn")


def irfftn(input: Tensor, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None) -> Tensor:
    """Return the inverse of ``rfftn``: ``ifft`` along all axes ``dim`` but the last, ``irfft`` along the last.

    Args:
        input: a tensor, the first half of a transform; integers become floating.
        s: the lengths of the result along the axes; by default those of the input, the last one
            2 * (length - 1).
        dim: the axes, in [-ndim, ndim); without it the last ones, as many as ``s`` has lengths, or all of them.
        norm: the factor of the sum: "backward" (as None) is 1 / n, "ortho" 1 / sqrt(n), "forward" 1.
            n is the product of the lengths.

    Returns:
        A real tensor with the lengths ``s`` along the axes: Float32, or Float64 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``s`` or ``dim`` not ints.
        ValueError: a length below 1, an axis out of range, ``s`` and ``dim`` of different lengths, or an unknown
            ``norm``.
    """
    return _from_half(input, s, dim, norm, True, "irfftn")


def hfftn(input: Tensor, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None) -> Tensor:
    """Return ``fft`` along all axes ``dim`` but the last, ``hfft`` along the last.

    Args:
        input: a tensor, the first half of the signal, n // 2 + 1 entries; integers become floating.
        s: the lengths of the result along the axes; by default those of the input, the last one
            2 * (length - 1).
        dim: the axes, in [-ndim, ndim); without it the last ones, as many as ``s`` has lengths, or all of them.
        norm: the factor of the sum: "backward" (as None) is 1, "ortho" 1 / sqrt(n), "forward" 1 / n.
            n is the product of the lengths.

    Returns:
        A real tensor with the lengths ``s`` along the axes: Float32, or Float64 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``s`` or ``dim`` not ints.
        ValueError: a length below 1, an axis out of range, ``s`` and ``dim`` of different lengths, or an unknown
            ``norm``.
    """
    return _from_half(input, s, dim, norm, False, "hfftn")


def ihfftn(input: Tensor, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None) -> Tensor:
    """Return the inverse of ``hfftn``: ``ihfft`` along the last of the axes ``dim``, ``ifft`` along the others.

    Args:
        input: a tensor, real; integers become floating.
        s: the lengths along the axes that the input is cut or filled up with 0 to; its own without it.
        dim: the axes, in [-ndim, ndim); without it the last ones, as many as ``s`` has lengths, or all of them.
        norm: the factor of the sum: "backward" (as None) is 1 / n, "ortho" 1 / sqrt(n), "forward" 1.
            n is the product of the lengths.

    Returns:
        A tensor with the lengths ``s``, the last one s // 2 + 1: Complex64, or Complex128 of Float64 and Complex128.

    Raises:
        TypeError: ``input`` is not a real Tensor, or ``s`` or ``dim`` not ints.
        ValueError: a length below 1, an axis out of range, ``s`` and ``dim`` of different lengths, or an unknown
            ``norm``.
    """
    return _half(input, s, dim, norm, "ihfftn")


class Plane(Protocol):
    """A transform along two axes."""

    def __call__(
        self, input: Tensor, s: Sequence[int] | None = None, dim: Ints = (-2, -1), norm: str | None = None
    ) -> Tensor: ...


def _plane(function: Callable[..., Tensor], name: str) -> Plane:
    def transformed(
        input: Tensor, s: Sequence[int] | None = None, dim: Ints = (-2, -1), norm: str | None = None
    ) -> Tensor:
        return function(input, s, dim, norm)

    transformed.__name__ = transformed.__qualname__ = name
    arguments = (inspect.getdoc(function) or "").partition("\n")[2]
    entry = "    dim: the two axes, the last two without it."
    of_two = re.sub(r"    dim: .*(\n {8}.*)*", entry, arguments)
    transformed.__doc__ = f"``{function.__name__}`` along two axes.\n{of_two}"
    return transformed


fft2, ifft2, rfft2 = _plane(fftn, "fft2"), _plane(ifftn, "ifft2"), _plane(rfftn, "rfft2")
irfft2, hfft2, ihfft2 = _plane(irfftn, "irfft2"), _plane(hfftn, "hfft2"), _plane(ihfftn, "ihfft2")


def _spacing(n: int, d: float, name: str) -> tuple[int, float]:
    """Return the number of samples and the distance between them, checked."""
    count = int_of(n, name, "n")
    if count < 1:
        raise ValueError(f"For '{name}', 'n' must be at least 1, but got {n}")
    if check_real(d, name, "d") == 0:
        raise ValueError(f"For '{name}', 'd' must not be 0")
    return count, d


def _shifted_axes(input: Tensor, dim: Ints | None, name: str) -> tuple[int, ...]:
    ndim = check_tensor(input, name).ndim
    if dim is None or not ndim:
        return tuple(range(ndim))
    return tuple(one_axis(d, ndim, name) for d in ints_of(dim, name, "dim"))


def fftfreq(n: int, d: float = 1.0, dtype: DTypeLike | None = None) -> Tensor:
    """Return the frequencies of the entries of ``fft``: [0, 1, ..., -2, -1] / (n * d), the negative ones last.

    Args:
        n: the length of the signal, at least 1.
        d: the distance between two samples; not 0.
        dtype: the dtype of the result; Float32 by default.

    Returns:
        A tensor (n,).

    Raises:
        ValueError: ``n`` is below 1, or ``d`` is 0.
    """
    return Tensor(np.fft.fftfreq(*_spacing(n, d, "fftfreq")).astype(numpy_dtype(dtype or float32)))


def rfftfreq(n: int, d: float = 1.0, dtype: DTypeLike | None = None) -> Tensor:
    """Return the frequencies of the entries of ``rfft``: [0, 1, ..., n // 2] / (n * d).

    Args:
        n: the length of the signal, at least 1.
        d: the distance between two samples; not 0.
        dtype: the dtype of the result; Float32 by default.

    Returns:
        A tensor (n // 2 + 1,).

    Raises:
        ValueError: ``n`` is below 1, or ``d`` is 0.
    """
    return Tensor(np.fft.rfftfreq(*_spacing(n, d, "rfftfreq")).astype(numpy_dtype(dtype or float32)))


def fftshift(input: Tensor, dim: Ints | None = None) -> Tensor:
    """Return the entries rolled by half of each axis, so that frequency 0 is in the middle.

    Args:
        input: a tensor of any shape.
        dim: the axes, an int or several in [-ndim, ndim); all of them by default.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dim`` not ints.
        ValueError: an axis is out of range.
    """
    axes = _shifted_axes(input, dim, "fftshift")
    return roll(input, [input.shape[i] // 2 for i in axes], axes) if axes else input


def ifftshift(input: Tensor, dim: Ints | None = None) -> Tensor:
    """Return the inverse of ``fftshift``: frequency 0 moves from the middle to the front.

    Args:
        input: a tensor of any shape.
        dim: the axes, an int or several in [-ndim, ndim); all of them by default.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dim`` not ints.
        ValueError: an axis is out of range.
    """
    axes = _shifted_axes(input, dim, "ifftshift")
    return roll(input, [-(input.shape[i] // 2) for i in axes], axes) if axes else input
