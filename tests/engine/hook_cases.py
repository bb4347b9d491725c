"""Cases of hooks in small networks, with the record of their arguments in MindSpore.

In an environment that has MindSpore 2.10 this writes recorded/hooks.txt anew:

    python tests/engine/hook_cases.py

A case is a line with its name, below it what the hooks saw, in order, and what came out at last. All numbers are exact
in float32, so that a record is compared as it stands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

if __name__ == "__main__":  # MindSpore itself instead of the engine
    import mindspore

    sys.modules["hookscope"] = ModuleType("hookscope")
    sys.modules["hookscope.engine"] = mindspore

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops

FILE = Path(__file__).parent / "recorded" / "hooks.txt"
KINDS = ("forward_pre", "forward", "backward_pre", "backward")
CASES: dict[str, Callable[[list[str]], Any]] = {}


def case(function: Callable[[list[str]], Any]) -> Callable[[list[str]], Any]:
    CASES[function.__name__] = function
    return function


def t(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float32))


def shown(value: Any) -> str:
    """Return a value with its structure: a tensor as its elements behind its type, all else as Python writes it."""
    if isinstance(value, Tensor):
        kind = {"float32": "", "int32": "i", "bool": "b"}[str(value.asnumpy().dtype)]
        return f"{kind}<{' '.join(f'{x:g}' for x in value.asnumpy().ravel())}>"
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {shown(item)}' for key, item in value.items())}}}"
    return repr(value)


def watch(net: nn.Cell, log: list[str], *kinds: str) -> Any:
    """Register hooks of the kinds, all four by default, on a network's cells; they log their arguments."""
    for path, cell in net.cells_and_names():
        for kind in kinds or KINDS:

            def hook(cell: Any, *values: Any, what: str = f"{kind} {path or 'net'}") -> None:
                log.append(" ".join([what, *map(shown, values)]))

            getattr(cell, f"register_{kind}_hook")(hook)
    return net


BACK = ("backward_pre", "backward")


def told(net: nn.Cell, log: list[str]) -> Any:
    """Register hooks on a network's parameters that log their gradients."""
    for p in net.get_parameters():
        if p.requires_grad:
            p.register_hook(lambda g, name=p.name: log.append(f"parameter {name} {shown(g)}"))
    return net


def step(function: Any, weights: Any, *inputs: Any) -> Any:
    """Return the gradients of the usual training step: those of the weights, no others."""
    weights = weights.trainable_params() if isinstance(weights, nn.Cell) else weights
    return ms.value_and_grad(function, None, weights)(*inputs)[1]


class Scale(nn.Cell):
    def __init__(self, w: float = 2.0) -> None:
        super().__init__()
        self.w = Parameter(t(w), "w")

    def construct(self, x: Any) -> Any:
        return x * self.w


