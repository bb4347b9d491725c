"""The short way behind ``a + b`` gives what the operator gives: values, dtypes, errors, gradients, in any thread."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Parameter, Tensor, grad, ops
from hookscope.engine.tape import taps
from hookscope.engine.tensors.dtype import DTYPES

PAIRS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "add": (operator.add, ops.add),
    "sub": (operator.sub, ops.sub),
    "mul": (operator.mul, ops.mul),
    "div": (operator.truediv, ops.div),
    "floor_divide": (operator.floordiv, ops.floor_divide),
    "remainder": (operator.mod, ops.remainder),
    "eq": (operator.eq, ops.equal),
    "lt": (operator.lt, ops.less),
    "ge": (operator.ge, ops.greater_equal),
}
VALUES = np.array([[1, 0, 2], [3, 1, 5]])


def outcome(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Return the result, as bytes with dtype and shape, or the error's class."""
    try:
        result = function(x, y)
    except (TypeError, ValueError) as error:
        return type(error)
    return result.dtype, result.shape, result.asnumpy().tobytes()


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dtype", [d for d in DTYPES if not d.is_complex], ids=str)
def test_an_operator_of_python_gives_what_the_function_gives(name: str, dtype: Any) -> None:
    short, full = PAIRS[name]
    x = Tensor(VALUES, dtype)
    others = [Tensor(VALUES + 1, dtype), Tensor(2, dtype), Tensor([1.5], dtype), Parameter(Tensor(VALUES, dtype), "p")]
    others += [Tensor(VALUES.astype(np.float64)), 2, 1.5, True, Tensor(np.zeros((0, 3)), dtype), Tensor([1.0, 2.0])]
    for y in others:
        assert outcome(short, x, y) == outcome(full, x, y)
    scalar = Tensor(3, dtype)
    assert outcome(short, scalar, scalar) == outcome(full, scalar, scalar)
    if outcome(short, scalar, scalar) is not TypeError:  # as for the difference of bools
        assert isinstance(short(scalar, scalar)._array, np.ndarray)


def test_shapes_that_do_not_fit_are_told_by_the_operators_own_error() -> None:
    with pytest.raises(ValueError, match="For 'add', the inputs"):
        Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])


def test_gradients_through_both_ways_are_the_same_to_the_second_order() -> None:
    def short(x: Tensor) -> Tensor:
        return (x * x + x / 2.0 - x * 3).sum()

    def full(x: Tensor) -> Tensor:
        return ops.sum(ops.sub(ops.add(ops.mul(x, x), ops.div(x, 2.0)), ops.mul(x, 3)))

    x = Tensor([0.5, -2.0, 3.0])
    for order in (grad, lambda f: grad(lambda x: grad(f)(x).sum())):
        assert order(short)(x).tolist() == order(full)(x).tolist()


def test_gradients_without_axes_stay_arrays() -> None:
    result = grad(lambda x: x * x + x * x)(Tensor(3.0))
    assert isinstance(result._array, np.ndarray) and result.tolist() == 12.0


def test_taps_are_told_of_operators_on_the_short_way_too() -> None:
    class Names(taps.Tap):
        observes_operators = True

        def __init__(self) -> None:
            self.names: list[str] = []

        def operator(self, name: str, inputs: Any, outputs: Any, attrs: Any) -> None:
            self.names.append(name)

    tap = Names()
    taps.attach(tap)
    try:
        Tensor([1.0]) + Tensor([2.0]) * 3.0
    finally:
        taps.detach(tap)
    assert tap.names == ["mul", "add"]


def test_threads_that_compute_at_once_do_not_meet() -> None:
    x, wrong = Tensor(np.ones(300_000, np.float32)), []

    def work() -> None:
        for _ in range(30):
            y = x + x * 2.0 - x
            if y._array[0] != 2.0 or y._array[-1] != 2.0:
                wrong.append(y)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_hook_in_the_middle_of_a_walk_runs_with_the_users_error_state() -> None:
    records = []

    def hook(gradient: Tensor) -> None:
        records.append(np.geterr()["over"])

    def function(x: Tensor) -> Tensor:
        y = x * 2.0
        y.register_hook(hook)
        return (y * 3.0).sum()

    with np.errstate(over="raise"):
        grad(function)(Tensor([1.0]))
        assert np.geterr()["over"] == "raise"
    assert records == ["raise"]
