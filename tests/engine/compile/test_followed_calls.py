"""Compiled functions inside gradients that are computed outside: values, gradients and hooks as without ``jit``."""

from __future__ import annotations

import contextlib
import importlib
import random as python_random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from networks.record import FAMILIES

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, mint, nn, ops
from hookscope.engine.compile import plans_of
from hookscope.engine.debug import DebugSession
from hookscope.engine.tensors import random
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.operator import OPERATORS
from hookscope.kernel.alias import install_as_mindspore, uninstall
from tests.engine.debug.debug_networks import scripted
from tests.engine.debug.test_bits import CASES, NETWORKS, Bits, Switch

install_as_mindspore()  # while the programs are imported, which contain `import mindspore`
try:
    from networks import steps

    for family in FAMILIES:
        importlib.import_module(f"networks.{family}")
finally:
    uninstall()

identity, cast = OPERATORS["identity"], OPERATORS["cast"]
Function = Callable[..., Any]
CALLS = 5  # two are eager, the third runs its backward pass under a tracer, the others have plans
X = Tensor(np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.5]], np.float32))


def bits(value: Any) -> list[tuple[Any, ...]]:
    """Return dtypes, shapes and bytes of the tensors in a value."""
    return [(t.dtype, t.shape, t.asnumpy().tobytes()) for t in tensors_in(value)]


def outcomes(make: Callable[[Function], Any], way: Function, calls: int = CALLS) -> list[Any]:
    """Return the results of a program's calls; it gets ``jit`` or the identity for its functions."""
    ms.set_seed(3)
    run = make(way)
    return [bits(run()) for _ in range(calls)]


def plainly(function: Function) -> Function:
    return function


def compare(make: Callable[[Function], Any]) -> list[Any]:
    """Check that a program gives the same bits with compiled functions as without; return their plans."""
    made: list[Any] = []

    def compiled(function: Function) -> Any:
        made.append(ms.jit(function))
        return made[-1]

    assert outcomes(make, compiled) == outcomes(make, plainly)
    return [compiled for function in made for compiled in plans_of(function)]


def network() -> nn.Cell:
    ms.set_seed(1)
    return nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.LayerNorm((4,)), nn.Dense(4, 3)).set_train()


# Programs


def in_a_gradient(way: Function) -> Function:
    net = network()
    forward = way(lambda x: net(x) * 2 + x.sum())
    return lambda: ms.value_and_grad(lambda x: (forward(x) * x).sum(), 0, net.trainable_params())(X)


def a_network_in_an_eager_training_step(way: Function) -> Function:
    net = network()
    net.construct = way(net.construct)  # type: ignore[method-assign]
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    step = ms.value_and_grad(lambda x: ((net(x) - 1) ** 2).mean(), None, net.trainable_params())

    def run() -> Any:
        loss, gradients = step(X)
        optimizer(gradients)
        return loss, gradients, list(net.trainable_params())

    return run


def several_calls_of_one_function(way: Function) -> Function:
    net = network()
    forward = way(lambda x: net(x))
    return lambda: ms.value_and_grad(lambda x: forward(forward(x) + x).sum(), 0, net.trainable_params())(X)


def an_input_used_inside_and_around(way: Function) -> Function:
    inner = way(lambda x: (x * 1e8, x * x, x + 1e-8))
    return lambda: ms.grad(lambda x: (x * 3 + sum(inner(x)) + ops.exp(x) + inner(x * 2)[1]).sum())(X)


def some_of_the_outputs(way: Function) -> Function:
    inner = way(lambda x: (ops.sin(x), ops.exp(x), x.sum()))
    return lambda: [ms.grad(lambda x, k=k: (inner(x)[k] * x).sum())(X) for k in range(3)]


