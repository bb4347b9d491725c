"""The condition `loss_weight_vanishes`: a learned factor of a loss that nothing holds, and factors that are held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.debug import DebugSession

RNG = np.random.default_rng(0)
X = Tensor(RNG.normal(size=(16, 6)).astype(np.float32))
Y = Tensor(RNG.normal(size=(16, 2)).astype(np.float32))
LABELS = Tensor(np.arange(16, dtype=np.int32) % 3)

Losses = tuple[Any, Any]
Factor = Parameter


def parameter(name: str, *numbers: float) -> Parameter:
    return Parameter(Tensor(np.array(numbers, np.float32)), name)


def findings(
    total: Callable[[Losses, Factor], Any], factor: Parameter, steps: int = 45, rate: float = 0.1
) -> list[str]:
    ms.set_seed(0)
    net = nn.Dense(6, 5)
    optimizer = nn.Adam([*net.trainable_params(), factor], rate)

    def loss() -> Any:
        output = net(X)
        return total((ops.mse_loss(output[:, :2], Y), ops.cross_entropy(output[:, 2:], LABELS)), factor)

    step = ms.value_and_grad(loss, None, optimizer.parameters)
    with DebugSession(None, conditions=["loss_weight_vanishes"]) as session:
        for _ in range(steps):
            optimizer(step()[1])
    return [finding.message for finding in session.findings()]


WITHOUT_A_TERM: dict[str, Callable[[Losses, Factor], Any]] = {
    "stacked": lambda losses, s: (ops.exp(-s) * ops.stack(list(losses))).sum(),
    "written out": lambda losses, s: ops.exp(-s[0]) * losses[0] + ops.exp(-s[1]) * losses[1],
    "one of two": lambda losses, s: losses[1] + 0.5 * ops.exp(-2 * s[0]) * losses[0],
    "divided": lambda losses, s: losses[0] / ops.exp(s[0]) + losses[1],
    "squared": lambda losses, s: (s[0] - 1) ** 2 * losses[0] + losses[1],
    "sigmoid": lambda losses, s: ops.sigmoid(s[0]) * losses[0] + ops.sigmoid(s[1]) * losses[1],
}


@pytest.mark.parametrize("form", WITHOUT_A_TERM)
def test_a_factor_without_a_term_that_holds_it_is_reported(form: str) -> None:
    (message,) = findings(WITHOUT_A_TERM[form], parameter("scales", 0.0, 0.0))
    assert "scales: the factor that is learned falls from " in message and "no term of the loss holds it" in message


HELD: dict[str, Callable[[Losses, Factor], Any]] = {
    "log-variances": lambda losses, s: (ops.exp(-s) * ops.stack(list(losses))).sum() + s.sum(),
    "one by one": lambda losses, s: ops.exp(-s[0]) * losses[0] + s[0] + ops.exp(-s[1]) * losses[1] + s[1],
    "softmax": lambda losses, s: ops.softmax(s, 0)[0] * losses[0] + ops.softmax(s, 0)[1] * losses[1],
    "decay": lambda losses, s: ops.exp(-s[0]) * losses[0] + losses[1] + 0.01 * ops.square(s).sum(),
    "shares": lambda losses, s: ops.sigmoid(s[0]) * losses[0] + (1 - ops.sigmoid(s[0])) * losses[1],
    "fixed": lambda losses, s: ops.exp(-ops.stop_gradient(s[0])) * losses[0] + losses[1] + 0 * s.sum(),
    "multiplier": lambda losses, s: losses[1] - ops.exp(s[0]) * (0.1 - losses[0]),
}


@pytest.mark.parametrize("form", HELD)
def test_a_factor_that_another_term_holds_is_no_fault(form: str) -> None:
    assert not findings(HELD[form], parameter("scales", 0.0, 0.0))


def test_scales_inside_of_a_network_are_no_factors_of_a_loss() -> None:
    scale = parameter("scale", 3.0)
    assert not findings(lambda losses, s: ops.square(s * X - 0.1 * X).mean() + losses[0], scale)
    assert not findings(lambda losses, s: ops.cross_entropy(X[:, :3] * s, LABELS) + losses[0], scale)


def test_a_multiplier_that_ascends_is_no_fault() -> None:
    rises = lambda losses, s: losses[1] + ops.exp(-s[0]) * losses[0]  # noqa: E731

    class Ascent(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 1.0

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (-dout,)

    assert not findings(lambda losses, s: rises(losses, Ascent()(s)), parameter("scales", 0.0))


def test_a_multiplier_of_a_constraint_that_changes_its_sign_is_no_fault() -> None:
    ms.set_seed(0)
    net, multiplier = nn.Dense(6, 2), parameter("multiplier", 1.0)
    weights = [*net.trainable_params(), multiplier]
    down, up = nn.SGD(weights[:-1], 0.1), nn.SGD(weights[-1:], 0.05)

    def loss() -> Any:
        output = net(X)
        return ops.mse_loss(output, Y) + (ops.relu(multiplier) * (ops.square(output).mean() - 0.3)).sum()

    step = ms.value_and_grad(loss, None, weights)
    with DebugSession(None, conditions=["loss_weight_vanishes"]) as session:
        for _ in range(100):
            gradients = step()[1]
            down(gradients[:-1])
            up([-gradients[-1]])
    assert not session.findings()