class Square(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * x


class Product(nn.Cell):
    def construct(self, x: Any, y: Any) -> Any:
        return x * y


class Pair(nn.Cell):
    """b(a(x))"""

    def __init__(self, a: nn.Cell, b: nn.Cell) -> None:
        super().__init__()
        self.a, self.b = a, b

    def construct(self, x: Any) -> Any:
        return self.b(self.a(x))


class Loss(nn.Cell):
    """loss(net(x), y)"""

    def __init__(self, net: nn.Cell, loss: nn.Cell) -> None:
        super().__init__()
        self.net, self.loss = net, loss

    def construct(self, x: Any, y: Any) -> Any:
        return self.loss(self.net(x), y)


def made(function: Callable[..., Any], *cells: nn.Cell) -> Any:
    """Return a cell whose construct is a function of it and the inputs, with cells a, b, c."""

    class Made(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            for name, cell in zip("abc", cells, strict=False):
                setattr(self, name, cell)

        def construct(self, *inputs: Any, **keywords: Any) -> Any:
            return function(self, *inputs, **keywords)

    return Made()


def plain(function: Callable[..., Any]) -> Any:
    """Return a cell without others: a function of the inputs."""
    return made(lambda cell, *inputs, **keywords: function(*inputs, **keywords))


def scaled(around: Callable[..., Any], log: list[str], inner: Callable[..., Any], *kinds: str) -> Any:
    """Return the gradients of a network with one hooked cell between scaled inputs and what is made of its output."""
    net = made(around, Scale(), plain(inner))
    watch(net.b, log, *kinds)
    return step(net, net, t(3.0))


# One cell, several, nested ones


@case
def one_cell(log: list[str]) -> Any:
    net = watch(Scale(), log)
    return step(net, net, t(3.0))


@case
def one_cell_by_position(log: list[str]) -> Any:
    net = watch(Scale(), log)
    return ms.grad(net, 0, net.trainable_params())(t(3.0))


@case
def a_chain(log: list[str]) -> Any:
    net = watch(nn.SequentialCell(Scale(), Square(), Scale(0.5)), log)
    return step(net, net, t(3.0))


@case
def nested(log: list[str]) -> Any:
    net = watch(Pair(Pair(Scale(), Scale(4.0)), Scale(0.5)), log, *BACK)
    return step(net, net, t(3.0))


@case
def nested_thrice(log: list[str]) -> Any:
    net = watch(Pair(Pair(Pair(Scale(), Square()), Square()), Scale(0.5)), log, *BACK)
    return step(net, net, t(3.0))


@case
def grad_operation_by_list(log: list[str]) -> Any:
    net = watch(Pair(Scale(), Scale(4.0)), log, *BACK)
    weights = ms.ParameterTuple(net.trainable_params())
    return ms.ops.GradOperation(get_by_list=True)(net, weights)(t(3.0))


@case
def grad_operation_of_all_and_by_list(log: list[str]) -> Any:
    net = watch(Pair(Scale(), Scale(4.0)), log, *BACK)
    weights = ms.ParameterTuple(net.trainable_params())
    return ms.ops.GradOperation(get_all=True, get_by_list=True)(net, weights)(t(3.0))


@case
def grad_operation_with_sens(log: list[str]) -> Any:
    net = watch(Pair(Scale(), Scale(4.0)), log, *BACK)
    weights = ms.ParameterTuple(net.trainable_params())
    return ms.ops.GradOperation(get_by_list=True, sens_param=True)(net, weights)(t(3.0), t(8.0))


@case
def train_one_step(log: list[str]) -> Any:
    net = watch(Loss(Scale(), nn.MSELoss()), log)
    weights = net.trainable_params()
    return nn.TrainOneStepCell(net, nn.SGD(weights, 0.25))(t(3.0), t(5.0)), weights[0].value()


@case
def with_aux(log: list[str]) -> Any:
    net = watch(Pair(Scale(), Scale(4.0)), log, *BACK)
    both = made(lambda cell, x: (cell.a(x), x * 2), net)
    return ms.grad(both, None, net.trainable_params(), has_aux=True)(t(3.0))


@case
def a_cell_without_inputs(log: list[str]) -> Any:
    w = Parameter(t(2.0), "w")
    source = plain(lambda: w * w)
    watch(source, log)
    net = made(lambda cell, x: cell.a() * cell.b(x), source, watch(Scale(), log, *BACK))
    return step(net, [w, net.b.w], t(3.0))


@case
def two_constant_inputs(log: list[str]) -> Any:
    w = Parameter(t(2.0), "w")
    net = watch(plain(lambda x, y: x * y * w), log, *BACK)
    return step(net, [w], t(3.0), t(5.0))


@case
def two_constant_inputs_of_an_inner_cell(log: list[str]) -> Any:
    w = Parameter(t(2.0), "w")
    inner = watch(plain(lambda x, y: x * y * w), log, *BACK)
    net = watch(made(lambda cell, x, y: cell.b(cell.a(x, y)), inner, Scale(4.0)), log, *BACK)
    return step(net, [w, net.b.w], t(3.0), t(5.0))


# Constants, labels


@case
def labels_as_an_argument(log: list[str]) -> Any:
    net = watch(Loss(Scale(), nn.MSELoss()), log, *BACK)
    return step(net, net, t(3.0), t(5.0))


@case
def labels_of_a_closure(log: list[str]) -> Any:
    y0 = t(5.0)
    net, loss = watch(Scale(), log, *BACK), watch(nn.MSELoss(), log, *BACK)
    return step(lambda x: loss(net(x), y0), net, t(3.0))


@case
def all_of_a_closure(log: list[str]) -> Any:
    y0 = t(5.0)
    x0 = t(3.0)
    net, loss = watch(Scale(), log, *BACK), watch(nn.MSELoss(), log, *BACK)
    return step(lambda: loss(net(x0), y0), net)


@case
def labels_computed_from_an_argument(log: list[str]) -> Any:
    net, loss = watch(Scale(), log, *BACK), watch(nn.MSELoss(), log, *BACK)
    return step(lambda x, y: loss(net(x), y * 2 + 1), net, t(3.0), t(5.0))


@case
def labels_computed_from_a_closure(log: list[str]) -> Any:
    y0 = t(5.0)
    net, loss = watch(Scale(), log, *BACK), watch(nn.MSELoss(), log, *BACK)
    return step(lambda x: loss(net(x), y0 * 2 + 1), net, t(3.0))


@case
def integer_labels(log: list[str]) -> Any:
    net, loss = watch(Scale(), log, *BACK), watch(nn.CrossEntropyLoss(), log, *BACK)
    labels = Tensor(np.array([1], np.int32))
    return step(lambda x, y: loss(net(x), y), net, Tensor(np.zeros((1, 2), np.float32)), labels)


@case
def integers_made_floats(log: list[str]) -> Any:
    product = watch(Product(), log, *BACK)
    net = made(lambda cell, x, y: cell.b(cell.a(x), y.astype(ms.float32)), Scale(), product)
    return step(net, net, t(3.0), Tensor(np.array([5], np.int32)))


@case
def a_constant_inside(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.a(x) + cell.b(t(7.0)), Scale(), Scale(4.0)), log, *BACK)
    return step(net, net, t(3.0))


@case
def a_fresh_tensor_as_an_input(log: list[str]) -> Any:
    net = made(lambda cell, x: cell.b(cell.a(x), t(7.0)), Scale(), watch(Product(), log, *BACK))
    return step(net, net, t(3.0))


@case
def the_argument_beside_what_is_computed(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.b(cell.a(x), x), Scale(), Product()), log, *BACK)
    return step(net, net, t(3.0))


