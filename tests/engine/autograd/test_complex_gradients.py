"""Gradients for complex inputs z = x + iy are dL/dx + i dL/dy, as MindSpore's are: beside central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope import engine as ms
from hookscope.engine import nn, ops
from hookscope.engine.debug import DebugSession

Z = np.array([[1.0 + 2.0j, 0.3 - 1.0j], [-0.7 + 0.4j, 0.6 + 0.5j]])
W = np.array([[0.5 - 1.0j, 2.0 + 0.3j], [1.5 + 0.2j, -0.4 - 0.9j]])
SENS = np.array([[1.0 - 0.5j, 0.2 + 1.0j], [-0.3 + 0.1j, 0.8 - 0.6j]])

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "mul by itself": lambda a, b: a * a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: ops.pow(a, 3) * b,
    "matmul": ops.matmul,
    "exp": lambda a, b: ops.exp(a) * b,
    "log": lambda a, b: ops.log(a) * b,
    "sqrt": lambda a, b: ops.sqrt(a) * b,
    "sin": lambda a, b: ops.sin(a) * b,
    "cosh": lambda a, b: ops.cosh(a) * b,
    "tanh": lambda a, b: ops.tanh(a) * b,
    "sigmoid": lambda a, b: ops.sigmoid(a) * b,
    "silu": lambda a, b: ops.silu(a) * b,
    "reciprocal": lambda a, b: ops.reciprocal(a) * b,
    "atan": lambda a, b: ops.atan(a) * b,
    "prod": lambda a, b: ops.prod(a, 0, True) * b,
    "cumsum": lambda a, b: ops.cumsum(a, 0) * b,
    "mean": lambda a, b: a.mean(axis=1, keep_dims=True) * b,
    "transpose and index": lambda a, b: a.T[0] * b[1],
    "where": lambda a, b: ops.where(ops.real(a) > 0, a * b, b),
    "conj": lambda a, b: ops.conj(a) * b,
    "abs": lambda a, b: ops.abs(a) * b,
    "sign": lambda a, b: ops.sign(a) * b,
    "a cast": lambda a, b: a.astype(ms.float64) * b,
    "real and imag": lambda a, b: ops.real(a) * b + ops.imag(b) * a,
    "complex": lambda a, b: ops.complex(ops.real(a) * ops.imag(b), ops.imag(a)) * b,
    "fft": lambda a, b: ops.fft(a) * b,
    "ifft": lambda a, b: ops.ifft(a * b),
    "inverse": lambda a, b: ops.inverse(a) @ b,
    "a real number between": lambda a, b: ops.exp(ops.real(a * b)) * b,
}


def sens_for(shape: tuple[int, ...]) -> np.ndarray:
    return SENS.reshape(-1)[: int(np.prod(shape))].reshape(shape)


def sum_beside_sens(output: np.ndarray) -> float:
    """Return the real function whose gradient `sens` stands for."""
    return float((sens_for(output.shape).conj() * output).real.sum())


def central_differences(function: Callable[[Any, Any], Any], position: int, step: float = 1e-6) -> np.ndarray:
    inputs = [Z.copy(), W.copy()]
    result = np.zeros_like(Z)

    def moved(index: tuple[int, ...], by: complex) -> float:
        changed = [array.copy() for array in inputs]
        changed[position][index] += by
        return sum_beside_sens(function(*map(ms.Tensor, changed)).asnumpy())

    for index in np.ndindex(Z.shape):
        for unit in (1, 1j):
            result[index] += unit * (moved(index, step * unit) - moved(index, -step * unit)) / (2 * step)
    return result


def gradients(function: Callable[[Any, Any], Any]) -> tuple[np.ndarray, ...]:
    inputs = [ms.Tensor(Z), ms.Tensor(W)]
    output, pull_back = ms.vjp(function, *inputs)
    return tuple(gradient.asnumpy() for gradient in pull_back(ms.Tensor(sens_for(output.shape))))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_are_what_central_differences_say(name: str) -> None:
    for index, result in enumerate(gradients(FUNCTIONS[name])):
        np.testing.assert_allclose(result, central_differences(FUNCTIONS[name], index), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("function", [ops.sign, ops.sgn])
def test_a_sign_has_the_gradient_across_it_by_the_length_and_none_at_0(function: Callable[[Any], Any]) -> None:
    z, sens = np.array([0.6 + 0.8j, -1j, 1, 0, 2 - 1.5j]), np.array([1 - 0.5j, 2 + 1j, -0.3 + 0.1j, 1 + 1j, 0.8 - 0.6j])
    _, pull_back = ms.vjp(function, ms.Tensor(z))
    length = np.where(z == 0, 1, abs(z))
    sign = z / length
    want = np.where(z == 0, 0, (sens - sign * (sign.conj() * sens).real) / length)
    np.testing.assert_allclose(pull_back(ms.Tensor(sens))[0].asnumpy(), want, rtol=1e-12, atol=1e-12)


# Recorded from MindSpore 2.10.0: ms.grad of each function at these complex64 numbers.
RECORDED = {
    "exp": [-1.1311999 - 2.4717j, 10.8523 + 16.9014j],
    "log": [0.2 + 0.4j, 0.3 - 0.1j],
    "sin": [2.0327 + 3.0519j, -1.5276 - 0.1658j],
    "cosh": [-0.4891 - 1.4031j, 5.4127 + 8.4716j],
    "tanh": [-0.3020 - 0.5681j, -0.0041 - 0.0091j],
    "sigmoid": [0.1409 + 0.4207j, 0.0286 - 0.0375j],
    "sqrt": [0.2844 + 0.1758j, 0.2775 - 0.0450j],
    "reciprocal": [0.12 - 0.16j, -0.08 + 0.06j],
    "rsqrt": [0.0134 - 0.1489j, -0.0788 + 0.0413j],
    "asin": [0.3884 - 0.1609j, 0.1143 + 0.3089j],
    "atan": [-0.1 + 0.2j, 0.0769 - 0.0513j],
    "asinh": [0.2486 + 0.4022j, 0.2910 - 0.0881j],
    "expm1": [-1.1312 - 2.4717j, 10.8523 + 16.9014j],
    "log1p": [0.25 + 0.25j, 0.2353 - 0.0588j],
}


@pytest.mark.parametrize("name", RECORDED)
def test_they_are_mindspores(name: str) -> None:
    at = ms.Tensor(np.array([1 + 2j, 3 - 1j], np.complex64))
    gradient = ms.grad(getattr(ops, name))(at)
    assert gradient.dtype == ms.complex64
    np.testing.assert_allclose(gradient.asnumpy(), RECORDED[name], atol=1e-4)


def test_a_real_input_beside_a_complex_one_gets_a_real_gradient() -> None:
    x, z = ms.Tensor([2.0, -1.0]), ms.Tensor(np.array([1 + 2j, 3 - 1j], np.complex64))
    gradient = ms.grad(lambda x: ops.abs(ops.exp(x * z)).sum())(x)
    # |exp(xz)| = exp(x Re z)
    np.testing.assert_allclose(gradient.asnumpy(), np.exp([2.0, -3.0]) * [1.0, 3.0], rtol=1e-5)
    assert gradient.dtype == ms.float32


def test_second_derivatives_of_a_real_function_of_complex_numbers() -> None:
    def length(z: Any) -> Any:
        return ops.abs(z * z).sum()  # |z|^2, whose gradient is 2z, and that of its real part is 2

    second = ms.grad(lambda z: ops.real(ms.grad(length)(z)).sum())(ms.Tensor(Z))
    np.testing.assert_allclose(second.asnumpy(), np.full_like(Z, 2.0), atol=1e-9)


class Rotate(nn.Cell):
    def construct(self, z: Any) -> Any:
        return ops.exp(z * 1j) * z


def test_watching_changes_none_of_them() -> None:
    net, z = Rotate(), ms.Tensor(Z)
    step = ms.grad(lambda z: ops.abs(net(z)).sum())
    plain = step(z).asnumpy()
    with DebugSession(net, conditions=["all"]):
        watched = step(z).asnumpy()
    assert plain.tobytes() == watched.tobytes()


@pytest.mark.parametrize(("name", "reference"), [("sigmoid", lambda z: 1 / (1 + np.exp(-z))), ("tanh", np.tanh)])
def test_activations_that_mean_something_for_complex_numbers(name: str, reference: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(getattr(ops, name)(ms.Tensor(Z)).asnumpy(), reference(Z), rtol=1e-12)


@pytest.mark.parametrize("name", ["relu", "gelu", "softmax", "log_softmax", "erf"])
def test_what_needs_an_order_refuses_complex_numbers(name: str) -> None:
    with pytest.raises(TypeError, match="For '.*', .*complex128.* real"):
        getattr(ops, name)(ms.Tensor(Z))
