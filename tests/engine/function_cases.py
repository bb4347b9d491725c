"""Comparisons of tests of functions: results and dtypes with references, gradients with central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, grad
from hookscope.engine.tensors.dtype import numpy_dtype

Array = np.ndarray[Any, Any]
Case = tuple[Callable[[], Any], Any]

# Of one result in Float64, Float32 and Float16, and of complex numbers of the first two.
TOLERANCE = {"float64": 1e-10, "complex128": 1e-10, "float32": 3e-6, "complex64": 3e-6, "float16": 2e-3}


def same(result: Any, want: Any) -> None:
    """Assert that tensors have the arrays' shape, dtype and elements, in equal tuples; other values and types equal."""
    if isinstance(want, tuple | list):
        assert type(result) is type(want) and len(result) == len(want)
        for first, second in zip(result, want, strict=True):
            same(first, second)
    elif isinstance(want, np.ndarray | np.generic):
        assert isinstance(result, Tensor)
        assert (result.shape, numpy_dtype(result.dtype)) == (want.shape, want.dtype)
        if want.dtype.name not in TOLERANCE:
            np.testing.assert_array_equal(result.asnumpy(), want)
        else:
            tolerance = TOLERANCE[want.dtype.name]
            np.testing.assert_allclose(result.asnumpy(), want, rtol=tolerance, atol=tolerance)
    else:
        assert type(result) is type(want) and result == want


def listed(table: dict[str, list[Case]]) -> list[Any]:
    """Return each case with its name and number as id, for ``pytest.mark.parametrize(("make", "want"), ...)``."""
    return [pytest.param(*case, id=f"{name}-{i}") for name, cases in table.items() for i, case in enumerate(cases)]


def weighed(value: Tensor) -> Tensor:
    """Return a number in which every element of ``value`` counts differently."""
    return (value * Tensor(np.cos(np.arange(value.size)).reshape(value.shape) + 1.5)).sum()


def agrees(function: Callable[..., Tensor], *inputs: Array, step: float = 1e-6) -> None:
    """Assert that the gradient by each input, in Float64, is that of central differences."""
    arrays = [np.asarray(x, np.float64) for x in inputs]
    result = grad(lambda *x: weighed(function(*x)), tuple(range(len(arrays))))(*map(Tensor, arrays))
    for position, (array, slope) in enumerate(
        zip(arrays, result if isinstance(result, tuple) else (result,), strict=True)
    ):
        want = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            ends = []
            for sign in (step, -step):
                moved = [x.copy() for x in arrays]
                moved[position][index] += sign
                ends.append(weighed(function(*map(Tensor, moved))).item())
            want[index] = (ends[0] - ends[1]) / (2 * step)
        assert slope.shape == want.shape
        np.testing.assert_allclose(slope.asnumpy(), want, rtol=1e-6, atol=1e-7)
