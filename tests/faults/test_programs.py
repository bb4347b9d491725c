"""The corpus itself: each program runs, healthy ones learn, each planted fault shows, and is gone when mended.

The symptoms are computed here with NumPy from values that hooks saw, without the debugger.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn
from tests.faults.corpus import HEALTHY, PLANTED
from tests.faults.data import Array
from tests.faults.programs import KINDS, PLACES_OUTSIDE, Program, Run, tensors

BY_NAME = {program.name: program for program in (*PLANTED, *HEALTHY)}
of_each = functools.partial(pytest.mark.parametrize, "name")
each_planted = of_each([program.name for program in PLANTED])
each_healthy = of_each([program.name for program in HEALTHY])


@dataclass
class Call:
    """A call of the cell at the fault's place: the optimizer's steps so far, the mode, inputs and output."""

    steps: int
    training: bool
    inputs: tuple[Any, ...]
    output: Any = None


@dataclass
class ValueObservation:
    """A program that was trained, and the values that hooks saw."""

    program: Program
    run: Run
    mended: bool
    losses: list[float] = field(default_factory=list)
    error: Exception | None = None
    calls: list[Call] = field(default_factory=list)
    operands: list[tuple[Any, Any]] = field(default_factory=list)
    gradients: list[list[Array]] = field(default_factory=list)
    parameters: list[list[Array]] = field(default_factory=list)
    before: dict[str, Array] = field(default_factory=dict)

    @property
    def cell(self) -> Any:
        """Return the cell at the fault's place, or whose parameter it is; otherwise the network."""
        cells = dict(self.run.net.cells_and_names())
        path = self.program.place
        return cells.get(path) or cells.get(path.rpartition(".")[0]) or self.run.net

    @property
    def batch(self) -> tuple[Tensor, ...]:
        return tensors(self.run.batches[0])

    def parameters_by_path(self) -> dict[str, Parameter]:
        return dict(self.run.net.parameters_and_names())

    def of_parameter(self, parameter: Parameter) -> list[Array]:
        """Return the gradients of a parameter, a step each; none if the optimizer does not have it."""
        indices = [i for i, item in enumerate(self.run.optimizer.parameters) if item is parameter]
        return [gradients[indices[0]] for gradients in self.gradients] if indices else []

    def output(self) -> Array:
        """Return the network's output for the first batch, in predict mode."""
        self.run.net.set_train(False)
        result = self.run.net(*self.batch[: -1 if self.run.loss else None])
        return np.array(result.asnumpy())


@functools.cache
def observe(name: str, mended: bool = False) -> ValueObservation:
    """Train a program once a process, with hooks on it."""
    program = BY_NAME[name]
    run = program.mended() if mended and program.mended else program.build()
    observation = ValueObservation(program, run, mended)
    observation.before = {path: np.array(p.asnumpy()) for path, p in observation.parameters_by_path().items()}
    _hook(observation)
    try:
        observation.losses = run.train()
    except Exception as error:
        if program.raises is None or mended:
            raise
        observation.error = error
    return observation


def _hook(observation: ValueObservation) -> None:
    run, cell = observation.run, observation.cell

    def called(_: Any, inputs: Any) -> None:
        observation.calls.append(Call(len(observation.gradients), cell.training, inputs))

    def returned(_: Any, inputs: Any, output: Any) -> None:
        observation.calls[-1].output = output

    cell.register_forward_pre_hook(called)
    cell.register_forward_hook(returned)
    if isinstance(run.optimizer, nn.Optimizer):

        def stepping(optimizer: Any, inputs: Any) -> None:
            observation.gradients.append([np.array(g.asnumpy()) for g in inputs[0]])
            observation.parameters.append([np.array(p.asnumpy()) for p in optimizer.parameters])

        run.optimizer.register_forward_pre_hook(stepping)
    if isinstance(run.loss, nn.Cell):
        run.loss.register_forward_pre_hook(lambda _, inputs: observation.operands.append(inputs))
    elif run.loss is not None:
        loss = run.loss

        def watched(output: Any, label: Any) -> Any:
            observation.operands.append((output, label))
            return loss(output, label)

        run.loss = watched