def some_of_the_inputs(way: Function) -> Function:
    inner = way(lambda x, y, z: (ops.sin(x) * y, z * 2))
    y, z = X * 3, X - 1

    def run() -> Any:
        first = ms.grad(lambda x: sum(inner(x, y, z)).sum())(X)
        second = ms.grad(lambda x, y: (inner(x, y, z)[0] * inner(z, x, y)[1]).sum(), (0, 1))(X, y)
        return first, second

    return run


def an_output_that_is_used_inside_too(way: Function) -> Function:
    def inner(x: Any) -> Any:
        hidden = ops.tanh(x)
        return hidden, (hidden * hidden).sum(), ops.exp(hidden)

    compiled = way(inner)
    return lambda: ms.grad(lambda x: (lambda a, b, c: (a * b).sum() + (c * c).sum() + (x * a).sum())(*compiled(x)))(X)


def random_numbers(way: Function) -> Function:
    def inner(x: Any) -> Any:
        return ops.dropout(x * 2, p=0.5, training=True) * ops.dropout(x, p=0.2, training=True)

    compiled = way(inner)
    return lambda: (ms.value_and_grad(lambda x: (compiled(x) * compiled(x)).sum())(X), ops.standard_normal((2,)))


def random_numbers_beside_the_tape(way: Function) -> Function:
    def inner(x: Any) -> Any:
        ops.dropout(ops.stop_gradient(x), p=0.5, training=True)
        return ops.sin(x) * ops.dropout(ops.stop_gradient(x), p=0.5, training=True)

    compiled = way(inner)
    return lambda: (ms.value_and_grad(lambda x: (compiled(x) * compiled(x)).sum())(X), ops.standard_normal((2,)))


def moving_statistics(way: Function) -> Function:
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.ReLU()).set_train()
    forward = way(lambda x: net(x))
    step = ms.value_and_grad(lambda x: (forward(x) ** 2).sum(), 0, net.trainable_params())
    return lambda: (step(X), list(net.get_parameters()))


def a_parameter_that_is_changed(way: Function) -> Function:
    weight = Parameter(Tensor(2.0), name="weight")

    def inner(x: Any) -> Any:
        y = x * weight
        ops.assign(weight, weight * 0.5 + y.sum() * 0.01)
        return y

    compiled = way(inner)
    return lambda: (ms.grad(lambda x: (compiled(x) * weight).sum(), 0, weight)(X), weight)


def elements_written(way: Function) -> Function:
    def inner(x: Any) -> Any:
        y = x * 1
        y[0] = ops.sin(y[1])
        y[:, 1] *= 3
        return y

    compiled = way(inner)
    return lambda: ms.grad(lambda x: (compiled(x) * x).sum())(X)


def indices(way: Function) -> Function:
    positions = Tensor([1, 0, 1])
    inner = way(lambda x, places: ops.gather(x, places, 0) * x[places] + x[0])
    return lambda: ms.grad(lambda x: (inner(x, positions) ** 2).sum())(X)


def a_gradient_of_a_gradient(way: Function) -> Function:
    inner = way(lambda x: ops.sin(x) * x**3)
    first = ms.grad(lambda x: (inner(x) * x).sum())
    return lambda: (ms.grad(lambda x: (first(x) ** 2).sum())(X), first(X))


def vjp_and_jvp(way: Function) -> Function:
    inner = way(lambda x: ops.sin(x) * x)

    def run() -> Any:
        value, back = ms.vjp(lambda x: inner(x) + x, X)[:2]
        return value, back(X), back(X * 2), ms.jvp(lambda x: inner(x) * 2, X, X)

    return run


def a_weight_that_is_not_trained(way: Function) -> Function:
    net = network()
    forward = way(lambda x: net(x))
    step = ms.value_and_grad(lambda x: forward(x).sum(), 0, list(net.get_parameters()))

    def run() -> Any:
        before = step(X)
        net[0].weight.requires_grad = not net[0].weight.requires_grad
        return before, step(X)

    return run


