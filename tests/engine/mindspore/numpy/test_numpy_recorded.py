"""``mindspore.numpy``: calls whose element types and shapes are MindSpore's and whose numbers are NumPy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from recorded_numpy import kind, names, recorded

import hookscope.engine.numpy as mnp
from hookscope.engine import Tensor

OURS = names(mnp, Tensor)
RECORDED = recorded()
DIFFERENT = {
    **{
        f"ravel_multi_index({x})": "Float32 holds no place above 2**24"
        for x in (
            "(W, W), (3, 3)",
            "([1, 2], [0, 3]), (4, 5)",
            "(W, W + 2), (3, 3), 'wrap'",
            "(W, W + 2), (3, 3), 'clip'",
            "(W, W), (3, 4), order='F'",
        )
    },
    **{f"{name}(D)": "Float64 keeps its digits" for name in ("ceil", "fix", "trunc")},
}
"""Calls whose element type or shape is another one on purpose, and why: see docs/differences.md."""


def _wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array in a wider dtype, so that NumPy's result is exact, whatever its type."""
    return x.astype({"i": np.int64, "u": np.int64, "f": np.float64}.get(x.dtype.kind, x.dtype))


def _like_mindspores(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's function with MindSpore's arguments."""
    if name in ("choose", "ravel_multi_index"):
        return lambda *args, mode="clip", **kw: function(*args[:2], mode=args[2] if len(args) > 2 else mode, **kw)
    return function


NUMPYS = names(np, _wide)
NUMPYS.update({name: _like_mindspores(name, NUMPYS[name]) for name in ("choose", "ravel_multi_index")})
NUMPYS.update(
    trapz=np.trapezoid,
    multi_dot=np.linalg.multi_dot,
    norm=np.linalg.norm,
    sometrue=np.any,
    float16=np.float64,
    in1d=lambda a, b, invert=False: np.isin(np.ravel(a), b, invert=invert),
)


def same(result: Any, expected: Any) -> None:
    if isinstance(result, tuple | list):
        assert len(result) == len(expected)
        for first, second in zip(result, expected, strict=True):
            same(first, second)
        return
    if isinstance(result, Tensor):
        assert result.shape == np.shape(expected)
        values = result.asnumpy()
        if values.dtype.kind == "b" and np.asarray(expected).dtype.kind == "b":
            np.testing.assert_array_equal(values, expected)
            return
        tolerance = {"rtol": 4e-3, "atol": 2e-3} if values.dtype == np.float16 else {"rtol": 2e-5, "atol": 2e-6}
        np.testing.assert_allclose(values.astype(np.float64), np.asarray(expected, np.float64), **tolerance)
    else:
        assert result == expected


NOT_ASKED = ("promote_types", "result_type", "equal(F, G, dtype", "pad(V, 1, 'empty')", "array_str", "isscalar(F)")
"""Calls that NumPy has no answer for, or another one by its own types."""


@pytest.mark.parametrize("call", [call for call in RECORDED if not call.startswith(NOT_ASKED)])
def test_the_numbers_are_numpys(call: str) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's own, of a variance of one element
        expected = eval(call, dict(NUMPYS))
    same(eval(call, dict(OURS)), expected)


@pytest.mark.parametrize("call", [call for call in RECORDED if not RECORDED[call].endswith("Error")])
def test_the_element_type_and_the_shape_are_mindspores(call: str) -> None:
    expected = RECORDED[call]
    result = kind(eval(call, dict(OURS)))
    assert (result.strip("[()]") != expected.strip("[()]")) == (call in DIFFERENT), (result, expected)
