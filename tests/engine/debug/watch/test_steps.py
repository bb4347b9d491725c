"""A session counts steps as a person does: by gradient calls and updates, whatever the loop looks like."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.dataset import GeneratorDataset
from hookscope.engine.debug import DebugSession
from hookscope.engine.train import Model

_X = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
_Y = np.random.default_rng(1).normal(size=(8, 1)).astype(np.float32)
X, Y = Tensor(_X), Tensor(_Y)


class Network(nn.Cell):
    """A network whose method ``loss`` is called in place of ``construct``, or ``construct`` itself."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Dense(4, 6)
        self.out = nn.Dense(6, 1)

    def construct(self, x: Tensor) -> Tensor:
        return self.out(ops.tanh(self.hidden(x)))

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the loss, without a call of the network itself."""
        return ((self.out(ops.relu(self.hidden(x))) - y) ** 2).mean()


def mean_square(net: Any, x: Tensor, y: Tensor) -> Tensor:
    return ((net(x) - y) ** 2).mean()


def sgd(net: nn.Cell) -> nn.Optimizer:
    return nn.SGD(net.trainable_params(), 0.01)


def gradient(net: nn.Cell, loss: Callable[..., Any] | None = None) -> Any:
    return ms.value_and_grad(loss or (lambda x, y: mean_square(net, x, y)), None, net.trainable_params())


LOOPS: dict[str, tuple[Callable[[Network], None], int]] = {}


def loop(steps: int) -> Callable[[Callable[[Network], None]], Callable[[Network], None]]:
    """Add a loop to the table, with the number of steps that a person counts in it."""

    def add(function: Callable[[Network], None]) -> Callable[[Network], None]:
        LOOPS[function.__name__] = function, steps
        return function

    return add


@loop(5)
def value_and_grad_then_optimizer(net: Network) -> None:
    step, optimizer = gradient(net), sgd(net)
    for _ in range(5):
        optimizer(step(X, Y)[1])


@loop(5)
def method_in_place_of_construct(net: Network) -> None:
    step, optimizer = ms.value_and_grad(net.loss, None, net.trainable_params()), sgd(net)
    for _ in range(5):
        optimizer(step(X, Y)[1])


@loop(5)
def closure_around_a_method(net: Network) -> None:
    step, optimizer = gradient(net, lambda x, y: net.loss(x, y)), sgd(net)
    for _ in range(5):
        optimizer(step(X, Y)[1])


@loop(4)
def four_gradients_accumulated(net: Network) -> None:
    step, optimizer = gradient(net), sgd(net)
    for _ in range(4):
        total = [ops.zeros_like(p) for p in net.trainable_params()]
        for _ in range(4):
            total = [a + b / 4 for a, b in zip(total, step(X, Y)[1], strict=True)]
        optimizer(tuple(total))


@loop(2)
def sixteen_gradients_accumulated(net: Network) -> None:
    step, optimizer = gradient(net), sgd(net)
    for _ in range(2):
        gradients: Any = None
        for _ in range(16):
            gradients = step(X, Y)[1]
        optimizer(gradients)


@loop(6)
def evaluation_after_each_step(net: Network) -> None:
    step, optimizer = gradient(net), sgd(net)
    for _ in range(6):
        net.set_train(True)
        optimizer(step(X, Y)[1])
        net.set_train(False)
        for _ in range(3):
            net(X)


@loop(5)
def shapes_are_looked_at_first(net: Network) -> None:
    net(X)
    step, optimizer = gradient(net), sgd(net)
    for _ in range(5):
        optimizer(step(X, Y)[1])


@loop(5)
def grad_operation_after_the_loss(net: Network) -> None:
    loss_net = nn.WithLossCell(net, nn.MSELoss())
    compute, optimizer = ops.GradOperation(get_by_list=True)(loss_net, net.trainable_params()), sgd(net)
    for _ in range(5):
        loss_net(X, Y)
        optimizer(compute(X, Y))


@loop(5)
def train_one_step_cell(net: Network) -> None:
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), sgd(net))
    for _ in range(5):
        step(X, Y)


@loop(6)
def model_train(net: Network) -> None:
    data = GeneratorDataset([(_X, _Y)] * 3, ["x", "y"], shuffle=False)
    Model(net, nn.MSELoss(), sgd(net)).train(2, data)


@loop(4)
def model_fit_with_evaluation(net: Network) -> None:
    data = GeneratorDataset([(_X, _Y)] * 2, ["x", "y"], shuffle=False)
    Model(net, nn.MSELoss(), sgd(net), metrics={"mae"}).fit(2, data, data)


@loop(5)
def two_optimizers_of_one_loss(net: Network) -> None:
    hidden, out = net.hidden.trainable_params(), net.out.trainable_params()
    step = ms.value_and_grad(lambda x, y: mean_square(net, x, y), None, [*hidden, *out])
    first, second = nn.SGD(hidden, 0.01), nn.Adam(out, 0.01)
    for _ in range(5):
        gradients = step(X, Y)[1]
        first(gradients[: len(hidden)])
        second(gradients[len(hidden) :])


@loop(5)
def two_optimizers_in_turn(net: Network) -> None:
    turns = [
        (ms.value_and_grad(lambda x, y: mean_square(net, x, y), None, part.trainable_params()), sgd(part))
        for part in (net.hidden, net.out)
    ]
    for _ in range(5):
        for step, optimizer in turns:
            optimizer(step(X, Y)[1])


@loop(6)
def three_steps_of_a_critic_for_one(net: Network) -> None:
    critic, actor = (
        (ms.value_and_grad(lambda x, y: mean_square(net, x, y), None, part.trainable_params()), sgd(part))
        for part in (net.hidden, net.out)
    )
    for _ in range(2):
        for step, optimizer in (critic, critic, critic, actor):
            optimizer(step(X, Y)[1])


@loop(4)
def two_losses_one_update(net: Network) -> None:
    first, second, optimizer = gradient(net), gradient(net, net.loss), sgd(net)
    for _ in range(4):
        gradients = zip(first(X, Y)[1], second(X, Y)[1], strict=True)
        optimizer(tuple([a + b for a, b in gradients]))


@loop(5)
def network_called_twice_in_a_loss(net: Network) -> None:
    step, optimizer = gradient(net, lambda x, y: ((net(x) - net(y.tile((1, 4)))) ** 2).mean()), sgd(net)
    for _ in range(5):
        optimizer(step(X, Y)[1])


@loop(5)
def updates_written_by_hand(net: Network) -> None:
    step = gradient(net)
    for _ in range(5):
        for parameter, part in zip(net.trainable_params(), step(X, Y)[1], strict=True):
            parameter.set_data(parameter - 0.01 * part)


@loop(5)
def gradients_without_updates(net: Network) -> None:
    step = gradient(net)
    for _ in range(5):
        step(X, Y)


@loop(5)
def adversarial_inputs_before_each_step(net: Network) -> None:
    attack = ms.grad(lambda x, y: mean_square(net, x, y), 0)
    step, optimizer = gradient(net), sgd(net)
    for _ in range(5):
        optimizer(step(X + 0.1 * ops.sign(attack(X, Y)), Y)[1])


@loop(5)
def compiled_step(net: Network) -> None:
    step, optimizer = ms.jit(gradient(net)), sgd(net)
    for _ in range(5):
        optimizer(step(X, Y)[1])


@loop(5)
def gradient_penalty_inside(net: Network) -> None:
    def loss(x: Tensor, y: Tensor) -> Tensor:
        slope = ms.grad(lambda inputs: net(inputs).sum())(x)
        return mean_square(net, x, y) + (slope**2).mean()

    step, optimizer = gradient(net, loss), sgd(net)
    for _ in range(5):
        optimizer(step(X, Y)[1])


@loop(3)
def predictions_only(net: Network) -> None:
    for _ in range(3):
        net(X)


def _gradient_by_hand(parameter: Parameter) -> Tensor:
    return parameter * 0.1


@loop(4)
def gradients_by_hand_without_a_call(net: Network) -> None:
    optimizer = sgd(net)
    for _ in range(4):
        optimizer(tuple(_gradient_by_hand(parameter) for parameter in optimizer.parameters))


@loop(4)
def gradients_by_hand_for_two_optimizers(net: Network) -> None:
    parameters = net.trainable_params()
    optimizers = [nn.SGD(parameters[:2], 0.1), nn.Adam(parameters[2:], 0.1)]
    for _ in range(4):
        for optimizer in optimizers:
            optimizer(tuple(_gradient_by_hand(parameter) for parameter in optimizer.parameters))


@loop(4)
def gradients_by_hand_after_a_call(net: Network) -> None:
    optimizer = sgd(net)
    for _ in range(4):
        net(X)
        optimizer(tuple(_gradient_by_hand(parameter) for parameter in optimizer.parameters))


@loop(6)
def layers_that_are_unfrozen(net: Network) -> None:
    net.hidden.weight.requires_grad = net.hidden.bias.requires_grad = False
    step, optimizer = gradient(net), sgd(net)
    for number in range(6):
        if number == 3:
            net.hidden.weight.requires_grad = net.hidden.bias.requires_grad = True
            step, optimizer = gradient(net), sgd(net)
        optimizer(step(X, Y)[1])


@loop(30)
def a_second_phase_for_other_layers(net: Network) -> None:
    for part in (net.hidden, net.out):
        step = ms.value_and_grad(lambda x, y: mean_square(net, x, y), None, part.trainable_params())
        optimizer = nn.SGD(part.trainable_params(), 0.1)
        for _ in range(15):
            optimizer(step(X, Y)[1])


@loop(5)
def one_gradient_call_for_two_optimizers(net: Network) -> None:
    parameters = net.trainable_params()
    optimizers = [nn.SGD(parameters[:2], 0.1), nn.Adam(parameters[2:], 0.1)]
    step = gradient(net)
    for _ in range(5):
        _, gradients = step(X, Y)
        optimizers[0](gradients[:2])
        optimizers[1](gradients[2:])


@loop(4)
def loss_scale_that_skips_a_step(net: Network) -> None:
    scaler = ms.amp.DynamicLossScaler(2.0**10, 2, 50)
    step, optimizer = gradient(net), sgd(net)
    for number in range(4):
        _, gradients = step(X, Y)
        if number != 1:  # as after an overflow
            optimizer(scaler.unscale(gradients))
        scaler.adjust(Tensor(number != 1))


@loop(6)
def loss_scale_that_is_too_large_at_first(net: Network) -> None:
    optimizer = sgd(net)
    for scale in (1e38, 1e37, 1.0, 1.0, 1.0, 1.0):
        gradients = gradient(net, lambda x, y, scale=scale: mean_square(net, x, y) * 1e9 * scale)(X, Y)[1]
        if ms.amp.all_finite(gradients):
            optimizer(gradients)


WITHOUT_CALLS = ("gradients_by_hand_without_a_call", "gradients_by_hand_for_two_optimizers")


@pytest.mark.parametrize("takes_roots", [False, True], ids=["net given", "no net"])
@pytest.mark.parametrize("name", LOOPS)
def test_steps_are_those_that_a_person_counts(name: str, takes_roots: bool) -> None:
    ms.set_seed(0)
    function, expected = LOOPS[name]
    net = Network()
    with DebugSession(None if takes_roots else net, conditions=["all"]) as session:
        function(net)
    assert session.step == expected
    assert bool(session.captured) is (name not in WITHOUT_CALLS)


@pytest.mark.parametrize("takes_roots", [False, True], ids=["net given", "no net"])
def test_the_loss_of_each_step_of_a_method_is_in_the_history(takes_roots: bool) -> None:
    net = Network()
    with DebugSession(None if takes_roots else net, conditions=["all"]) as session:
        method_in_place_of_construct(net)
    assert [step for step, _ in session.history.losses] == [1, 2, 3, 4, 5]
    assert set(session.history.gradient_norms) == {"hidden.weight", "hidden.bias", "out.weight", "out.bias"}
    assert [row.step for row in session.captures if row.path == "hidden" and row.slot == "output"] == [1, 2, 3, 4, 5]


def test_a_trainer_that_is_no_cell_leads_to_its_networks() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.network = Network()

        def loss(self, x: Tensor, y: Tensor) -> Tensor:
            return self.network.loss(x, y)

    trainer = Trainer()
    step, optimizer = ms.value_and_grad(trainer.loss, None, trainer.network.trainable_params()), sgd(trainer.network)
    with DebugSession(conditions=["all"]) as session:
        for _ in range(3):
            optimizer(step(X, Y)[1])
    assert session.step == 3
    assert [type(root) for root in session.roots] == [Network]


class RefusesAttributes:
    """A callable object that raises for each attribute that is looked up."""

    def __init__(self, net: Network) -> None:
        self.__dict__["net"] = net

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the loss."""
        loss: Tensor = self.__dict__["net"].loss(x, y)
        return loss