# The corpus as a whole


def test_there_are_90_faults_60_healthy_programs_and_20_known_architectures() -> None:
    assert (len(PLANTED), len(HEALTHY), len({p.known for p in HEALTHY if p.known})) == (90, 60, 20)


def test_each_kind_is_planted_at_least_three_times() -> None:
    counts = Counter(program.kind for program in PLANTED)
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 3


def test_each_kind_is_planted_in_different_networks_and_ways() -> None:
    nets: dict[str, set[str]] = {}
    for program in PLANTED:
        shapes = sorted(str(p.shape) for p in program.build().net.get_parameters())
        nets.setdefault(program.kind, set()).add(str(shapes))
    assert {kind: len(variants) for kind, variants in nets.items() if len(variants) < 3} == {}


def test_names_are_unique_and_each_program_says_what_it_is() -> None:
    assert len(BY_NAME) == 150
    assert all(p.sentence.endswith(".") and len(p.sentence) < 120 for p in BY_NAME.values())
    assert len({p.sentence for p in BY_NAME.values()}) == 150


@each_planted
def test_the_places_are_in_the_network(name: str) -> None:
    program = BY_NAME[name]
    net = program.build().net
    there = {path for path, _ in net.cells_and_names()} | {path for path, _ in net.parameters_and_names()}
    assert {program.place, *program.also} <= there | set(PLACES_OUTSIDE)


@of_each(sorted(BY_NAME)[::5])
def test_a_program_computes_the_same_each_time(name: str) -> None:
    program = BY_NAME[name]
    if program.raises is None:
        np.testing.assert_array_equal(program.build().train(), observe(name).losses)


# Healthy ones


def learned(observation: ValueObservation) -> bool:
    losses = observation.losses
    return bool(np.isfinite(losses).all() and np.mean(losses[-3:]) < observation.program.falls_to * losses[0])


@each_healthy
def test_a_healthy_program_learns(name: str) -> None:
    assert learned(observe(name))


@each_planted
def test_a_mended_program_learns(name: str) -> None:
    assert learned(observe(name, mended=True))


@each_healthy
def test_in_a_healthy_program_all_that_should_learn_moves(name: str) -> None:
    observation = observe(name)
    resting = [
        path
        for path, parameter in observation.parameters_by_path().items()
        if parameter.requires_grad and np.array_equal(parameter.asnumpy(), observation.before[path])
    ]
    assert resting == []


@of_each([p.name for p in PLANTED if p.kind != "inputs_not_normalized"] + [p.name for p in HEALTHY])
def test_data_are_in_sensible_units_where_that_is_not_the_fault(name: str) -> None:
    columns = zip(*BY_NAME[name].build().batches, strict=True)
    for column in columns:
        values = np.concatenate(column)
        if values.dtype.kind == "f" and BY_NAME[name].kind != "labels_out_of_range_or_shifted":
            assert abs(values.mean()) < 3 and values.std() < 3


# Kinds that need no place, and the healthy programs that deliberately show one.
ANYWHERE = (
    "inputs_not_normalized",
    "one_class_only",
    "learning_rate_zero",
    "detached_graph",
    "exploding_gradient",
    "nan_produced",
)
ON_PURPOSE = {"group_normalization_with_batch_of_one": {"one_class_only"}, "warmup_from_zero": {"learning_rate_zero"}}


@of_each(sorted(BY_NAME.keys() - {"dcgan"}))  # which has two optimizers
def test_a_healthy_or_mended_program_has_no_other_fault(name: str) -> None:
    observation = observe(name, mended=True) if BY_NAME[name].kind else observe(name)
    assert {kind for kind in ANYWHERE if SYMPTOMS[kind](observation)} == ON_PURPOSE.get(name, set())


# Planted ones


@each_planted
def test_a_planted_program_ends_as_it_says(name: str) -> None:
    observation = observe(name)
    assert type(observation.error) is (observation.program.raises or type(None))
    assert bool(np.isfinite(observation.losses).all()) is not observation.program.not_finite
    assert 3 <= len(observation.losses) <= 40 or observation.error