@case
def a_result_without_gradient_as_an_input(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.b(cell.a(x), ops.stop_gradient(x * 2)), Scale(), Product()), log, *BACK)
    return step(net, net, t(3.0))


@case
def a_stopped_result_of_weights_as_an_input(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.b(cell.a(x), ops.stop_gradient(cell.a(x))), Scale(), Product()), log, *BACK)
    return step(net, net, t(3.0))


@case
def an_input_that_has_no_use(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.b(cell.a(x), x), Scale(), plain(lambda x, y: x * 2)), log, *BACK)
    return step(net, net, t(3.0))


@case
def a_parameter_as_an_input(log: list[str]) -> Any:
    w = Parameter(t(2.0), "w")
    inner = watch(Product(), log, *BACK)
    return step(lambda x: inner(x, w), [w], t(3.0))


@case
def a_frozen_parameter_as_an_input(log: list[str]) -> Any:
    w, frozen = Parameter(t(2.0), "w"), Parameter(t(4.0), "frozen", requires_grad=False)
    inner = watch(Product(), log, *BACK)
    return step(lambda x: inner(x * w, frozen), [w], t(3.0))


@case
def a_parameter_that_is_not_asked_for_as_an_input(log: list[str]) -> Any:
    w, other = Parameter(t(2.0), "w"), Parameter(t(4.0), "other")
    inner = watch(Product(), log, *BACK)
    return step(lambda x: inner(x * w, other), [w], t(3.0))


@case
def the_second_position(log: list[str]) -> Any:
    net, loss = watch(Scale(), log, *BACK), watch(Product(), log, *BACK)
    return ms.grad(lambda x, y: loss(net(x), y), 1)(t(3.0), t(5.0))


@case
def the_first_position_of_two(log: list[str]) -> Any:
    net, loss = watch(Scale(), log, *BACK), watch(Product(), log, *BACK)
    return ms.grad(lambda x, y: loss(x, net(y)), 0)(t(3.0), t(5.0))


@case
def two_arguments_of_which_one_is_asked_for(log: list[str]) -> Any:
    return ms.grad(watch(Product(), log), 0)(t(3.0), t(5.0))


@case
def a_position_and_weights_of_another_branch(log: list[str]) -> Any:
    net = watch(made(lambda cell, x, y: cell.a(x) * cell.b(y), Scale(), Scale(4.0)), log, *BACK)
    return ms.grad(net, 0, [net.b.w])(t(3.0), t(5.0))


@case
def no_gradient_reaches_the_inputs(log: list[str]) -> Any:
    w = Parameter(t(2.0), "w")
    net = made(lambda cell, x: cell.b(cell.a(x), cell.a(x)), Scale(), plain(lambda x, y: ops.stop_gradient(x * y) * w))
    watch(net, log, *BACK)
    return step(net, [net.a.w, w], t(3.0))


@case
def no_gradient_reaches_an_asked_input(log: list[str]) -> Any:
    w = Parameter(t(2.0), "w")
    net = watch(plain(lambda x, y: y * w), log, *BACK)
    return ms.grad(net, 0, [w])(t(3.0), t(5.0))


# Paths


@case
def only_the_last_weights(log: list[str]) -> Any:
    net = watch(nn.SequentialCell(Scale(), Square(), Scale(0.5)), log, *BACK)
    return step(net, [net[2].w], t(3.0))


@case
def only_the_first_weights(log: list[str]) -> Any:
    net = watch(nn.SequentialCell(Scale(), Square(), Scale(0.5)), log, *BACK)
    return step(net, [net[0].w], t(3.0))


@case
def frozen_first_layer(log: list[str]) -> Any:
    net = watch(nn.SequentialCell(Scale(), Square(), Scale(0.5)), log, *BACK)
    net[0].w.requires_grad = False
    return step(net, net, t(3.0))


@case
def frozen_last_layer(log: list[str]) -> Any:
    net = watch(nn.SequentialCell(Scale(), Square(), Scale(0.5)), log, *BACK)
    net[2].w.requires_grad = False
    return step(net, net, t(3.0))


@case
def a_frozen_branch(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.a(x) + cell.b(x), Scale(), Scale(4.0)), log, *BACK)
    net.b.w.requires_grad = False
    return step(net, net, t(3.0))


@case
def an_output_that_is_not_used(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: (cell.b(cell.a(x)), cell.a(x))[1], Scale(), Scale(4.0)), log, *BACK)
    return step(net, net, t(3.0))


@case
def one_of_two_outputs_is_used(log: list[str]) -> Any:
    net = made(lambda cell, x: cell.b(cell.a(x))[0], Scale(), plain(lambda x: (x * x, x * 3)))
    watch(net.b, log)
    return step(net, net, t(3.0))


@case
def an_output_is_stopped(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: ops.stop_gradient(cell.a(x)) * cell.b(x), Scale(), Scale(4.0)), log, *BACK)
    return step(net, net, t(3.0))


