"""Conditions on what optimizers are called with and what becomes of their updates; each beside sound look-alikes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, ParameterTuple, Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.checks.optimizer.element_sample import ElementSample

CLASSES = 3

Gradients = tuple[Tensor, ...]
Loop = Callable[["Training"], None]


class Training:
    """A classifier, its data, and the parts of a loop."""

    def __init__(self, optimizer: Callable[..., nn.Optimizer] = nn.SGD, **options: Any) -> None:
        ms.set_seed(0)
        self.random = np.random.default_rng(0)
        self.net = nn.SequentialCell(nn.Dense(6, 12), nn.Tanh(), nn.Dense(12, CLASSES))
        self.net.set_train()
        self.centers = self.random.normal(0, 2, (CLASSES, 6))
        self.parameters = ParameterTuple(self.net.trainable_params())
        options = options or {"learning_rate": 0.05}
        self.optimizer = optimizer(self.parameters, **options)
        self.gradient = value_and_grad(self.loss, None, self.parameters)

    def batch(self, count: int = 12) -> tuple[Tensor, Tensor]:
        labels = self.random.integers(0, CLASSES, count)
        x = self.centers[labels] + self.random.normal(size=(count, 6))
        return Tensor(x.astype(np.float32)), Tensor(labels.astype(np.int32))

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        return ops.cross_entropy(self.net(x), y)

    def gradients(self) -> Gradients:
        gradients: Gradients = self.gradient(*self.batch())[1]
        return gradients

    def arrays(self) -> list[np.ndarray]:
        return [parameter.asnumpy().copy() for parameter in self.parameters]


def findings_of(condition: str, training: Training, loop: Loop) -> list[str]:
    """Return the messages of one condition."""
    with DebugSession(training.net, conditions=[condition]) as session:
        loop(training)
    assert not session.faults
    return [finding.message for finding in session.findings()]


def test_a_sample_has_the_same_elements_each_time_and_reads_no_more() -> None:
    values = [np.arange(3000, dtype=np.float32).reshape(50, 60), np.float32(3.0), np.arange(5, dtype=np.float16)]
    parameters = [Parameter(Tensor(value), f"p{index}") for index, value in enumerate(values)]
    sample = ElementSample([*parameters, Parameter(Tensor(np.arange(4)), "whole")])
    assert sample.positions == [0, 1, 2]
    read = sample.read([parameter._array for parameter in parameters])
    assert read is not None and len(read) == 64 + 1 + 5
    flat = values[0].reshape(-1)
    assert set(read[:64]) <= set(flat) and len(set(read[:64])) == 64 and len({int(x) % 60 for x in read[:64]}) > 30
    turned = np.asfortranarray(values[0])
    np.testing.assert_array_equal(sample.read([turned, values[1].reshape(()), values[2]]), read)
    assert sample.read([values[0].T, *values[1:]]) is None
    assert sample.read([np.full_like(values[0], np.inf), *values[1:]]) is None
    zeros = sample.read([None, None, None])
    assert zeros is not None and len(zeros) == len(read) and not zeros.any()


# Gradients that are never cleared


def accumulated(every: int = 1, clears: bool = False, mean: bool = False) -> Loop:
    def loop(training: Training) -> None:
        held = [ops.zeros_like(parameter) for parameter in training.parameters]
        for _ in range(14):
            for _ in range(every):
                divisor = every if mean else 1
                held = [h + g / divisor for h, g in zip(held, training.gradients(), strict=True)]
            training.optimizer(tuple(held))
            if clears:
                held = [ops.zeros_like(parameter) for parameter in training.parameters]

    return loop


def by_rule(rule: Callable[[Any, Any, int], Any]) -> Loop:
    """Return a loop whose gradients are made of the ones before and the new ones."""

    def loop(training: Training) -> None:
        held: list[Any] = [ops.zeros_like(parameter) for parameter in training.parameters]
        for step in range(20):
            held = [rule(h, g, step) for h, g in zip(held, training.gradients(), strict=True)]
            training.optimizer(tuple(held))

    return loop


def of_one_batch(training: Training) -> None:
    batch = training.batch()
    for _ in range(20):
        training.optimizer(training.gradient(*batch)[1])


@pytest.mark.parametrize(("every", "mean"), [(1, False), (3, False), (3, True)])
def test_gradients_that_are_never_cleared_are_told(every: int, mean: bool) -> None:
    (message,) = findings_of("gradients_accumulate", Training(), accumulated(every, mean=mean))
    calls = "a gradient call" if every == 1 else f"{every} gradient calls"
    assert f"in 10 calls in a row it got those of the call before plus the ones of {calls}" in message
    assert message.startswith("gradients_accumulate in SGD")


def test_gradients_kept_in_parameters_and_in_numpy_are_told_as_well() -> None:
    def in_parameters(training: Training) -> None:
        held = training.parameters.clone(prefix="held", init="zeros")
        for _ in range(14):
            for parameter, gradient in zip(held, training.gradients(), strict=True):
                ops.assign_add(parameter, gradient)
            training.optimizer(tuple(parameter.value().copy() for parameter in held))

    def in_numpy(training: Training) -> None:
        held = [np.zeros_like(array) for array in training.arrays()]
        for _ in range(14):
            for array, gradient in zip(held, training.gradients(), strict=True):
                array += gradient.asnumpy()
            training.optimizer(tuple(Tensor(array.copy()) for array in held))

    for loop in (in_parameters, in_numpy):
        assert len(findings_of("gradients_accumulate", Training(), loop)) == 1


@pytest.mark.parametrize(
    "loop",
    [
        accumulated(4, clears=True),
        accumulated(4, clears=True, mean=True),
        by_rule(lambda h, g, _: 0.9 * h + g),
        by_rule(lambda h, g, _: 0.99 * h + g),
        by_rule(lambda h, g, _: 0.999 * h + g),
        by_rule(lambda h, g, _: 0.9 * h + 0.1 * g),
        by_rule(lambda h, g, step: h + (g - h) / (step + 1)),
        by_rule(lambda h, g, step: g if step % 8 == 0 else h + g),
        by_rule(lambda h, g, step: g * 1.5**step),
        by_rule(lambda h, g, _: ops.sign(g)),
        of_one_batch,
    ],
)
def test_momentum_averages_and_accumulation_that_is_cleared_are_not_told(loop: Loop) -> None:
    assert findings_of("gradients_accumulate", Training(), loop) == []


def test_one_weight_whose_gradients_have_one_direction_tells_nothing() -> None:
    weight = Parameter(Tensor(np.ones(4, np.float32)), "w")
    optimizer = nn.SGD([weight], 0.01)
    step = value_and_grad(lambda x: (weight * x).sum(), None, [weight])
    held: Any = ops.zeros_like(weight)
    with DebugSession(conditions=["gradients_accumulate"]) as session:
        for _ in range(20):
            held = 0.9 * held + step(Tensor(np.ones(4, np.float32)))[1][0]
            optimizer((held,))
    assert not session.findings()


# Sums in place of means


def summed(training: Training, count: int = 8, divide: bool = False, loss_divisor: int = 1) -> None:
    gradient = value_and_grad(lambda x, y: training.loss(x, y) / loss_divisor, None, training.parameters)
    for _ in range(4):
        held: Any = None
        for _ in range(count):
            gradients = gradient(*training.batch())[1]
            held = gradients if held is None else [h + g for h, g in zip(held, gradients, strict=True)]
        training.optimizer(tuple(h / count for h in held) if divide else tuple(held))


def test_a_sum_of_gradient_calls_is_told_where_the_update_is_too_large() -> None:
    for condition in ("learning_rate_too_large", "update_too_large"):
        training = Training(learning_rate=8.0)
        with DebugSession(training.net, conditions=[condition]) as session:
            summed(training)
        finding = session.findings()[0]
        assert "its gradients are the sum of those of 8 gradient calls, not their mean" in finding.message
        assert finding.advice == "Divide the sum of the gradients by 8, the number of gradient calls."


@pytest.mark.parametrize(
    "loop",
    [
        lambda training: summed(training, divide=True),
        lambda training: summed(training, loss_divisor=8),
        lambda training: summed(training, count=1),
    ],
)
def test_a_mean_of_gradient_calls_is_not_called_a_sum(loop: Loop) -> None:
    training = Training(learning_rate=60.0)
    messages = findings_of("learning_rate_too_large", training, loop)
    assert messages and not any("sum" in message for message in messages)


def test_the_sum_of_two_losses_gradients_is_no_sum_of_parts_of_a_batch() -> None:
    training = Training(learning_rate=60.0)
    other = value_and_grad(lambda x: ops.square(training.net(x)).mean(), None, training.parameters)

    def loop(training: Training) -> None:
        for _ in range(3):
            x, y = training.batch()
            first, second = training.gradient(x, y)[1], other(x)[1]
            training.optimizer(tuple(a + b for a, b in zip(first, second, strict=True)))

    messages = findings_of("learning_rate_too_large", training, loop)
    assert messages and not any("sum" in message for message in messages)


# Loss scales


def scaled(
    order: Sequence[str], scale: float = 1024.0, limit: float = 0.05, own_scale: float = 1.0, rescale: bool = False
) -> tuple[Training, Loop]:
    options = {"learning_rate": 0.05, "momentum": 0.9, "loss_scale": own_scale}
    training = Training(nn.Momentum, **options)
    gradient = value_and_grad(lambda x, y: training.loss(x, y) * scale, None, training.parameters)

    def loop(training: Training) -> None:
        for _ in range(8):
            gradients = gradient(*training.batch())[1]
            for name in order:
                if name == "clip":
                    gradients = ops.clip_by_global_norm(gradients, limit)
                elif name == "divide":
                    gradients = tuple(g / scale for g in gradients)
                elif name == "multiply":
                    gradients = tuple(g * (1 / scale) for g in gradients)
            training.optimizer(gradients)

    return training, loop


@pytest.mark.parametrize("unscale", ["divide", "multiply"])
def test_clipping_before_the_loss_scale_is_removed_is_told(unscale: str) -> None:
    training, loop = scaled(["clip", unscale], limit=1.0)
    (message,) = findings_of("gradients_scaled_down", training, loop)
    assert "clipped to norm 1 while they have the loss scale of 1024, and divided by it afterwards" in message


def test_clipping_before_the_optimizer_removes_the_loss_scale_is_told() -> None:
    training, loop = scaled(["clip"], limit=2.0, own_scale=1024.0)
    (message,) = findings_of("gradients_scaled_down", training, loop)
    assert "clipped to norm 2 while they have the loss scale of 1024" in message


def test_a_loss_scale_that_is_removed_twice_is_told() -> None:
    training, loop = scaled(["divide"], own_scale=1024.0)
    (message,) = findings_of("gradients_scaled_down", training, loop)
    assert "it gets 0.000977 of the gradients" in message and "divided by it twice" in message


@pytest.mark.parametrize(
    ("order", "options"),
    [
        (["divide", "clip"], {}),
        (["divide", "clip"], {"limit": 1e-3}),
        (["divide"], {}),
        ([], {"own_scale": 1024.0}),
        (["clip"], {}),
        (["clip"], {"limit": 1024.0, "own_scale": 1024.0}),
        (["clip", "divide"], {"limit": 1e6}),
        (["divide"], {"scale": 0.125}),
        ([], {"scale": 10.0}),
    ],
)
def test_loss_scales_that_are_removed_first_and_small_limits_are_not_told(
    order: list[str], options: dict[str, Any]
) -> None:
    assert findings_of("gradients_scaled_down", *scaled(order, **options)) == []


def half_network(scale: float) -> tuple[nn.Cell, Any]:
    ms.set_seed(0)
    net = nn.SequentialCell(nn.Dense(6, 12), nn.ReLU(), nn.Dense(12, CLASSES)).to_float(ms.float16)
    return net, ms.amp.DynamicLossScaler(scale_value=scale, scale_factor=2, scale_window=100)


def half_precision(
    session: DebugSession, scale: float = 2.0**24, skips: bool = True, steps: int = 20, updates: bool = True
) -> None:
    net, scaler = half_network(scale)
    parameters = ParameterTuple(net.trainable_params())
    optimizer = nn.SGD(parameters, 0.05)
    random = np.random.default_rng(0)
    step = value_and_grad(lambda x, y: scaler.scale(ops.cross_entropy(net(x).astype(ms.float32), y)), None, parameters)
    with session:
        for _ in range(steps):
            labels = random.integers(0, CLASSES, 12).astype(np.int32)
            x = np.eye(6)[labels] + 0.1 * random.normal(size=(12, 6))
            _, gradients = step(Tensor(x.astype(np.float32)), Tensor(labels))
            finite = ms.amp.all_finite(gradients)
            if updates and (finite or not skips):
                optimizer(scaler.unscale(gradients))
            scaler.adjust(finite)


def names(session: DebugSession) -> set[str]:
    return {finding.condition for finding in session.findings()}


@pytest.mark.parametrize("conditions", [["nan", "inf", "overflow"], ["inf"], ["all"]])
def test_overflows_that_a_dynamic_loss_scale_skips_are_not_told(conditions: list[str]) -> None:
    session = DebugSession(conditions=conditions)
    half_precision(session)
    assert not names(session) & {"nan", "inf", "overflow"}


def test_overflows_that_an_update_was_made_with_are_told() -> None:
    session = DebugSession(conditions=["nan", "inf"])
    half_precision(session, skips=False, steps=3)
    assert "inf" in names(session)
    assert min(finding.first_step for finding in session.findings()) == 1


def test_overflows_are_told_at_the_end_if_no_update_was_ever_made() -> None:
    session = DebugSession(conditions=["inf"])
    half_precision(session, steps=2)
    assert names(session) == {"inf"}


def test_an_infinity_of_a_loss_without_scale_is_told_at_once() -> None:
    weight = Parameter(Tensor(np.zeros(4, np.float32)), "w")
    step = value_and_grad(lambda x: ops.sqrt(ops.square(weight * x)).sum(), None, [weight])
    net = nn.SequentialCell(nn.Dense(2, 2))
    with DebugSession(net, conditions=["nan", "inf"]) as session:
        value_and_grad(lambda x: ops.sqrt(net(x) * 0).sum(), None, net.trainable_params())(
            Tensor(np.ones((2, 2), np.float32))
        )
        step(Tensor(np.ones(4, np.float32)))
        assert names(session) & {"nan", "inf"}


# Updates that are taken back


def after_each(write: Callable[[Training, list[np.ndarray], list[np.ndarray], int], None], rate: float = 0.05) -> Any:
    """Return a training that calls ``write`` with the weights before and after each update, and its loop."""

    def loop(training: Training) -> None:
        for step in range(12):
            gradients = training.gradients()
            before = training.arrays()
            training.optimizer(gradients)
            write(training, before, training.arrays(), step)

    return Training(nn.Adam, learning_rate=rate), loop


def setting(rule: Callable[..., np.ndarray]) -> Callable[[Training, list[np.ndarray], list[np.ndarray], int], None]:
    def write(training: Training, before: list[np.ndarray], after: list[np.ndarray], step: int) -> None:
        for parameter, old, new in zip(training.parameters, before, after, strict=True):
            parameter.set_data(Tensor(np.asarray(rule(training, old, new, step), np.float32)))

    return write


def averaging(decay: float) -> tuple[Training, Loop]:
    def loop(training: Training) -> None:
        averages = training.arrays()
        for _ in range(12):
            training.optimizer(training.gradients())
            averages = [decay * a + (1 - decay) * w for a, w in zip(averages, training.arrays(), strict=True)]
            for parameter, average in zip(training.parameters, averages, strict=True):
                parameter.set_data(Tensor(average))

    return Training(nn.Adam, learning_rate=0.05), loop


@pytest.mark.parametrize("decay", [0.5, 0.9, 0.99, 0.999])
def test_an_average_that_is_written_onto_the_trained_weights_is_told(decay: float) -> None:
    (message,) = findings_of("updates_undone", *averaging(decay))
    assert f"after each of 5 updates in a row the same weights were written again, which took back {decay:g}" in message


def projected(training: Training, old: np.ndarray, new: np.ndarray, step: int) -> np.ndarray:
    return new * min(1.0, 0.5 / float(np.linalg.norm(new)))


@pytest.mark.parametrize(
    "rule",
    [
        lambda _, old, new, step: np.clip(new, -0.01, 0.01),
        lambda _, old, new, step: np.clip(new, -0.3, 0.3),
        projected,
        lambda _, old, new, step: new / np.linalg.norm(new, axis=-1, keepdims=True),
        lambda _, old, new, step: new * (np.abs(old) > np.median(np.abs(old))),
        lambda _, old, new, step: new * 0.99,
        lambda training, old, new, step: training.random.normal(0, 0.3, new.shape),
        lambda training, old, new, step: new + training.random.normal(0, 0.1, new.shape),
        lambda _, old, new, step: old,
        lambda _, old, new, step: new if step % 3 else old + 0.5 * (new - old),
        lambda _, old, new, step: np.round(new * 16) / 16,
        lambda _, old, new, step: old + 0.9 * (new - old),
    ],
)
def test_limits_masks_decay_noise_and_rejected_steps_are_not_told(rule: Callable[..., np.ndarray]) -> None:
    assert findings_of("updates_undone", *after_each(setting(rule))) == []


def test_weights_that_go_back_and_forth_with_a_line_search_are_not_told() -> None:
    def search(training: Training, before: list[np.ndarray], after: list[np.ndarray], step: int) -> None:
        training.net(training.batch()[0])  # the step is tried
        for parameter, old, new in zip(training.parameters, before, after, strict=True):
            parameter.set_data(Tensor(old + np.float32(0.5) * (new - old)))

    assert findings_of("updates_undone", *after_each(search)) == []


def test_a_manual_step_and_an_average_of_its_own_are_not_told() -> None:
    def manual(training: Training) -> None:
        for _ in range(12):
            for parameter, gradient in zip(training.parameters, training.gradients(), strict=True):
                parameter.set_data(parameter - 0.1 * gradient)

    def average(training: Training) -> None:
        averages = training.parameters.clone(prefix="average", init="same")
        for _ in range(12):
            training.optimizer(training.gradients())
            for mean, weight in zip(averages, training.parameters, strict=True):
                mean.set_data(0.99 * mean + 0.01 * weight)

    for loop in (manual, average):
        assert findings_of("updates_undone", Training(), loop) == []


def test_weights_at_a_limit_are_not_unchanged() -> None:
    def clip(training: Training, before: list[np.ndarray], after: list[np.ndarray], step: int) -> None:
        last = training.parameters[2]
        last.set_data(Tensor(np.where(np.ones_like(before[2]), before[2], 0)))

    assert findings_of("unchanged_weight", *after_each(clip)) == []


# Weight decay


def plain(steps: int) -> Loop:
    def loop(training: Training) -> None:
        for _ in range(steps):
            training.optimizer(training.gradients())

    return loop


def decayed(optimizer: Callable[..., nn.Optimizer], **options: Any) -> Training:
    training = Training(optimizer, **options)
    training.centers *= 0.02  # little to learn
    return training


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        (nn.SGD, {"learning_rate": 0.1, "weight_decay": 1.0}),
        (nn.Momentum, {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.5}),
        (nn.AdamWeightDecay, {"learning_rate": 1e-3, "weight_decay": 100.0}),
    ],
)
def test_a_weight_decay_that_shrinks_all_weights_is_told(
    optimizer: Callable[..., nn.Optimizer], options: dict[str, Any]
) -> None:
    (message,) = findings_of("weight_decay_too_large", decayed(optimizer, **options), plain(100))
    assert f"with weight_decay={options['weight_decay']:g} the norm of 2 of 2 weights fell from" in message


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        (nn.SGD, {"learning_rate": 0.1, "weight_decay": 5e-4}),
        (nn.SGD, {"learning_rate": 0.1}),
        (nn.Momentum, {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 5e-3}),
        (nn.AdamWeightDecay, {"learning_rate": 1e-3, "weight_decay": 0.05}),
        (nn.AdamWeightDecay, {"learning_rate": 1e-2, "weight_decay": 0.1}),
        (nn.Adam, {"learning_rate": 1e-2, "weight_decay": 1e-2}),
    ],
)
def test_usual_weight_decays_are_not_told(optimizer: Callable[..., nn.Optimizer], options: dict[str, Any]) -> None:
    for training in (Training(optimizer, **options), decayed(optimizer, **options)):
        assert findings_of("weight_decay_too_large", training, plain(100)) == []


def test_a_decay_beside_which_the_network_learns_and_that_of_a_regression_are_not_told() -> None:
    assert findings_of("weight_decay_too_large", Training(learning_rate=0.3, weight_decay=0.01), plain(100)) == []
    training = decayed(nn.SGD, learning_rate=0.1, weight_decay=1.0)
    training.net = nn.SequentialCell(nn.Dense(6, CLASSES))
    training.parameters = ParameterTuple(training.net.trainable_params())
    training.optimizer = nn.SGD(training.parameters, 0.1, weight_decay=1.0)
    training.gradient = value_and_grad(training.loss, None, training.parameters)
    assert findings_of("weight_decay_too_large", training, plain(100)) == []


# Adversaries


class Adversaries:
    """A generator and a discriminator of points."""

    def __init__(self) -> None:
        ms.set_seed(0)
        self.random = np.random.default_rng(0)
        self.generator = nn.SequentialCell(nn.Dense(4, 16), nn.ReLU(), nn.Dense(16, 2))
        self.discriminator = nn.SequentialCell(nn.Dense(2, 16), nn.LeakyReLU(0.2), nn.Dense(16, 1))
        self.generator.update_parameters_name("generator.")
        self.discriminator.update_parameters_name("discriminator.")

    def noise(self) -> Tensor:
        return Tensor(self.random.normal(size=(16, 4)).astype(np.float32))

    def real(self) -> Tensor:
        return Tensor((2 + 0.3 * self.random.normal(size=(16, 2))).astype(np.float32))

    def of_discriminator(self, real: Tensor, z: Tensor, detach: bool = False) -> Tensor:
        fake = self.generator(z)
        fake = ops.stop_gradient(fake) if detach else fake
        return ops.softplus(-self.discriminator(real)).mean() + ops.softplus(self.discriminator(fake)).mean()

    def of_generator(self, z: Tensor) -> Tensor:
        return ops.softplus(-self.discriminator(self.generator(z))).mean()

    def findings(
        self, first: list[Parameter], second: list[Parameter], condition: str = "opposed_updates", steps: int = 14
    ) -> list[str]:
        optimizers = nn.Adam(first, 2e-3), nn.Adam(second, 2e-3)
        step_first = value_and_grad(self.of_discriminator, None, optimizers[0].parameters)
        step_second = value_and_grad(self.of_generator, None, optimizers[1].parameters)
        with DebugSession(conditions=[condition]) as session:
            for _ in range(steps):
                optimizers[0](step_first(self.real(), self.noise())[1])
                optimizers[1](step_second(self.noise())[1])
        assert not session.faults
        return [finding.message for finding in session.findings()]


def test_a_discriminators_optimizer_with_the_generator_is_told() -> None:
    gan = Adversaries()
    both = [*gan.discriminator.trainable_params(), *gan.generator.trainable_params()]
    (message,) = gan.findings(both, gan.generator.trainable_params())
    assert "Adam (of discriminator.0.weight and 7 more) and Adam (of generator.0.weight and 3 more) both" in message
    assert re.search(r"train all of SequentialCell, in opposite directions: the median cosine .* is -0\.\d\d", message)


def test_optimizers_of_one_network_each_are_not_told() -> None:
    gan = Adversaries()
    assert gan.findings(gan.discriminator.trainable_params(), gan.generator.trainable_params()) == []


def test_samples_that_are_detached_have_no_gradients_to_oppose() -> None:
    gan = Adversaries()
    gan.of_discriminator = lambda real, z: Adversaries.of_discriminator(gan, real, z, detach=True)  # type: ignore[method-assign]
    both = [*gan.discriminator.trainable_params(), *gan.generator.trainable_params()]
    assert gan.findings(both, gan.generator.trainable_params()) == []


def two_losses(
    session: DebugSession, parameters: Sequence[Sequence[Parameter]], losses: Sequence[Callable[..., Tensor]]
) -> None:
    random = np.random.default_rng(0)
    optimizers = [nn.Adam(list(own), 2e-3) for own in parameters]
    steps = [
        value_and_grad(loss, None, optimizer.parameters) for loss, optimizer in zip(losses, optimizers, strict=True)
    ]
    with session:
        for _ in range(16):
            x = Tensor(random.normal(size=(16, 4)).astype(np.float32))
            for step, optimizer in zip(steps, optimizers, strict=True):
                optimizer(step(x)[1])
    assert not session.faults


def trunk_and_heads() -> Iterator[nn.Cell]:
    ms.set_seed(0)
    for name, inside, outside in (("trunk", 4, 8), ("actor", 8, 3), ("critic", 8, 1)):
        cell = nn.SequentialCell(nn.Dense(inside, outside))
        cell.update_parameters_name(f"{name}.")
        yield cell


def test_a_trunk_with_two_heads_whose_losses_pull_apart_is_not_told() -> None:
    trunk, actor, critic = trunk_and_heads()
    session = DebugSession(conditions=["opposed_updates"])
    two_losses(
        session,
        [[*trunk.trainable_params(), *cell.trainable_params()] for cell in (actor, critic)],
        [lambda x: actor(trunk(x)).mean(), lambda x: -trunk(x).mean() + 0 * critic(trunk(x)).mean()],
    )
    assert not session.findings()


def test_an_encoder_with_a_regularizer_of_its_own_beside_a_decoder_is_not_told() -> None:
    trunk, actor, critic = trunk_and_heads()
    session = DebugSession(conditions=["opposed_updates"])
    two_losses(
        session,
        [[*trunk.trainable_params(), *actor.trainable_params()], trunk.trainable_params()],
        [lambda x: actor(trunk(x)).mean(), lambda x: -trunk(x).sum() + 0 * critic(trunk(x)).mean()],
    )
    assert not session.findings()


def test_two_losses_in_turn_with_one_optimizer_and_two_with_the_same_loss_are_not_told() -> None:
    for signs in ((1, -1), (1, 1)):
        trunk, actor, _ = trunk_and_heads()
        session = DebugSession(conditions=["opposed_updates"])
        everything = [*trunk.trainable_params(), *actor.trainable_params()]
        losses = [lambda x, sign=sign: sign * ops.square(actor(trunk(x))).mean() for sign in signs]  # noqa: B023
        two_losses(session, [everything, everything], losses)  # unlearning: both hold everything
        assert not session.findings()


def test_sharpness_aware_steps_are_not_told() -> None:
    training = Training()

    def loop(training: Training) -> None:
        for _ in range(14):
            batch = training.batch()
            ascent = training.gradient(*batch)[1]
            for parameter, gradient in zip(training.parameters, ascent, strict=True):
                parameter.set_data(parameter + 0.05 * gradient)
            gradients = training.gradient(*batch)[1]
            for parameter, gradient in zip(training.parameters, ascent, strict=True):
                parameter.set_data(parameter - 0.05 * gradient)
            training.optimizer(gradients)

    for condition in ("opposed_updates", "updates_undone", "gradients_accumulate"):
        assert findings_of(condition, training, loop) == []


# Optimizers with other parameters


def test_an_adversarys_optimizer_with_the_others_parameters_is_told() -> None:
    gan = Adversaries()
    judge = gan.discriminator.trainable_params()
    (message,) = gan.findings(judge, judge, "optimizer_other_parameters")
    assert "as another optimizer does that is called in turn with it, and none holds the parameters of" in message
    assert "generator.0.weight" in message or "0.weight" in message


def test_two_optimizers_of_one_network_behind_a_frozen_or_loaded_one_are_not_told() -> None:
    for freeze in (True, False):
        gan = Adversaries()
        for parameter in gan.generator.get_parameters():
            if freeze:
                parameter.requires_grad = False
            else:
                parameter.set_data(Tensor(parameter.asnumpy() * 0.5))
        judge = gan.discriminator.trainable_params()
        assert gan.findings(judge, judge, "optimizer_other_parameters") == []


@pytest.mark.parametrize("mode", [None, True])
def test_a_head_that_was_replaced_after_the_optimizer_was_made_is_told_in_the_mode_of_a_new_cell(
    mode: bool | None,
) -> None:
    net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 10))
    if mode is not None:
        net.set_train(mode)
    optimizer = nn.SGD(net[2].trainable_params(), 0.05)
    net[2] = nn.Dense(8, 3)
    if mode is not None:
        net.set_train(mode)
    step = value_and_grad(lambda x: ops.square(net(x)).mean(), None, optimizer.parameters)
    with DebugSession(net, conditions=["optimizer_other_parameters"]) as session:
        for _ in range(3):
            optimizer(step(Tensor(np.ones((2, 4), np.float32)))[1])
    (finding,) = session.findings()
    assert finding.condition == "optimizer_other_parameters"


def test_a_network_whose_output_is_detached_is_no_other_network() -> None:
    generator, judge = nn.SequentialCell(nn.Dense(4, 2)), nn.SequentialCell(nn.Dense(2, 1))
    optimizer = nn.SGD(generator.trainable_params(), 0.05)
    step = value_and_grad(lambda x: judge(ops.stop_gradient(generator(x))).mean(), None, optimizer.parameters)
    with DebugSession(conditions=["optimizer_other_parameters", "no_gradient"]) as session:
        for _ in range(4):
            optimizer(step(Tensor(np.ones((2, 4), np.float32)))[1])
    assert names(session) == {"no_gradient"}


def test_alike_networks_whose_optimizers_wait_for_their_turn_are_not_told() -> None:
    twins = [nn.SequentialCell(nn.Dense(4, 1)) for _ in range(2)]
    optimizers = [nn.SGD(twin.trainable_params(), 0.05) for twin in twins]
    steps = [
        value_and_grad(lambda x, t=twin: ops.square(t(x) - 1).mean(), None, twin.trainable_params()) for twin in twins
    ]
    with DebugSession(conditions=["optimizer_other_parameters"]) as session:
        for _ in range(4):
            x = Tensor(np.ones((2, 4), np.float32))
            gradients = [ops.clip_by_global_norm(step(x)[1], 1.0) for step in steps]
            for optimizer, own in zip(optimizers, gradients, strict=True):
                optimizer(own)
    assert not session.findings()


class Container(nn.Cell):
    def __init__(self, first: nn.Cell, second: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.first, self.second = first, second

    def construct(self, x: Tensor) -> Any:
        return self.second(self.first(x))


@pytest.mark.parametrize("optimizers", [0, 1, 2])
def test_networks_of_equal_names_in_a_container_are_told_unless_optimizers_hold_them_apart(optimizers: int) -> None:
    first, second = nn.SequentialCell(nn.Dense(4, 4)), nn.SequentialCell(nn.Dense(4, 4))
    held = [nn.SGD(cell.trainable_params(), 0.1) for cell in (first, second)[:optimizers]]
    root = Container(first, second)
    with DebugSession(root, conditions=["same_names"]) as session:
        root(Tensor(np.ones((2, 4), np.float32)))
    assert bool(session.findings()) == (not held)


# Optimizers that are never called


def uncalled(use: Callable[[Training, Gradients], None], steps: int = 24) -> Loop:
    def loop(training: Training) -> None:
        for _ in range(steps):
            use(training, training.gradients())

    return loop


def by_hand(training: Training, gradients: Gradients) -> None:
    for parameter, gradient in zip(training.parameters, gradients, strict=True):
        parameter.set_data(parameter - 0.1 * gradient)


def by_numpy(training: Training, gradients: Gradients) -> None:
    for parameter, gradient in zip(training.parameters, gradients, strict=True):
        parameter.set_data(Tensor(parameter.asnumpy() - 0.1 * gradient.asnumpy()))


def test_an_optimizer_that_is_never_called_is_told() -> None:
    (message,) = findings_of("optimizer_not_called", Training(), uncalled(lambda training, gradients: None))
    assert "optimizer_not_called in SGD (it was never called in 24 gradient calls for its parameters" in message


@pytest.mark.parametrize(
    ("use", "steps"),
    [
        (lambda training, gradients: None, 12),
        (lambda training, gradients: training.optimizer(gradients), 24),
        (by_hand, 24),
        (by_numpy, 24),
        (lambda training, gradients: [ops.square(gradient).sum() for gradient in gradients], 24),
        (lambda training, gradients: nn.SGD(training.parameters, 0.1)(gradients), 24),
    ],
)
def test_steps_by_hand_and_gradients_that_are_measured_are_not_told(
    use: Callable[[Training, Gradients], None], steps: int
) -> None:
    assert findings_of("optimizer_not_called", Training(), uncalled(use, steps)) == []


def test_a_long_accumulation_takes_the_finding_back() -> None:
    def loop(training: Training) -> None:
        total = [np.zeros_like(array) for array in training.arrays()]
        for _ in range(210):
            for held, gradient in zip(total, training.gradients(), strict=True):
                held += gradient.asnumpy() / 210
        training.optimizer(tuple(map(Tensor, total)))

    assert findings_of("optimizer_not_called", Training(), loop) == []


def test_gradients_of_weights_that_no_optimizer_holds_are_not_told() -> None:
    training = Training()
    del training.optimizer
    assert findings_of("optimizer_not_called", training, uncalled(lambda training, gradients: None)) == []


# Watching


@pytest.mark.parametrize("loop", [plain(6), accumulated(3, clears=True), uncalled(by_hand, 6)])
def test_watching_changes_no_bit(loop: Loop) -> None:
    options = {"learning_rate": 0.05, "momentum": 0.9, "weight_decay": 0.5}
    alone = Training(nn.Momentum, **options)
    loop(alone)
    watched = Training(nn.Momentum, **options)
    with DebugSession(watched.net, conditions=["all"]) as session:
        loop(watched)
    assert not session.faults
    for first, second in zip(alone.arrays(), watched.arrays(), strict=True):
        np.testing.assert_array_equal(first, second)


def test_parameters_of_odd_kinds_are_watched_without_faults() -> None:
    scale = Parameter(Tensor(np.float32(1.0)), "scale")
    half = Parameter(Tensor(np.ones(3), ms.bfloat16), "half")
    whole = Parameter(Tensor(np.arange(3)), "whole", requires_grad=False)
    optimizer = nn.SGD([scale, half], 0.01, weight_decay=0.1)
    step = value_and_grad(lambda x: (scale * x * half.astype(ms.float32) * whole).sum(), None, [scale, half])
    with np.errstate(all="raise"), DebugSession(conditions=["all"]) as session:
        for _ in range(12):
            optimizer(step(Tensor(np.ones(3, np.float32)))[1])
    assert not session.faults
