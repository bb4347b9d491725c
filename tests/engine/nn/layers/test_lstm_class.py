"""Tests of the Primitive class ``LSTM``, whose weights are one tensor.

Its results are compared with those recorded from MindSpore 2.10 and with its formula, and its gradients with central
differences.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from function_cases import agrees

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

Array = np.ndarray[Any, Any]
# Bias, both directions, projection, weights; the end of the output and of the cell state, and a sum of each gradient.
RECORDED: dict[str, tuple[bool, bool, int, int, list[float], list[float], list[float]]] = {
    "plain": (
        False,
        False,
        0,
        60,
        [-0.0192131, 0.0184652, 0.0404184, -0.0280177, -0.0352143, 0.0077071],
        [-0.0551104, -0.0831777, 0.0159143],
        [-0.032662, -0.277007, -0.141083, 1.163322],
    ),
    "bias": (
        True,
        False,
        0,
        72,
        [0.0536332, 0.0241326, -0.0234574, 0.0497095, -0.0201978, -0.0534504],
        [0.1143948, -0.0568619, -0.1196733],
        [-0.043817, -0.217937, -0.149267, -0.561184],
    ),
    "both": (
        False,
        True,
        0,
        120,
        [-0.03807, -0.0312306, 0.0053515, -0.2109282, -0.2036484, -0.266597],
        [-0.1950016, -0.1729462, -0.1295843],
        [-0.381923, -0.016799, -0.142384, -2.364886],
    ),
    "both bias": (
        True,
        True,
        0,
        144,
        [-0.0056293, 0.0499712, 0.1013851, -0.1471278, -0.1720342, -0.3233227],
        [-0.0139848, -0.188013, -0.3367524],
        [-0.454135, -0.01753, -0.151766, 2.359021],
    ),
    "projected": (
        False,
        False,
        2,
        54,
        [0.0152358, 0.0424172, -0.0074249, -0.0090811, -0.0097202, 0.0144231],
        [-0.0584599, -0.0588729, 0.0108573],
        [0.031696, -0.013518, 0.033679, -0.099507],
    ),
    "projected bias": (
        True,
        False,
        2,
        66,
        [-0.011363, 0.1299462, -0.0322201, 0.0646875, -0.0379142, 0.0934443],
        [-0.2965107, -0.30998, -0.119766],
        [-0.019272, -0.007584, 0.034738, -0.679445],
    ),
}


def inputs(both: bool, project: int, count: int, dtype: Any = np.float32) -> list[Array]:
    ways, passed = 1 + both, project or 3
    return [
        np.cos(np.arange(12)).reshape(3, 2, 2).astype(dtype),
        (np.arange(ways * 2 * passed).reshape(ways, 2, passed) * 0.1).astype(dtype),
        (np.arange(ways * 6).reshape(ways, 2, 3) * -0.1).astype(dtype),
        (np.sin(np.arange(count) * 0.7) * 0.3).reshape(count, 1, 1).astype(dtype),
    ]


@pytest.mark.parametrize("name", RECORDED)
def test_the_class_lstm_has_mindspores_numbers_and_gradients(name: str) -> None:
    bias, both, project, count, output, cell, sums = RECORDED[name]
    arguments = [Tensor(item) for item in inputs(both, project, count)]
    layer = ops.LSTM(2, 3, 1, bias, both, 0.0, project)
    result = layer(*arguments)
    ways, passed = 1 + both, project or 3
    assert [item.shape for item in result] == [(3, 2, ways * passed), (ways, 2, passed), (ways, 2, 3), (1, 1), (1, 1)]
    np.testing.assert_allclose(result[0].asnumpy().reshape(-1)[-6:], output, atol=2e-7)
    np.testing.assert_allclose(result[2].asnumpy().reshape(-1)[-3:], cell, atol=2e-7)
    last = np.stack([result[0].asnumpy()[-1 + way * -2, :, way * passed : (way + 1) * passed] for way in range(ways)])
    np.testing.assert_array_equal(result[1].asnumpy(), last)
    slopes = ms.grad(lambda *x: layer(*x)[0], (0, 1, 2, 3))(*arguments)
    results = [float((slope.asnumpy().reshape(-1) * np.cos(np.arange(slope.size))).sum()) for slope in slopes]
    np.testing.assert_allclose(results, sums, atol=5e-6)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("project", [0, 2])
def test_the_class_lstm_follows_its_formula_step_by_step(project: int) -> None:
    passed = project or 3
    count = 12 * (2 + passed) + 3 * project + 12
    x, h, c, w = inputs(False, project, count, np.float64)
    flat = w.reshape(-1)
    w_ih, rest = flat[:24].reshape(12, 2), flat[24:]
    w_hh, rest = rest[: 12 * passed].reshape(12, passed), rest[12 * passed :]
    turned, bias = (rest[: 3 * project].reshape(project, 3), rest[3 * project :]) if project else (np.eye(3), rest)
    state, cell, expected = h[0], c[0], []
    for step in x:
        i, f, g, o = np.split(step @ w_ih.T + state @ w_hh.T + bias, 4, axis=1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        state = sigmoid(o) * np.tanh(cell) @ turned.T
        expected.append(state)
    result = ops.LSTM(2, 3, 1, True, False, 0.0, project)(*map(Tensor, (x, h, c, w)))
    np.testing.assert_allclose(result[0].asnumpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(result[2].asnumpy()[0], cell, rtol=1e-12)


def test_two_biases_are_added() -> None:
    for both, count in ((False, 72), (True, 144)):
        x, h, c, w = (Tensor(item) for item in inputs(both, 0, count))
        layer = ops.LSTM(2, 3, 1, True, both, 0.0)
        second = np.linspace(-1, 1, 12 * (1 + both)).astype(np.float32).reshape(-1, 1, 1)
        summed = w.asnumpy().copy()
        summed[-len(second) :] += second
        two = layer(x, h, c, ops.concat([w, Tensor(second)]))
        np.testing.assert_allclose(two[0].asnumpy(), layer(x, h, c, Tensor(summed))[0].asnumpy(), rtol=1e-5, atol=1e-7)


def test_the_gradient_of_the_class_lstm_is_that_of_central_differences() -> None:
    layer = ops.LSTM(2, 3, 1, True, True, 0.0, 2)
    agrees(lambda *x: ops.concat([item.reshape(-1) for item in layer(*x)[:3]]), *inputs(True, 2, 132))


def called(*settings: Any, at: int = -1, value: Any = None, **keywords: Any) -> Any:
    arguments = [Tensor(item) for item in inputs(False, 0, 60)]
    if at >= 0:
        arguments[at] = value
    return ops.LSTM(*settings, **keywords)(*arguments)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: called(5, 3, 1, False, False, 0.0),
            ValueError,
            "For 'LSTM', 'input' must have the shape (T, N, 5), but got (3, 2, 2)",
        ),
        (
            lambda: called(2, 3, 2, False, False, 0.0),
            ValueError,
            "For 'LSTM', 'num_layers' must be 1, but got 2; nn.LSTM has several layers",
        ),
        (lambda: called(2, -3, 1, False, False, 0.0), ValueError, "'hidden_size' must be above 0, but got -3"),
        (lambda: called(2, 3, 1, 1, False, 0.0), TypeError, "'has_bias' must be a bool, but got int"),
        (lambda: called(2, 3, 1, False, False, 2.0), ValueError, "'dropout' must be in [0.0, 1.0], but got 2.0"),
        (lambda: called(2, 3, 1, False, False, 0.0, 3), ValueError, "'proj_size' must be in [0, 3), but got 3"),
        (lambda: called(2, 3, 1, False, True, 0.0), ValueError, "'h' must have the shape (2, 2, 3), but got (1, 2, 3)"),
        (lambda: called(2, 3, 1, True, False, 0.0), ValueError, "'w' must have 72 elements, but got 60"),
        (lambda: called(2, 3, 1, False, False, 0.0, at=3, value=Tensor([1.0])), ValueError, "must have 60 elements"),
        (
            lambda: called(2, 3, 1, False, False, 0.0, at=2, value=[1.0]),
            TypeError,
            "'c' must be a Tensor, but got list",
        ),
    ],
)
def test_what_does_not_fit_the_class_lstm_is_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