@pytest.mark.parametrize("takes_roots", [False, True], ids=["net given", "no net"])
@pytest.mark.parametrize("make", [RefusesAttributes, lambda net: functools.partial(Network.loss, net)])
def test_whatever_is_differentiated_leads_to_its_network_without_a_fault(make: Any, takes_roots: bool) -> None:
    net = Network()
    step, optimizer = ms.value_and_grad(make(net), None, net.trainable_params()), sgd(net)
    with DebugSession(None if takes_roots else net, conditions=["all"]) as session:
        for _ in range(3):
            optimizer(step(X, Y)[1])
    assert (session.step, list(session.faults), session.roots) == (3, [], [net])


def test_parameters_without_a_cell_have_steps_too() -> None:
    weight = Parameter(Tensor(np.zeros((4, 1), np.float32)), "weight")
    step, optimizer = ms.value_and_grad(lambda x, y: ((x @ weight - y) ** 2).mean(), None, [weight]), nn.SGD([weight])
    with DebugSession(conditions=["all"]) as session:
        for _ in range(3):
            optimizer(step(X, Y)[1])
    assert session.step == 3


def test_an_old_session_does_not_count_the_steps_of_another_network() -> None:
    first, second = Network(), Network()
    with DebugSession(first, conditions=["all"]) as session:
        value_and_grad_then_optimizer(first)
        value_and_grad_then_optimizer(second)
    assert session.step == 5