@case
def a_shared_cell_called_twice(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.a(cell.a(x)), Scale()), log, *BACK)
    return step(net, net, t(3.0))


@case
def a_shared_cell_called_twice_with_constants(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.a(x) * cell.a(x + 1), Scale()), log, *BACK)
    return step(net, net, t(3.0))


@case
def two_branches(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.c(cell.a(x), cell.b(x)), Scale(), Scale(4.0), Product()), log, *BACK)
    return step(net, net, t(3.0))


@case
def a_cell_that_returns_its_input(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.b(cell.a(x)) * 4, Scale(), plain(lambda x: x)), log)
    return step(net, net, t(3.0))


@case
def a_cell_that_returns_a_constant_input(log: list[str]) -> Any:
    net = watch(made(lambda cell, x: cell.b(cell.a(x)), plain(lambda x: x), Scale()), log)
    return step(net, net, t(3.0))


@case
def a_cell_list(log: list[str]) -> Any:
    def through(cell: Any, x: Any) -> Any:
        for item in cell.a:
            x = item(x)
        return x

    net = watch(made(through, nn.CellList([Scale(), Square(), Scale(0.5)])), log, *BACK)
    return step(net, net, t(3.0))


@case
def a_recomputed_cell(log: list[str]) -> Any:
    net = watch(Pair(Scale(), Pair(Scale(4.0), Square())), log)
    net.b.recompute()
    return step(net, net, t(3.0))


@case
def a_recomputed_cell_of_a_constant(log: list[str]) -> Any:
    net = watch(Pair(Pair(Scale(), Square()), Scale(4.0)), log)
    net.a.recompute()
    return step(net, net, t(3.0))


@case
def an_input_computed_from_weights_that_are_not_asked_for(log: list[str]) -> Any:
    other = Scale(4.0)
    net = made(lambda cell, x: cell.b(cell.a(x), other(t(7.0))), Scale(), watch(Product(), log, *BACK))
    return step(net, net, t(3.0))


# Parameters, tensors, HookBackward


@case
def parameter_hooks(log: list[str]) -> Any:
    net = told(watch(nn.SequentialCell(Scale(), Square(), Scale(0.5)), log, *BACK), log)
    return step(net, net, t(3.0))


@case
def parameter_hooks_of_nested_cells(log: list[str]) -> Any:
    net = told(watch(Pair(Pair(Scale(), Scale(4.0)), Scale(0.5)), log, *BACK), log)
    return step(net, net, t(3.0))


@case
def the_hook_of_a_parameter_used_twice(log: list[str]) -> Any:
    net = told(watch(made(lambda cell, x: cell.a(cell.a(x)), Scale()), log, *BACK), log)
    return step(net, net, t(3.0))


@case
def the_hook_of_a_parameter_whose_first_use_has_no_effect(log: list[str]) -> Any:
    def through(cell: Any, x: Any) -> Any:
        cell.a(x * 5)  # its result is not used
        return cell.b(x) * cell.a.w

    net = told(watch(made(through, Scale(), Square()), log, *BACK), log)
    return ms.grad(net, 0, net.trainable_params())(t(3.0))


@case
def the_hook_of_a_parameter_whose_first_use_is_stopped(log: list[str]) -> Any:
    def through(cell: Any, x: Any) -> Any:
        return cell.b(x + ops.stop_gradient(cell.a(x))) * cell.a.w

    net = told(watch(made(through, Scale(), Square()), log, *BACK), log)
    return ms.grad(net, 0, net.trainable_params())(t(3.0))


@case
def the_hook_of_an_argument_whose_first_use_has_no_effect(log: list[str]) -> Any:
    def through(x: Any) -> Any:
        cell.a(x * 5)
        return cell.b(t(3.0) * cell.a.w) * x

    x, cell = t(7.0), watch(Pair(Scale(), Square()), log, *BACK)
    x.register_hook(lambda g: log.append(f"tensor {shown(g)}"))
    return ms.grad(through, 0, cell.trainable_params())(x)


@case
def the_hook_of_a_parameter_used_by_two_branches(log: list[str]) -> Any:
    shared = Scale()
    net = told(watch(made(lambda cell, x: cell.a(x) + cell.b(x * 2), Pair(shared, Square()), shared), log, *BACK), log)
    return step(net, net, t(3.0))


@case
def parameter_hooks_of_two_inputs(log: list[str]) -> Any:
    net = told(watch(Loss(Scale(), nn.MSELoss()), log, *BACK), log)
    return step(net, net, t(3.0), t(5.0))


@case
def hooks_of_a_dense_layer_s_weight_and_bias(log: list[str]) -> Any:
    layers = [nn.Dense(1, 1, weight_init=t(w).reshape(1, 1), bias_init=t(1.0)) for w in (2.0, 4.0)]
    net = told(watch(Loss(nn.SequentialCell(*layers), nn.MSELoss()), log, *BACK), log)
    return step(net, net, t(3.0).reshape(1, 1), t(5.0).reshape(1, 1))


