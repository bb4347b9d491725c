"""Conditions on data, losses and optimizers: each holds at its planted fault, and not in sound networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession

CLASSES = 4


class Net(nn.Cell):
    """A classifier of 8 features, whose last cell is an argument."""

    def __init__(self, last: nn.Cell | None = None, norm: nn.Cell | None = None) -> None:
        super().__init__()
        self.dense = nn.Dense(8, 16)
        self.norm = norm
        self.act = nn.ReLU()
        self.head = nn.Dense(16, CLASSES)
        self.last = last

    def construct(self, x: Tensor) -> Tensor:
        x = self.dense(x)
        x = self.act(x if self.norm is None else self.norm(x))
        x = self.head(x)
        return x if self.last is None else self.last(x)


class Centered(Net):
    def construct(self, x: Tensor) -> Tensor:
        return super().construct(x - x.mean(axis=0, keep_dims=True))


class CenteredLast(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x - x.mean(axis=0, keep_dims=True)


class SoftmaxOverBatch(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.softmax(x, axis=0)


Loss = Callable[[Tensor, Tensor], Tensor]


def features(count: int = 12, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(0).normal(size=(count, 8)) * scale).astype(np.float32)


def labels(count: int = 12) -> np.ndarray:
    return (np.arange(count) % CLASSES).astype(np.int32)


def log_likelihood(output: Tensor, label: Tensor) -> Tensor:
    return (ops.log_softmax(output, axis=1) * ops.one_hot(label, CLASSES)).sum(axis=1).mean()


def binary_by_hand(output: Tensor, label: Tensor) -> Tensor:
    return (label * ops.log(output) + (1 - label) * ops.log(1 - output)).mean()


def findings_of(
    net: nn.Cell,
    condition: str,
    x: np.ndarray | None = None,
    y: np.ndarray | None = None,
    loss: Loss = ops.cross_entropy,
    optimizer: nn.Optimizer | None = None,
    steps: int = 4,
) -> list[tuple[str, str]]:
    """Return path and subject of each finding of one condition in a few steps of training."""
    ms.set_seed(0)
    net.set_train()
    inputs = Tensor(features() if x is None else x), Tensor(labels() if y is None else y)
    optimizer = nn.SGD(net.trainable_params(), 0.01) if optimizer is None else optimizer
    step = value_and_grad(lambda x, y: loss(net(x), y), None, net.trainable_params())
    with DebugSession(net, conditions=[condition]) as session:
        for _ in range(steps):
            optimizer(step(*inputs)[1])
    return [(finding.path, finding.subject) for finding in session.findings()]


def squared(output: Tensor, label: Tensor) -> Tensor:
    return ((output - label) ** 2).mean()


FAULTS: list[tuple[str, dict[str, Any], tuple[str, str]]] = [
    ("inputs_not_normalized", {"x": features(scale=100.0)}, ("", "the inputs")),
    ("inputs_not_normalized", {"x": features() * np.float32([1] * 7 + [1e4])}, ("", "the inputs")),
    ("one_class", {"y": np.full(12, 2, np.int32)}, ("", "the labels")),
    (
        "one_class",
        {"y": np.zeros((12, CLASSES), np.float32), "loss": ops.binary_cross_entropy_with_logits},
        ("", "the targets"),
    ),
    (
        "targets_out_of_range",
        {"y": np.eye(CLASSES + 1, dtype=np.float32)[labels() + 1][:, :CLASSES]},
        ("", "cross_entropy"),
    ),
    ("labels_out_of_range", {"y": labels() % 3 + 1, "steps": 8}, ("", "the labels")),
    ("batch_of_one", {"net": lambda: Net(norm=nn.BatchNorm1d(16)), "x": features(1), "y": labels(1)}, ("norm", "norm")),
    ("samples_leak", {"net": Centered}, ("", "(root)")),
    ("samples_leak", {"net": lambda: Net(CenteredLast())}, ("last", "last")),
    ("softmax_twice", {"net": lambda: Net(nn.Softmax())}, ("last", "cross_entropy")),
    (
        "softmax_twice",
        {
            "net": lambda: Net(nn.Sigmoid()),
            "y": np.eye(CLASSES, dtype=np.float32)[labels()],
            "loss": ops.binary_cross_entropy_with_logits,
        },
        ("last", "binary_cross_entropy_with_logits"),
    ),
    (
        "targets_out_of_range",
        {
            "y": np.where(np.eye(CLASSES)[labels()], 1, -1).astype(np.float32),
            "loss": ops.binary_cross_entropy_with_logits,
        },
        ("", "binary_cross_entropy_with_logits"),
    ),
    ("loss_broadcasts", {"y": features()[:, None, :CLASSES], "loss": ops.mse_loss}, ("", "mse_loss")),
    ("loss_broadcasts", {"y": features()[:, None, :CLASSES], "loss": squared}, ("", "the loss")),
    ("softmax_over_batch", {"net": lambda: Net(SoftmaxOverBatch())}, ("last", "softmax")),
    ("first_loss", {"x": features(scale=1e3)}, ("head", "cross_entropy")),
    ("wrong_sign", {"loss": lambda output, label: -ops.cross_entropy(output, label)}, ("", "the loss")),
    ("wrong_sign", {"loss": log_likelihood}, ("", "the loss")),
    (
        "wrong_sign",
        {"net": lambda: Net(nn.Sigmoid()), "y": np.eye(CLASSES, dtype=np.float32)[labels()], "loss": binary_by_hand},
        ("", "the loss"),
    ),
]


@pytest.mark.parametrize(("condition", "options", "where"), FAULTS, ids=[row[0] for row in FAULTS])
def test_it_is_found_at_its_place_and_the_same_without_the_fault_is_not(
    condition: str, options: dict[str, Any], where: tuple[str, str]
) -> None:
    made = options.get("net", Net)
    assert findings_of(made(), condition, **{key: value for key, value in options.items() if key != "net"}) == [where]
    assert findings_of(Net(norm=nn.BatchNorm1d(16)), condition, steps=options.get("steps", 4)) == []
    regression = {"y": features()[:, :CLASSES], "steps": options.get("steps", 4)}
    for loss in (ops.mse_loss, squared):
        assert findings_of(Net(), condition, loss=loss, **regression) == []


def test_a_learning_rate_of_0_is_told_for_its_group_and_a_warm_up_may_begin_there() -> None:
    net = Net()
    groups = [{"params": net.dense.trainable_params(), "lr": 0.0}, {"params": net.head.trainable_params()}]
    assert findings_of(net, "learning_rate_zero", optimizer=nn.SGD(groups, 0.1)) == [("", "SGD")]
    for rate in (0.1, [0.0, 0.05, 0.1, 0.1, 0.1]):
        assert findings_of(net, "learning_rate_zero", optimizer=nn.SGD(net.trainable_params(), rate)) == []


class Halved(nn.LearningRateSchedule):
    """A user's schedule that counts its calls."""

    def __init__(self, first: float) -> None:
        super().__init__()
        self.next = first

    def construct(self, global_step: Tensor) -> Tensor:
        rate, self.next = self.next, self.next / 2
        return Tensor(np.float32(rate))


