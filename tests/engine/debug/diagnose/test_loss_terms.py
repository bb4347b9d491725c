"""Conditions on the terms of a loss and on its fall: each holds at its planted fault, and not in sound programs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.checks.loss.course import Course
from hookscope.engine.debug.diagnose.checks.loss.numpy_sources import rank_correlation
from hookscope.engine.debug.diagnose.checks.loss.terms import Producers, number_of, terms_of, value_of
from hookscope.engine.debug.diagnose.conditions.loss_terms import (
    ROWS,
    AdvantageObservation,
    DetachedObservation,
    DrownedObservation,
    FallObservation,
)
from hookscope.engine.tape import taps

NEW = tuple(row.name for row in ROWS)
FALLS, DROWNED, DETACHED, ATTACHED, _ = (row.formula for row in ROWS)

Loss = Callable[..., Any]


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


_networks = itertools.count()


def network(*widths: int) -> Any:
    """Return layers with tanh between them, whose parameters have names of their own."""
    layers: list[nn.Cell] = []
    for number, (inputs, outputs) in enumerate(itertools.pairwise(widths)):
        layers += [nn.Dense(inputs, outputs), nn.Tanh()] if number < len(widths) - 2 else [nn.Dense(inputs, outputs)]
    return named(nn.SequentialCell(layers))


def named(net: Any) -> Any:
    number = next(_networks)
    for parameter in net.get_parameters():
        parameter.name = f"net{number}.{parameter.name}"
    return net


def findings_of(
    loss: Loss,
    weights: Sequence[Parameter],
    batches: Callable[[int], tuple[Any, ...]],
    steps: int = 60,
    rate: float = 0.01,
    conditions: tuple[str, ...] = NEW,
    after: Callable[[int], None] = lambda step: None,
) -> dict[str, str]:
    """Return the messages of the findings in a training with Adam, by condition."""
    optimizer = nn.Adam(weights, learning_rate=rate)
    step_fn = ms.value_and_grad(loss, None, optimizer.parameters)
    with DebugSession(None, conditions=list(conditions)) as session:
        for step in range(steps):
            _, grads = step_fn(*batches(step))
            optimizer(grads)
            after(step)
    return {finding.condition: finding.message for finding in session.findings()}


def noise(step: int) -> tuple[Any, ...]:
    return (Tensor(random(16, 4, seed=step)),)


@pytest.fixture(autouse=True)
def seeded() -> None:
    ms.set_seed(0)


# The terms


def terms_while_differentiating(function: Loss, x: Any, weight: Parameter) -> tuple[float, list[tuple[str, float]]]:
    leaf_values: list[tuple[str, float]] = []

    class Reader(taps.Tap):
        observes_operators = True
        recording: Any = None

        def operator(self, name: str, inputs: Any, outputs: Any, attrs: Any) -> None:
            if taps.outer_recordings():
                self.recording = taps.outer_recordings()[0]

        def operator_backward(self, name: str, g: Any, gs: Any, attrs: Any, inputs: Any, output: Any) -> None:
            if not leaf_values:
                nodes = [(made, (op.name, values, others)) for op, values, made, others in self.recording.nodes]
                producers = Producers([*nodes, (output, (name, inputs, attrs))], self.recording.tracked)
                leaf_values.extend((term.leaf.name, value_of(term)) for term in terms_of(output, producers))

    reader = Reader()
    taps.attach(reader)
    try:
        value, _ = ms.value_and_grad(function, None, [weight])(x)
    finally:
        taps.detach(reader)
    return float(value), leaf_values


def test_terms_have_the_values_that_numpy_computes() -> None:
    x, w = random(5, 3), random(3, seed=1)
    weight = Parameter(Tensor(w), name="w")

    def loss(x: Any) -> Any:
        y = x * weight
        return -(ops.square(y).sum(1) - 0.5 * ops.exp(y).sum(1)).mean() * 2.0

    value, leaf_values = terms_while_differentiating(loss, Tensor(x), weight)
    y = x.astype(np.float64) * w
    assert [name for name, _ in leaf_values] == ["square", "exp"]
    assert leaf_values[0][1] == pytest.approx(-2 * (y**2).sum(1).mean(), rel=1e-5)
    assert leaf_values[1][1] == pytest.approx(np.exp(y).sum(1).mean(), rel=1e-5)
    assert sum(part for _, part in leaf_values) == pytest.approx(value, rel=1e-5)


def test_terms_of_different_shapes_add_up_to_the_loss() -> None:
    x, w = random(5, 3), random(3, seed=1)
    weight = Parameter(Tensor(w), name="w")

    def loss(x: Any) -> Any:
        y = x * weight
        return (ops.square(y) - ops.sin(weight) + 1.5).mean() / 4 + 0.0

    value, leaf_values = terms_while_differentiating(loss, Tensor(x), weight)
    assert sum(part for _, part in leaf_values) == pytest.approx(value, rel=1e-5)
    assert len(leaf_values) >= 2


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.array([2.0]), np.array(2)])
def test_numbers(value: Any) -> None:
    assert number_of(value) == 2
    assert number_of(np.zeros(2)) is None and number_of(None) is None and number_of("2") is None


def test_a_course_keeps_means() -> None:
    course = Course()
    for number in range(1000):
        course.add(float(number))
    parts = course.parts(5)
    assert course.count == 1000 and parts is not None and len({len(part) for part in parts}) == 1
    assert sum(map(len, parts)) <= 128
    assert parts[0][0] == pytest.approx(np.arange(16).mean(), abs=40)
    assert all(b > a for part in parts for a, b in itertools.pairwise(part))
    assert Course().parts(5) is None


def test_the_correlation_of_ranks_is_spearmans() -> None:
    a, b = random(50, seed=3), random(50, seed=4)
    ranks = [np.argsort(np.argsort(values)) for values in (a, b)]
    assert rank_correlation(a.tolist(), b.tolist()) == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert rank_correlation(a.tolist(), np.exp(a).tolist()) == pytest.approx(1)
    assert rank_correlation([1.0] * 9, a[:9].tolist()) == 0
    assert rank_correlation([float("nan"), 1.0, 2.0], [1.0, 2.0, 3.0]) == 0


# A fall without bound


def variational(sign: float) -> tuple[Loss, list[Parameter]]:
    encoder, decoder = network(4, 16, 4), network(2, 16, 4)

    def loss(x: Any) -> Any:
        code = encoder(x)
        mean, logvar = code[:, :2], code[:, 2:]
        restored = decoder(mean + ops.exp(0.5 * logvar) * Tensor(random(16, 2, seed=9)))
        error = ops.square(restored - x).sum(1).mean()
        divergence = 0.5 * (mean**2 + ops.exp(logvar) - 1 - logvar).sum(1).mean()
        return error + sign * divergence

    return loss, encoder.trainable_params() + decoder.trainable_params()


def test_a_divergence_that_is_subtracted() -> None:
    messages = findings_of(*variational(-1.0), noise, steps=120, rate=0.02)
    message = messages["loss_falls_without_bound"]
    assert "of 2 terms number 2, which is subtracted, falls" in message
    assert "return error + sign * divergence" in message
    assert findings_of(*variational(1.0), noise, steps=120, rate=0.02) == {}


def test_minus_a_squared_error() -> None:
    net = network(4, 16, 4)
    messages = findings_of(lambda x: -ops.mse_loss(net(x), x), net.trainable_params(), noise, 150, 0.05)
    assert "faster and faster below zero" in messages["loss_falls_without_bound"]


def critics(limit: float | None, penalty: float = 0.0) -> dict[str, str]:
    critic = network(4, 16, 16, 1)
    slope = ms.grad(lambda x: critic(x).sum())

    def loss(real: Any, fake: Any) -> Any:
        value = critic(fake).mean() - critic(real).mean()
        if penalty:
            norms = ops.sqrt(ops.square(slope((real + fake) / 2)).sum(1) + 1e-9)
            value = value + penalty * ops.square(norms - 1).mean()
        return value

    def clip(step: int) -> None:
        for weight in critic.trainable_params() if limit else ():
            weight.set_data(ops.clamp(weight, -limit, limit))  # type: ignore[operator]

    def batch(step: int) -> tuple[Any, ...]:
        return Tensor(random(16, 4, seed=step) + 2), Tensor(random(16, 4, seed=step + 999) - 2)

    weights = critic.trainable_params()
    return findings_of(loss, weights, batch, 150, 0.05, ("loss_falls_without_bound",), clip)


def test_a_critic_without_a_bound() -> None:
    critic = network(4, 16, 16, 1)
    critic[1] = critic[3] = nn.ReLU()

    def loss(real: Any, fake: Any) -> Any:
        return critic(fake).mean() - critic(real).mean()

    def batch(step: int) -> tuple[Any, ...]:
        return Tensor(random(16, 4, seed=step) + 2), Tensor(random(16, 4, seed=step + 999) - 2)

    messages = findings_of(loss, critic.trainable_params(), batch, 150, 0.05, ("loss_falls_without_bound",))
    assert "of 2 terms" in messages["loss_falls_without_bound"]


def test_critics_with_a_bound_may_fall() -> None:
    assert critics(0.1) == {} and critics(2.0) == {} and critics(None, 10.0) == {}


def test_a_gaussian_likelihood_that_becomes_negative_may_fall_long() -> None:
    net = network(4, 16, 4)
    log_scale = Parameter(Tensor(np.zeros(4, np.float32)), name="log_scale")

    def loss(x: Any) -> Any:
        error = (net(x) - x) * ops.exp(-log_scale)
        return (0.5 * ops.square(error) + log_scale).sum(1).mean()

    assert findings_of(loss, [*net.trainable_params(), log_scale], noise, 300, 0.02) == {}


def test_a_cosine_may_fall_to_minus_one() -> None:
    net = network(4, 16, 4)
    loss = lambda x: -ops.cosine_similarity(net(x), x, dim=1).mean()  # noqa: E731
    assert findings_of(loss, net.trainable_params(), noise, 80) == {}


def test_an_actor_that_a_growing_critic_judges_may_fall() -> None:
    actor, critic = network(4, 16, 2), network(2, 16, 1)

    def grow(step: int) -> None:
        for weight in critic.trainable_params():
            weight.set_data(weight * 1.05)

    loss = lambda x: -critic(actor(x)).mean()  # noqa: E731
    assert findings_of(loss, actor.trainable_params(), noise, 100, after=grow) == {}


@pytest.mark.parametrize(
    "course",
    [
        [-0.1 * step for step in range(200)],  # steady, from near zero
        [-1e-6 * step**2 for step in range(200)],  # a warm-up
        [0.01] * 150 + [-0.1 * step for step in range(50)],
        [5 - 300 * (1 - np.exp(-step / 30)) for step in range(200)],  # it slows down
        [1400 - 20 * step for step in range(300)],  # a sum over many dimensions
        [-0.3 - 2.7 / (1 + np.exp(-(step - 100) / 9)) for step in range(110)],  # an escape from a plateau
    ],
)
def test_courses_that_are_not_without_bound(course: list[float]) -> None:
    losses = Course()
    for loss in course:
        losses.add(float(loss))
        parts = losses.parts(5)
        if parts is not None:
            means = [sum(part) / len(part) for part in parts]
            observation = FallObservation(means, max(map(abs, parts[0])), max(parts[-1]), losses.count)
            assert FALLS(observation, 50.0) is None


def test_what_a_fall_without_bound_needs() -> None:
    parts = [0.1, -3.2, -9.9, -35.0, -135.0]
    assert FALLS(FallObservation(parts, 2.0, -60.0, 48), 50.0) is not None
    assert FALLS(FallObservation(parts, 2.0, -60.0, 29), 50.0) is None
    assert FALLS(FallObservation(parts, 3.0, -60.0, 48), 50.0) is None
    assert FALLS(FallObservation(parts, 2.0, 1.0, 48), 50.0) is None
    assert FALLS(FallObservation(parts, 2.0, -60.0, 48, is_clipped=True), 50.0) is None


# A term that is drowned


def two_tasks(scale: float, factor: float = 1.0, small_learns: bool = False) -> dict[str, str]:
    trunk, price, kind = network(4, 8, 8), network(8, 1), network(8, 3)
    labels = lambda x: Tensor(np.random.default_rng(int(abs(x[0, 0]) * 1e6)).integers(0, 3, 16).astype(np.int32))  # noqa: E731
    direction = random(4, 1, seed=7)

    def loss(x: Any, y: Any, label: Any) -> Any:
        shared = ops.tanh(trunk(x))
        return factor * ops.cross_entropy(kind(shared), label) + ops.mse_loss(price(shared), y)

    def batch(step: int) -> tuple[Any, ...]:
        x = random(16, 4, seed=step)
        label = Tensor((x[:, 0] > 0).astype(np.int32)) if small_learns else labels(x)
        return Tensor(x), Tensor((scale * (1 + x @ direction)).astype(np.float32)), label

    weights = trunk.trainable_params() + price.trainable_params() + kind.trainable_params()
    return findings_of(loss, weights, batch, 100, 0.01, ("loss_term_drowned",))


def test_a_term_beside_targets_in_other_units() -> None:
    message = two_tasks(100.0)["loss_term_drowned"]
    assert "one term does not fall" in message and "ops.mse_loss(price(shared), y)" in message


def test_terms_that_are_not_drowned() -> None:
    assert two_tasks(1.0) == {}
    assert two_tasks(100.0, small_learns=True) == {}
    assert two_tasks(100.0, factor=0.01) == {}


def test_a_divergence_that_rises_is_not_drowned() -> None:
    loss, weights = variational(1.0)
    assert findings_of(lambda x: loss(x), weights, noise, 80) == {}


def test_a_penalty_of_weights_is_not_drowned() -> None:
    net = network(4, 16, 4)

    def loss(x: Any) -> Any:
        penalty = ops.square(net[0].weight).sum() * 1.0
        return 1000.0 * ops.mse_loss(net(x), 30 * x) + penalty

    assert findings_of(loss, net.trainable_params(), noise, 80) == {}


def test_what_a_drowned_term_needs() -> None:
    flat, large = [1.1, 1.1, 1.12, 1.1, 1.1], [900.0, 500.0, 400.0, 300.0, 200.0]
    assert DROWNED(DrownedObservation(flat, large, 60), 20.0) is not None
    assert DROWNED(DrownedObservation(flat, large, 59), 20.0) is None
    assert DROWNED(DrownedObservation([1.1, 1.0, 0.9, 1.0, 1.1], large, 60), 20.0) is None
    assert DROWNED(DrownedObservation(flat, [10.0] * 5, 60), 20.0) is None
    assert DROWNED(DrownedObservation(flat, large, 60, factor=0.001), 20.0) is None


# A term without a gradient


def spread(numpy: bool) -> tuple[Loss, list[Parameter]]:
    net = network(4, 16, 6)

    def loss(x: Any) -> Any:
        z = net(x)
        deviation = Tensor(np.sqrt(z.asnumpy().var(axis=0) + 1e-4)) if numpy else ops.sqrt(z.var(axis=0) + 1e-4)
        return ops.mse_loss(z[:, :4], x) + 5.0 * ops.relu(1.0 - deviation).mean()

    return loss, net.trainable_params()


def test_a_term_through_numpy() -> None:
    message = findings_of(*spread(True), noise, 40)["detached_term"]
    assert "shape (16, 6)" in message and "return ops.mse_loss" in message
    assert findings_of(*spread(False), noise, 40) == {}


def test_a_term_through_a_number() -> None:
    net = network(4, 16, 4)

    def loss(x: Any) -> Any:
        z = net(x)
        return ops.mse_loss(z, x) + 3.0 * float(ops.abs(z).mean())

    assert "detached_term" in findings_of(loss, net.trainable_params(), noise, 60)


@pytest.mark.parametrize("kind", ["constant", "schedule", "data", "teacher", "stop_gradient", "metric", "scale"])
def test_terms_that_are_to_have_no_gradient(kind: str) -> None:
    net, teacher = network(4, 16, 4), network(4, 16, 4)
    steps = iter(range(10**6))

    def loss(x: Any) -> Any:
        z = net(x)
        error = ops.mse_loss(z, x)
        step = next(steps)
        numbers = z.asnumpy()
        if kind == "constant":
            return error + 2.0
        if kind == "schedule":
            return error + 1.0 / (1 + step)
        if kind == "data":  # the entropy of a target, which makes a cross-entropy a divergence
            return error + Tensor(np.abs(x.asnumpy()).mean(axis=0)).mean()
        if kind == "teacher":
            return error + ops.square(ops.stop_gradient(teacher(x))).mean()
        if kind == "stop_gradient":
            return error + ops.stop_gradient(ops.abs(z)).mean()
        if kind == "metric":
            self_made = float((numbers > 0).mean())
            return error + 0.0 * self_made
        return error * Tensor(np.float32(1 / (1 + np.abs(numbers).mean())))

    assert "detached_term" not in findings_of(loss, net.trainable_params(), noise, 60)


def test_what_a_detached_term_needs() -> None:
    assert DETACHED(DetachedObservation(0.5, 1.0, 5, -0.99, "it"), 0.01) is not None
    assert DETACHED(DetachedObservation(0.5, 1.0, 4, 0.99, "it"), 0.01) is None
    assert DETACHED(DetachedObservation(0.5, 1.0, 9, 0.9, "it"), 0.01) is None
    assert DETACHED(DetachedObservation(0.001, 1.0, 9, 1.0, "it"), 0.01) is None


# An advantage that is not detached


def agent(kind: str) -> dict[str, str]:
    actor, critic = network(4, 16, 3), network(4, 16, 1)

    def loss(x: Any, action: Any, target: Any) -> Any:
        logits, values = actor(x), critic(x).squeeze(-1)
        log_probs = ops.log_softmax(logits, -1)
        chosen = (log_probs * ops.one_hot(action, 3)).sum(-1)
        if kind == "gathered":
            chosen = ops.gather_elements(log_probs, 1, action.expand_dims(1)).squeeze(1)
        if kind == "gaussian":
            chosen = (-0.5 * ((x[:, :3] - logits) / 0.8) ** 2 - 0.9).sum(-1)
        advantage = target - values
        if kind == "detached":
            advantage = ops.stop_gradient(advantage)
        if kind == "alone":
            return -(chosen * advantage).mean()
        fit = ops.mse_loss(values, target) if kind == "mse" else ops.square(values - target).mean()
        if kind == "ratio":
            ratio = ops.exp(chosen - ops.stop_gradient(chosen))
            policy = ops.minimum(ratio * advantage, ops.clamp(ratio, 0.8, 1.2) * advantage).mean()
        elif kind == "precision":  # a Gaussian likelihood with a learned variance
            return (ops.square(target - values) * ops.exp(-logits[:, 0]) + logits[:, 0]).mean() + fit
        elif kind == "dual":
            policy = (logits[:, 0] * advantage).mean()
        else:
            policy = (chosen * advantage).mean()
        entropy = -(log_probs * ops.exp(log_probs)).sum(-1).mean()
        return -policy + 0.5 * fit - 0.01 * entropy

    def batch(step: int) -> tuple[Any, ...]:
        x = random(16, 4, seed=step)
        action = np.random.default_rng(step).integers(0, 3, 16).astype(np.int32)
        return Tensor(x), Tensor(action), Tensor(x[:, 0] * (action - 1))

    weights = [*actor.trainable_params(), *critic.trainable_params()]
    return findings_of(loss, weights, batch, 10, 0.01, ("attached_advantage",))


@pytest.mark.parametrize("kind", ["chosen", "gathered", "gaussian", "mse", "ratio"])
def test_an_advantage_with_a_gradient(kind: str) -> None:
    message = agent(kind)["attached_advantage"]
    assert (
        "moves the values too, by net" in message and ".2.weight" in message and "return -policy + 0.5 * fit" in message
    )


@pytest.mark.parametrize("kind", ["detached", "alone", "precision", "dual"])
def test_products_that_are_no_attached_advantage(kind: str) -> None:
    assert agent(kind) == {}


def test_distillation_has_no_advantage() -> None:
    student, teacher = network(4, 16, 3), network(4, 16, 3)

    def loss(x: Any) -> Any:
        log_probs = ops.log_softmax(student(x), -1)
        return -(ops.softmax(teacher(x), -1) * log_probs).sum(-1).mean() + ops.square(student(x) - teacher(x)).mean()

    assert findings_of(loss, student.trainable_params(), noise, 20) == {}


def test_what_an_attached_advantage_needs() -> None:
    assert ATTACHED(AdvantageObservation("critic.weight", "a.py, line 3"), float("nan")) is not None
    assert ATTACHED(AdvantageObservation(""), float("nan")) is None


# An objective that moves


def course_of(kind: str) -> dict[str, str]:
    net, target = network(4, 16, 3), network(4, 16, 3)
    for parameter in target.get_parameters():
        parameter.requires_grad = False
    held_out, seeds = Tensor(random(8, 4, seed=99)), iter(range(10**6))

    def loss(x: Any) -> Any:
        if kind == "advantages":
            log_probs = ops.log_softmax(net(x), -1)[:, 0]
            return -(log_probs * x[:, 1]).mean() + 3.0
        wanted = target(x) if kind == "target" else Tensor(random(16, 3, seed=next(seeds)))
        return ops.square(net(x) - wanted).mean() + 5.0

    def after(step: int) -> None:
        if kind == "acting":
            net(Tensor(random(8, 4, seed=step + 10**6)))
        if kind == "held out":
            net(held_out)
        if kind == "target" and step % 5 == 4:
            for old in target.get_parameters():
                old.set_data(old.value() + 0.5)

    return findings_of(loss, net.trainable_params(), noise, 60, 1e-4, ("loss_not_decreasing",), after)


@pytest.mark.parametrize("kind", ["advantages", "target", "acting"])
def test_an_objective_that_moves_need_not_fall(kind: str) -> None:
    assert course_of(kind) == {}


@pytest.mark.parametrize("kind", ["fixed", "held out"])
def test_an_objective_that_stands_is_to_fall(kind: str) -> None:
    assert "loss_not_decreasing" in course_of(kind)


def test_a_step_cell_is_no_policy() -> None:
    net = network(4, 16, 3)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-6)
    step_cell = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    with DebugSession(None, conditions=["loss_not_decreasing"]) as session:
        for step in range(40):
            step_cell(Tensor(random(512, 4, seed=step)), Tensor(random(512, 3, seed=step + 999)))
    assert [finding.condition for finding in session.findings()] == ["loss_not_decreasing"]


def test_watching_changes_nothing() -> None:
    def run(watched: bool) -> list[bytes]:
        ms.set_seed(1)
        loss, weights = spread(True)
        if watched:
            findings_of(loss, weights, noise, 15)
        else:
            optimizer = nn.Adam(weights, learning_rate=0.01)
            step_fn = ms.value_and_grad(loss, None, optimizer.parameters)
            for step in range(15):
                optimizer(step_fn(*noise(step))[1])
        return [weight.asnumpy().tobytes() for weight in weights]

    assert run(True) == run(False)