def recomputed(way: Function) -> Function:
    net = network()
    forward = way(lambda x: net(x))
    outer = nn.SequentialCell(nn.Dense(3, 3), nn.ReLU()).set_train()

    class Around(nn.Cell):
        def construct(self, x: Any) -> Any:
            return forward(x) + x

    around = Around()
    around.recompute()
    weights = [*net.trainable_params(), *outer.trainable_params()]
    return lambda: ms.value_and_grad(lambda x: around(outer(x)).sum(), 0, weights)(X)


def another_dtype_arrives(way: Function) -> Function:
    inner = way(lambda x: x.astype(ms.float16) * 2)
    return lambda: ms.grad(lambda x: (inner(x).astype(ms.float32) * x).sum())(X)


def a_list_that_it_reads_itself(way: Function) -> Function:
    items = [2.0]
    inner = way(lambda x, factors: x * factors[0] * (3 if factors is items else 1))
    return lambda: [ms.grad(lambda x, item=entry: (inner(x, item) * x).sum())(X) for entry in ([2.0], items, [2.0])]


def no_gradient_is_wanted_of_it(way: Function) -> Function:
    inner = way(lambda x: x * 2 + 1)
    return lambda: ms.grad(lambda x: (ops.stop_gradient(inner(x)) * x + inner(X * 3)).sum())(X)


def weights_shared(way: Function) -> Function:
    net = network()
    net[3].bias = net[0].bias = Parameter(Tensor(np.ones(4, np.float32)), name="shared")
    net[3].weight = Parameter(Tensor(np.ones((4, 4), np.float32)), name="square")
    forward = way(lambda x: net(x))
    return lambda: ms.value_and_grad(lambda x: (forward(x) ** 2).sum(), 0, net.trainable_params())(X)


FOLLOWED = [
    in_a_gradient,
    a_network_in_an_eager_training_step,
    several_calls_of_one_function,
    an_input_used_inside_and_around,
    some_of_the_outputs,
    some_of_the_inputs,
    an_output_that_is_used_inside_too,
    random_numbers,
    random_numbers_beside_the_tape,
    moving_statistics,
    a_parameter_that_is_changed,
    elements_written,
    indices,
    a_gradient_of_a_gradient,
    vjp_and_jvp,
    a_weight_that_is_not_trained,
    another_dtype_arrives,
    a_list_that_it_reads_itself,
    no_gradient_is_wanted_of_it,
    weights_shared,
    recomputed,
]


@pytest.mark.parametrize("make", FOLLOWED, ids=lambda make: make.__name__)
def test_a_program_has_the_bits_that_it_has_without_jit(make: Callable[[Function], Any]) -> None:
    for compiled in compare(make):
        assert compiled.counts["replayed"] > 0, compiled
        assert compiled.counts["refused"] == 0, compiled


# Hooks, and what cannot be known beforehand


def told_by_hooks(way: Function) -> Function:
    """Put hooks on an input, weights and outputs: their order, their arguments, and their changes."""
    net = network()
    inner = way(lambda x: (lambda hidden: (hidden, ops.sin(hidden) * x))(net(x)))
    values: list[Tensor] = []

    def hook(factor: float) -> Function:
        def heard(gradient: Tensor) -> Tensor:
            values.append(gradient + factor)
            return gradient * factor

        return heard

    for index, parameter in enumerate(net.trainable_params()):
        parameter.register_hook(hook(1.0 + index))
    x = X + 0
    x.register_hook(hook(0.5))

    def loss(x: Any) -> Any:
        y, z = inner(x)
        y.register_hook(hook(2.0))
        z.register_hook(hook(3.0))
        return (y * z + x).sum()

    step = ms.value_and_grad(loss, 0, net.trainable_params())

    def run() -> Any:
        values.clear()
        return step(x), list(values)

    return run


