"""Conditions on targets, outputs and representations: each holds at its planted fault, and not in look-alikes of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.checks.comparison.representation_checks import _spread, _variance
from hookscope.engine.debug.diagnose.conditions import CONDITIONS
from hookscope.engine.debug.diagnose.conditions.parameters import GradientObservation

RNG = np.random.default_rng

Loss = Callable[[], Tensor]


def tensor(*shape: int, seed: int = 0, scale: float = 1.0, mean: float = 0.0) -> Tensor:
    return Tensor((RNG(seed).normal(size=shape) * scale + mean).astype(np.float32))


def network(inputs: int = 6, outputs: int = 3, width: int = 16) -> nn.SequentialCell:
    return nn.SequentialCell(nn.Dense(inputs, width), nn.Tanh(), nn.Dense(width, outputs))


def found(
    condition: str,
    loss: Loss,
    weights: list[Parameter],
    steps: int = 12,
    rate: float = 1e-2,
    optimizer: Any = nn.SGD,
    after: Callable[[], None] = lambda: None,
) -> list[str]:
    """Return the messages of one condition in a few steps of training."""
    for index, parameter in enumerate(weights):
        parameter.name = f"parameter{index}"  # several networks have the same names
    trained = optimizer(weights, rate)
    step = value_and_grad(loss, None, trained.parameters)
    with DebugSession(None, conditions=[condition]) as session:
        for _ in range(steps):
            trained(step()[1])
            after()
    return [finding.message for finding in session.findings()]


@pytest.fixture(autouse=True)
def seed() -> None:
    ms.set_seed(0)


# The scale of targets


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mse": ops.mse_loss,
    "l1": ops.l1_loss,
    "huber": ops.huber_loss,
    "smooth_l1": lambda x, y: ops.smooth_l1_loss(x, y).mean(),
    "cell": nn.MSELoss(),
    "square": lambda x, y: ops.square(x - y).mean(),
    "power": lambda x, y: ((y - x) ** 2).sum(axis=1).mean(),
    "magnitude": lambda x, y: (x - y).abs().sum() / y.size,
    "weighted": lambda x, y: (0.5 * (x - y) * (x - y)).mean(),
    "norm": lambda x, y: ops.sqrt(ops.square(x - y).sum(axis=1)).mean(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_large_targets_are_reported_with_their_scale(name: str) -> None:
    x, y = tensor(8, 6), tensor(8, 3, seed=1, scale=500, mean=3e5)
    net = network()
    loss = LOSSES[name]
    (message,) = found("targets_not_normalized", lambda: loss(net(x), y), net.trainable_params(), rate=1e-9)
    size = float(np.sqrt((y.asnumpy().astype(np.float64) ** 2).mean()))
    assert f"root mean square of {size:.3g}" in message and "targets_not_normalized in the targets" in message


def test_large_targets_that_make_training_diverge_are_reported() -> None:
    x, y = tensor(8, 6), tensor(8, 3, seed=1, scale=1e5)
    net = network()
    assert found("targets_not_normalized", lambda: ops.mse_loss(net(x), y), net.trainable_params(), rate=3.0)


@pytest.mark.parametrize("scale", [1.0, 30.0, 400.0])
def test_targets_of_some_hundreds_may_be_returns(scale: float) -> None:
    x, y = tensor(8, 6), tensor(8, 3, seed=1, scale=scale)
    net = network()
    assert not found("targets_not_normalized", lambda: ops.mse_loss(net(x), y), net.trainable_params(), rate=1e-6)


def test_an_output_that_is_multiplied_up_has_the_scale_of_its_targets() -> None:
    x, y = tensor(8, 6), tensor(8, 3, seed=1, scale=1e4)
    net = network()
    loss = lambda: ops.mse_loss(net(x) * 1e4, y)  # noqa: E731
    assert not found("targets_not_normalized", loss, net.trainable_params(), rate=1e-12)


def test_a_linear_model_that_reaches_its_targets_at_once_is_no_fault() -> None:
    x, y = tensor(64, 2), Tensor(np.full((64, 1), 5000.0, np.float32))
    net = nn.Dense(2, 1)
    assert not found("targets_not_normalized", lambda: ops.mse_loss(net(x), y), net.trainable_params(), rate=0.4)


def test_raw_inputs_in_a_difference_inside_of_a_network_are_no_targets() -> None:
    x, y = tensor(8, 3, scale=1e5), tensor(8, 3, seed=1)

    class Gaussian(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.shift, self.head = nn.Dense(3, 3), nn.Dense(3, 3)

        def construct(self, x: Tensor) -> Tensor:
            distance = ops.square(self.shift(y) - x).sum(axis=1, keepdims=True)
            return self.head(ops.exp(-distance) * y)

    net = Gaussian()
    assert not found("targets_not_normalized", lambda: ops.mse_loss(net(x), y), net.trainable_params())


def test_classes_and_targets_from_a_network_are_not_judged_by_their_scale() -> None:
    x, labels = tensor(8, 6), Tensor(np.arange(8, dtype=np.int32) % 3)
    net, teacher = network(), network()
    assert not found("targets_not_normalized", lambda: ops.cross_entropy(net(x), labels), net.trainable_params())
    loss = lambda: ops.mse_loss(net(x), ops.stop_gradient(teacher(x)) * 1e6)  # noqa: E731
    assert not found("targets_not_normalized", loss, net.trainable_params(), rate=1e-12)


# Targets that are trained


def trained_before(net: nn.Cell) -> nn.Cell:
    for parameter in net.get_parameters():
        parameter.set_data(Tensor(parameter.asnumpy() * 1.01))
    return net


def soft_cross_entropy(x: Tensor, y: Tensor) -> Tensor:
    return -(ops.softmax(y, axis=-1) * ops.log_softmax(x, axis=-1)).sum(axis=-1).mean()


def divergence(x: Tensor, y: Tensor) -> Tensor:
    p = ops.softmax(y, axis=-1)
    return (p * (ops.log(p) - ops.log_softmax(x, axis=-1))).sum(axis=-1).mean()


TEACHINGS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mse": ops.mse_loss,
    "difference": lambda x, y: ops.square(x - y).mean(),
    "reversed": lambda x, y: ops.square(y - x).mean(),
    "soft": soft_cross_entropy,
    "divergence": divergence,
    "kl_div": lambda x, y: ops.kl_div(ops.log_softmax(x, axis=-1), ops.softmax(y, axis=-1)),
    "cross_entropy": lambda x, y: ops.cross_entropy(x, ops.softmax(y, axis=-1)),
}


@pytest.mark.parametrize("name", TEACHINGS)
def test_a_teacher_that_learns_is_reported(name: str) -> None:
    x, loss = tensor(8, 6), TEACHINGS[name]
    teacher, student = trained_before(network()), network()
    weights = [*student.trainable_params(), *teacher.trainable_params()]
    (message,) = found("trained_target", lambda: loss(student(x), teacher(x)), weights)
    assert "trained before" in message and "0.weight" in message


@pytest.mark.parametrize("name", TEACHINGS)
@pytest.mark.parametrize("how", ["stopped", "not requested", "frozen", "both new", "both trained"])
def test_a_teacher_that_stays_and_two_networks_of_one_age_are_no_fault(name: str, how: str) -> None:
    x, loss = tensor(8, 6), TEACHINGS[name]
    teacher, student = network(), network()
    if how != "both new":
        trained_before(teacher)
    if how == "both trained":
        trained_before(student)
    weights = [*student.trainable_params(), *([] if how == "not requested" else teacher.trainable_params())]
    if how == "frozen":
        for parameter in teacher.get_parameters():
            parameter.requires_grad = False

    def compute() -> Tensor:
        target = teacher(x)
        return loss(student(x), ops.stop_gradient(target) if how == "stopped" else target)

    assert not found("trained_target", compute, weights)


@pytest.mark.parametrize("name", TEACHINGS)
def test_a_teacher_that_learns_in_place_of_the_student_is_reported(name: str) -> None:
    x, loss = tensor(8, 6), TEACHINGS[name]
    teacher, student = trained_before(network()), network()
    labels = Tensor(np.arange(8, dtype=np.int32) % 3)

    def compute() -> Tensor:
        output = student(x)
        return loss(output, teacher(x)) + ops.cross_entropy(output, labels)

    (message,) = found("trained_target", compute, teacher.trainable_params())
    assert "this one gets the gradient" in message and "no optimizer holds it" in message


@pytest.mark.parametrize("how", ["alone", "stopped", "held", "frozen", "both new", "trained"])
def test_a_random_target_of_a_network_that_was_trained_before_is_no_fault(how: str) -> None:
    x, predictor, target = tensor(8, 6), network(), network()
    if how != "both new":
        trained_before(predictor)
    if how == "trained":
        trained_before(target)
    if how == "frozen":
        for parameter in target.get_parameters():
            parameter.requires_grad = False
    other = nn.SGD(target.trainable_params(), 0.1) if how == "held" else None

    def compute() -> Tensor:
        fixed = target(x)
        return ops.mse_loss(ops.stop_gradient(fixed) if how == "stopped" else fixed, predictor(x))

    assert not found("trained_target", compute, predictor.trainable_params())
    assert how != "held" or other is not None


def test_a_new_head_on_a_trained_body_and_a_new_decoder_are_no_fault() -> None:
    x, views = tensor(8, 6), tensor(8, 6, seed=1)
    body, head, decoder = trained_before(network()), network(3, 3), network(3, 6)
    weights = [*body.trainable_params(), *head.trainable_params(), *decoder.trainable_params()]
    # The prediction depends on the same weights as the target, as in Siamese networks with a predictor.
    assert not found("trained_target", lambda: ops.mse_loss(head(body(x)), body(views)), weights)
    assert not found("trained_target", lambda: ops.mse_loss(decoder(body(x)), x), weights)


def test_a_residual_on_a_trained_model_is_no_fault() -> None:
    x, y = tensor(8, 6), tensor(8, 3, seed=1)
    base, correction = trained_before(network()), network()
    weights = [*base.trainable_params(), *correction.trainable_params()]
    assert not found("trained_target", lambda: ops.mse_loss(correction(x), y - base(x)), weights)


# A teacher in training mode


def with_dropout() -> nn.SequentialCell:
    return nn.SequentialCell(nn.Dense(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(16, 3))


def test_a_teacher_in_training_mode_is_reported_at_its_cells() -> None:
    x = tensor(8, 6)
    teacher, student = trained_before(with_dropout()).set_train(), network().set_train()
    messages = found(
        "wrong_mode", lambda: ops.mse_loss(student(x), ops.stop_gradient(teacher(x))), student.trainable_params(), 14
    )
    assert len(messages) == 2 and all("gives the targets" in message for message in messages)


def labels_outside(teacher: nn.Cell, student: nn.Cell, x: Tensor, steps: int = 14) -> list[str]:
    """Return the messages where the targets are computed before each gradient call."""
    for index, parameter in enumerate(student.trainable_params()):
        parameter.name = f"parameter{index}"
    trained = nn.SGD(student.trainable_params(), 0.01)
    step = value_and_grad(lambda x, target: ops.mse_loss(student(x), target), None, trained.parameters)
    with DebugSession(None, conditions=["wrong_mode"]) as session:
        for _ in range(steps):
            trained(step(x, teacher(x))[1])
    return [finding.message for finding in session.findings() if "gives the targets" in finding.message]


def test_a_teacher_in_training_mode_that_is_called_before_the_gradient_call_is_reported() -> None:
    x = tensor(8, 6)
    assert len(labels_outside(trained_before(with_dropout()).set_train(), network().set_train(), x)) == 2
    assert not labels_outside(trained_before(with_dropout()).set_train(False), network().set_train(), x)
    assert not labels_outside(
        with_dropout().set_train(), network().set_train(), x
    )  # random, as in distillation of noise
    student = trained_before(with_dropout()).set_train()
    assert not labels_outside(student, student, x)  # labels of its own


@pytest.mark.parametrize("how", ["predicts", "moves", "new", "perceptual"])
def test_a_teacher_that_predicts_or_moves_and_a_random_one_are_no_fault(how: str) -> None:
    x, y = tensor(8, 6), tensor(8, 6, seed=1)
    teacher, student = with_dropout().set_train(how != "predicts"), network(6, 6).set_train()
    if how != "new":
        trained_before(teacher)

    def compute() -> Tensor:
        out = student(x)
        if how == "perceptual":
            return ops.mse_loss(teacher(out), teacher(y))
        return ops.mse_loss(out[:, :3], ops.stop_gradient(teacher(x)))

    def move() -> None:
        if how == "moves":
            trained_before(teacher)

    messages = found("wrong_mode", compute, student.trainable_params(), 16, after=move)
    assert not [message for message in messages if "gives the targets" in message]


# Random targets


def noisy(x: Tensor, noise: Tensor) -> Tensor:
    return 0.8 * x + 0.6 * noise


DRAWS: dict[str, Callable[[], Tensor]] = {
    "randn": lambda: ops.randn(8, 6),
    "standard_normal": lambda: ops.standard_normal((8, 6)),
    "primitive": lambda: ops.StandardNormal()((8, 6)),
    "randn_like": lambda: ops.randn_like(tensor(8, 6)),
    "scaled": lambda: ops.cast(ops.randn(8, 6) * 2.0, ms.float32),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("loss", [ops.mse_loss, lambda x, y: ops.square(x - y).mean()])
def test_noise_that_was_not_mixed_in_is_reported(name: str, loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    x, net, draw = tensor(8, 6), network(6, 6), DRAWS[name]
    (message,) = found("random_target", lambda: loss(net(noisy(x, draw())), draw()), net.trainable_params())
    assert "drawn at random" in message

    def healthy() -> Tensor:
        noise = draw()
        return loss(net(noisy(x, noise)), noise)

    assert not found("random_target", healthy, net.trainable_params())


def test_noise_that_comes_back_by_its_seed_or_through_numpy_is_no_fault() -> None:
    x, net = tensor(8, 6), network(6, 6)
    by_seed = lambda: ops.mse_loss(net(noisy(x, ops.randn(8, 6, seed=5))), ops.randn(8, 6, seed=5))  # noqa: E731
    assert not found("random_target", by_seed, net.trainable_params())

    def through_numpy() -> Tensor:
        noise = ops.randn(8, 6)
        return ops.mse_loss(net(Tensor(0.8 * x.asnumpy() + 0.6 * noise.asnumpy())), noise)

    assert not found("random_target", through_numpy, net.trainable_params())


def test_noise_on_labels_latents_and_matched_distributions_are_no_fault() -> None:
    x, y, net = tensor(8, 6), tensor(8, 6, seed=1), network(6, 6)
    judge, weights = network(6, 1), net.trainable_params()
    losses: list[Loss] = [
        lambda: ops.mse_loss(net(x), y + ops.randn(8, 6)),  # labels with noise
        lambda: ops.mse_loss(net(x + ops.randn(8, 6)), y),  # augmentation
        lambda: ops.mse_loss(judge(net(x)), ops.rand(8, 1) * 0.2 + 0.9),  # soft labels of a GAN
        lambda: ops.mse_loss(judge(net(ops.randn(8, 6))), ops.ones((8, 1))),  # a generator
        lambda: ops.mse_loss(net(x).sort(axis=0)[0], ops.randn(8, 6).sort(axis=0)[0]),  # matched distributions
        lambda: ops.exp(-ops.square(net(x) - ops.randn(8, 6)).sum(axis=1)).mean(),  # a kernel
    ]
    for loss in losses:
        assert not found("random_target", loss, weights)


# A ReLU before targets below zero


class Last(nn.Cell):
    def __init__(self, act: Callable[[Tensor], Tensor], outputs: int = 3) -> None:
        super().__init__()
        self.body, self.act = network(6, outputs), act

    def construct(self, x: Tensor) -> Tensor:
        return self.act(self.body(x))


@pytest.mark.parametrize("act", [ops.relu, ops.exp, ops.square, lambda x: ops.relu(x).reshape(8, 3, 1).reshape(8, 3)])
@pytest.mark.parametrize("loss", [ops.mse_loss, ops.l1_loss, lambda x, y: ((x - y) ** 2).mean()])
def test_targets_below_zero_of_a_relu_are_reported(act: Any, loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    x, y, net = tensor(8, 6), tensor(8, 3, seed=1), Last(act)
    (message,) = found("targets_out_of_range", lambda: loss(net(x), y), net.trainable_params())
    share = (y.asnumpy() < 0).mean()
    assert f"{share:.0%} of the targets lie below 0" in message
    assert not found("targets_out_of_range", lambda: loss(net(x), ops.abs(y)), net.trainable_params())


def test_a_relu_before_the_last_layer_and_one_compared_with_weights_are_no_fault() -> None:
    x, y, net = tensor(8, 6), tensor(8, 3, seed=1), Last(ops.relu)
    centers, head = Parameter(tensor(1, 3, seed=2), "centers"), nn.Dense(3, 3)
    few = Tensor(np.where(np.arange(24).reshape(8, 3) < 2, -0.1, 1).astype(np.float32))
    losses: list[Loss] = [
        lambda: ops.mse_loss(head(net(x)), y),
        lambda: ops.square(net(x) - centers).mean(),
        lambda: ops.mse_loss(net(x) * 2 - 1, y),
        lambda: ops.mse_loss(net(x), few),
        lambda: ops.mse_loss(y - net(x), y),
        lambda: ops.relu(1 - net(x) * y).mean(),
    ]
    for loss in losses:
        assert not found("targets_out_of_range", loss, [*net.trainable_params(), *head.trainable_params(), centers])


# Columns and vectors


@pytest.mark.parametrize("reverse", [False, True])
def test_a_column_of_values_against_a_vector_of_targets_is_reported(reverse: bool) -> None:
    x, targets, net = tensor(8, 6), tensor(8, seed=1), network()
    actions = Tensor((np.arange(8)[:, None] % 3).astype(np.int32))

    def loss() -> Tensor:
        q = ops.gather_elements(net(x), 1, actions)
        return ops.square(targets - q if reverse else q - targets).mean()

    (message,) = found("loss_broadcasts", loss, net.trainable_params())
    assert "(8, 1)" in message and "(8,)" in message and "(8, 8)" in message


def test_pairs_of_all_with_all_are_no_fault() -> None:
    x, net, bins = tensor(8, 6), network(6, 1), Tensor(np.linspace(-1, 1, 8).astype(np.float32))
    other, times = network(6, 1), tensor(8, seed=1)
    losses: list[Loss] = [
        lambda: ops.square(net(x).squeeze(1)[:, None] - net(x).squeeze(1)).mean(),  # a ranking
        lambda: ops.square(net(x) * 2 - ops.stop_gradient(net(x) * 2).squeeze(1)).mean(),  # with itself
        lambda: ops.square(net(x) * 2 - other(x).squeeze(1)).mean(),  # two values of networks
        lambda: ops.abs(net(x).squeeze(1).expand_dims(1) - times).mean(),  # the distance of two samples
        lambda: ops.exp(-ops.square(net(x) * 2 - bins)).mean(axis=0).sum(),  # a soft histogram
        lambda: ops.square(net(x)[:, None] - x[None]).mean(),  # distances with axes of their own
        lambda: (net(x) * times).mean(),  # an outer product
        lambda: ops.square(net(x) * 2 - times[:, None]).mean(),
    ]
    for loss in losses:
        assert not found("loss_broadcasts", loss, [*net.trainable_params(), *other.trainable_params()])


# The same operands


class Policy(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Dense(6, 16, activation="tanh")
        self.head = nn.Dense(16, 3)

    def log_prob(self, x: Tensor, actions: Tensor) -> Tensor:
        return (ops.log_softmax(self.head(self.body(x)), axis=-1) * ops.one_hot(actions, 3)).sum(-1)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.body(x))


@pytest.mark.parametrize("way", ["difference", "ratio"])
def test_a_ratio_of_new_to_new_is_reported(way: str) -> None:
    x, actions, policy = tensor(8, 6), Tensor(np.arange(8, dtype=np.int32) % 3), Policy()

    def loss() -> Tensor:
        new, old = policy.log_prob(x, actions), policy.log_prob(x, actions)
        return -(ops.exp(new - old) if way == "difference" else ops.exp(new) / ops.exp(old)).mean()

    (message,) = found("same_operands", loss, policy.trainable_params())
    assert f"the {way} is" in message


def test_values_that_are_equal_by_right_are_no_fault() -> None:
    x, y, actions = tensor(8, 6), tensor(8, 6, seed=1), Tensor(np.arange(8, dtype=np.int32) % 3)
    policy, twin, net = Policy(), Policy(), network(6, 6)
    for target, source in zip(twin.get_parameters(), policy.get_parameters(), strict=True):
        target.set_data(Tensor(source.asnumpy()))
    old = policy.log_prob(x, actions)
    gate = Parameter(Tensor(np.zeros(6, np.float32)), "gate")

    def residual() -> Tensor:
        hidden = net(x)
        return ops.square(hidden + gate * ops.tanh(hidden) - hidden).mean() + ops.square(hidden - y).mean()

    dropped = nn.SequentialCell(nn.Dense(6, 16), nn.Dropout(p=0.5), nn.Dense(16, 3)).set_train()
    losses: list[Loss] = [
        lambda: -ops.exp(policy.log_prob(x, actions) - old).mean(),  # a first pass
        lambda: -ops.exp(policy.log_prob(x, actions) - ops.stop_gradient(policy.log_prob(x, actions))).mean(),
        lambda: ops.square(policy(x) - twin(x)).mean(),  # a copy with weights of its own
        lambda: ops.square(net(x) - net(x).mean(axis=0)).mean(),
        lambda: ops.square(net(x) - net(x).clip(-1e3, 1e3)).mean() + net(x).mean(),  # a penalty that is not due
        residual,
        lambda: ops.square(net(x) - net(y)).mean(),
        lambda: ops.square(dropped(x) - dropped(x)).mean(),  # R-Drop
        lambda: (lambda value: value - value)(policy(x)).mean() + policy(x).mean(),
    ]
    weights = [*policy.trainable_params(), *twin.trainable_params(), *net.trainable_params(), gate]
    weights += dropped.trainable_params()
    for loss in losses:
        assert not found("same_operands", loss, weights, rate=1e-4)


# Collapse


class Views:
    """Batches of two views of the same samples."""

    def __init__(self, count: int = 16) -> None:
        self.rng = RNG(3)
        self.count = count

    def __call__(self) -> tuple[Tensor, Tensor]:
        x = self.rng.normal(size=(self.count, 6))
        views = [x + 0.1 * self.rng.normal(size=x.shape) for _ in range(2)]
        return Tensor(views[0].astype(np.float32)), Tensor(views[1].astype(np.float32))


def cosine(x: Tensor, y: Tensor) -> Tensor:
    return -ops.cosine_similarity(x, y, dim=1).mean()


def by_hand(x: Tensor, y: Tensor) -> Tensor:
    return -(ops.L2Normalize(axis=1)(x) * ops.L2Normalize(axis=1)(y)).sum(axis=1).mean()


@pytest.mark.parametrize("loss", [cosine, by_hand, ops.mse_loss])
def test_representations_that_become_one_are_reported(loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    net, views = network(6, 4), Views()

    def compute() -> Tensor:
        first, second = views()
        return loss(net(first), net(second))

    (message,) = found("collapsed_output", compute, net.trainable_params(), 300, rate=3e-2, optimizer=nn.Adam)
    assert "the representations of all samples have become the same" in message


def test_representations_that_are_held_apart_are_no_fault() -> None:
    net, predictor, average, views = network(6, 4), network(4, 4), network(6, 4), Views()
    weights = [*net.trainable_params(), *predictor.trainable_params()]

    def with_variance() -> Tensor:
        first, second = (net(view) for view in views())
        return (
            ops.mse_loss(first, second)
            + ops.relu(1 - first.std(axis=0)).mean()
            + ops.relu(1 - second.std(axis=0)).mean()
        )

    def of_a_fixed_network() -> Tensor:
        first, second = views()
        return cosine(predictor(net(first)), ops.stop_gradient(average(second)))

    def of_pairs() -> Tensor:
        first, second = (ops.L2Normalize(axis=1)(net(view)) for view in views())
        return ops.cross_entropy(ops.matmul(first, second.T) * 10, Tensor(np.arange(16, dtype=np.int32)))

    for compute in (with_variance, of_a_fixed_network, of_pairs):
        assert not found("collapsed_output", compute, weights, 80, rate=1e-2, optimizer=nn.Adam)


def test_outputs_that_never_varied_or_should_not_vary_are_no_fault() -> None:
    x = tensor(16, 6)
    head, net = nn.Dense(6, 3, weight_init="zeros"), network()
    constant, labels = Tensor(np.full((16, 3), 2, np.float32)), Tensor(np.zeros(16, np.int32))
    losses: list[tuple[Loss, nn.Cell]] = [
        (lambda: ops.mse_loss(head(x) * 0, tensor(16, 3, seed=1)), head),  # zeros
        (lambda: ops.mse_loss(net(x), constant), net),  # constant targets
        (lambda: ops.cross_entropy(net(x), labels), net),  # one class
        (lambda: ops.mse_loss(net(x * 0), net(x * 0 + 1e-9)), net),  # inputs that are the same
    ]
    for loss, cell in losses:
        assert not found("collapsed_output", loss, cell.trainable_params(), 60, rate=0.1)


def test_logits_that_become_constant_are_reported() -> None:
    x, labels = tensor(16, 6), Tensor(np.arange(16, dtype=np.int32) % 3)
    net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))

    def die() -> None:
        bias = net[0].bias
        bias.set_data(Tensor(np.minimum(bias.asnumpy() - 2.0, 0).astype(np.float32)))

    loss = lambda: ops.cross_entropy(net(x), labels)  # noqa: E731
    (message,) = found("collapsed_output", loss, net.trainable_params(), 30, after=die)
    assert "the logits of all samples" in message
    assert not found("collapsed_output", loss, network().trainable_params(), 30)


def test_the_spread_of_directions_and_the_variance_are_those_of_all_pairs() -> None:
    numbers = RNG(5).normal(size=(7, 4)) + 2
    directions = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)
    cosines = [directions[i] @ directions[j] for i in range(7) for j in range(7) if i != j]
    np.testing.assert_allclose(_spread(numbers), 1 - np.mean(cosines))
    squares = [((numbers[i] - numbers[j]) ** 2).mean() / 2 for i in range(7) for j in range(7) if i != j]
    np.testing.assert_allclose(_variance(numbers), np.mean(squares) * 6 / 7)


# No gradient at all


def test_parameters_in_no_cell_that_get_no_gradient_are_reported_together() -> None:
    weights = [Parameter(tensor(3, 2, seed=index), f"w{index}") for index in range(2)]
    x = tensor(4, 2)

    def loss(cut: bool) -> Tensor:
        copies = [Tensor(weight.asnumpy()) for weight in weights] if cut else weights
        return ops.square(ops.matmul(x, copies[0].T) - ops.matmul(x, copies[1].T)).mean()

    (message,) = found("no_gradient", lambda: loss(True), weights, 5)
    assert "no parameter of 2 gets a gradient" in message and "depends on none" in message
    assert not found("no_gradient", lambda: loss(False), weights, 5)


def test_a_loss_that_is_flat_is_reported_and_one_that_is_zero_or_soon_not_is_no_fault() -> None:
    x, net = tensor(8, 6), network()
    (message,) = found("no_gradient", lambda: ops.floor(net(x)).mean() + 3.5, net.trainable_params(), 12)
    assert "only zeros came" in message
    assert not found("no_gradient", lambda: ops.relu(net(x) - 1e6).mean(), net.trainable_params(), 12)
    assert not found("no_gradient", lambda: ops.floor(net(x)).mean() + 3.5, net.trainable_params(), 9)
    steps = iter(range(100))

    def later() -> Tensor:
        return net(x).mean() * float(next(steps) >= 15) + 2.5

    assert not found("no_gradient", later, net.trainable_params(), 20)


def test_a_gradient_of_zeros_does_not_explain_a_loss_that_depends_on_no_parameter() -> None:
    row = CONDITIONS["no_gradient"]
    none = row.formula(GradientObservation("none", others=True), row.threshold)
    zeros = row.formula(GradientObservation("zeros", others=True), row.threshold)
    assert not getattr(none, "minor", False) and getattr(zeros, "minor", False)

    class Hard(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.router = nn.Dense(6, 3)
            self.experts = nn.CellList([nn.Dense(6, 2) for _ in range(3)])

        def construct(self, x: Tensor) -> Tensor:
            chosen = ops.minimum(ops.argmax(self.router(x), dim=-1), Tensor(np.int32(1)))
            gates = ops.one_hot(chosen, 3)
            return (gates.expand_dims(-1) * ops.stack([expert(x) for expert in self.experts], axis=1)).sum(axis=1)

    net, x, y = Hard(), tensor(16, 6), tensor(16, 2, seed=1)
    trained = nn.SGD(net.trainable_params(), 0.01)
    step = value_and_grad(lambda: ops.mse_loss(net(x), y), None, trained.parameters)
    with DebugSession(None, conditions=["no_gradient"]) as session:
        for _ in range(6):
            trained(step()[1])
    causes = session.findings().causes()
    assert causes[0].place.startswith("router.")
    assert any(cause.place.startswith("experts.2.") for cause in causes[1:])


# Watching


def test_a_gradient_of_the_inputs_too_and_half_precision_change_no_finding() -> None:
    x, y = tensor(8, 6), tensor(8, 3, seed=1, scale=1e5)
    net = network().to_float(ms.float16)
    trained = nn.SGD(net.trainable_params(), 1e-12)
    step = value_and_grad(lambda x, y: ops.mse_loss(net(x), y), 0, trained.parameters)
    with DebugSession(None, conditions=["targets_not_normalized"]) as session:
        for _ in range(6):
            trained(step(x, y)[1][1])
    assert [finding.subject for finding in session.findings()] == ["the targets"]


def test_the_network_of_another_session_is_left_alone() -> None:
    x, y, net, other = tensor(8, 6), tensor(8, 3, seed=1, scale=1e5), network(), network()
    step = value_and_grad(lambda: ops.mse_loss(other(x), y), None, other.trainable_params())
    with DebugSession(net, conditions=["all"]) as session:
        net(x)
        for _ in range(6):
            step()
    assert "targets_not_normalized" not in {finding.condition for finding in session.findings()}


def test_watching_changes_no_bit_and_odd_code_raises_nothing() -> None:
    def weights(watched: bool) -> list[np.ndarray]:
        ms.set_seed(0)
        net = with_dropout().set_train()
        other = copy.deepcopy(net)
        for parameter in other.get_parameters():
            parameter.name = f"other.{parameter.name}"
        x, number = tensor(8, 6), Parameter(Tensor(np.int32(3)), "number", requires_grad=False)
        optimizer = nn.Adam([*net.trainable_params(), *other.trainable_params()], 0.01)

        def loss() -> Tensor:
            first, second = net(x), other(x + ops.randn(8, 6))
            terms = ops.mse_loss(first, second) + soft_cross_entropy(first, second) + cosine(first, second)
            terms = terms + ops.square(first[0] - first[1]).sum() * number + ops.square(first - second.mean()).mean()
            return terms + ops.square(first - first.astype(ms.float16).astype(ms.float32)).mean()

        step = value_and_grad(loss, None, optimizer.parameters)
        session = DebugSession(None, conditions=["all"])
        if watched:
            session.attach()
        for _ in range(4):
            optimizer(step()[1])
        session.detach()
        return [parameter.asnumpy() for parameter in (*optimizer.parameters, Parameter(ops.rand(3)))]

    for plain, seen in zip(weights(False), weights(True), strict=True):
        np.testing.assert_array_equal(plain, seen)