@pytest.mark.parametrize("grouped", [False, True])
def test_a_schedule_that_counts_its_calls_is_not_called_by_the_debugger(grouped: bool) -> None:
    def weights(watched: bool) -> list[np.ndarray]:
        ms.set_seed(0)
        net = Net()
        parameters: Any = net.trainable_params()
        if grouped:
            parameters = [{"params": parameters[:2], "lr": Halved(0.2)}, {"params": parameters[2:]}]
        optimizer = nn.SGD(parameters, Halved(0.1))
        step = value_and_grad(lambda x, y: ops.cross_entropy(net.set_train()(x), y), None, net.trainable_params())
        session = DebugSession(net, conditions=["all"])
        if watched:
            session.attach()
        for _ in range(3):
            optimizer(step(Tensor(features()), Tensor(labels()))[1])
        session.detach()
        return [parameter.asnumpy() for parameter in net.get_parameters()]

    for plain, seen in zip(weights(False), weights(True), strict=True):
        np.testing.assert_array_equal(plain, seen)


def test_a_schedule_of_the_users_that_gives_0_is_told() -> None:
    net = Net()
    assert findings_of(net, "learning_rate_zero", optimizer=nn.SGD(net.trainable_params(), Halved(0.0))) == [
        ("", "SGD")
    ]
    assert findings_of(net, "learning_rate_zero", optimizer=nn.SGD(net.trainable_params(), Halved(0.1))) == []


def test_an_optimizer_of_a_network_that_was_made_before_is_told() -> None:
    before, net = Net(), Net()
    assert findings_of(net, "optimizer_other_parameters", optimizer=nn.SGD(before.trainable_params(), 0.1)) == [
        ("", "SGD")
    ]
    assert findings_of(net, "optimizer_other_parameters", optimizer=nn.SGD(net.trainable_params(), 0.1)) == []