def told_by_hooks_on_outputs(way: Function) -> Function:
    inner = way(lambda x: (lambda a: (a, ops.exp(a), a * 2))(ops.sin(x)))
    values: list[Tensor] = []

    def loss(x: Any) -> Any:
        outputs = inner(x)
        for index, output in enumerate(outputs):
            output.register_hook(lambda gradient, place=index: values.append(gradient + place))
        return (outputs[0] * outputs[1] * outputs[2]).sum()

    def run() -> Any:
        values.clear()
        return ms.grad(loss)(X), list(values)

    return run


def told_by_hooks_on_branches(way: Function) -> Function:
    """Hook a weight and an output in each branch: an eager backward pass finishes one before it begins the other."""
    weights = [Parameter(Tensor(np.full(3, 2.0 + k, np.float32)), name=f"w{k}") for k in range(2)]
    inner = way(lambda x: (ops.sin(x * weights[0]), ops.exp(x * weights[1])))
    values: list[Tensor] = []
    for weight in weights:
        weight.register_hook(values.append)

    def loss(x: Any) -> Any:
        outputs = inner(x)
        for output in outputs:
            output.register_hook(lambda gradient: values.append(gradient * 2))
        return (outputs[0] * outputs[1]).sum()

    def run() -> Any:
        values.clear()
        return ms.grad(loss, 0, weights)(X), list(values)

    return run


def told_by_hooks_that_come_after_the_call(way: Function) -> Function:
    weights = [Parameter(Tensor(np.full(3, 2.0 + k, np.float32)), name=f"w{k}") for k in range(3)]
    inner = way(lambda x: (ops.exp(x * weights[0]) * weights[2], ops.sin(x) * weights[1]))
    values: list[Tensor] = []

    def loss(x: Any) -> Any:
        outputs = inner(x)
        handles = [
            weight.register_hook(lambda g, k=k: values.append(g + k)) for k, weight in enumerate([*weights, *outputs])
        ]
        run.handles += handles[:3]  # type: ignore[attr-defined]
        return (outputs[0] * outputs[1]).sum()

    def run() -> Any:
        values.clear()
        run.handles = []  # type: ignore[attr-defined]
        gradient = ms.grad(loss, 0, weights)(X)
        for handle in run.handles:  # type: ignore[attr-defined]
            handle.remove()
        return gradient, list(values)

    return run


def told_by_a_hook_on_what_is_not_followed(way: Function) -> Function:
    inner = way(lambda x, y: (x * 2, y * 3))
    values: list[Tensor] = []

    def loss(x: Any, y: Any) -> Any:
        first, second = inner(x, y)
        second.register_hook(values.append)
        return (first * second).sum()

    def run() -> Any:
        values.clear()
        return ms.grad(loss)(X, X + 1), list(values)

    return run


def told_by_a_hook_on_a_further_name_of_the_input(way: Function) -> Function:
    inner = way(lambda x: identity(x))

    def loss(x: Any) -> Any:
        y = inner(x)
        y.register_hook(lambda gradient: gradient * 10)
        return (y * x * 3).sum()

    return lambda: ms.grad(loss)(X)


def told_by_a_hook_on_a_further_name_of_an_output(way: Function) -> Function:
    """Hook one of two outputs with one value: it sees the gradient of its own."""
    inner = way(lambda x: (lambda y: (y, cast(y, dtype=np.dtype(np.float32))))(ops.sin(x)))
    values: list[Tensor] = []

    def loss(x: Any) -> Any:
        first, second = inner(x)
        second.register_hook(lambda gradient: values.append(gradient) or gradient * 10)
        return (first * x * 2 + second * x * 3).sum()

    def run() -> Any:
        values.clear()
        return ms.grad(loss)(X), list(values)

    return run