@each_planted
def test_the_symptom_is_there(name: str) -> None:
    assert SYMPTOMS[BY_NAME[name].kind](observe(name))


@each_planted
def test_the_symptom_is_gone_when_mended(name: str) -> None:
    assert not SYMPTOMS[BY_NAME[name].kind](observe(name, mended=True))


def test_a_stale_mask_is_right_at_the_first_call() -> None:
    run = BY_NAME["mask_of_the_first_call"].build()
    x = Tensor(np.random.default_rng(0).normal(0, 1, (16, 32)).astype(np.float32))
    act = dict(run.net.cells_and_names())["act"]
    assert bprop_error(act, (x,)) < 0.05 < bprop_error(act, (-x,))


# The symptoms, one a kind

SYMPTOMS: dict[str, Callable[[ValueObservation], Any]] = {}


def symptom(check: Callable[[ValueObservation], Any]) -> Callable[[ValueObservation], Any]:
    """Register a check under its name, which is the kind."""
    SYMPTOMS[check.__name__] = check
    return check


def array(value: Any) -> Array:
    return np.array(value.asnumpy())


def softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))


def cross_entropy(logits: Array, labels: Array) -> float:
    return float(-np.log(softmax(logits)[np.arange(len(labels)), labels]).mean())


@symptom
def inputs_not_normalized(observation: ValueObservation) -> bool:
    x = np.concatenate([batch[0] for batch in observation.run.batches])
    if x.dtype.kind != "f":
        return False
    features = x if x.ndim == 2 else x.reshape(-1, 1)
    return bool((np.abs(features.mean(0)) > 10).any())


@symptom
def one_class_only(observation: ValueObservation) -> bool:
    return any(len(np.unique(batch[-1])) == 1 for batch in observation.run.batches)


@symptom
def labels_out_of_range_or_shifted(observation: ValueObservation) -> bool:
    output, labels = (array(operand) for operand in observation.operands[0])
    if labels.dtype.kind == "i":
        return bool(max(batch[-1].max() for batch in observation.run.batches) >= output.shape[1])
    if labels.max() > 1:
        return True
    return labels.ndim == 2 and labels.shape[1] > 1 and not (labels.sum(1) == 1).all()


@symptom
def loss_broadcasts(observation: ValueObservation) -> bool:
    output, labels = observation.operands[0]
    return {output.shape, labels.shape} == {(len(labels),), (len(labels), 1)}


@symptom
def softmax_twice(observation: ValueObservation) -> bool:
    output, labels = (array(operand) for operand in observation.operands[0])
    are_probabilities = (output >= 0).all() and np.allclose(output.sum(1), 1, atol=1e-5)
    probabilities = output if are_probabilities else softmax(output)
    return bool(np.isclose(observation.losses[0], cross_entropy(probabilities, labels), rtol=1e-4))


@symptom
def softmax_over_batch_axis(observation: ValueObservation) -> bool:
    output = array(observation.calls[0].output)
    return np.allclose((np.exp(output) if (output <= 0).all() else output).sum(0), 1, atol=1e-4)


@symptom
def cross_entropy_wrong_sign(observation: ValueObservation) -> bool:
    return observation.losses[0] < 0 and observation.losses[-1] < observation.losses[0]


@symptom
def first_loss_far_too_large(observation: ValueObservation) -> bool:
    output, labels = (array(operand) for operand in observation.operands[0])
    assert labels.max() < output.shape[1]
    return observation.losses[0] > 2.5 * float(np.log(output.shape[1]))


@symptom
def samples_leak(observation: ValueObservation) -> bool:
    observation.run.net.set_train(False)
    x = array(observation.batch[0])
    other = x.copy()
    other[0] = -x[0]
    first, second = (array(observation.run.net(Tensor(item))) for item in (x, other))
    return not np.allclose(first[1:], second[1:], atol=1e-5)


@symptom
def batch_of_one_under_batchnorm(observation: ValueObservation) -> bool:
    return any(call.training and call.inputs[0].size == call.inputs[0].shape[1] for call in observation.calls)


