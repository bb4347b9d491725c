"""Fourier transforms beside SciPy's in every form, and their gradients; the parts of complex numbers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
from function_cases import Array, Case, agrees, listed, same

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

RNG = np.random.default_rng(6)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape)


def turned(*shape: int) -> Array:
    return normal(*shape) + 1j * normal(*shape)


NORMS = [None, "backward", "ortho", "forward"]
ALONG_ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
ALONG_TWO = [name + "2" for name in ALONG_ONE]
ALONG_MORE = [name + "n" for name in ALONG_ONE]
REAL = {"rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn"}


def samples(name: str, *shape: int) -> Array:
    """Return the function's input, real numbers for some functions."""
    return normal(*shape) if name in REAL else turned(*shape)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ALONG_ONE)
def test_a_transform_along_one_axis_is_scipys(name: str, norm: str | None) -> None:
    function, reference = getattr(ops, name), getattr(scipy.fft, name)
    for x in (samples(name, 6), samples(name, 5), samples(name, 2, 4, 3)):
        for n in (None, 1, 2, 5, 6, 9):
            for dim in range(-x.ndim, x.ndim):
                same(function(Tensor(x), n, dim, norm), reference(x, n, dim, norm))
    same(function(Tensor(x)), reference(x))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ALONG_MORE)
def test_a_transform_along_several_axes_is_scipys(name: str, norm: str | None) -> None:
    function, reference = getattr(ops, name), getattr(scipy.fft, name)
    x = samples(name, 3, 4, 5)
    for s, dim in (
        (None, None),
        ((4, 3), None),
        ((2, 5, 6), None),
        (None, (0, 1)),
        (None, (-1, 0)),
        ((4, 5), (2, 0)),
        (None, (1,)),
        ((3, 3, 8), (1, 0, 2)),
    ):
        same(function(Tensor(x), s, dim, norm), reference(x, s, dim, norm))
    same(function(Tensor(x)), reference(x))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ALONG_TWO)
def test_a_transform_along_two_axes_is_scipys(name: str, norm: str | None) -> None:
    function, reference = getattr(ops, name), getattr(scipy.fft, name)
    x = samples(name, 3, 4, 5)
    for s, dim in ((None, (-2, -1)), ((4, 3), (-2, -1)), (None, (0, 1)), ((2, 7), (2, 0))):
        same(function(Tensor(x), s, dim, norm), reference(x, s, dim, norm))
    same(function(Tensor(x)), reference(x))


@pytest.mark.parametrize("name", ALONG_ONE + ALONG_TWO + ALONG_MORE)
def test_a_transform_keeps_the_precision_and_makes_integers_floating(name: str) -> None:
    x = RNG.integers(-5, 5, (4, 6))
    want = getattr(scipy.fft, name)(x)
    narrow = np.float32 if want.dtype == np.float64 else np.complex64
    for kind in (np.int32, np.float32, np.float16, *(() if name in REAL else (np.complex64,))):
        same(getattr(ops, name)(Tensor(x.astype(kind))), want.astype(narrow))
    same(getattr(ops, name)(Tensor(x.astype(np.float64))), want)


@pytest.mark.parametrize("name", ALONG_TWO)
def test_a_transform_along_two_axes_says_what_it_is(name: str) -> None:
    text = inspect.getdoc(getattr(ops, name)) or ""
    assert text.startswith(f"``{name[:-1]}n`` along two axes.\n")
    assert "dim: the two axes, the last two without it." in text and "norm: the factor of the sum" in text


@pytest.mark.parametrize("name", ALONG_ONE + ALONG_MORE)
def test_a_transform_has_the_gradient_of_differences(name: str) -> None:
    function = getattr(ops, name)
    sizes: list[Any] = [None, 3, 6] if name in ALONG_ONE else [None, (3,), (2, 6)]
    for size in sizes:

        def parts(x: Tensor, y: Tensor | None = None, size: Any = size) -> Tensor:
            result = function(x if y is None else ops.complex(x, y), size)
            return ops.view_as_real(result) if result.is_complex() else result

        agrees(parts, *([normal(2, 4)] if name in REAL else [normal(2, 4), normal(2, 4)]))