def told_by_a_session_that_comes_in_between(way: Function) -> Function:
    net = network()
    inner = way(lambda x: ops.sin(x) * ops.exp(x))
    values: list[Tensor] = []

    def loss(x: Any) -> Any:
        y = inner(x)
        y.register_hook(values.append)
        with DebugSession(net) as run.session:  # type: ignore[attr-defined]
            return (net(y) * y).sum()

    def run() -> Any:
        values.clear()
        gradient = ms.grad(loss)(X)
        return gradient, list(values), [capture.value for capture in run.session.captures]  # type: ignore[attr-defined]

    return run


def told_by_a_session_that_comes_in_between_and_stays(way: Function) -> Function:
    """Watch the backward pass by a session: its captures, and an edit, which counts the users of a cell's output."""
    net = nn.SequentialCell(nn.Identity(), nn.Tanh())
    inner = way(lambda x: ops.sin(x) * ops.exp(x))
    values: list[Tensor] = []

    def loss(x: Any) -> Any:
        y = inner(x)
        y.register_hook(values.append)
        z = y * 1
        other = z * 2
        run.stack.enter_context(run.session)  # type: ignore[attr-defined]
        return net(z).sum() + other.sum() * 0

    def run() -> Any:
        values.clear()
        edit = "tuple(g * 10 for g in grad_input)"
        run.session, _ = scripted(  # type: ignore[attr-defined]
            net, (), lambda session: session.edit("grad_input", edit), breaks=["0:backward"]
        )
        with contextlib.ExitStack() as run.stack:  # type: ignore[attr-defined]
            gradient = ms.grad(loss)(X)
        return gradient, list(values), [capture.value for capture in run.session.captures]  # type: ignore[attr-defined]

    return run


def told_by_a_cell_beside_whose_followed_input_there_is_another(way: Function) -> Function:
    class Product(nn.Cell):
        def construct(self, x: Any, y: Any) -> Any:
            return x * y

    values: list[Any] = []
    cell = Product()
    cell.register_backward_hook(lambda cell, grad_input, grad_output: values.append(grad_input))
    inner = way(lambda y: ops.sin(y))

    def run() -> Any:
        values.clear()
        return ms.grad(lambda x, y: cell(x, inner(y)).sum())(X, X + 1), list(values), [len(values)]

    return run


def told_by_a_cell_that_gets_an_output_that_is_not_followed(way: Function) -> Function:
    class Product(nn.Cell):
        def construct(self, x: Any, y: Any) -> Any:
            return x * y

    values: list[Any] = []
    cell = Product()
    cell.register_backward_hook(lambda cell, grad_input, grad_output: values.append(grad_input))
    inner, y = way(lambda x, y: (x * 2, y * 3)), X + 1

    def run() -> Any:
        values.clear()
        return ms.grad(lambda x: cell(*inner(x, y)).sum())(X), list(values), [len(values)]

    return run


REPORTS = [
    told_by_hooks,
    told_by_hooks_on_outputs,
    told_by_hooks_on_branches,
    told_by_hooks_that_come_after_the_call,
    told_by_a_hook_on_what_is_not_followed,
    told_by_a_hook_on_a_further_name_of_the_input,
    told_by_a_hook_on_a_further_name_of_an_output,
    told_by_a_cell_that_gets_an_output_that_is_not_followed,
    told_by_a_cell_beside_whose_followed_input_there_is_another,
    told_by_a_session_that_comes_in_between,
    told_by_a_session_that_comes_in_between_and_stays,
]


@pytest.mark.parametrize("make", REPORTS, ids=lambda make: make.__name__)
def test_hooks_around_a_call_are_called_in_their_order_with_their_gradients(make: Callable[[Function], Any]) -> None:
    (compiled,) = compare(make)
    assert compiled.counts["replayed"] == CALLS - 2


def hooked_cells(way: Function) -> Function:
    net = network()
    values: list[Any] = []
    net[1].register_backward_hook(lambda cell, grad_input, grad_output: values.append(grad_input[0]))
    forward = way(lambda x: net(x))

    def run() -> Any:
        values.clear()
        return ms.value_and_grad(lambda x: forward(x).sum(), 0, net.trainable_params())(X), list(values)

    return run