@case
def hooks_of_what_the_function_dense_takes(log: list[str]) -> Any:
    net = Scale()
    net.v = Parameter(t(4.0), "v")
    net = told(made(lambda cell, x: ops.dense(x * 1, cell.a.w.reshape(1, 1), cell.a.v), net), log)
    return step(net, net, t(3.0).reshape(1, 1))


@case
def hooks_of_layers_that_normalize(log: list[str]) -> Any:
    layers = nn.BatchNorm2d(1), nn.GroupNorm(1, 1), nn.LayerNorm((2,))
    net = told(watch(nn.SequentialCell(*layers), log, *BACK), log)
    net.set_train()
    return step(net, net, t(1.0, 1.0).reshape(1, 1, 1, 2))


@case
def hooks_of_layers_that_add_a_bias_by_itself(log: list[str]) -> Any:
    layers = [nn.Conv2d(1, 1, 1, weight_init="ones", has_bias=True), nn.PReLU()]
    net = told(watch(nn.SequentialCell(*layers), log, *BACK), log)
    return step(net, net, t(3.0, 1.0).reshape(1, 1, 1, 2))


@case
def an_argument_of_integers(log: list[str]) -> Any:
    net = watch(made(lambda cell, x, y: cell.a(x * 2, y), Product()), log, *BACK)
    return ms.grad(net)(t(3.0), Tensor(np.array([5], np.int32)))


@case
def the_hook_of_a_parameter_that_is_not_reached(log: list[str]) -> Any:
    net = told(watch(made(lambda cell, x: cell.a(x), Scale(), Scale(4.0)), log, *BACK), log)
    return step(net, net, t(3.0))


@case
def the_hook_of_a_parameter_that_is_not_asked_for(log: list[str]) -> Any:
    net = told(watch(Pair(Scale(), Scale(4.0)), log, *BACK), log)
    return step(net, [net.b.w], t(3.0))


@case
def a_parameter_hook_that_changes_the_gradient(log: list[str]) -> Any:
    net = watch(Pair(Scale(), Scale(4.0)), log, *BACK)
    net.a.w.register_hook(lambda g: g * 2)
    net.a.w.register_hook(lambda g: log.append(f"second {shown(g)}"))
    return step(net, net, t(3.0))


@case
def a_tensor_hook_in_construct(log: list[str]) -> Any:
    def through(cell: Any, x: Any) -> Any:
        y = cell.a(x)
        y.register_hook(lambda g: log.append(f"tensor {shown(g)}"))
        return cell.b(y) + y

    net = told(watch(made(through, Scale(), Square()), log, *BACK), log)
    return step(net, net, t(3.0))


@case
def a_tensor_hook_on_an_input(log: list[str]) -> Any:
    x = t(3.0)
    x.register_hook(lambda g: log.append(f"tensor {shown(g)}"))
    net = watch(Pair(Scale(), Scale(4.0)), log, *BACK)
    return step(net, net, x), ms.grad(net)(x)


@case
def a_tensor_hook_on_an_argument_that_is_not_asked_for(log: list[str]) -> Any:
    y = t(5.0)
    y.register_hook(lambda g: log.append(f"tensor {shown(g)}"))
    return ms.grad(watch(Product(), log, *BACK), 0)(t(3.0), y)


@case
def hook_backward_inside(log: list[str]) -> Any:
    hook = ops.HookBackward(lambda g: log.append(f"HookBackward {shown(g)}"))
    net = watch(made(lambda cell, x: cell.b(hook(cell.a(x))), Scale(), Square()), log, *BACK)
    return step(net, net, t(3.0))


@case
def hook_backward_of_two(log: list[str]) -> Any:
    hook = ops.HookBackward(lambda g: log.append(f"HookBackward {shown(g)}"))
    net = watch(made(lambda cell, x: cell.b(*hook(cell.a(x), x)), Scale(), Product()), log, *BACK)
    return step(net, net, t(3.0))


@case
def hook_backward_of_a_constant(log: list[str]) -> Any:
    hook = ops.HookBackward(lambda g: log.append(f"HookBackward {shown(g)}"))
    net = watch(made(lambda cell, x: cell.a(hook(x)), Scale()), log, *BACK)
    return step(net, net, t(3.0))


# Results of hooks


@case
def deferred_hooks_that_return_something(log: list[str]) -> Any:
    net = watch(Pair(Scale(), Scale(4.0)), log, *BACK)
    net.a.register_backward_hook(lambda cell, grad_input, grad_output: (t(100.0),))
    net.a.register_backward_hook(lambda cell, grad_input, grad_output: log.append(f"last {shown(grad_input)}"))
    return step(net, net, t(3.0))


@case
def deferred_hooks_see_what_the_pre_hook_returned(log: list[str]) -> Any:
    net = Pair(Scale(), Scale(4.0))
    net.a.register_backward_pre_hook(lambda cell, grad_output: (grad_output[0] * 8,))
    watch(net, log, *BACK)
    return step(net, net, t(3.0))


@case
def only_backward_hooks(log: list[str]) -> Any:
    net = watch(Pair(Pair(Scale(), Scale(4.0)), Scale(0.5)), log, "backward")
    return step(net, net, t(3.0))