@symptom
def learning_rate_zero(observation: ValueObservation) -> bool:
    """Return whether a step leaves a parameter unchanged though it has a gradient."""
    after = [*observation.parameters[1:], [array(p) for p in observation.run.optimizer.parameters]]
    return any(
        np.abs(gradient).max() > 1e-5 and np.array_equal(old, new)
        for step in zip(observation.gradients, observation.parameters, after, strict=True)
        for gradient, old, new in zip(*step, strict=True)
    )


@symptom
def optimizer_other_parameters(observation: ValueObservation) -> bool:
    trained = (
        getattr(observation.run.net, "student", observation.run.net)
        if hasattr(observation.run.net, "teacher")
        else observation.run.net
    )
    return {id(p) for p in observation.run.optimizer.parameters} != {id(p) for p in trained.trainable_params()}


@symptom
def predict_mode_with_stale_statistics(observation: ValueObservation) -> bool:
    assert isinstance(observation.cell, nn.BatchNorm1d | nn.BatchNorm2d)
    return sum(call.training for call in observation.calls) < len(observation.gradients)


@symptom
def wrong_mode(observation: ValueObservation) -> bool:
    """Return whether a call after the last step is in training mode, or differs when it is repeated."""
    last = observation.calls[-1]
    assert last.steps == len(observation.gradients)
    ms.set_seed(2)
    once, again = (array(observation.cell(*last.inputs)) for _ in range(2))
    return last.training or not np.array_equal(once, again)


@symptom
def learning_rate_too_large(observation: ValueObservation) -> bool:
    losses = np.array(observation.losses)
    return bool(not np.isfinite(losses).all() or max(losses) > 1.5 * losses[0])


def distance(observation: ValueObservation) -> float:
    """Return how far all parameters moved, relative to their length."""
    now = {
        path: array(parameter)
        for path, parameter in observation.parameters_by_path().items()
        if parameter.requires_grad
    }
    apart = sum(float(np.square(value - observation.before[path]).sum()) for path, value in now.items())
    return float(np.sqrt(apart / sum(float(np.square(observation.before[path]).sum()) for path in now)))


@symptom
def learning_rate_too_small(observation: ValueObservation) -> bool:
    assert np.abs(observation.gradients[0][0]).max() > 1e-4
    return distance(observation) < 1e-3


@symptom
def frozen_parameter(observation: ValueObservation) -> bool:
    parameter = observation.parameters_by_path()[observation.program.place]
    return not parameter.requires_grad and np.array_equal(
        array(parameter), observation.before[observation.program.place]
    )


def has_effect(observation: ValueObservation, parameter: Parameter) -> bool:
    """Return whether the output changes with the parameter."""
    first, original = observation.output(), array(parameter)
    drawn = np.random.default_rng(0).normal(0, 0.5, original.shape).astype(original.dtype)
    parameter.set_data(Tensor(original + drawn))
    second = observation.output()
    parameter.set_data(Tensor(original))
    return not np.allclose(first, second, atol=1e-4)


def without_gradient(observation: ValueObservation) -> Iterator[tuple[str, Parameter]]:
    for path, parameter in observation.parameters_by_path().items():
        gradients = observation.of_parameter(parameter)
        if gradients and not any(g.any() for g in gradients):
            yield path, parameter


@symptom
def unused_parameter(observation: ValueObservation) -> bool:
    resting = [p for path, p in without_gradient(observation) if path.startswith(observation.program.place)]
    return bool(resting) and not any(has_effect(observation, parameter) for parameter in resting)


@symptom
def detached_graph(observation: ValueObservation) -> bool:
    return any(has_effect(observation, parameter) for _, parameter in without_gradient(observation))


@symptom
def dead_relu(observation: ValueObservation) -> bool:
    return float(np.mean([np.mean(array(call.output) <= 0) for call in observation.calls])) > 0.98


def first_to_last(observation: ValueObservation) -> float:
    """Return the gradient of the first step or the first layer, relative to that of the last one, at the beginning."""
    build = observation.program.mended if observation.mended else observation.program.build
    assert build is not None
    fresh = build()
    x, label = tensors(fresh.batches[0])
    if x.ndim == 3:
        of_x = array(ms.grad(lambda x: fresh.loss(fresh.net(x), label))(x))
        return float(np.linalg.norm(of_x[:, 0]) / np.linalg.norm(of_x[:, -1]))
    sizes = [float(np.linalg.norm(g)) for g in observation.gradients[0]]
    return sizes[0] / max(sizes[1:])


