"""Compiled functions of single elements against float64, in any memory order and of any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernel_references import normal
from layouts import ORDERS, assert_same_bits
from scipy import special

from hookscope.engine.cpu import compiling
from hookscope.engine.cpu.arrays import elements
from hookscope.engine.cpu.neural import activation

SLOPE, CUBIC = np.sqrt(2 / np.pi), 0.044715


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile, even if the environment leaves all to NumPy."""
    monkeypatch.setattr(compiling, "is_on", lambda: True)


def _inner(x: Any) -> Any:
    return SLOPE * x * (1 + CUBIC * x * x)


def _of_silu(x: Any) -> Any:
    return special.expit(x) * (1 + x * special.expit(-x))


def _of_gelu_tanh(x: Any) -> Any:
    gate, rest = special.expit(2 * _inner(x)), special.expit(-2 * _inner(x))
    return gate + 2 * x * gate * rest * SLOPE * (1 + 3 * CUBIC * x * x)


# Name -> the function of one array, in float64, and of the gradient and an array.
UNARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "relu": (activation.relu, lambda x: np.where(x < 0, 0, x)),
    "sigmoid": (activation.sigmoid, special.expit),
    "silu": (activation.silu, lambda x: x * special.expit(x)),
    "gelu": (lambda x: activation.gelu(x, "none"), lambda x: x * special.ndtr(x)),
    "gelu_tanh": (lambda x: activation.gelu(x, "tanh"), lambda x: x * special.expit(2 * _inner(x))),
}
TWO: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "relu_grad": (activation.relu_grad, lambda g, y: np.where(y > 0, g, 0)),
    "sigmoid_grad": (activation.sigmoid_grad, lambda g, y: g * y * (1 - y)),
    "tanh_grad": (activation.tanh_grad, lambda g, y: g * (1 - y * y)),
    "silu_grad": (activation.silu_grad, lambda g, x: g * _of_silu(x)),
    "gelu_grad": (
        lambda g, x: activation.gelu_grad(g, x, "none"),
        lambda g, x: g * (special.ndtr(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)),
    ),
    "gelu_tanh_grad": (lambda g, x: activation.gelu_grad(g, x, "tanh"), lambda g, x: g * _of_gelu_tanh(x)),
}
SHAPES = [(7, 5, 31, 19), (16385,), (3, 8193), (1 << 14, 1), (2, 1, 3, 4099)]
TOLERANCE = 4e-7
"""Of what is as large as the function's terms; NumPy's own float32 is not better."""


def numbers(*shape: int, seed: int = 0) -> Any:
    """Return numbers of all sizes, some of them not finite."""
    x = (normal(*shape, seed=seed) * 10.0 ** np.clip(normal(*shape, seed=seed + 10), -4, 1.5)).astype(np.float32)
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 88.0, -88.0, 3.4e38]
    for start in (0, x.size // 2, x.size - 9):
        x.reshape(-1)[start : start + 9] = special
    return x


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_array_follows_its_definition(name: str, shape: tuple[int, ...]) -> None:
    function, reference = UNARY[name]
    x = numbers(*shape)
    _compare(function(x), reference, x)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_arrays_follows_its_definition(name: str, shape: tuple[int, ...]) -> None:
    function, reference = TWO[name]
    g, x = normal(*shape, seed=5).astype(np.float32), numbers(*shape)
    g.reshape(-1)[3:9] = [np.nan, np.inf, -np.inf, 0, -0.0, 1e30]
    _compare(function(g, x), reference, g, x)


def _compare(result: Any, reference: Callable[..., Any], *arrays: Any) -> None:
    with np.errstate(all="ignore"):
        expected = reference(*(x.astype(np.float64) for x in arrays)).astype(np.float32)
    assert result.dtype == np.float32 and result.shape == arrays[0].shape
    np.testing.assert_allclose(result, expected, rtol=TOLERANCE, atol=1e-7)


@pytest.mark.parametrize("name", [*UNARY, *TWO])
def test_bits_hang_on_neither_threads_nor_memory_order(name: str) -> None:
    x = numbers(7, 5, 31, 19)
    arrays = (x,) if name in UNARY else (numbers(7, 5, 31, 19, seed=3), x)
    assert_same_bits((UNARY | TWO)[name][0], *arrays)


@pytest.mark.parametrize("name", [*UNARY, *TWO])
def test_an_element_has_the_same_bits_wherever_it_is(name: str) -> None:
    """Also among those that a loop of vectors leaves over."""
    function, g, x = (UNARY | TWO)[name][0], numbers(20_011, seed=3), numbers(20_011)
    full = function(x) if name in UNARY else function(g, x)
    for start, stop in ((0, 16_384), (1, 20_010), (13, 19_999), (3_000, 20_011)):
        part = function(x[start:stop].copy()) if name in UNARY else function(g[start:stop].copy(), x[start:stop].copy())
        np.testing.assert_array_equal(part.view(np.int32), full[start:stop].view(np.int32))


@pytest.mark.parametrize("order", ORDERS)
def test_the_memory_order_stays_where_it_has_no_gaps(order: str) -> None:
    x = ORDERS[order](numbers(7, 5, 31, 19))
    x.setflags(write=False)
    y = activation.relu(x)
    assert y.strides == np.empty_like(x).strides
    assert not np.shares_memory(x, y)


def test_few_elements_and_other_dtypes_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "kernels", None)
    for function, _ in UNARY.values():
        for x in (np.ones(100, np.float32), np.ones(20_000), np.ones(20_000, np.float16)):
            assert function(x).dtype == x.dtype
    monkeypatch.setattr(compiling, "is_on", lambda: False)
    for function, _ in UNARY.values():
        function(np.ones(20_000, np.float32))