@case
def backward_hooks_that_change_gradients(log: list[str]) -> Any:
    net = Pair(Scale(), Pair(Scale(4.0), Square()))
    net.b.register_backward_hook(lambda cell, grad_input, grad_output: (grad_input[0] * 2,))
    net.b.b.register_backward_pre_hook(lambda cell, grad_output: grad_output[0] * 4)
    watch(net, log, *BACK)
    return step(net, net, t(3.0))


@case
def a_slot_of_none_must_stay(log: list[str]) -> Any:
    net = made(lambda cell, x: cell.b(cell.a(x), t(7.0)), Scale(), watch(Product(), log, *BACK))
    net.b.register_backward_hook(lambda cell, grad_input, grad_output: (grad_input[0] * 2, None))
    return step(net, net, t(3.0))


@case
def two_steps(log: list[str]) -> Any:
    net = watch(Pair(Scale(), Scale(4.0)), log, *BACK)
    return step(net, net, t(3.0)), step(net, net, t(5.0))


@case
def pre_hooks_that_make_constants_of_inputs(log: list[str]) -> Any:
    net = Pair(Scale(), Scale(4.0))
    net.b.register_forward_pre_hook(lambda cell, inputs: (t(9.0),))
    watch(net, log, *BACK)
    return step(net, net, t(3.0))


@case
def forward_hooks_whose_result_is_a_constant(log: list[str]) -> Any:
    net = Pair(Scale(), Scale(4.0))
    net.a.register_forward_hook(lambda cell, inputs, output: t(9.0))
    watch(net, log, *BACK)
    return step(net, net, t(3.0))


# A bprop


class WithBprop(nn.Cell):
    def __init__(self, debug: bool = False) -> None:
        super().__init__()
        self.inner = Scale(4.0)
        self.bprop_debug = debug

    def construct(self, x: Any) -> Any:
        return self.inner(x) * 2

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout * 8,)


def _with_bprop(log: list[str], debug: bool) -> Any:
    net = watch(Pair(Scale(), WithBprop(debug)), log)
    return step(net, [net.a.w], t(3.0))


@case
def a_bprop(log: list[str]) -> Any:
    return _with_bprop(log, False)


@case
def a_bprop_with_bprop_debug(log: list[str]) -> Any:
    return _with_bprop(log, True)


@case
def a_bprop_by_position(log: list[str]) -> Any:
    return ms.grad(watch(WithBprop(), log))(t(3.0))


@case
def a_bprop_with_bprop_debug_by_position(log: list[str]) -> Any:
    return ms.grad(watch(WithBprop(True), log))(t(3.0))


@case
def a_bprop_of_a_constant(log: list[str]) -> Any:
    net = watch(Pair(WithBprop(), Scale()), log, *BACK)
    return step(net, [net.b.w], t(3.0))


@case
def a_bprop_of_a_constant_and_weights(log: list[str]) -> Any:
    net = watch(Pair(WithBprop(), Scale()), log, *BACK)
    return step(net, net, t(3.0))


@case
def a_bprop_of_two_inputs_one_of_them_constant(log: list[str]) -> Any:
    class Two(nn.Cell):
        def construct(self, x: Any, y: Any) -> Any:
            return x * y

        def bprop(self, x: Any, y: Any, out: Any, dout: Any) -> Any:
            return dout * y, dout * x

    net = watch(made(lambda cell, x: cell.b(cell.a(x), t(7.0)), Scale(), Two()), log)
    return step(net, net, t(3.0))


@case
def a_bprop_with_internal_params(log: list[str]) -> Any:
    class Own(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(t(4.0), "w")
            self.internal_params = [self.w]

        def construct(self, x: Any) -> Any:
            return x * self.w

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * self.w,), {self.w: dout * x}

    net = told(watch(Pair(Own(), Scale()), log, *BACK), log)
    return step(net, net, t(3.0))


# Containers


@case
def a_list_as_input(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b([cell.a(x), x]), log, lambda xs: xs[0] * xs[1])


@case
def a_tuple_as_input(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b((cell.a(x), x)), log, lambda xs: xs[0] * xs[1])


@case
def a_tuple_of_what_is_computed_as_input(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b((cell.a(x), cell.a(x) * 2)), log, lambda xs: xs[0] * xs[1])


@case
def a_tuple_of_constants_as_input(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(cell.a(x), (x, t(7.0))), log, lambda x, ys: x * ys[0] * ys[1])


@case
def a_nested_tuple_as_input(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b((cell.a(x), (x, [x]))), log, lambda xs: xs[0] * xs[1][0] * xs[1][1][0])


@case
def a_dictionary_as_input(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b({"p": cell.a(x), "q": x}), log, lambda xs: xs["p"] * xs["q"])


@case
def a_tensor_and_a_tuple_as_inputs(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(cell.a(x), (cell.a(x), x)), log, lambda x, ys: x * ys[0] * ys[1])


@case
def a_tuple_and_a_tensor_as_inputs(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b((cell.a(x), x), cell.a(x)), log, lambda ys, x: x * ys[0] * ys[1])


@case
def a_tensor_and_a_dictionary_as_inputs(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(cell.a(x), {"p": cell.a(x)}), log, lambda x, ys: x * ys["p"])


