"""Calls that are one node on the tape, and write to what they are given: values and gradients are those of other calls.

The nodes are those of recompute, of a ``bprop`` and of ``_Function``; the expected numbers are worked out by hand, or
are those of the same cell without recompute.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.autograd.function import _Function


def counting(*shape: int) -> Tensor:
    return Tensor(np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape))


class Holding(nn.Cell):
    """Cell with a parameter, a frozen one and a tensor; ``construct`` is an argument."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.w = Parameter(counting(3), name="w")
        self.frozen = Parameter(counting(3), name="frozen", requires_grad=False)
        self.t = counting(3)
        self.norm = nn.BatchNorm1d(3)
        self.function = [function]

    def construct(self, *args: Tensor) -> Any:
        return self.function[0](self, *args)


def writes_argument(cell: Any, x: Tensor) -> Tensor:
    x.add_(1)
    return x * x


def writes_parameter(cell: Any, x: Tensor) -> Tensor:
    cell.w.mul_(2)
    return x * 1


def writes_and_returns_parameter(cell: Any, x: Tensor) -> Tensor:
    cell.w.add_(x)
    return cell.w


def writes_parameter_of_argument(cell: Any, x: Tensor) -> Tensor:
    cell.w.mul_(2)
    return x * x


def writes_attribute(cell: Any, x: Tensor) -> Tensor:
    cell.t.add_(1)
    cell.frozen.add_(1)
    return cell.norm(ops.stack([x * cell.t, x * cell.frozen])).sum(0) + x * cell.t


def returns_part_of_parameter(cell: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    return cell.w[0:2], x * 1


def writes_turned(cell: Any, x: Tensor) -> Tensor:
    y = x.reshape(-1)
    y[0] = 5.0
    return x * x


def used_after(cell: Any, x: Tensor) -> Tensor:
    y = x * 1
    return cell(y).sum() + (y * y).sum()


def part_used_after(cell: Any, x: Tensor) -> Tensor:
    y = x * 1
    return cell(y[1:]).sum() + (y * y).sum() + y[:2].sum()


def assigned_after(cell: Any, x: Tensor) -> Tensor:
    a, b = cell(x)
    result = (a * b[0:2]).sum()
    ops.assign(cell.w, counting(3) * 0)
    return result


@pytest.mark.parametrize(
    ("function", "program"),
    [
        (writes_argument, used_after),
        (writes_argument, part_used_after),
        (writes_argument, lambda cell, x: cell(x * 1).sum()),
        (writes_argument, lambda cell, x: (cell(cell.w * 1) * cell.w).sum()),
        (writes_parameter, lambda cell, x: (cell(x) * cell.w).sum()),
        (writes_and_returns_parameter, lambda cell, x: (cell(x) * x).sum()),
        (writes_parameter_of_argument, lambda cell, x: cell(cell.w[0:2]).sum() + x.sum()),
        (writes_parameter_of_argument, lambda cell, x: cell(cell.w).sum() + x.sum()),
        (writes_attribute, lambda cell, x: (cell(x) * cell.t).sum()),
        (returns_part_of_parameter, assigned_after),
        (writes_turned, lambda cell, x: cell(ops.stack([x, x * 2]).T).sum()),
    ],
)
def test_recompute_changes_nothing_of_what_a_cell_writes(function: Any, program: Any) -> None:
    results = []
    for again in (False, True):
        cell = Holding(function).set_train()
        if again:
            cell.recompute()
        x = counting(3) * 0.5
        argument = ms.value_and_grad(lambda x, cell=cell: program(cell, x), 0, cell.trainable_params())(x)
        state = [cell.t, *cell.get_parameters()]
        results.append([np.asarray(t) for t in (argument[0], argument[1][0], *argument[1][1], *state)])
    for plain, recomputed in zip(*results, strict=True):
        np.testing.assert_allclose(recomputed, plain, rtol=1e-6)


class Writer(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        x[0] = 5.0
        return x * x

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (dout * x * 3,)


def test_an_argument_that_a_cell_with_a_bprop_writes_keeps_its_gradients() -> None:
    """As in MindSpore 2.10: the argument is the same one for the tape, before and after."""
    cell = Writer()
    np.testing.assert_array_equal(ms.grad(lambda x: cell(x * 1).sum())(counting(3)), [15, 6, 9])
    np.testing.assert_array_equal(ms.grad(lambda x: used_after(cell, x))(counting(3)), [15 + 10, 6 + 4, 9 + 6])


@pytest.mark.parametrize("with_bprop", [False, True])
def test_a_turned_result_is_reshaped_to_a_copy_inside_a_gradient_too(with_bprop: bool) -> None:
    class Turned(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return (x * 1).T

    class TurnedBack(Turned):
        def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
            return (dout.T,)

    cell = TurnedBack() if with_bprop else Turned()
    if not with_bprop:
        cell.recompute()

    def function(x: Tensor) -> Tensor:
        y = cell(x)
        y.reshape(-1)[1] = 50.0
        return (y * y).sum()

    assert function(counting(2, 2)).item() == 30
    value, gradient = ms.value_and_grad(function)(counting(2, 2))
    assert value.item() == 30
    np.testing.assert_array_equal(gradient, [[2, 4], [6, 8]])


class Flat(_Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        return x.view(-1), x.T

    @staticmethod
    def backward(ctx: Any, g: Tensor, h: Tensor) -> Tensor:
        return g.view(2, 2) + h.T


def test_a_view_that_a_function_returns_shares_inside_a_gradient_too() -> None:
    def function(x: Tensor) -> Tensor:
        y = x * 1
        flat, turned = Flat.apply(y)
        flat.mul_(5)
        turned.reshape(-1)[0] = 100.0
        return (y * y).sum()

    assert function(counting(2, 2)).item() == 750
    value, gradient = ms.value_and_grad(function)(counting(2, 2))
    assert value.item() == 750
    np.testing.assert_array_equal(gradient, [[50, 100], [150, 200]])


@pytest.mark.parametrize("way", ["*=", "+=", "=", "set_data"])
def test_a_parameter_that_gets_new_values_is_still_asked_for_its_gradient(way: str) -> None:
    """MindSpore 2.10 gives these numbers: the gradient is that by the values that the parameter has."""

    class Setting(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(counting(3), name="w")

        def construct(self, x: Tensor) -> Tensor:
            if way == "*=":
                self.w *= 2
            elif way == "+=":
                self.w += 0
            elif way == "=":
                self.w = self.w * 2
            else:
                self.w.set_data(counting(3))
            return self.w * x

    cell = Setting()
    (gradient,) = ms.grad(lambda x: cell(x).sum(), None, [cell.w])(counting(3))
    np.testing.assert_array_equal(gradient, [1, 2, 3])


def test_a_recomputed_cell_that_returns_something_else_than_tensors_is_told_of() -> None:
    class Object(nn.Cell):
        def construct(self, x: Tensor) -> Any:
            return types.SimpleNamespace(a=x * 2)

    cell = Object()
    cell.recompute()
    with pytest.warns(UserWarning, match="a SimpleNamespace, which is not searched for tensors"):
        ms.grad(lambda x: cell(x * 1).a.sum())(counting(3))


def test_a_backward_that_returns_a_dictionary_is_refused() -> None:
    class Named(_Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            return {"x": g * 100}

    with pytest.raises(RuntimeError, match="returned dict as gradient 0; it must be a Tensor or None"):
        ms.grad(lambda x: Named.apply(x).sum())(counting(3))