@symptom
def vanishing_gradient(observation: ValueObservation) -> bool:
    return first_to_last(observation) < 1e-4


@symptom
def exploding_gradient(observation: ValueObservation) -> bool:
    sizes = [np.sqrt(sum(np.square(g.astype(float)).sum() for g in step)) for step in observation.gradients]
    return bool(np.isfinite(sizes[0]) and max(sizes[:3]) > 100)


@symptom
def nan_produced(observation: ValueObservation) -> bool:
    return bool(
        np.isnan(observation.losses).any() or any(np.isnan(g).any() for step in observation.gradients for g in step)
    )


@symptom
def inf_inside(observation: ValueObservation) -> bool:
    inside = [array(observation.cell.inside(call.inputs[0])) for call in observation.calls]
    assert all(np.isfinite(array(call.output)).all() for call in observation.calls)
    return any(np.isinf(values).any() for values in inside)


@symptom
def saturated_activation(observation: ValueObservation) -> bool:
    ends = np.array([0.0, 1.0] if isinstance(observation.cell, nn.Sigmoid) else [-1.0, 1.0])
    output = np.concatenate([array(call.output).ravel() for call in observation.calls])
    return float((np.abs(output[:, None] - ends).min(1) < 0.01).mean()) > 0.9


@symptom
def bad_initialization(observation: ValueObservation) -> bool:
    path = f"{observation.program.place}."
    weights = [value for name, value in observation.before.items() if name.startswith(path) and value.ndim > 1]
    flat = [value.reshape(len(value), -1) for value in weights]
    return all(np.ptp(value, 0).max() == 0 or np.ptp(value, 1).max() == 0 for value in flat)


def cells_below(cell: Any) -> Iterator[Any]:
    """Return all cells below, each as often as it is held."""
    for child in cell._cells.values():
        if child is not None:
            yield child
            yield from cells_below(child)


@symptom
def shared_parameter_by_mistake(observation: ValueObservation) -> bool:
    counts = Counter(id(cell) for cell in cells_below(observation.run.net))
    return counts[id(observation.cell)] > 1


def bprop_error(cell: Any, inputs: tuple[Tensor, ...]) -> float:
    """Return how far a cell's gradients are from central differences, in eight directions of each input and weight."""
    random = np.random.default_rng(0)
    shape = cell(*inputs).shape
    onto = Tensor(random.normal(0, 1, shape).astype(np.float32))
    weights = list(cell.trainable_params())
    of_inputs, of_weights = ms.grad(lambda *xs: (cell(*xs) * onto).sum(), tuple(range(len(inputs))), weights)(*inputs)
    gradients = [*(of_inputs if isinstance(of_inputs, tuple) else (of_inputs,)), *of_weights]
    exact, own = [], []
    for index, (tensor, gradient) in enumerate(zip([*inputs, *weights], gradients, strict=True)):
        original = array(tensor)
        for _ in range(8):
            direction = random.normal(0, 1, original.shape).astype(np.float32)
            values = []
            for step in (0.01, -0.01):
                arrays = list(inputs)
                if index < len(inputs):
                    arrays[index] = Tensor(original + step * direction)
                else:
                    weights[index - len(inputs)].set_data(Tensor(original + step * direction))
                values.append(float((array(cell.construct(*arrays)).astype(float) * array(onto)).sum()))
            if index >= len(inputs):
                weights[index - len(inputs)].set_data(Tensor(original))
            exact.append((values[0] - values[1]) / 0.02)
            own.append(float((array(gradient) * direction).sum()))
    return float(np.linalg.norm(np.subtract(exact, own)) / np.linalg.norm(exact))


@symptom
def wrong_bprop(observation: ValueObservation) -> bool:
    return bprop_error(observation.cell, observation.calls[-1].inputs) > 0.05