@case
def a_dictionary_and_a_tensor_as_inputs(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b({"p": cell.a(x)}, cell.a(x)), log, lambda ys, x: x * ys["p"])


@case
def an_empty_tuple_and_a_tensor_as_inputs(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b((), cell.a(x)), log, lambda none, x: x * x)


@case
def a_tuple_of_numbers_and_a_tensor_as_inputs(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b((2, 3.0), cell.a(x)), log, lambda ns, x: x * ns[0] * ns[1])


@case
def none_and_a_tensor_as_inputs(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(None, cell.a(x)), log, lambda none, x: x * x)


@case
def a_tensor_and_none_as_inputs(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(cell.a(x), None), log, lambda x, none: x * x)


@case
def numbers_and_texts_beside_a_tensor(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(2, cell.a(x), 3.0, True, "text"), log, lambda i, x, f, yes, text: x * i * f)


@case
def a_tuple_with_numbers_and_none_as_input(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b((cell.a(x), 2, None)), log, lambda xs: xs[0] * xs[1])


@case
def a_keyword_tensor(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(cell.a(x), y=cell.a(x) * 2), log, lambda x, y: x * y)


@case
def only_keyword_tensors(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(x=cell.a(x), y=x), log, lambda x, y: x * y)


@case
def a_keyword_tensor_beside_a_constant(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(x, y=cell.a(x)), log, lambda x, y: x * y)


@case
def an_integer_tensor_beside_a_tensor(log: list[str]) -> Any:
    return scaled(
        lambda cell, x: cell.b(cell.a(x), Tensor(np.array([2], np.int32)), Tensor(np.array([True]))),
        log,
        lambda x, i, yes: x * i,
    )


@case
def a_tuple_as_output(log: list[str]) -> Any:
    return scaled(lambda cell, x: (lambda p, q: p * q)(*cell.b(cell.a(x))), log, lambda x: (x * x, x * 3))


@case
def a_list_as_output(log: list[str]) -> Any:
    return scaled(lambda cell, x: (lambda p, q: p * q)(*cell.b(cell.a(x))), log, lambda x: [x * x, x * 3])


@case
def a_nested_tuple_as_output(log: list[str]) -> Any:
    return scaled(
        lambda cell, x: (lambda p, q: p * q[0] * q[1])(*cell.b(cell.a(x))), log, lambda x: (x * x, (x * 3, x + 1))
    )


@case
def a_dictionary_as_output(log: list[str]) -> Any:
    return scaled(
        lambda cell, x: (lambda o: o["p"] * o["q"])(cell.b(cell.a(x))), log, lambda x: {"p": x * x, "q": x * 3}
    )


@case
def a_tuple_with_none_and_a_number_as_output(log: list[str]) -> Any:
    return scaled(lambda cell, x: (lambda o: o[0] * o[2])(cell.b(cell.a(x))), log, lambda x: (x * x, None, 3))


@case
def a_tuple_with_a_constant_as_output(log: list[str]) -> Any:
    return scaled(lambda cell, x: (lambda o: o[0] * o[1])(cell.b(cell.a(x))), log, lambda x: (x * x, t(7.0)))


@case
def a_tuple_with_integers_as_output(log: list[str]) -> Any:
    return scaled(
        lambda cell, x: (lambda o: o[0] * o[1])(cell.b(cell.a(x))),
        log,
        lambda x: (x * x, Tensor(np.array([2], np.int32))),
    )


@case
def one_tensor_twice_as_output(log: list[str]) -> Any:
    return scaled(
        lambda cell, x: (lambda o: o[0] * 2 + o[1] * 3)(cell.b(cell.a(x))), log, lambda x: (lambda y: (y, y))(x * x)
    )


@case
def a_tuple_of_one_as_output(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(cell.a(x))[0] * 3, log, lambda x: (x * x,))


@case
def a_number_as_output(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(cell.a(x)) * cell.a(x), log, lambda x: 3)


@case
def none_as_output(log: list[str]) -> Any:
    return scaled(lambda cell, x: (cell.b(cell.a(x)), cell.a(x))[1], log, lambda x: None)


@case
def one_tensor_twice_as_input(log: list[str]) -> Any:
    return scaled(lambda cell, x: (lambda y: cell.b(y, y))(cell.a(x)), log, lambda x, y: x * y * y)


@case
def containers_of_the_network_itself(log: list[str]) -> Any:
    w = Parameter(t(2.0), "w")
    net = watch(plain(lambda xs, more: {"sum": (xs[0] + xs[1] + more["z"]) * w, "product": xs[0] * w}), log)
    return step(lambda *inputs: net(*inputs)["sum"], [w], (t(3.0), t(5.0)), {"z": t(7.0)})


@case
def containers_by_position(log: list[str]) -> Any:
    net = watch(plain(lambda x, ys, z: x * ys[0] * ys[1] * z["z"]), log)
    return ms.grad(net)(t(3.0), (t(3.0), t(5.0)), {"z": t(7.0)})


