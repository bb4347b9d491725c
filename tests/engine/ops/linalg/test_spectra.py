"""Spectra: FFTWithSize in each of its forms and the short-time transform, by NumPy and as recorded from MindSpore."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from function_cases import agrees

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

_numbers = np.random.default_rng(8)
REAL = _numbers.standard_normal((2, 4, 3, 6)).astype(np.float32)
COMPLEX = (REAL + 1j * _numbers.standard_normal(REAL.shape)).astype(np.complex64)
SIGNAL = np.array([1, 2, 5, -3, 4, 0, 2, 1, 6, -2], np.float32)


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
def test_each_form_of_fft_with_size_is_numpys(ndim: int, norm: Any) -> None:
    axes = tuple(range(4 - ndim, 4))
    forms: list[tuple[Any, Any, tuple[Any, ...]]] = [
        (COMPLEX, np.fft.fftn, (False, False)),
        (COMPLEX, np.fft.ifftn, (True, False)),
        (REAL, np.fft.rfftn, (False, True)),
        (COMPLEX, np.fft.irfftn, (True, True)),
    ]
    for x, function, form in forms:
        result = ops.FFTWithSize(ndim, *form, norm)(Tensor(x))
        np.testing.assert_allclose(result.asnumpy(), function(x, axes=axes, norm=norm), rtol=2e-5, atol=2e-5)
        assert result.asnumpy().dtype == (np.float32 if form == (True, True) else np.complex64)
    full = ops.FFTWithSize(ndim, False, True, norm, False)(Tensor(REAL)).asnumpy()
    np.testing.assert_allclose(full, np.fft.fftn(REAL, axes=axes, norm=norm), rtol=2e-5, atol=2e-5)
    back = ops.FFTWithSize(ndim, True, True, norm, False)(Tensor(full)).asnumpy()
    np.testing.assert_allclose(back, REAL, rtol=2e-5, atol=2e-5)
    sizes = (*REAL.shape[4 - ndim : -1], 11)
    odd = ops.FFTWithSize(ndim, True, True, norm, True, sizes)(Tensor(COMPLEX)).asnumpy()
    np.testing.assert_allclose(odd, np.fft.irfftn(COMPLEX, sizes, axes, norm), rtol=2e-5, atol=2e-5)


def test_fft_with_size_takes_integers_and_double_precision() -> None:
    assert ops.FFTWithSize(1, False, True)(Tensor([1, 2, 3], ms.int32)).dtype is ms.complex64
    result = ops.FFTWithSize(1, False, True)(Tensor([1.0, 2.0, 3.0], ms.float64))
    assert result.dtype is ms.complex128 and result.asnumpy() == pytest.approx(np.fft.rfft([1, 2, 3]))


def test_the_gradients_of_fft_with_size_are_mindspores() -> None:
    rows = {
        "fft": (
            lambda z: ops.abs(ops.FFTWithSize(1, False, False)(z)),
            Tensor([1 + 1j, 2, 3], ms.complex64),
            [-0.63616306 + 1.0327649j, 1.1997321 + 0.0502236j, 2.3956125 - 0.5897916j],
        ),
        "rfft": (
            lambda x: ops.abs(ops.FFTWithSize(1, False, True)(x)),
            Tensor([1.0, 2.0, 5.0, -3.0]),
            [1.3753049, 0.7808688, 2.624695, -0.7808688],
        ),
        "rfft whole": (
            lambda x: ops.abs(ops.FFTWithSize(1, False, True, "ortho", False)(x)),
            Tensor([1.0, 2.0, 5.0, -3.0]),
            [0.3753049, 0.7808688, 1.6246951, -0.7808688],
        ),
        "irfft": (
            lambda z: ops.FFTWithSize(1, True, True, "backward", True, (4,))(z) * Tensor([1.0, 2.0, 3.0, 4.0]),
            Tensor([1 + 1j, 2, 3], ms.complex64),
            [2.5, -1 + 1j, -0.5],
        ),
        "irfft whole": (
            lambda z: ops.FFTWithSize(1, True, True, "backward", False)(z) * Tensor([1.0, 2.0, 3.0]),
            Tensor([1 + 1j, 2, 3], ms.complex64),
            [2, -0.5 + 0.2886751j, -0.5 - 0.2886751j],
        ),
    }
    for name, (function, x, expected) in rows.items():
        np.testing.assert_allclose(ms.grad(function)(x).asnumpy(), expected, rtol=1e-6, atol=1e-6, err_msg=name)
    agrees(lambda x: ops.abs(ops.FFTWithSize(2, False, True, "ortho", False)(x)), REAL[0, 0])


def pieces(x: Any, n_fft: int, hop: int, window: Any, pad: str | None, onesided: bool, normalized: bool) -> Any:
    """Return the short-time transform by its definition, in double precision."""
    if pad is not None:
        x = np.pad(x, n_fft // 2, mode=pad)  # type: ignore[call-overload]
    left = (n_fft - len(window)) // 2
    full = np.pad(window, (left, n_fft - len(window) - left))
    spectra = [np.fft.fft(x[t : t + n_fft] * full) for t in range(0, len(x) - n_fft + 1, hop)]
    result = np.stack(spectra, -1)[: n_fft // 2 + 1 if onesided else n_fft]
    return result / np.sqrt(n_fft) if normalized else result


@pytest.mark.parametrize("pad", ["REFLECT", "SYMMETRIC", "CONSTANT", None])
@pytest.mark.parametrize(("n_fft", "hop", "width"), [(4, 1, 4), (4, 2, 3), (5, 3, 2), (6, 4, 6), (3, 2, 1)])
def test_the_pieces_of_a_signal_are_transformed_by_the_definition(
    n_fft: int, hop: int, width: int, pad: str | None
) -> None:
    window = np.linspace(0.5, 1.5, width).astype(np.float32)
    for onesided, normalized in ((True, False), (False, True)):
        result = ops.stft(
            Tensor(np.stack([SIGNAL, SIGNAL**2])),
            n_fft,
            hop,
            width,
            Tensor(window),
            pad is not None,
            pad or "REFLECT",
            normalized,
            onesided,
            True,
        ).asnumpy()
        for row, x in zip(result, (SIGNAL, SIGNAL**2), strict=True):
            expected = pieces(x.astype(np.float64), n_fft, hop, window, pad and pad.lower(), onesided, normalized)
            np.testing.assert_allclose(row, expected, rtol=1e-5, atol=1e-5)


def test_the_short_time_transform_has_mindspores_numbers_and_defaults() -> None:
    # Recorded from MindSpore 2.10.
    x = Tensor(SIGNAL)
    by_default = ops.stft(x, 4)
    assert by_default.shape == (3, 11, 2) and by_default.dtype is ms.float32
    np.testing.assert_allclose(by_default[1, :4].asnumpy(), [[4, 0], [0, 4], [-4, -5], [5, -1]], atol=1e-6)
    result = ops.stft(x, 4, 2, 3, Tensor([0.5, 1.0, 0.25]), return_complex=True)
    np.testing.assert_allclose(result[0].asnumpy(), [4.75, 3.75, 0.5, 2.5, 3.5, 2.5], atol=1e-6)
    np.testing.assert_allclose(
        result[1].asnumpy(), [2.25 - 2j, -0.75 - 2j, 1.5 + 3j, 1.5, -0.5 - 1j, 1.5 + 2j], atol=1e-6
    )
    signal = Tensor((np.arange(8) * (1 + 1j)).astype(np.complex64))
    result = ops.stft(signal, 4, center=False)
    assert result.shape == (4, 5) and result.dtype is ms.complex64
    np.testing.assert_allclose(result[:, 0].asnumpy(), [6 + 6j, -4, -2 - 2j, -4j], atol=1e-6)
    assert ops.stft(signal, 4, center=False, return_complex=False).shape == (4, 5, 2)
    result = ops.stft(x, 4, window=Tensor([1, 1j, 1, 1], ms.complex64), center=False)
    np.testing.assert_allclose(result[:, 0].asnumpy(), [3 + 2j, -2 - 3j, 9 - 2j, -6 + 3j], atol=1e-5)
    assert ops.stft(x.astype(ms.float64), 4, center=False).dtype is ms.float64
    result = ops.STFT(4, 2, 3, True, True, False)(x, Tensor([1.0, 0.5, 0.25]))
    np.testing.assert_allclose(result[0, :, 0].asnumpy(), [1.625, 2.25, 2.25, 2.0], atol=1e-6)
    np.testing.assert_allclose(result[1, :, 1].asnumpy(), [-0.5, 0.75, 0, -0.25], atol=1e-6)


def test_the_short_time_transform_has_the_gradient_of_central_differences() -> None:
    agrees(
        lambda x, w: ops.stft(x, 4, 2, 3, w, pad_mode="SYMMETRIC", return_complex=False),
        SIGNAL,
        np.array([0.5, 1.0, 0.25]),
    )


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.FFTWithSize(1, False, False)(Tensor(SIGNAL)),
            TypeError,
            "For 'FFTWithSize', 'x' must be complex numbers, but got Float32",
        ),
        (
            lambda: ops.FFTWithSize(1, False, True)(Tensor(COMPLEX)),
            TypeError,
            "For 'FFTWithSize', 'x' must be real numbers, not in half precision, but got Complex64",
        ),
        (lambda: ops.FFTWithSize(1, False, True)(Tensor(SIGNAL, ms.float16)), TypeError, "but got Float16"),
        (
            lambda: ops.FFTWithSize(2, False, True)(Tensor(SIGNAL)),
            ValueError,
            "For 'FFTWithSize', 'signal_ndim' must be 1, 2 or 3 and at most 1, but got 2",
        ),
        (lambda: ops.FFTWithSize(4, False, True)(Tensor(REAL)), ValueError, "but got 4"),
        (lambda: ops.FFTWithSize(1, 0, True)(Tensor(REAL)), TypeError, "'inverse' must be a bool, but got int"),
        (lambda: ops.FFTWithSize(1, False, True, "x")(Tensor(REAL)), ValueError, "'norm' must be 'backward'"),
        (
            lambda: ops.FFTWithSize(1, True, True, "ortho", True, (9,))(Tensor(COMPLEX)),
            ValueError,
            "For 'FFTWithSize', 'signal_sizes' (9,) do not fit 'x' of shape (2, 4, 3, 6)",
        ),
        (
            lambda: ops.stft(Tensor([1, 2, 3, 4], ms.int32), 2),
            TypeError,
            "For 'stft', 'x' must be floating numbers of at least 32 bits or complex ones, but got Int32",
        ),
        (lambda: ops.stft(Tensor(SIGNAL), 40, center=False), ValueError, "'n_fft' must be in [1, 10], but got 40"),
        (lambda: ops.stft(Tensor(SIGNAL), 4, 0), ValueError, "'hop_length' must be above 0"),
        (lambda: ops.stft(Tensor(SIGNAL), 4, win_length=5), ValueError, "'win_length' in [1, 4], but got 1 and 5"),
        (
            lambda: ops.stft(Tensor(SIGNAL), 4, window=Tensor([1.0, 2.0])),
            ValueError,
            "'window' must have the shape (4,), but got (2,)",
        ),
        (lambda: ops.stft(Tensor(COMPLEX[0, 0, 0]), 4, onesided=True), ValueError, "'onesided' must be False"),
        (lambda: ops.stft(Tensor(REAL), 4), ValueError, "'x' must have 1 or 2 axes, but got 4"),
        (lambda: ops.stft(Tensor(SIGNAL), 4, pad_mode="reflect"), ValueError, "'pad_mode' must be 'CONSTANT'"),
        (lambda: ops.stft(Tensor(SIGNAL[:3]), 6), ValueError, "length 3 is too short to be mirrored by 3 elements"),
        (lambda: ops.stft(Tensor(SIGNAL), 4, center=1), TypeError, "'center' must be a bool, but got int"),
    ],
)
def test_what_has_no_spectrum_is_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
