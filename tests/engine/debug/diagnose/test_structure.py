"""Cells outside a network, copies of its weights, statistics that only grow; silence on what resembles them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.conditions import CONDITIONS
from hookscope.engine.debug.diagnose.conditions.structure import (
    CopyObservation,
    StatisticObservation,
    UnregisteredObservation,
)

FEATURES = 6


def batch(step: int, count: int = 16) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(step)
    x = rng.normal(size=(count, FEATURES)).astype(np.float32)
    return Tensor(x), Tensor(x[:, :1] - x[:, 1:2])


def train(
    net: nn.Cell, condition: str, steps: int = 8, weights: list[Parameter] | None = None, loss: Any = None
) -> DebugSession:
    """Train a network with SGD; return the session that tested one condition."""
    weights = net.trainable_params() if weights is None else weights
    optimizer = nn.SGD(weights, 0.01)
    step = value_and_grad(loss or (lambda x, y: ((net(x) - y) ** 2).mean()), None, weights)
    session = DebugSession(net, conditions=[condition])
    with session:
        for number in range(steps):
            optimizer(step(*batch(number))[1])
    return session


def parameters_in(layers: list[nn.Cell]) -> list[Parameter]:
    parameters = [parameter for layer in layers for parameter in layer.trainable_params()]
    for index, parameter in enumerate(parameters):
        parameter.name = f"part{index}"
    return parameters


def paths_of(session: DebugSession) -> list[str]:
    return [finding.path for finding in session.findings()]


# Cells outside the network


class Layers(nn.Cell):
    """Two layers, of which ``hold`` makes an attribute, and a head."""

    def __init__(self, hold: Callable[[nn.Cell, list[nn.Cell]], Callable[[], list[nn.Cell]]]) -> None:
        super().__init__()
        ms.set_seed(0)
        self.head = nn.Dense(FEATURES, 1)
        self.layers_of = [hold(self, [nn.Dense(FEATURES, FEATURES), nn.Dense(FEATURES, FEATURES)])]

    def construct(self, x: Tensor) -> Tensor:
        for layer in self.layers_of[0]():
            x = ops.tanh(layer(x))
        return self.head(x)


def in_list(net: Any, layers: list[nn.Cell]) -> Any:
    net.parts = layers
    return lambda: net.parts


def in_tuple(net: Any, layers: list[nn.Cell]) -> Any:
    net.parts = tuple(layers)
    return lambda: net.parts


def in_dict(net: Any, layers: list[nn.Cell]) -> Any:
    net.parts = {"first": layers[0], "second": layers[1]}
    return lambda: net.parts.values()


def in_dict_of_lists(net: Any, layers: list[nn.Cell]) -> Any:
    net.parts = {"first": [layers[0]], "second": [layers[1]]}
    return lambda: [part[0] for part in net.parts.values()]


def in_object(net: Any, layers: list[nn.Cell]) -> Any:
    net.parts = SimpleNamespace(layers=layers)
    return lambda: net.parts.layers


def after_the_first(net: Any, layers: list[nn.Cell]) -> Any:
    net.first = layers[0]
    net.parts = [layers[1], nn.Tanh()]
    return lambda: [net.first, *net.parts]


@pytest.mark.parametrize(
    ("hold", "held"),
    [
        (in_list, "2 cells with 4 trainable parameters, held in the list `parts` of Layers, are not among its cells"),
        (in_tuple, "held in the tuple `parts` of Layers"),
        (in_dict, "held in the dict `parts` of Layers"),
        (in_dict_of_lists, "held in the dict `parts` of Layers"),
        (in_object, "held in the list `parts.layers` of Layers"),
        (after_the_first, "a cell with 2 trainable parameters, held in the list `parts` of Layers, is not among"),
    ],
)
def test_cells_in_a_plain_container_are_found(hold: Any, held: str) -> None:
    (finding,) = train(Layers(hold), "unregistered_cell").findings()
    assert finding.path == "" and held in finding.message
    assert "no gradient call asks for them and no optimizer holds them" in finding.message


def test_the_advice_is_about_the_container() -> None:
    (of_list,) = train(Layers(in_list), "unregistered_cell").findings()
    (of_dict,) = train(Layers(in_dict), "unregistered_cell").findings()
    assert "nn.CellList" in of_list.advice and "nn.CellDict" in of_dict.advice
    row = CONDITIONS["unregistered_cell"]
    detail = row.formula(UnregisteredObservation("Net", "parts.a", "Parts", 1, 2), row.threshold)
    assert "Parts" in getattr(detail, "advice", "")


def registered(net: Any, layers: list[nn.Cell]) -> Any:
    net.parts = nn.CellList(layers)
    return lambda: net.parts


def in_a_list_and_inserted(net: Any, layers: list[nn.Cell]) -> Any:
    net.parts = layers
    for index, layer in enumerate(layers):
        net.insert_child_to_cell(f"part{index}", layer)
    net.update_parameters_name("net.")
    return lambda: net.parts


def frozen(net: Any, layers: list[nn.Cell]) -> Any:
    for layer in layers:
        for parameter in layer.get_parameters():
            parameter.requires_grad = False
    return in_list(net, layers)


def loaded(net: Any, layers: list[nn.Cell]) -> Any:
    for layer in layers:
        for parameter in layer.get_parameters():
            parameter.set_data(Tensor(np.random.default_rng(1).normal(size=parameter.shape).astype(np.float32)))
    return in_list(net, layers)


def copied(net: Any, layers: list[nn.Cell]) -> Any:
    return in_list(net, [copy.deepcopy(layer) for layer in layers])


def hidden_alone(net: Any, layers: list[nn.Cell]) -> Any:
    net.teacher = [layers[0]]
    return lambda: net.teacher


class Stopped(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.stop_gradient(x)


def behind_stop_gradient(net: Any, layers: list[nn.Cell]) -> Any:
    net.parts = layers
    return lambda: [*net.parts, Stopped()]


@pytest.mark.parametrize(
    "hold", [registered, in_a_list_and_inserted, frozen, loaded, copied, hidden_alone, behind_stop_gradient]
)
def test_cells_that_are_held_on_purpose_are_not_reported(hold: Any) -> None:
    assert not train(Layers(hold), "unregistered_cell").findings()


def test_cells_whose_parameters_are_asked_for_are_not_reported() -> None:
    net = Layers(in_list)
    weights = [*net.trainable_params(), *parameters_in(net.parts)]
    assert not train(net, "unregistered_cell", weights=weights).findings()


def test_members_that_have_their_turn_later_are_not_reported() -> None:
    net = Layers(in_list)
    own, others = net.trainable_params(), parameters_in(net.parts)
    first, second = nn.SGD(own, 0.01), nn.SGD(others, 0.01)

    def loss(x: Tensor, y: Tensor) -> Tensor:
        return ((net(x) - y) ** 2).mean()

    with DebugSession(net, conditions=["unregistered_cell"]) as session:
        for number in range(12):
            optimizer = second if number % 4 == 3 else first
            optimizer(value_and_grad(loss, None, optimizer.parameters)(*batch(number))[1])
    assert not session.findings()


def test_a_random_target_network_is_not_reported() -> None:
    class Novelty(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.networks: Any = {"target": nn.Dense(FEATURES, 4), "other": nn.Dense(FEATURES, 4)}
            self.predictor = nn.Dense(FEATURES, 4)

        def construct(self, x: Tensor) -> Tensor:
            return ((self.predictor(x) - self.networks["target"](x)) ** 2).mean()

    net = Novelty()
    assert not train(net, "unregistered_cell", loss=lambda x, y: net(x)).findings()


def test_nothing_is_reported_outside_of_training() -> None:
    net = Layers(in_list)
    with DebugSession(net, conditions=["unregistered_cell"]) as session:
        for number in range(8):
            net(batch(number)[0])
    assert not session.findings()


# Copies of weights


class Tied(nn.Cell):
    """An autoencoder whose decoder has the weight that ``decode`` returns."""

    def __init__(self, prepare: Callable[[Any], None], weight_of: Callable[[Any], Tensor]) -> None:
        super().__init__()
        ms.set_seed(0)
        self.encoder = nn.Dense(FEATURES, 4, weight_init="normal")
        self.weight_of = weight_of
        prepare(self)

    def construct(self, x: Tensor) -> Tensor:
        return ops.matmul(self.encoder(x), self.weight_of(self))


def keep(name: str, value_of: Callable[[Any], Any]) -> Callable[[Any], None]:
    return lambda net: setattr(net, name, value_of(net))


def nothing(net: Any) -> None:
    pass


def autoencoder_loss(net: nn.Cell) -> Any:
    return lambda x, y: ((net(x) - x) ** 2).mean()


COPIES: dict[str, tuple[Any, Any]] = {
    "at_construction": (keep("decoder", lambda net: Tensor(net.encoder.weight.asnumpy())), lambda net: net.decoder),
    "transposed_twice": (
        keep("decoder", lambda net: Tensor(net.encoder.weight.asnumpy().T.copy())),
        lambda net: net.decoder.T,
    ),
    "reshaped": (
        keep("decoder", lambda net: Tensor(net.encoder.weight.asnumpy().reshape(-1))),
        lambda net: net.decoder.reshape(4, FEATURES),
    ),
    "in_each_run": (nothing, lambda net: Tensor(net.encoder.weight.asnumpy())),
    "by_tensor": (nothing, lambda net: Tensor(net.encoder.weight)),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_of_a_weight_is_found(name: str) -> None:
    net = Tied(*COPIES[name])
    (finding,) = train(net, "copied_weight", loss=autoencoder_loss(net)).findings()
    assert finding.path == "" and "a copy of the values of encoder.weight" in finding.message
    assert ("`decoder`" in finding.message) == (name not in ("in_each_run", "by_tensor"))


def test_a_copied_kernel_is_found() -> None:
    class Convolutions(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(3, 3, 3)

        def construct(self, x: Tensor) -> Tensor:
            return ops.conv2d(self.first(x), Tensor(self.first.weight.asnumpy()), pad_mode="same")

    net = Convolutions()
    images = Tensor(np.random.default_rng(0).normal(size=(2, 3, 5, 5)).astype(np.float32))
    session = train(net, "copied_weight", loss=lambda x, y: (net(images) ** 2).mean())
    assert [finding.subject for finding in session.findings()] == ["conv2d in (root)"]


def test_the_steps_of_a_copy_that_is_made_once_follow_each_other() -> None:
    net = Tied(*COPIES["at_construction"])
    session = train(net, "copied_weight", steps=3, loss=autoencoder_loss(net))
    (finding,) = session.findings()
    assert finding.first_step == 3  # and not in the first one alone


MEANT: dict[str, tuple[Any, Any]] = {
    "tracked": (nothing, lambda net: net.encoder.weight),
    "stop_gradient": (nothing, lambda net: ops.stop_gradient(net.encoder.weight)),
    "stop_gradient_reshaped": (nothing, lambda net: ops.stop_gradient(net.encoder.weight).T.T.reshape(4, FEATURES)),
    "frozen_parameter": (
        keep("average", lambda net: Parameter(net.encoder.weight.asnumpy().copy(), requires_grad=False)),
        lambda net: net.average,
    ),
    "frozen_parameter_transposed": (
        keep("average", lambda net: Parameter(net.encoder.weight.asnumpy().T.copy(), requires_grad=False)),
        lambda net: net.average.T,
    ),
    "random_features": (
        keep("features", lambda net: Tensor(np.random.default_rng(3).normal(size=(4, FEATURES)).astype(np.float32))),
        lambda net: net.features,
    ),
    "rounded": (nothing, lambda net: Tensor(np.round(net.encoder.weight.asnumpy() * 64) / 64)),
}


@pytest.mark.parametrize("name", MEANT)
def test_a_weight_of_another_kind_is_not_reported(name: str) -> None:
    net = Tied(*MEANT[name])
    assert not train(net, "copied_weight", loss=autoencoder_loss(net)).findings()


def test_a_mask_that_equals_the_initial_weight_is_not_reported() -> None:
    net = Tied(keep("mask", lambda net: Tensor(np.eye(4, FEATURES, dtype=np.float32))), lambda net: net.mask)
    net.encoder.weight.set_data(net.mask)
    assert not train(net, "copied_weight", loss=autoencoder_loss(net)).findings()


def test_the_copies_of_a_target_network_are_not_reported() -> None:
    class Values(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Dense(FEATURES, 8), nn.Dense(8, 1)

        def construct(self, x: Tensor) -> Tensor:
            return self.second(ops.relu(self.first(x)))

    net = Values()
    target = [Tensor(parameter.asnumpy()) for parameter in net.get_parameters()]

    def loss(x: Tensor, y: Tensor) -> Tensor:
        hidden = ops.relu(ops.dense(x, target[0], target[1]))
        return ((net(x) - y - 0.9 * ops.dense(hidden, target[2], target[3])) ** 2).mean()

    assert not train(net, "copied_weight", loss=loss).findings()


def test_a_copied_critic_in_the_loss_of_an_actor_is_not_reported() -> None:
    class Agent(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.actor, self.critic = nn.Dense(FEATURES, 4), nn.Dense(4, 4)

        def construct(self, x: Tensor) -> Tensor:
            return ops.matmul(self.actor(x), Tensor(self.critic.weight.asnumpy()))

    net = Agent()
    session = train(net, "copied_weight", weights=net.actor.trainable_params(), loss=lambda x, y: (net(x) ** 2).mean())
    assert not session.findings()


def test_a_head_that_is_averaged_is_not_reported() -> None:
    class Taught(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = nn.Dense(FEATURES, 8), nn.Dense(8, 4)
            self.average = Tensor(self.head.weight.asnumpy())

        def construct(self, x: Tensor) -> Tensor:
            hidden = self.body(x)
            result = self.head(hidden) - ops.dense(hidden, self.average)
            self.average = Tensor(0.9 * self.average.asnumpy() + 0.1 * np.float32(self.head.weight.asnumpy() * 1.01))
            return result

    net = Taught()
    assert not train(net, "copied_weight", loss=lambda x, y: (net(x) ** 2).mean()).findings()


def test_a_distance_from_the_initial_weights_is_not_reported() -> None:
    net = nn.Dense(FEATURES, 4)
    initial = Tensor(net.weight.asnumpy())
    loss = lambda x, y: (net(x) ** 2).mean() + ((net.weight - initial) ** 2).sum()  # noqa: E731
    assert not train(net, "copied_weight", loss=loss).findings()


def test_a_copy_is_named_with_its_attribute() -> None:
    row = CONDITIONS["copied_weight"]
    text = str(row.formula(CopyObservation("linear", "encoder.weight", "decoder"), row.threshold))
    assert text == (
        "its weight is `decoder`, a copy of the values of encoder.weight, which stays as it was while the parameter is "
        "trained"
    )


# Statistics that grow


class Normalized(nn.Cell):
    """A network that normalizes by a statistic: ``update`` computes it, ``apply`` uses it."""

    def __init__(self, update: Any, apply: Any, start: Any = None, as_attribute: bool = False) -> None:
        super().__init__()
        ms.set_seed(0)
        values = Tensor(np.zeros(FEATURES, np.float32) if start is None else start)
        self.statistic = values if as_attribute else Parameter(values, requires_grad=False)
        self.rows = 0
        self.seen = Parameter(np.zeros(1, np.float32), requires_grad=False)
        self.as_attribute = as_attribute
        self.update, self.apply = update, apply
        self.dense = nn.Dense(FEATURES, 1)

    def construct(self, x: Tensor) -> Tensor:
        self.rows += x.shape[0]
        ops.assign(self.seen, self.seen + x.shape[0])
        new = ops.stop_gradient(self.update(self, x))
        if self.as_attribute:
            self.statistic = new
        else:
            ops.assign(self.statistic, new)
        return self.dense(self.apply(self, x))


def sum_of_squares(net: Any, x: Tensor) -> Tensor:
    return net.statistic + (x**2).sum(0)


SUMS: dict[str, dict[str, Any]] = {
    "root": {"apply": lambda net, x: x / ops.sqrt(net.statistic + 1e-5)},
    "reciprocal_root": {"apply": lambda net, x: x * ops.rsqrt(net.statistic + 1e-5)},
    "power": {"apply": lambda net, x: x / (net.statistic.reshape(1, -1) + 1e-5) ** 0.5},
    "attribute": {"apply": lambda net, x: x / ops.sqrt(net.statistic + 1e-5), "as_attribute": True},
    "magnitudes": {
        "update": lambda net, x: net.statistic + ops.abs(x).mean(0),
        "apply": lambda net, x: x / (net.statistic + 1e-5),
    },
    "means": {"update": lambda net, x: net.statistic + (x + 3).mean(0), "apply": lambda net, x: x + 3 - net.statistic},
}


@pytest.mark.parametrize("name", SUMS)
def test_a_sum_by_which_values_are_normalized_is_found(name: str) -> None:
    net = Normalized(**{"update": sum_of_squares, **SUMS[name]})
    (finding,) = train(net, "growing_statistic", steps=24).findings()
    assert finding.path == "" and "`statistic` grew in each of" in finding.message


def test_the_ratio_is_that_of_the_sum_and_the_mean_square() -> None:
    net = Normalized(sum_of_squares, SUMS["root"]["apply"])
    (finding,) = train(net, "growing_statistic", steps=19).findings()
    # With three in a row the last of 19 steps, after 16 in which it grew; it holds the first 19 batches.
    inputs = [batch(step)[0].asnumpy() for step in range(19)]
    ratio = np.mean(sum((x**2).sum(0) for x in inputs)) / np.mean(inputs[-1] ** 2)
    assert f"is {ratio:.3g} times the mean square of the values that it divides" in finding.message


AVERAGES: dict[str, dict[str, Any]] = {
    "divided_by_a_count": {"apply": lambda net, x: x / ops.sqrt(net.statistic / net.rows + 1e-5)},
    "divided_by_a_tensor": {"apply": lambda net, x: x / ops.sqrt(net.statistic / net.seen + 1e-5)},
    "moving_average": {
        "update": lambda net, x: 0.9 * net.statistic + 0.1 * (x**2).mean(0),
        "apply": SUMS["root"]["apply"],
    },
    "slow_moving_average": {
        "update": lambda net, x: 0.999 * net.statistic + 0.001 * (x**2).mean(0),
        "apply": lambda net, x: x / (ops.sqrt(net.statistic) + 10.0),
    },
    "counter": {"update": lambda net, x: net.statistic + 100.0, "apply": lambda net, x: x / (net.statistic + 1e-5)},
    "schedule": {
        "update": lambda net, x: net.statistic * 1.3,
        "apply": lambda net, x: x / net.statistic,
        "start": np.linspace(1, 20, FEATURES).astype(np.float32),
    },
    "not_used": {"apply": lambda net, x: x * 1.0},
    "normalized_by_its_sum": {"apply": lambda net, x: x / (net.statistic / net.statistic.sum())},
    "logarithm": {"apply": lambda net, x: x - ops.log(net.statistic)},
    "largest_so_far": {
        "update": lambda net, x: ops.maximum(net.statistic, ops.abs(x).max(axis=0)),
        "apply": lambda net, x: x / (net.statistic + 1e-5),
    },
    "decaying_sum": {"update": lambda net, x: 0.5 * net.statistic + (x**2).sum(0), "apply": SUMS["root"]["apply"]},
}


@pytest.mark.parametrize("name", AVERAGES)
def test_a_statistic_of_another_kind_is_not_reported(name: str) -> None:
    net = Normalized(**{"update": sum_of_squares, **AVERAGES[name]})
    assert not train(net, "growing_statistic", steps=40).findings()


def test_a_batch_normalization_is_not_reported() -> None:
    net = nn.SequentialCell(nn.Dense(FEATURES, 8), nn.BatchNorm1d(8, momentum=0.999), nn.ReLU(), nn.Dense(8, 1))
    net.set_train()
    assert not train(net, "growing_statistic", steps=24).findings()


def test_the_threshold_of_a_growing_statistic_is_a_ratio() -> None:
    row = CONDITIONS["growing_statistic"]
    observation = StatisticObservation("m2", 17, "div", squared=True, ratio=3.9)
    assert row.formula(observation, row.threshold) is None
    assert "3.9 times the mean square" in str(row.formula(observation, 3.0))


# Watching


def test_watching_changes_no_bit_of_the_training() -> None:
    def weights(watch: bool) -> list[np.ndarray]:
        nets = [Layers(in_list), Tied(*COPIES["in_each_run"]), Normalized(sum_of_squares, SUMS["root"]["apply"])]
        for net in nets:
            loss = autoencoder_loss(net) if isinstance(net, Tied) else None
            if watch:
                train(net, "all", steps=20, loss=loss)
            else:
                optimizer = nn.SGD(net.trainable_params(), 0.01)
                function = loss or (lambda x, y, net=net: ((net(x) - y) ** 2).mean())
                step = value_and_grad(function, None, net.trainable_params())
                for number in range(20):
                    optimizer(step(*batch(number))[1])
        return [parameter.asnumpy() for net in nets for parameter in net.get_parameters()]

    for plain, watched in zip(weights(False), weights(True), strict=True):
        np.testing.assert_array_equal(plain, watched)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_narrow_numbers_are_read(dtype: Any) -> None:
    start = Tensor(np.zeros(FEATURES), dtype)
    net = Normalized(
        lambda net, x: (net.statistic + (x**2).sum(0)).astype(dtype),
        lambda net, x: x / ops.sqrt(net.statistic.astype(ms.float32) + 1e-5),
        start,
    )
    assert paths_of(train(net, "growing_statistic", steps=24)) == [""]