@case
def hooks_that_replace_containers(log: list[str]) -> Any:
    net = made(lambda cell, x: cell.b((cell.a(x), x))[1], Scale(), plain(lambda xs: (xs[0], xs[0] * xs[1])))
    net.b.register_forward_pre_hook(lambda cell, inputs: ((inputs[0][0] * 2, inputs[0][1]),))
    net.b.register_forward_hook(lambda cell, inputs, output: [output[0], output[1] * 4])
    watch(net.b, log)
    return step(net, net, t(3.0))


@case
def backward_hooks_that_return_for_containers(log: list[str]) -> Any:
    net = made(
        lambda cell, x: (lambda o: o[0] * o[1])(cell.b(cell.a(x), (cell.a(x), x))),
        Scale(),
        plain(lambda x, ys: (x * ys[0], ys[1])),
    )
    net.b.register_backward_hook(lambda cell, grad_input, grad_output: (grad_input[0] * 2, *grad_input[1:]))
    watch(net.b, log, *BACK)
    return step(net, net, t(3.0))


@case
def a_tensor_and_a_list_as_inputs(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b(cell.a(x), [cell.a(x), x]), log, lambda x, ys: x * ys[0] * ys[1])


@case
def a_list_and_a_tensor_as_inputs(log: list[str]) -> Any:
    return scaled(lambda cell, x: cell.b([cell.a(x), x], cell.a(x)), log, lambda ys, x: x * ys[0] * ys[1])


@case
def tensors_only_deep_inside_the_output(log: list[str]) -> Any:
    return scaled(lambda cell, x: (lambda p, q: p[0] * q[0])(*cell.b(cell.a(x))), log, lambda x: ((x * x,), (x * 3,)))


@case
def a_list_in_a_tuple_as_output(log: list[str]) -> Any:
    return scaled(lambda cell, x: (lambda p, q: p * q[0])(*cell.b(cell.a(x))), log, lambda x: (x * x, [x * 3]))


@case
def a_dictionary_with_a_tuple_as_output(log: list[str]) -> Any:
    net = watch(plain(lambda x: {"p": x * x, "q": (x * 3,)}), log)
    return ms.grad(lambda x: (lambda o: o["p"] * o["q"][0])(net(x * 2)))(t(3.0))


@case
def a_list_as_output_of_a_constant(log: list[str]) -> Any:
    w = Parameter(t(2.0), "w")
    net = watch(plain(lambda x: [x * w, x]), log)
    return step(lambda x: net(x)[0], [w], t(3.0))


@case
def containers_with_a_bprop(log: list[str]) -> Any:
    class Own(nn.Cell):
        def construct(self, y: Any, xs: Any) -> Any:
            return xs[0] * xs[1] * y, y * 2

        def bprop(self, y: Any, xs: Any, out: Any, dout: Any) -> Any:
            log.append(f"bprop {shown((y, xs, out, dout))}")
            return dout[0] * xs[0] * xs[1] + dout[1] * 2, (dout[0] * xs[1] * y, dout[0] * xs[0] * y)

    net = made(lambda cell, x: cell.b(cell.a(x), (cell.a(x), x))[0], Scale(), watch(Own(), log))
    return step(net, net, t(3.0))


@case
def a_list_and_a_tensor_by_position(log: list[str]) -> Any:
    net = watch(plain(lambda pair, x: pair[0] * pair[1] * x), log)
    return ms.grad(lambda x: net([x, x], x))(t(3.0))


@case
def a_tensor_and_a_tuple_by_position(log: list[str]) -> Any:
    net = watch(plain(lambda x, pair: pair[0] * pair[1] * x), log)
    return ms.grad(net)(t(3.0), (t(5.0), t(7.0)))


@case
def labels_that_were_an_argument_before(log: list[str]) -> Any:
    y0 = t(5.0)
    net, loss = watch(Scale(), log, *BACK), watch(nn.MSELoss(), log, *BACK)
    step(lambda y: net(y), net, y0)
    return step(lambda x: loss(net(x), y0), net, t(3.0))


@case
def backward_pre_hooks_where_nothing_asked_for_is_used(log: list[str]) -> Any:
    net = watch(made(lambda cell, x, y: cell.a(x, y), plain(lambda x, y: y * y)), log, "backward_pre")
    return ms.grad(net)(t(3.0), t(5.0))


@case
def backward_hooks_where_nothing_asked_for_is_used(log: list[str]) -> Any:
    net = watch(made(lambda cell, x, y: cell.a(x, y), plain(lambda x, y: y * y)), log, "backward")
    return ms.grad(net)(t(3.0), t(5.0))


def seen_in(name: str) -> list[str]:
    """Return the lines of one case: what the hooks saw, and what came out."""
    log: list[str] = []
    try:
        result = shown(CASES[name](log))
    except Exception as error:  # the class is part of the record
        result = type(error).__name__
    return [*log, f"= {result}"]


def recorded() -> dict[str, list[str]]:
    """Return the lines of each case as MindSpore wrote them."""
    results: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            lines.append(line.strip())
        else:
            lines = results[line.rstrip(":")] = []
    return results


def main() -> None:
    with FILE.open("w", encoding="utf-8") as file:
        for name in CASES:
            file.write("\n    ".join([f"{name}:", *seen_in(name)]) + "\n")


if __name__ == "__main__":
    main()
