"""Checks of the elementwise kernels in Triton's interpreter; test_interpreter.py runs them."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from _comparison import DTYPES, close, normal, planned, run, suits, wide

from hookscope.engine.cpu.neural import activation
from hookscope.triton_kernels import elementwise
from hookscope.triton_kernels.launch import launcher, plans

ERF = np.vectorize(math.erf)
UNARY: dict[str, Any] = {
    "neg": np.negative,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "abs": np.abs,
    "square": np.square,
}
BINARY: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "pow": np.power,
    "relu_grad": lambda g, y: np.where(y > 0, g, 0),
    "sigmoid_grad": lambda g, y: g * y * (1 - y),
    "tanh_grad": lambda g, y: g * (1 - y * y),
    "silu_grad": activation.silu_grad,  # held against central differences in its own test
}


def domain(name: str, x: Any) -> Any:
    """Return inputs that the operator is defined on: positive ones for logarithm, roots and powers."""
    return abs(x) + x.dtype.type(0.25) if name in ("log", "sqrt", "rsqrt", "pow") else x


def test_every_operator_has_a_check() -> None:
    assert set(UNARY) == set(elementwise.UNARY)
    assert set(BINARY) == set(elementwise.BINARY)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: Any) -> None:
    x = domain(name, 3 * normal(37, 31, dtype=np.float32)).astype(dtype)
    close(run(name, x), UNARY[name](wide(x)), dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, dtype: Any) -> None:
    x = domain(name, normal(37, 31)).astype(dtype)
    y = (2 * normal(37, 31, seed=1)).astype(dtype)
    if name == "div":
        y = np.where(abs(y) < 0.1, y.dtype.type(1), y)
    close(run(name, x, y), BINARY[name](*wide(x, y)), dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gelu_and_its_gradient(dtype: Any) -> None:
    x, g = (2 * normal(300)).astype(dtype), normal(300, dtype=dtype, seed=1)
    exact = wide(x)
    close(run("gelu", x, "none"), 0.5 * exact * (1 + ERF(exact / math.sqrt(2))), dtype)
    inner = math.sqrt(2 / math.pi) * (exact + 0.044715 * exact**3)
    close(run("gelu", x, "tanh"), 0.5 * exact * (1 + np.tanh(inner)), dtype)
    for form in ("none", "tanh"):
        close(run("gelu_grad", g, x, form), activation.gelu_grad(*wide(g, x), form), dtype)


def test_tanh_keeps_its_relative_precision_near_zero() -> None:
    x = np.geomspace(1e-20, 1, 200).astype(np.float32)
    np.testing.assert_allclose(run("tanh", x), np.tanh(wide(x)), rtol=3e-7)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((5, 7), (7,)),
        ((5, 7), (5, 1)),
        ((5, 7), ()),
        ((), (3,)),
        ((1,), (1,)),
        ((4, 1, 6), (5, 1)),
        ((2, 3, 4, 5), (3, 1, 5)),
        ((2, 1, 4, 1, 3), (2, 5, 4, 1, 3)),
        ((3, 1), (1, 700)),
    ],
    ids=str,
)
def test_broadcasting_follows_numpy(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = normal(*left), normal(*right, seed=1)
    result = run("sub", np.asarray(x), np.asarray(y))
    assert result.shape == np.broadcast_shapes(left, right)
    np.testing.assert_array_equal(result, np.asarray(x) - np.asarray(y))


def test_strided_operands_are_read_in_place() -> None:
    base = normal(8, 9, 10)
    for x in (base.T, base[::2, 1:, ::-1], base.transpose(1, 0, 2)[:, :, 3:], base[:, 0]):
        np.testing.assert_array_equal(run("neg", x), -x)
        np.testing.assert_array_equal(run("mul", x, x[..., :1]), x * x[..., :1])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_columns_channels_and_operands_that_lie_across(dtype: Any) -> None:
    x, wide_row, maps = normal(70, 65, dtype=dtype), normal(1, 20_001, dtype=dtype), normal(2, 3, 5, 9, dtype=dtype)
    last = maps.transpose(0, 2, 3, 1).copy().transpose(0, 3, 1, 2)
    of_channels = normal(3, 1, 1, dtype=dtype, seed=1)
    for left, right in [
        (x, normal(65, 70, dtype=dtype, seed=1).T),
        (x, x[:1]),
        (x[:, :1], x),
        (wide_row.repeat(2, 0), wide_row[0]),
        (maps, of_channels),
        (last, of_channels),
        (last, maps),
        (maps[..., ::-2], of_channels),
        (x[:, 3::7], x[:1, :1]),
    ]:
        result = run("mul", left, right)
        close(result, np.multiply(*wide(left, right)), dtype)
        if left is last:
            assert result.transpose(0, 2, 3, 1).flags.c_contiguous, "channels stay last"


def test_nan_passes_through_every_operator() -> None:
    x = np.array([np.nan, 1.0], dtype=np.float32)
    one = np.ones(2, np.float32)
    for name in UNARY:
        assert np.isnan(run(name, x)).tolist() == [True, False], name
    for name in ("add", "sub", "mul", "div", "maximum", "minimum"):
        assert np.isnan(run(name, x, one)).tolist() == [True, False], name
        assert np.isnan(run(name, one, x)).tolist() == [True, False], name
    for name in ("relu_grad", "sigmoid_grad", "tanh_grad", "silu_grad"):
        assert np.isnan(run(name, x, one)).tolist() == [True, False], name
    for form in ("none", "tanh"):
        assert np.isnan(run("gelu", x, form)).tolist() == [True, False]


def test_infinities_are_as_in_numpy() -> None:
    x = np.array([np.inf, -np.inf], dtype=np.float32)
    assert run("tanh", x).tolist() == [1, -1]
    assert run("sigmoid", x).tolist() == [1, 0]
    assert run("exp", x).tolist() == [np.inf, 0]
    assert run("relu", x).tolist() == [np.inf, 0]
    assert run("maximum", x, -x).tolist() == [np.inf, np.inf]


def test_indices_of_64_bits_reach_the_same_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    # Arrays of 2**31 values need them; here a setting selects them.
    monkeypatch.setattr(launcher, "FEWEST_LONG", 1)
    monkeypatch.setattr(plans, "_plans", {})
    x, y = normal(6, 7), normal(6, 1, seed=1)
    for operand, kernel in ((x, elementwise.flat_kernel), (y, elementwise.tile_kernel)):
        plan, inputs, _ = planned("add", x, operand)
        assert plan is not None
        assert [(step.kernel, step.constants["LONG"]) for step in plan.steps] == [(kernel, True)]
        assert np.array_equal(plan(*inputs), x + operand)


def test_what_does_not_qualify() -> None:
    x = normal(4, 5)
    add, gelu = partial(suits, "add"), partial(suits, "gelu")
    assert not add(x, x.astype(np.float16)), "two dtypes"
    assert not add(x.astype(np.float64), x.astype(np.float64)), "float64"
    assert not add(x[:0], x[:0]), "empty"
    assert not add(x, x.T), "shapes that do not broadcast"
    assert not add(x), "too few operands"
    assert not gelu(x, "fast"), "an unknown form"
    many_axes = normal(*[2] * 14)[:, :1, :, :1, :, :1, :, :1, :, :1, :, :1, :, :1]
    assert not add(many_axes, many_axes[..., :1, :]), "more separate axes than the kernel has"