def test_an_optimizer_that_misses_a_layer_which_took_anothers_place_is_told() -> None:
    net = Net()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    net.head = nn.Dense(16, CLASSES)
    step = value_and_grad(lambda x, y: ops.cross_entropy(net.set_train()(x), y), None, optimizer.parameters)
    with DebugSession(net, conditions=["optimizer_other_parameters"]) as session:
        optimizer(step(Tensor(features()), Tensor(labels()))[1])
    (finding,) = session.findings()
    assert "head.weight, head.bias of a network that was made before" in finding.message


def test_an_optimizer_of_a_head_alone_and_one_of_something_outside_are_no_fault() -> None:
    net, scale = Net(), Parameter(ms.Tensor(1.0), "scale")
    both = nn.SGD(net.head.trainable_params(), 0.1), nn.SGD([*net.dense.trainable_params(), scale], 0.1)
    with DebugSession(net, conditions=["optimizer_other_parameters"]) as session:
        for optimizer in both:
            weights = optimizer.parameters
            step = value_and_grad(lambda x, y: ops.cross_entropy(net.set_train()(x) * scale, y), None, weights)
            optimizer(step(Tensor(features()), Tensor(labels()))[1])
    assert not session.findings()


@pytest.mark.parametrize(
    ("condition", "rate", "steps"), [("learning_rate_too_large", 300.0, 4), ("learning_rate_too_small", 1e-6, 12)]
)
def test_a_step_that_is_far_too_long_or_too_short_is_told(condition: str, rate: float, steps: int) -> None:
    net = Net()
    optimizer = nn.SGD(net.trainable_params(), rate)
    assert findings_of(net, condition, optimizer=optimizer, steps=steps) == [("", "the optimizer")]
    net = Net()
    assert findings_of(net, condition, optimizer=nn.SGD(net.trainable_params(), 0.1), steps=steps) == []


@pytest.mark.parametrize(("optimizer", "rate", "steps"), [(nn.SGD, 0.3, 100), (nn.Adam, 0.1, 2000)])
def test_weights_that_have_arrived_are_no_fault_of_the_learning_rate(optimizer: Any, rate: float, steps: int) -> None:
    ms.set_seed(0)
    net = nn.Dense(8, 2)
    x = features(64)
    target = x @ np.random.default_rng(1).normal(size=(8, 2)).astype(np.float32)
    trained = optimizer(net.trainable_params(), rate)
    step = value_and_grad(lambda x, y: squared(net(x), y), None, trained.parameters)
    with DebugSession(net, conditions=["all"]) as session:
        for _ in range(steps):
            loss, gradients = step(Tensor(x), Tensor(target))
            trained(gradients)
    assert float(loss) < 1e-12
    assert not session.findings()


@pytest.mark.parametrize(
    ("rates", "scales", "expected"),
    [
        ([1e-2] * 16, [1.0] + [1e-3] * 15, []),  # the gradients have vanished, as those of idle units
        ([1e-2] + [1e-5] * 15, [1.0] * 16, ["learning_rate_too_small"]),
        ([1e-5] * 16, [1.0] * 16, ["learning_rate_too_small"]),
    ],
)
def test_a_short_step_is_the_rates_fault_where_the_gradient_is_what_it_was(
    rates: list[float], scales: list[float], expected: list[str]
) -> None:
    net = Net()
    optimizer = nn.SGD(net.trainable_params(), rates)
    step = value_and_grad(lambda x, y, scale: ops.cross_entropy(net(x), y) * scale, None, net.trainable_params())
    with DebugSession(net, conditions=["learning_rate_too_small"]) as session:
        for scale in scales:
            optimizer(step(Tensor(features()), Tensor(labels()), Tensor(scale))[1])
    assert [finding.condition for finding in session.findings()] == expected


def test_looking_changes_no_bit() -> None:
    def weights(watched: bool) -> list[np.ndarray]:
        ms.set_seed(0)
        net = Net(norm=nn.BatchNorm1d(16), last=nn.Dropout(p=0.5))
        conditions = ["samples_leak", "first_loss", "wrong_sign", "learning_rate_zero", "inputs_not_normalized"]
        optimizer = nn.Adam(net.trainable_params(), 0.01)
        step = value_and_grad(lambda x, y: ops.cross_entropy(net.set_train()(x), y), None, net.trainable_params())
        session = DebugSession(net, conditions=conditions)
        if watched:
            session.attach()
        for _ in range(3):
            optimizer(step(Tensor(features()), Tensor(labels()))[1])
        session.detach()
        return [parameter.asnumpy() for parameter in (*net.get_parameters(), Parameter(ops.rand(3)))]

    for plain, seen in zip(weights(False), weights(True), strict=True):
        np.testing.assert_array_equal(plain, seen)
