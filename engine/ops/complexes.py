"""Complex numbers and Fourier transforms.

The gradient of a real result for a complex input z = x + iy is taken as dx + i dy, so that of a linear map is its
conjugate transpose: for a Fourier transform, the one in the other direction.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtype import complex64, complex128, float32, numpy_dtype
from ..core.operator import Operator
from ..core.surfaces import declare, prim
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from . import comparison, elementwise, exponentials
from .arguments import along, check_tensor, ints_of, one_axis
from .elementary import atan2
from .elementwise import as_dtype, cast_operator
from .rearranging import roll
from .shape import concat, flip, stack

__all__ = [
    "angle", "complex", "conj", "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft",
    "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "imag", "irfft", "irfft2", "irfftn", "polar", "real",
    "rfft", "rfft2", "rfftfreq", "rfftn", "view_as_real",
]  # fmt: skip


def _join(x: Any, y: Any) -> Any:
    kind = complex128.numpy if np.float64 in (x.dtype, y.dtype) else complex64.numpy
    return (x + 1j * y).astype(kind)


_complex = Operator(
    "complex", _join, (lambda F, g, out, x, y: F.real(g), lambda F, g, out, x, y: F.imag(g)), doc="x + i y.",
    analytic=False,
)  # fmt: skip
_real = Operator("real", lambda x: x.real.copy(), (lambda F, g, out, x: F.complex(g, g * 0),), analytic=False)
_imag = Operator("imag", lambda x: x.imag.copy(), (lambda F, g, out, x: F.complex(g * 0, g),), analytic=False)
_conj = Operator("conj", np.conjugate, (lambda F, g, out, x: F.conj(g),), analytic=False)


def _transform(x: Any, axis: int, inverse: bool) -> Any:
    """The sum of x * exp(-+ 2 pi i j k / n), without a factor."""
    xp = array_module(x)
    found = xp.fft.ifft(x, axis=axis) * x.shape[axis] if inverse else xp.fft.fft(x, axis=axis)
    return found.astype(x.dtype)


_fft = Operator(
    "fft", _transform, (lambda F, g, out, x, axis, inverse: F.fft(g, axis=axis, inverse=not inverse),), analytic=False
)


def _is_complex(x: Tensor) -> bool:
    return bool(x._array.dtype.kind == "c")


@declare(primitive=prim("Complex"))
def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers of their parts."""
    wanted = np.dtype(np.float64) if np.float64 in (real._array.dtype, imag._array.dtype) else float32.numpy
    shape = np.broadcast_shapes(real.shape, imag.shape)
    x, y = (elementwise.broadcast_to_operator(as_dtype(v, wanted), shape=shape) for v in (real, imag))
    return _complex(x, y)


@declare(method=True, primitive=prim("Real"), mint=True)
def real(input: Tensor) -> Tensor:
    """The real part; a real tensor itself."""
    return _real(input) if _is_complex(check_tensor(input, "real")) else input


@declare(method=True, primitive=prim("Imag"), mint=True)
def imag(input: Tensor) -> Tensor:
    """The imaginary part; zeros of a real tensor."""
    return _imag(input) if _is_complex(check_tensor(input, "imag")) else input * 0


@declare(method=True, primitive=prim("Conj"))
def conj(input: Tensor) -> Tensor:
    """The conjugate; a real tensor itself."""
    return _conj(input) if _is_complex(check_tensor(input, "conj")) else input


@declare(method=True, primitive=prim("Angle"))
def angle(input: Tensor) -> Tensor:
    """The angle of complex numbers; of real ones 0 or pi."""
    x = check_tensor(input, "angle")
    if _is_complex(x):
        return atan2(imag(x), real(x))
    x = as_dtype(x, float32.numpy) if x._array.dtype.kind in "biu" else x
    return comparison.where(comparison.isnan(x), x, comparison.where(comparison.lt(x, 0), math.pi, x * 0))