def its_own_bprop(way: Function) -> Function:
    class Own(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.sin(x)

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * out + x,)

    own = Own()
    forward = way(lambda x: own(x) * 2)
    return lambda: ms.grad(lambda x: forward(x).sum())(X)


def a_hook_inside(way: Function) -> Function:
    def inner(x: Any) -> Any:
        y = x * 2
        y.register_hook(lambda gradient: gradient * 10)
        return y

    forward = way(inner)
    return lambda: ms.grad(lambda x: forward(x).sum())(X)


def a_counter(way: Function) -> Function:
    values: list[int] = []

    def inner(x: Any) -> Any:
        values.append(1)
        return x * len(values)

    forward = way(inner)
    return lambda: ms.grad(lambda x: forward(x).sum())(X)


def a_branch_on_a_value(way: Function) -> Function:
    signs = iter([1.0, -1.0, 1.0, -1.0, 1.0])
    forward = way(lambda x: x * 2 if x.sum() > 0 else x * 3)
    return lambda: ms.grad(lambda x: forward(x * next(signs)).sum())(X)


def packed(way: Function) -> Function:
    forward = way(lambda x: ops.sin(x) * x)

    def loss(x: Any) -> Any:
        with ms.saved_tensors_hooks(lambda t: t + 1, lambda t: t - 1):
            return forward(x).sum()

    return lambda: ms.grad(loss)(X)


EAGER = [hooked_cells, its_own_bprop, a_hook_inside, a_counter, a_branch_on_a_value, packed]


@pytest.mark.filterwarnings("ignore:no plan can be made")
@pytest.mark.parametrize("make", EAGER, ids=lambda make: make.__name__)
def test_what_cannot_be_followed_by_a_plan_runs_eagerly(make: Callable[[Function], Any]) -> None:
    (compiled,) = compare(make)
    assert compiled.counts == {"traced": 0, "replayed": 0, "eager": CALLS, "refused": 0}


def test_effects_of_the_first_call_come_once(capsys: pytest.CaptureFixture[str]) -> None:
    @ms.jit
    def loud(x: Any) -> Any:
        print("called")
        return x * 2

    for _ in range(3):
        ms.grad(lambda x: loud(x).sum())(X)
    assert capsys.readouterr().out == "called\n" * 3