X, Y = normal(3, 4, 5), turned(2, 3)
CASES: dict[str, list[Case]] = {
    "fftfreq": [
        (lambda: ops.fftfreq(1), np.float32([0])),
        (lambda: ops.fftfreq(4), np.float32([0, 1, -2, -1]) / 4),
        (lambda: ops.fftfreq(5, 0.5), np.float32([0, 1, 2, -2, -1]) / np.float32(2.5)),
        (lambda: ops.fftfreq(3, -2.0, ms.float64), np.array([0, 1, -1]) / -6.0),
    ],
    "rfftfreq": [
        (lambda: ops.rfftfreq(1), np.float32([0])),
        (lambda: ops.rfftfreq(4), np.float32([0, 1, 2]) / 4),
        (lambda: ops.rfftfreq(5, 0.5), np.float32([0, 1, 2]) / np.float32(2.5)),
        (lambda: ops.rfftfreq(6, -2.0, ms.float64), np.array([0, 1, 2, 3]) / -12.0),
    ],
    "fftshift": [
        (lambda: ops.fftshift(Tensor([0, 1, 2, -3, -2, -1])), np.array([-3, -2, -1, 0, 1, 2])),
        (lambda: ops.fftshift(Tensor([0, 1, 2, -2, -1])), np.array([-2, -1, 0, 1, 2])),
        (lambda: ops.fftshift(Tensor(X)), np.fft.fftshift(X)),
        *((lambda d=d: ops.fftshift(Tensor(X), d), np.fft.fftshift(X, d)) for d in (0, 1, -1, (0, 2), (-1, 1), ())),
        (lambda: ops.fftshift(Tensor(2.5)), np.float32(2.5)),
    ],
    "ifftshift": [
        (lambda: ops.ifftshift(Tensor([-3, -2, -1, 0, 1, 2])), np.array([0, 1, 2, -3, -2, -1])),
        (lambda: ops.ifftshift(Tensor([-2, -1, 0, 1, 2])), np.array([0, 1, 2, -2, -1])),
        (lambda: ops.ifftshift(Tensor(X)), np.fft.ifftshift(X)),
        *((lambda d=d: ops.ifftshift(Tensor(X), d), np.fft.ifftshift(X, d)) for d in (0, 1, -1, (0, 2), (-1, 1), ())),
        (lambda: ops.ifftshift(Tensor(2.5)), np.float32(2.5)),
    ],
}


@pytest.mark.parametrize(("make", "want"), listed(CASES))
def test_parts_and_frequencies_are_what_they_are_said_to_be(make: Callable[[], Any], want: Any) -> None:
    same(make(), want)


@pytest.mark.parametrize("function", [ops.fftshift, ops.ifftshift])
def test_a_shift_has_the_gradient_of_differences(function: Callable[..., Tensor]) -> None:
    agrees(function, normal(3, 4))
    agrees(lambda x: function(x, 0), normal(3, 4))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.view_as_real(Tensor(X)),
            TypeError,
            "For 'view_as_real', 'input' must be complex, but got Float64",
        ),
        (lambda: ops.ihfft(Tensor(Y)), TypeError, "For 'ihfft', 'input' must be real, but got Complex128"),
        (lambda: ops.hfft(Tensor(Y), 0), ValueError, "For 'hfft', a length must be positive, but got 0"),
        (lambda: ops.hfft(Tensor([1.0])), ValueError, "For 'hfft', a length must be positive, but got 0"),
        (lambda: ops.ifftn(Tensor(X), (2, 3), (0,)), ValueError, "For 'ifftn', 's' and 'dim' must have one length"),
        (
            lambda: ops.irfftn(Tensor(X), norm="whole"),
            ValueError,
            "For 'irfftn', 'norm' must be 'backward', 'forward' or",
        ),
        (lambda: ops.hfftn(Tensor(X), dim=(3,)), ValueError, "For 'hfftn', 'axis' must be in [-3, 3), but got 3"),
        (
            lambda: ops.fftn(Tensor(X), dim=(1.5,)),
            TypeError,
            "For 'fftn', 'dim' must be an int or a tuple of ints, but got (1.5,)",
        ),
        (
            lambda: ops.fftshift(Tensor(X), (1.5,)),
            TypeError,
            "For 'fftshift', 'dim' must be an int or a tuple of ints, but got (1.5,)",
        ),
        (lambda: ops.fftshift(Tensor(X), 3), ValueError, "For 'fftshift'"),
        (lambda: ops.ifftshift([1.0]), TypeError, "For 'ifftshift', 'input' must be a Tensor, but got list"),
        (lambda: ops.fftfreq(0), ValueError, "For 'fftfreq', 'n' must be at least 1, but got 0"),
        (lambda: ops.rfftfreq(3, 0.0), ValueError, "For 'rfftfreq', 'd' must not be 0"),
    ],
)
def test_a_transform_refuses_what_it_is_not_defined_for(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
