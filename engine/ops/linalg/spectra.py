"""Spectra: Fourier transforms of the last axes in one class, and of the pieces of a signal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_one_of, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, Ints
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_tensor, ints_of
from ..elementwise import complex_numbers
from ..shapes.concatenation import concat
from ..shapes.reshape import swapaxes
from ..shapes.subscripts import getitem_operator

__all__ = ["stft"]


@declare(
    primitive=prim("FFTWithSize", "signal_ndim", "inverse", "real", norm="backward", onesided=True, signal_sizes=())
)
def _fft_with_size(
    x: Tensor, signal_ndim: int, inverse: bool, real: bool, norm: str, onesided: bool, signal_sizes: Ints
) -> Tensor:
    """Return the Fourier transform over the last axes, or its inverse, of complex or of real signals.

    Args:
        x: signals in the last ``signal_ndim`` axes: complex numbers, or with ``real`` and without ``inverse`` real
            ones, not in half precision.
        signal_ndim: the number of axes: 1, 2 or 3.
        inverse: whether to compute the inverse transform.
        real: whether the signal (of the inverse, the result) is real.
        norm: "backward" divides the inverse by the number of elements of a signal, "forward" the other direction,
            "ortho" both by its root.
        onesided: for real signals: whether the spectrum has only one half of the last axis, the other being its
            conjugate.
        signal_sizes: the lengths of the signals, for the inverse from one half of a spectrum: its last axis has n // 2
            + 1 entries, which leaves open whether n is even. If empty, it is taken as even. Other transforms ignore
            it.

    Returns:
        A tensor of complex numbers, for the inverse to real signals of real ones.

    Raises:
        TypeError: ``x`` is not a Tensor or of the wrong kind of numbers, or a setting of the wrong type.
        ValueError: ``signal_ndim`` is not 1, 2 or 3 or more than ``x`` has, an unknown ``norm``, or ``signal_sizes`` do
            not fit.
    """
    name = "FFTWithSize"
    check_int(signal_ndim, name, "signal_ndim")
    for argument, value in (("inverse", inverse), ("real", real), ("onesided", onesided)):
        check_bool(value, name, argument)
    check_one_of(norm, ("backward", "forward", "ortho"), name, "norm")
    ndim = check_tensor(x, name, "x").ndim
    if not 1 <= signal_ndim <= 3 or signal_ndim > ndim:
        raise ValueError(f"For '{name}', 'signal_ndim' must be 1, 2 or 3 and at most {ndim}, but got {signal_ndim}")
    from_real = real and not inverse
    kind = x._array.dtype.kind
    if (kind == "c") == from_real or (x._array.dtype.itemsize == 2 and kind not in "iu"):
        expected = "real numbers, not in half precision" if from_real else "complex numbers"
        raise TypeError(f"For '{name}', 'x' must be {expected}, but got {x.dtype}")
    axes = tuple(range(ndim - signal_ndim, ndim))
    if from_real:
        return (complex_numbers.rfftn if onesided else complex_numbers.fftn)(x, dim=axes, norm=norm)
    if not real:
        return (complex_numbers.ifftn if inverse else complex_numbers.fftn)(x, dim=axes, norm=norm)
    if not onesided:
        return complex_numbers.real(complex_numbers.ifftn(x, dim=axes, norm=norm))
    sizes = ints_of(signal_sizes, name, "signal_sizes")
    if sizes and (*sizes[:-1], sizes[-1] // 2 + 1) != x.shape[ndim - signal_ndim :]:
        raise ValueError(f"For '{name}', 'signal_sizes' {sizes} do not fit 'x' of shape {x.shape}")
    return complex_numbers.irfftn(x, s=sizes or None, dim=axes, norm=norm)


def stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "REFLECT",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """Return the Fourier transforms of the pieces of a signal, each times a window.

    Args:
        x: a signal (L,), or several (N, L), of floating or complex numbers.
        n_fft: the length of a piece.
        hop_length: the distance between the beginnings of neighboring pieces; None is ``n_fft // 4``.
        win_length: the length of the window, at most ``n_fft``; it is padded with 0 on both sides. None is ``n_fft``.
        window: the window, a vector of length ``win_length``; None is ones.
        center: whether ``n_fft // 2`` elements are added at both ends, so that the first piece has the first element
            in its middle.
        pad_mode: with ``center``, the elements added: "REFLECT" the signal mirrored, "SYMMETRIC" likewise with its
            first and last element repeated, "CONSTANT" zeros.
        normalized: whether to divide by the root of ``n_fft``.
        onesided: whether only ``n_fft // 2 + 1`` frequencies are returned, of which the others are the conjugates. None
            is True for real numbers.
        return_complex: whether to return complex numbers; otherwise their parts are in a last axis of length 2. None is
            False for real numbers.

    Returns:
        A tensor (frequencies, pieces), or (N, frequencies, pieces), with one more last axis if not complex.

    Raises:
        TypeError: ``x`` or ``window`` is not a Tensor of such numbers, or a setting of the wrong type.
        ValueError: a length does not fit, an unknown ``pad_mode``, or ``onesided`` with complex numbers.
    """
    for argument, value in (("center", center), ("normalized", normalized)):
        check_bool(value, "stft", argument)
    check_int(n_fft, "stft", "n_fft")
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    signal = _floating(x, "x", (1, 2))
    if window is None:
        dtype = np.float64 if signal._array.dtype in (np.float64, np.complex128) else np.float32
        window = constant(array_module(signal._array).ones(width, dtype))
    is_complex = "c" in (signal._array.dtype.kind, _floating(window, "window", (1,))._array.dtype.kind)
    return _pieces_transformed(
        signal,
        window,
        n_fft,
        hop,
        width,
        normalized,
        not is_complex if onesided is None else onesided,
        is_complex if return_complex is None else return_complex,
        check_one_of(pad_mode, ("CONSTANT", "REFLECT", "SYMMETRIC"), "stft", "pad_mode") if center else None,
    )


@declare(primitive=prim("STFT", "n_fft", "hop_length", "win_length", "normalized", "onesided", "return_complex"))
def _stft_class(
    x: Tensor,
    window: Tensor,
    n_fft: int,
    hop_length: int,
    win_length: int,
    normalized: bool,
    onesided: bool,
    return_complex: bool,
) -> Tensor:
    """Return the Fourier transforms of the pieces of a signal, each times a window; the ends are not padded.

    Args:
        x: a signal (L,), or several (N, L), of floating or complex numbers.
        window: the window, a vector of length ``win_length``.
        n_fft: the length of a piece.
        hop_length: the distance between the beginnings of neighboring pieces.
        win_length: the length of the window, at most ``n_fft``; it is padded with 0 on both sides.
        normalized: whether to divide by the root of ``n_fft``.
        onesided: whether only ``n_fft // 2 + 1`` frequencies are returned, of which the others are the conjugates.
        return_complex: whether to return complex numbers; otherwise their parts are in a last axis of length 2.

    Returns:
        A tensor (frequencies, pieces), or (N, frequencies, pieces), with one more last axis if not complex.

    Raises:
        TypeError: ``x`` or ``window`` is not a Tensor of such numbers, or a setting of the wrong type.
        ValueError: a length does not fit, or ``onesided`` with complex numbers.
    """
    check_bool(normalized, "stft", "normalized")
    signal, shape = _floating(x, "x", (1, 2)), _floating(window, "window", (1,))
    return _pieces_transformed(signal, shape, n_fft, hop_length, win_length, normalized, onesided, return_complex, None)


def _floating(x: Tensor, argument: str, ndims: tuple[int, ...]) -> Tensor:
    if check_tensor(x, "stft", argument)._array.dtype.kind not in "fc" or x._array.dtype.itemsize == 2:
        raise TypeError(
            f"For 'stft', '{argument}' must be floating numbers of at least 32 bits or complex ones, but got {x.dtype}"
        )
    if x.ndim not in ndims:
        raise ValueError(f"For 'stft', '{argument}' must have {' or '.join(map(str, ndims))} axes, but got {x.ndim}")
    return x


def _pieces_transformed(
    x: Tensor,
    window: Tensor,
    n_fft: int,
    hop: int,
    width: int,
    normalized: bool,
    onesided: bool,
    return_complex: bool,
    pad_mode: str | None,
) -> Tensor:
    for argument, value in (("n_fft", n_fft), ("hop_length", hop), ("win_length", width)):
        check_type(value, int, "stft", argument)
    for argument, flag in (("onesided", onesided), ("return_complex", return_complex)):
        check_bool(flag, "stft", argument)
    xp = array_module(x._array)
    positions, live = _frame_positions(xp, x.shape[-1], n_fft // 2 if pad_mode else 0, pad_mode)
    if not 1 <= n_fft <= len(positions):
        raise ValueError(f"For 'stft', 'n_fft' must be in [1, {len(positions)}], but got {n_fft}")
    if hop < 1 or not 1 <= width <= n_fft:
        raise ValueError(
            f"For 'stft', 'hop_length' must be above 0 and 'win_length' in [1, {n_fft}], but got {hop} and {width}"
        )
    if window.shape != (width,):
        raise ValueError(f"For 'stft', 'window' must have the shape ({width},), but got {window.shape}")
    if onesided and "c" in (x._array.dtype.kind, window._array.dtype.kind):
        raise ValueError("For 'stft', 'onesided' must be False for complex numbers, of which no half says all")
    margin = (n_fft - width) // 2
    index = xp.arange(0, len(positions) - n_fft + 1, hop)[:, None] + margin + xp.arange(width)
    pieces = getitem_operator(x, index=(Ellipsis, positions[index])) * window
    if not live.all():
        pieces = pieces * Tensor._wrap(live[index].astype(np.float32))
    spectra = complex_numbers.fft(
        _between_zeros(pieces, margin, n_fft - width - margin), norm="ortho" if normalized else None
    )
    result: Any = swapaxes(spectra, -1, -2)
    result = result[..., : n_fft // 2 + 1, :] if onesided else result
    return result if return_complex else complex_numbers.view_as_real(result)


def _frame_positions(xp: Any, length: int, added: int, pad_mode: str | None) -> tuple[Array, Array]:
    """Return the source of each element of the padded signal, and whether it counts."""
    at = xp.arange(-added, length + added)
    live = (at >= 0) & (at < length)
    if pad_mode in ("REFLECT", "SYMMETRIC"):
        edge = pad_mode == "SYMMETRIC"
        if added > length - (not edge):
            raise ValueError(f"For 'stft', a signal of length {length} is too short to be mirrored by {added} elements")
        at = xp.where(at < 0, -at - edge, xp.where(at < length, at, 2 * (length - 1) - at + edge))
        live = xp.ones_like(live)
    return xp.where(live, at, 0), live


def _between_zeros(x: Tensor, before: int, after: int) -> Tensor:
    if not before and not after:
        return x
    xp = array_module(x._array)
    ends = [constant(xp.zeros((*x.shape[:-1], n), x._array.dtype)) for n in (before, after)]
    return concat([ends[0], x, ends[1]], -1)