@pytest.mark.parametrize("takes_roots", [False, True], ids=["net given", "no net"])
@pytest.mark.parametrize("first", [1, 3])
def test_a_session_that_is_entered_again_goes_on_with_the_next_step(first: int, takes_roots: bool) -> None:
    net = Network()
    session = DebugSession(None if takes_roots else net, conditions=["all"])
    step, optimizer = gradient(net), sgd(net)
    for steps in (first, 2):
        with session:
            for _ in range(steps):
                optimizer(step(X, Y)[1])
    assert session.step == first + 2


@pytest.mark.parametrize("warm_up", [0, 15])
def test_turns_that_begin_late_or_that_share_weights_are_in_one_step(warm_up: int) -> None:
    net = Network()
    hidden = net.hidden.trainable_params()
    first = ms.value_and_grad(lambda x, y: mean_square(net, x, y), None, hidden), nn.SGD(hidden, 0.1)
    others = net.out.trainable_params() if warm_up else net.trainable_params()
    second = ms.value_and_grad(lambda x, y: mean_square(net, x, y), None, others), nn.SGD(others, 0.1)
    steps: list[list[int]] = []
    with DebugSession(net, conditions=["all"]) as session:
        for number in range(warm_up + 5):
            steps.append([])
            for step, optimizer in (first, second) if number >= warm_up else (first,):
                optimizer(step(X, Y)[1])
                steps[-1].append(session.step)
    # The first turn of the second one looks like a new phase; from then on the turns are in one step.
    assert all(len(set(turns)) == 1 for turns in steps[warm_up + 1 :])
    assert session.step == warm_up + 6


def test_a_hook_of_the_session_is_in_the_step_of_its_call() -> None:
    net = Network()
    with DebugSession(net, conditions=["all"]) as session:
        session.attach_hook("", "forward_pre")
        value_and_grad_then_optimizer(net)
    assert [row.step for row in session.captures if row.path == "" and row.origin == "hook"] == [1, 2, 3, 4, 5]