def test_changes_between_calls_are_seen() -> None:
    class Scaled(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.factor = 2.0
            self.weight = Parameter(Tensor(np.ones(3, np.float32)), name="weight")

        def construct(self, x: Any) -> Any:
            return x * self.factor * self.weight

    net = Scaled()
    forward = ms.jit(net)
    step = ms.grad(lambda x: forward(x).sum())
    for _ in range(3):
        assert np.array_equal(step(X).asnumpy(), np.full((2, 3), 2, np.float32))
    net.factor = 5.0
    for _ in range(3):
        assert np.array_equal(step(X).asnumpy(), np.full((2, 3), 5, np.float32))
    net.weight.set_data(Tensor(np.full(3, 2, np.float32)))
    assert np.array_equal(step(X).asnumpy(), np.full((2, 3), 10, np.float32))
    handle = net.register_forward_hook(lambda cell, inputs, output: output * 10)
    for _ in range(3):
        assert np.array_equal(step(X).asnumpy(), np.full((2, 3), 100, np.float32))
    handle.remove()
    assert np.array_equal(step(X[:1]).asnumpy(), np.full((1, 3), 10, np.float32))


def test_what_a_kernel_refuses_is_told_as_eagerly_and_leaves_nothing_on_the_tape() -> None:
    table = Tensor(np.ones((3, 2), np.float32))
    picked = ms.jit(lambda x, places: ops.gather(x, places, 0) * 2)

    def loss(x: Any, indices: Any) -> Any:
        try:
            y = picked(x, indices)
        except RuntimeError:
            y = x * 7
        return y.sum()

    for positions, expected in (([0, 2],) * CALLS, 2.0), (([0, 5],), 7.0), (([1, 1],), 4.0):
        for item in positions:
            assert float(ms.grad(loss)(table, Tensor(item)).max()) == expected


def test_a_session_that_watches_sees_the_cells_of_a_followed_call() -> None:
    net = network()
    forward = ms.jit(lambda x: net(x))
    step = ms.value_and_grad(lambda x: forward(x).sum(), 0, net.trainable_params())
    for _ in range(CALLS):
        expected = bits(step(X))
    with DebugSession(net) as session:
        assert bits(step(X)) == expected
    assert session.captured > 0
    assert bits(step(X)) == expected


def test_a_walk_back_has_a_plan_once_it_has_been_made() -> None:
    forward = ms.jit(lambda x: ops.exp(ops.sin(x)) * x)
    step = ms.grad(lambda x: forward(x).sum())
    for _ in range(CALLS):
        step(X)
    (guarded,) = [item for some in forward._compiled.plans.values() for item in some]
    (way,) = guarded.planned_call._backward_plans.values()
    assert way is not None and "exp" not in way.plan.source
    before = guarded.planned_call._plan_from_leaves
    guarded.planned_call._plan_from_leaves = None
    step(X)
    assert guarded.planned_call._plan_from_leaves is None and before is not None  # nothing was computed again


# Whole networks


@pytest.mark.parametrize("case", CASES)
def test_a_training_whose_parts_are_compiled_has_the_bits_of_one_without(case: str) -> None:
    def trained(way: Function) -> Bits:
        network, training, optimizer = CASES[case]
        ms.set_seed(7)
        net = NETWORKS[network]().set_train()
        for _, cell in net.name_cells().items():
            cell.construct = way(cell.construct)
        return training(net, optimizer(net), Switch())

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no plan can be made")
        assert trained(ms.jit) == trained(plainly)


RUN_EAGERLY = (
    "googlenet",
    "crnn_with_ctc",
    "unet",
    "yolo_head",
    "ddpm",
    "vq_vae",
    "transformer_of_layers",
    "matrix_factorization",
    "gcn",
    "message_passing",
    "double_dqn",
    "ppo",
    "mixture_of_experts",
    "domain_adversarial_with_own_bprops",
    "neural_ode",
)
"""Of the networks those of which no plan can be made anyway, and two with a ``bprop`` and a recomputed cell."""


@pytest.mark.parametrize("name", steps.PROGRAMS)
def test_steps_of_a_network_that_is_compiled_have_the_bits_of_eager_ones(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[Any] = []
    asked_for = ms.value_and_grad

    def value_and_grad(forward: Function, *positions: Any, **how: Any) -> Function:
        compiled = ms.jit(forward)

        def step(*inputs: Any) -> Any:
            position = random.position()
            parameters = list(positions[1]) + [p for cell in cells_of(forward) for p in cell.get_parameters()]
            before = [t._array for t in parameters]

            def run(function: Function) -> Any:
                random.go_to(position)
                for t, array in zip(parameters, before, strict=True):
                    t._array = array
                result = asked_for(lambda *args: function(*args), *positions, **how)(*inputs)
                return result, bits((result, parameters)), random.position()

            results = [run(compiled)[1:] for _ in range(CALLS)]
            result, *eager = run(forward)
            compared.append((results, eager, plans_of(compiled)))
            return result

        return step

    monkeypatch.setattr(steps.ms, "value_and_grad", value_and_grad, raising=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no plan can be made")
        steps.PROGRAMS[name]()
    for results, eager, compiled in compared:
        assert all(result == tuple(eager) for result in results)
        assert name in RUN_EAGERLY or any(item.counts["replayed"] for item in compiled), compiled


def cells_of(function: Function) -> list[nn.Cell]:
    objects = [cell.cell_contents for cell in function.__closure__ or ()]
    return [item for item in objects if isinstance(item, nn.Cell)]


# Random functions in random programs

UNARY = [ops.sin, ops.exp, ops.tanh, ops.relu, ops.square, mint.neg, ops.sigmoid, lambda x: x * 0.5, lambda x: 2 - x]
BINARY = [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - b, ops.maximum, lambda a, b: a / (b * b + 1)]
OTHER = [
    lambda x: x.sum(),
    lambda x: x.mean(0),
    lambda x: x.T.T,
    lambda x: x[0],
    lambda x: ops.softmax(x, -1),
    lambda x: x.reshape((-1,))[:3],
    lambda x: ops.stop_gradient(x),
    lambda x: ops.dropout(x, p=0.3, training=True),
]


def random_function(draw: python_random.Random, weights: list[Parameter]) -> Function:
    """Return some ten operators over the arguments and the weights, with up to three results."""
    steps: list[tuple[Any, ...]] = []
    inputs = draw.randint(1, 3)
    for position in range(inputs + len(weights), inputs + len(weights) + draw.randint(3, 12)):
        kind = draw.choice([UNARY, UNARY, BINARY, BINARY, OTHER])
        steps.append((draw.choice(kind), *[draw.randrange(position) for _ in range(2 if kind is BINARY else 1)]))
    last = inputs + len(weights) + len(steps)
    results = draw.sample(range(inputs + len(weights), last), min(draw.randint(1, 3), len(steps)))

    def function(*args: Any) -> Any:
        values = [*args, *weights]
        for step, *places in steps:
            inputs = [values[index] for index in places]
            # Some operators do not take a number, or do not broadcast the operands.
            fits = inputs[0].ndim and inputs[-1].shape[-1:] == inputs[0].shape[-1:]
            values.append(step(*inputs) if fits else inputs[0] * 2)
        result = tuple([values[index] for index in results])
        return result if len(result) > 1 else result[0]

    function.inputs = inputs  # type: ignore[attr-defined]
    return function


def random_program(seed: int) -> Callable[[Function], Any]:
    def make(way: Function) -> Function:
        draw = python_random.Random(seed)
        weights = [Parameter(Tensor(np.full(3, 0.5 + k, np.float32)), name=f"w{k}") for k in range(2)]
        plain = [random_function(draw, weights[: draw.randint(0, 2)]) for _ in range(2)]
        compiled = [way(item) for item in plain]
        counts = [item.inputs for item in plain]  # type: ignore[attr-defined]
        order = [(draw.randrange(2), [draw.random() for _ in range(3)]) for _ in range(draw.randint(1, 4))]
        positions = draw.choice([0, 1, (0, 1)])
        hooks = draw.random() < 0.3
        is_twice = draw.random() < 0.2

        def loss(x: Any, y: Any) -> Any:
            values = [x, y, x * y]
            for which, chosen in order:
                inputs = [values[int(part * len(values))] for part in chosen[: counts[which]]]
                result = compiled[which](*inputs)
                values += result if isinstance(result, tuple) else (result,)
                if hooks:
                    values[-1].register_hook(lambda gradient: gradient * 1.5)
            return sum([(value * x).sum() for value in values[2:]])

        gradient = ms.value_and_grad(loss, positions, weights)
        if is_twice:
            return lambda: ms.grad(lambda x, y: (ms.grad(loss)(x, y) ** 2).sum(), 0)(X, X * 0.3 + 1)
        return lambda: gradient(X, X * 0.3 + 1)

    return make


@pytest.mark.filterwarnings("ignore:no plan can be made")
@pytest.mark.parametrize("seed", range(60))
def test_random_programs_have_the_same_bits(seed: int) -> None:
    with np.errstate(all="ignore"):
        compare(random_program(seed))