@declare(primitive=prim("Polar"), mint=True)
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Complex numbers of a length and an angle."""
    return complex(abs * exponentials.cos(angle), abs * exponentials.sin(angle))


def view_as_real(input: Tensor) -> Any:
    """Real and imaginary parts side by side in a new last axis.

    Raises:
        TypeError: a real tensor.
    """
    if not _is_complex(check_tensor(input, "view_as_real")):
        raise TypeError(f"For 'view_as_real', 'input' must be complex, but got {input.dtype}")
    return stack([_real(input), _imag(input)], -1)


def _prepared(x: Tensor, name: str) -> Tensor:
    """As complex numbers of the same precision."""
    given = check_tensor(x, name)
    if _is_complex(given):
        return given
    kind = complex128 if given._array.dtype == np.float64 else complex64
    whole = cast_operator(given, dtype=np.dtype(np.float64 if kind is complex128 else np.float32))
    return _complex(whole, whole * 0)


def _sized(x: Tensor, n: int, axis: int) -> Tensor:
    """Cut, or filled up with 0, to ``n`` entries along ``axis``."""
    have = x.shape[axis]
    if n < have:
        return x[along(x, axis, slice(0, n))]
    if n == have:
        return x
    rest = Tensor._wrap(array_module(x._array).zeros((*x.shape[:axis], n - have, *x.shape[axis + 1 :]), x._array.dtype))
    return concat([x, rest], axis)


def _scaled(x: Any, count: int, norm: str | None, inverse: bool, name: str) -> Any:
    if norm not in (None, "backward", "forward", "ortho"):
        raise ValueError(f"For '{name}', 'norm' must be 'backward', 'forward' or 'ortho', but got {norm!r}")
    power = {"ortho": 0.5, "forward": 0.0 if inverse else 1.0}.get(norm or "backward", 1.0 if inverse else 0.0)
    return x * float(count) ** -power if power else x


def _lengths(x: Tensor, s: Any, dim: Any, name: str) -> tuple[list[int], list[int]]:
    """The axes to transform and their lengths."""
    if dim is None:
        axes = list(range(x.ndim)) if s is None else list(range(x.ndim - len(s), x.ndim))
    else:
        axes = [one_axis(d, x.ndim, name) for d in ints_of(dim, name, "dim")]
    sizes = [x.shape[i] for i in axes] if s is None else list(ints_of(s, name, "s"))
    if len(sizes) != len(axes):
        raise ValueError(f"For '{name}', 's' and 'dim' must have one length, but got {s} and {dim}")
    for n in sizes:
        if n < 1:
            raise ValueError(f"For '{name}', a length must be positive, but got {n}")
    return axes, sizes


def _whole(x: Tensor, s: Any, dim: Any, norm: str | None, inverse: bool, name: str) -> Tensor:
    found: Any = _prepared(x, name)
    axes, sizes = _lengths(found, s, dim, name)
    for axis, n in zip(axes, sizes, strict=True):
        found = _fft(_sized(found, n, axis), axis=axis, inverse=inverse)
    return _scaled(found, math.prod(sizes), norm, inverse, name)


def _half(x: Tensor, s: Any, dim: Any, norm: str | None, name: str) -> Tensor:
    """The transform of real numbers, of whose last axis one half says all."""
    if _is_complex(check_tensor(x, name)):
        raise TypeError(f"For '{name}', 'input' must be real, but got {x.dtype}")
    found = _whole(x, s, dim, norm, name.startswith("i"), name)
    axes, sizes = _lengths(x, s, dim, name)
    return found[along(found, axes[-1], slice(0, sizes[-1] // 2 + 1))]


def _from_half(x: Tensor, s: Any, dim: Any, norm: str | None, inverse: bool, name: str) -> Tensor:
    """The inverse of ``_half``: the other half are the conjugates."""
    found: Any = _prepared(x, name)
    axes, sizes = _lengths(found, s, dim, name)
    if s is None:
        sizes[-1] = 2 * (found.shape[axes[-1]] - 1)
    for axis, n in zip(axes[:-1], sizes[:-1], strict=True):
        found = _fft(_sized(found, n, axis), axis=axis, inverse=inverse)
    axis, n = axes[-1], sizes[-1]
    if n < 1:
        raise ValueError(f"For '{name}', a length must be positive, but got {n}")
    first = _sized(found, n // 2 + 1, axis)
    # The imaginary parts of the first entry, and of the middle one of an even length, count for nothing.
    edge = [0] + ([n // 2] if n % 2 == 0 else [])
    keep = np.ones(n // 2 + 1)
    keep[edge] = 0
    shape = (-1,) + (1,) * (found.ndim - axis - 1)
    imaginary = _imag(first) * Tensor(keep.reshape(shape).astype(_real(first)._array.dtype))
    first = _complex(_real(first), imaginary)
    second = flip(first[along(first, axis, slice(1, (n + 1) // 2))], axis)
    full = concat([first, _conj(second)], axis)
    return _scaled(_real(_fft(full, axis=axis, inverse=inverse)), math.prod(sizes), norm, inverse, name)


def _one(n: Any) -> Any:
    return None if n is None else (n,)


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The discrete Fourier transform along ``dim``."""
    return _whole(input, _one(n), dim, norm, False, "fft")


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of ``fft``."""
    return _whole(input, _one(n), dim, norm, True, "ifft")


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The first half of the transform of real numbers, which says all."""
    return _half(input, _one(n), dim, norm, "rfft")


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of ``rfft``."""
    return _from_half(input, _one(n), dim, norm, True, "irfft")


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The transform, which is real, of the first half of a Hermitian signal."""
    return _from_half(input, _one(n), dim, norm, False, "hfft")


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of ``hfft``."""
    return _half(input, _one(n), dim, norm, "ihfft")


def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """``fft`` along the axes ``dim`` (all of them without it)."""
    return _whole(input, s, dim, norm, False, "fftn")


def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of ``fftn``."""
    return _whole(input, s, dim, norm, True, "ifftn")


