"""``mindspore.numpy.fft``: NumPy's names of arguments, and its numbers."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor
from hookscope.engine.numpy import fft

X = np.sin(np.arange(24.0) ** 2).reshape(2, 3, 4)
Z = X + 1j * np.cos(X)
# name: its signature in MindSpore 2.10, and calls.
ONE, SOME = "(a, n=None, axis=-1, norm=None)", "(a, s=None, axes={}, norm=None)"
CALLS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    **{name: (ONE, [{}, {"n": 5, "axis": 1, "norm": "ortho"}]) for name in ("fft", "ifft", "hfft", "irfft")},
    **{name: (ONE, [{}, {"n": 3, "axis": 0, "norm": "forward"}]) for name in ("rfft", "ihfft")},
    **{name: (SOME.format((-2, -1)), [{}, {"s": (2, 4), "axes": (0, 2)}]) for name in ("fft2", "ifft2")},
    **{name: (SOME.format(None), [{}, {"axes": (0, 1)}, {"s": (2, 2), "axes": (1, 2)}]) for name in ("fftn", "ifftn")},
    **{name: (SOME.format((-2, -1)), [{}, {"axes": (0, 2)}]) for name in ("rfft2", "irfft2")},
    **{name: (SOME.format(None), [{}, {"axes": (0, 1)}]) for name in ("rfftn", "irfftn")},
    **{name: ("(x, axes=None)", [{}, {"axes": (0, 2)}]) for name in ("fftshift", "ifftshift")},
}
REAL = ("rfft", "ihfft", "rfft2", "rfftn", "fftshift", "ifftshift")


@pytest.mark.parametrize("name", CALLS)
def test_a_transform_has_numpys_arguments_and_numbers(name: str) -> None:
    signature, calls = CALLS[name]
    function = getattr(fft, name)
    texts = [
        parameter.replace(annotation=parameter.empty) for parameter in inspect.signature(function).parameters.values()
    ]
    assert str(inspect.Signature(texts)) == signature
    x = X if name in REAL else Z
    for keywords in calls:
        result = function(Tensor(x), **keywords).asnumpy()
        np.testing.assert_allclose(result, getattr(np.fft, name)(x, **keywords), atol=1e-12)


@pytest.mark.parametrize("name", ["hfft2", "hfftn", "ihfft2", "ihfftn"])
def test_a_transform_that_numpy_lacks_is_scipys(name: str) -> None:
    import scipy.fft

    x = X if name.startswith("i") else Z
    for keywords in ({}, {"axes": (0, 2)}):
        result = getattr(fft, name)(Tensor(x), **keywords).asnumpy()
        np.testing.assert_allclose(result, getattr(scipy.fft, name)(x, **keywords), atol=1e-12)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name: str) -> None:
    result = getattr(fft, name)(n=7, d=0.5)
    assert result.dtype is ms.float32
    np.testing.assert_allclose(result.asnumpy(), getattr(np.fft, name)(7, 0.5), rtol=1e-6)


def test_gradients_pass_through_and_arguments_can_be_given_by_place() -> None:
    x = Tensor(X)
    gradient = ms.grad(lambda x: fft.irfft(fft.rfft(x, 4, -1, "ortho"), 4, -1, "ortho").sum())(x)
    np.testing.assert_allclose(gradient.asnumpy(), np.ones_like(X), atol=1e-12)