def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """``rfft`` along the last of the axes, ``fft`` along the others."""
    return _half(input, s, dim, norm, "rfftn")


def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of ``rfftn``."""
    return _from_half(input, s, dim, norm, True, "irfftn")


def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """``hfft`` along the last of the axes, ``fft`` along the others."""
    return _from_half(input, s, dim, norm, False, "hfftn")


def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of ``hfftn``."""
    return _half(input, s, dim, norm, "ihfftn")


def _plane(function: Any, name: str) -> Any:
    def transformed(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
        return function(input, s, dim, norm)

    transformed.__name__ = transformed.__qualname__ = name
    transformed.__doc__ = f"``{function.__name__}`` along two axes."
    return transformed


fft2, ifft2, rfft2 = _plane(fftn, "fft2"), _plane(ifftn, "ifft2"), _plane(rfftn, "rfft2")
irfft2, hfft2, ihfft2 = _plane(irfftn, "irfft2"), _plane(hfftn, "hfft2"), _plane(ihfftn, "ihfft2")


def fftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Any:
    """The frequencies that the entries of ``fft`` belong to."""
    return Tensor(np.fft.fftfreq(n, d).astype(numpy_dtype(dtype or float32)))


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Any:
    """The frequencies that the entries of ``rfft`` belong to."""
    return Tensor(np.fft.rfftfreq(n, d).astype(numpy_dtype(dtype or float32)))


def fftshift(input: Tensor, dim: Any = None) -> Any:
    """The frequency 0 moved to the middle."""
    axes = tuple(range(input.ndim)) if dim is None else ints_of(dim, "fftshift", "dim")
    return roll(input, [input.shape[i] // 2 for i in axes], axes) if axes else input


def ifftshift(input: Tensor, dim: Any = None) -> Any:
    """The inverse of ``fftshift``."""
    axes = tuple(range(input.ndim)) if dim is None else ints_of(dim, "ifftshift", "dim")
    return roll(input, [-(input.shape[i] // 2) for i in axes], axes) if axes else input
