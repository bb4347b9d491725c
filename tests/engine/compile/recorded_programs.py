"""Small programs that call a network or a function several times, and MindSpore 2.10's results of all calls.

In an environment that has MindSpore 2.10 this writes recorded/graph_mode.json anew, from this folder's parent:

    python compile/recorded_programs.py

A program gets ``run``, which compiles a cell or function as its mode says, and ``tell``, which makes a call and
records the result or the class of the error. The modes:

    pynative    the cell or function itself
    graph       the cell itself under GRAPH_MODE; a function under ``jit``
    jit         ``jit`` of the cell or function

The file has for each program PyNative's results, those of the other two if they differ, and then the reason.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

if __name__ == "__main__":  # MindSpore itself in place of the engine
    import mindspore

    mindspore.set_context(pynative_synchronize=True)  # so that an error is raised at its own line
    sys.modules["hookscope"] = ModuleType("hookscope")
    sys.modules["hookscope.engine"] = mindspore

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops

Run = Callable[[Any], Any]
Tell = Callable[..., None]
Program = Callable[[Run, Tell], None]

FILE = Path(__file__).parents[1] / "recorded" / "graph_mode.json"
MODES = ("pynative", "graph", "jit")
PROGRAMS: dict[str, Program] = {}
DIFFERS: dict[str, str] = {}
FACTOR: Any = 2.0
ADDEND = Tensor(np.array([2.0], np.float32))
SHAPER: Any = ops.relu
CALLS = 0


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def differs(why: str) -> Callable[[Program], Program]:
    """Mark a program for which MindSpore's graphs and its PyNative mode differ."""

    def mark(function: Program) -> Program:
        DIFFERS[function.__name__] = why
        return program(function)

    return mark


LOST = "effects on Python objects are lost"
FROZEN = "what the code reads from Python is frozen when it is compiled"
STALE_WEIGHT = "after set_data, jit of a network that it has seen before goes on with the former value"
UNKNOWN_SYNTAX = "the compiler does not know the statement"
HOOKS = "hooks are part of what is compiled: those that come or go later, or hang elsewhere, are not seen"
COPIES = "what is given back, or written into, is a copy"
ERRORS = "another class of error"


def t(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float32))


def plain(value: Any) -> Any:
    """Return a result as JSON stores it: a tensor's elements under its dtype's name, float32 in the shortest form."""
    if isinstance(value, Tensor):
        array = value.asnumpy()
        if array.dtype.kind == "f":
            array = np.array([float(str(item)) for item in array.ravel()], np.float64).reshape(array.shape)
        return {str(value.dtype): array.tolist()}
    if isinstance(value, tuple):
        return {"tuple": [plain(item) for item in value]}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[key, plain(item)] for key, item in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if value is None or type(value) in (bool, int, float, str):
        return value
    return {"object": type(value).__name__}


@contextmanager
def set_up(mode: str) -> Iterator[Run]:
    """Yield the function that compiles for a mode. "bytecode" and "trace" are ``jit`` with that capture."""
    capture = mode if mode in ("bytecode", "trace") else "ast"

    def run(thing: Any) -> Any:
        if mode == "pynative" or (mode == "graph" and isinstance(thing, nn.Cell)):
            return thing
        return ms.jit(thing, capture_mode=capture)

    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    try:
        yield run
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def results(name: str, mode: str) -> list[Any]:
    """Return the results that a program reports in a mode."""
    values: list[Any] = []

    def tell(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        try:
            values.append(plain(function(*args, **kwargs)))
        except Exception as error:  # its class is part of the record
            values.append({"error": type(error).__name__})

    with set_up(mode) as run:
        PROGRAMS[name](run, tell)
    return values


def of(cell: Any, name: str = "w") -> Any:
    """Return an attribute; for a parameter, its present value."""
    value = getattr(cell, name)
    return Tensor(value.asnumpy()) if isinstance(value, Parameter) else value


class Scale(nn.Cell):
    """x times an attribute k."""

    def __init__(self, k: Any) -> None:
        super().__init__()
        self.k = k

    def construct(self, x: Any) -> Any:
        return x * self.k


class Weighed(nn.Cell):
    """x times a parameter w."""

    def __init__(self, *values: float) -> None:
        super().__init__()
        self.w = Parameter(t(*(values or (2.0,))), name="w")

    def construct(self, x: Any) -> Any:
        return x * self.w


class Summed(nn.Cell):
    """The sum of a cell's output for x."""

    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Any) -> Any:
        return self.inner(x).sum()


# Effects ------------------------------------------------------------------------------------------------------------


@differs(LOST)
def lists_are_appended_to(run: Run, tell: Tell) -> None:
    log: list[int] = []

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.own: list[int] = []

        def construct(self, x: Any) -> Any:
            log.append(1)
            self.own.append(2)
            return x + 1

    net = Net()
    call = run(net)
    tell(call, t(1))
    tell(call, t(2))
    tell(list, log)
    tell(of, net, "own")


@differs(LOST)
def a_global_is_counted(run: Run, tell: Tell) -> None:
    global CALLS

    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            global CALLS
            CALLS = CALLS + 1
            return x + CALLS

    CALLS = 0
    call = run(Net())
    for _ in range(3):
        tell(call, t(1))
    tell(int, CALLS)


@program
def an_attribute_is_counted(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.n = 0
            self.m = 10

        def construct(self, x: Any) -> Any:
            self.n = self.n + 1
            self.m -= 2
            return x + self.n * self.m

    net = Net()
    call = run(net)
    for _ in range(3):
        tell(call, t(1))
    tell(of, net, "n")
    tell(of, net, "m")


@program
def an_attribute_is_made_while_running(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            self.made = 5
            return x + self.made

    net = Net()
    call = run(net)
    tell(call, t(1))
    tell(of, net, "made")


@differs("an attribute that was None keeps the tensor of the first call")
def a_tensor_is_kept_on_the_cell(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.kept = None

        def construct(self, x: Any) -> Any:
            self.kept = x * 2
            return x + 1

    net = Net()
    call = run(net)
    for value in (1.0, 5.0):
        tell(call, t(value))
        tell(of, net, "kept")


@program
def a_tensor_on_the_cell_is_added_to(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.total = t(0)

        def construct(self, x: Any) -> Any:
            self.total = self.total + x
            return self.total * 10

    net = Net()
    call = run(net)
    for value in (1.0, 2.0, 3.0):
        tell(call, t(value))
    tell(of, net, "total")


@program
def parameters_are_assigned_in_order(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.p = Parameter(t(1), name="p")

        def construct(self, x: Any) -> Any:
            before = self.p * 1
            ops.assign(self.p, x)
            between = self.p * 1
            ops.assign_add(self.p, x)
            return before, between, self.p * 1

    net = Net()
    call = run(net)
    tell(call, t(5))
    tell(call, t(7))
    tell(of, net, "p")


@program
def a_parameter_is_added_to(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.p = Parameter(t(0), name="p")

        def construct(self, x: Any) -> Any:
            self.p = self.p + 1
            return x + self.p

    net = Net()
    call = run(net)
    for _ in range(3):
        tell(call, t(1))
    tell(of, net, "p")


@program
def elements_of_a_parameter_are_written(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.p = Parameter(t(1, 2), name="p")

        def construct(self, x: Any) -> Any:
            self.p[0] = 5.0
            return x + self.p

    net = Net()
    call = run(net)
    tell(call, t(3, 3))
    tell(of, net, "p")


@differs("set_data is refused")
def a_parameter_is_set_while_running(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.p = Parameter(t(0), name="p")

        def construct(self, x: Any) -> Any:
            self.p.set_data(x * 2)
            return x + self.p

    net = Net()
    call = run(net)
    tell(call, t(1))
    tell(call, t(4))
    tell(of, net, "p")


@differs(COPIES)
def an_element_of_an_argument_is_written(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            x[0] = 9.0
            return x * 1

    call, x = run(Net()), t(1, 2)
    tell(call, x)
    tell(tuple, [x])


@program
def elements_of_a_result_are_written(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            y = x * 1
            y[0] = 9.0
            y[1:] = y[1:] + 1
            y[-1] += 5
            return y, x

    call = run(Net())
    tell(call, t(1, 2, 3))
    tell(call, t(4, 5, 6))


@differs(COPIES)
def an_element_is_written_through_a_view(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            z = x * 1
            row = z[0]
            row[0] = 9.0
            return z, row

    tell(run(Net()), Tensor(np.ones((2, 2), np.float32)))


@differs("an augmented assignment to a name changes the caller's tensor")
def a_name_is_added_to(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            x += 1
            y = x
            y *= 2
            return x * 1, y * 1

    call, x = run(Net()), t(1)
    tell(call, x)
    tell(tuple, [x])


@differs(LOST)
def a_list_and_a_dictionary_among_the_arguments_are_changed(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any, items: Any, named: Any) -> Any:
            items.append(x)
            items[0] = 7
            named["new"] = x
            return x + len(items) + len(named)

    call = run(Net())
    items, named = [1, 2], {"a": 1}
    tell(call, t(1), items, named)
    tell(call, t(1), items, named)
    tell(list, items)
    tell(dict, named)


# What changes between calls -----------------------------------------------------------------------------------------


@differs(FROZEN)
def a_number_on_the_cell_changes(run: Run, tell: Tell) -> None:
    net = Scale(2)
    call = run(net)
    tell(call, t(1))
    for k in (3, 2.5, -1, True):
        net.k = k
        tell(call, t(1))
    tell(call, t(1, 2))
    net.k = 7
    tell(call, t(1, 2))


@differs(FROZEN)
def a_choice_on_the_cell_changes(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.up, self.how, self.bias = True, "add", None

        def construct(self, x: Any) -> Any:
            y = x + 1 if self.up else x - 1
            if self.how == "add":
                y = y + 10
            if self.bias is not None:
                y = y + self.bias
            return y

    net = Net()
    call = run(net)
    tell(call, t(1))
    net.up = False
    tell(call, t(1))
    net.how = "other"
    tell(call, t(1))
    net.bias = 100
    tell(call, t(1))
    net.bias = None
    tell(call, t(1))


@differs(FROZEN)
def a_tuple_a_list_and_a_dictionary_on_the_cell_change(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.pair, self.items, self.named = (1, 2), [1, 2], {"a": 1}

        def construct(self, x: Any) -> Any:
            return x * self.pair[0], x * self.items[0], x * self.named["a"], len(self.items)

    net = Net()
    call = run(net)
    tell(call, t(1))
    net.pair = (3, 4)
    tell(call, t(1))
    net.items[0] = 5
    net.items.append(6)
    tell(call, t(1))
    net.named["a"] = 7
    tell(call, t(1))


@differs(FROZEN)
def a_tensor_on_the_cell_changes(run: Run, tell: Tell) -> None:
    net = Scale(t(2))
    call = run(net)
    tell(call, t(1))
    net.k = t(3)
    tell(call, t(1))
    net.k[0] = 4.0
    tell(call, t(1))


@differs(FROZEN)
def a_child_changes(run: Run, tell: Tell) -> None:
    net = Summed(Scale(2))
    call = run(net)
    tell(call, t(1, 2))
    net.inner.k = 3
    tell(call, t(1, 2))
    net.inner = Scale(5)
    tell(call, t(1, 2))
    net.inner = nn.ReLU()
    tell(call, t(1, -2))


@differs(FROZEN)
def a_cell_is_appended_to_a_list(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.CellList([Scale(2), Scale(3)])

        def construct(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x) + 1
            return x

    net = Net()
    call = run(net)
    tell(call, t(1))
    net.layers.append(Scale(4))
    tell(call, t(1))


@differs(FROZEN)
def an_attribute_of_the_class_changes(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        factor = 2

        def construct(self, x: Any) -> Any:
            return x * self.factor

    call = run(Net())
    tell(call, t(1))
    Net.factor = 3
    tell(call, t(1))


@differs(FROZEN)
def globals_change(run: Run, tell: Tell) -> None:
    global FACTOR, ADDEND, SHAPER

    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return SHAPER(x) * FACTOR + ADDEND

    FACTOR, ADDEND, SHAPER = 2.0, t(2), ops.relu
    call = run(Net())
    tell(call, t(-1))
    FACTOR = 3.0
    tell(call, t(-1))
    SHAPER = ops.abs
    tell(call, t(-1))
    ADDEND = t(10)
    tell(call, t(-1))


@differs(FROZEN)
def what_a_function_closes_over_changes(run: Run, tell: Tell) -> None:
    k: Any = 2

    def function(x: Any) -> Any:
        return x * k

    call = run(function)
    tell(call, t(1))
    k = 3
    tell(call, t(1))
    k = t(4)
    tell(call, t(1))


@differs(FROZEN)
def a_default_changes(run: Run, tell: Tell) -> None:
    def function(x: Any, k: Any = 2, *, s: Any = 1) -> Any:
        return x * k + s

    call = run(function)
    tell(call, t(1))
    tell(call, t(1), 3)
    function.__defaults__ = (7,)
    tell(call, t(1))


@differs(STALE_WEIGHT)
def a_parameter_is_set(run: Run, tell: Tell) -> None:
    net = Weighed()
    call = run(net)
    tell(call, t(1))
    net.w.set_data(t(3))
    tell(call, t(1))
    net.w[0] = 4.0
    tell(call, t(1))
    ops.assign(net.w, t(5))
    tell(call, t(1))
    ms.load_param_into_net(net, {"w": Parameter(t(6), name="w")})
    tell(call, t(1))


@differs(FROZEN)
def a_parameter_is_replaced(run: Run, tell: Tell) -> None:
    net = Weighed()
    call = run(net)
    tell(call, t(1))
    net.w = Parameter(t(5), name="w")
    tell(call, t(1))


@differs(FROZEN)
def a_parameter_gets_another_shape(run: Run, tell: Tell) -> None:
    net = Weighed()
    call = run(net)
    tell(call, t(1))
    net.w.set_data(t(1, 2), slice_shape=True)
    tell(call, t(1))


class Trained(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x + 1 if self.training else x - 1


@program
def training_is_set_and_taken_back(run: Run, tell: Tell) -> None:
    net = Trained()
    net.set_train()
    call = run(net)
    tell(call, t(1))
    net.set_train(False)
    tell(call, t(1))
    net.set_train(True)
    tell(call, t(1))


@differs("the mode of a network that was called before set_train is kept")
def training_is_set_after_a_call(run: Run, tell: Tell) -> None:
    net = Trained()
    call = run(net)
    tell(call, t(1))
    net.set_train()
    tell(call, t(1))
    net.set_train(False)
    tell(call, t(1))


@differs("the mode of a child is frozen")
def training_is_set_on_a_child(run: Run, tell: Tell) -> None:
    net = Summed(Trained())
    call = run(net)
    tell(call, t(1))
    net.inner.set_train()
    tell(call, t(1))


@program
def running_statistics_move(run: Run, tell: Tell) -> None:
    net = nn.BatchNorm1d(2)
    net.set_train()
    call = run(net)
    x = Tensor(np.array([[1, 2], [3, 6]], np.float32))
    for _ in range(3):
        tell(call, x)
    tell(of, net, "moving_mean")
    tell(of, net, "moving_variance")


@program
def shapes_and_dtypes_change(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2, x.sum(), x.shape, x.ndim

    call = run(Net())
    for x in (t(1), t(1, 2), t(3), Tensor(2.5), Tensor(np.ones((2, 2)), ms.float16), Tensor(np.ones(3), ms.int32)):
        tell(call, x)


@program
def numbers_among_the_arguments_change(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any, k: Any) -> Any:
            return x * k

    call = run(Net())
    for k in (1, 2, 3.5, True, -1, t(6), 2):
        tell(call, t(1), k)


# Arguments and results ----------------------------------------------------------------------------------------------


@program
def arguments_come_in_each_way(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any, k: Any = 2, *rest: Any, s: Any = 1) -> Any:
            return x * k + s + len(rest)

    call = run(Net())
    tell(call, t(1))
    tell(call, t(1), 3)
    tell(call, t(1), k=3)
    tell(call, t(1), 3, 4, 5)
    tell(call, t(1), s=10)
    tell(call, x=t(1))


@program
def an_argument_may_be_none(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any, y: Any = None) -> Any:
            return x * 2 if y is None else x + y

    call = run(Net())
    tell(call, t(1))
    tell(call, t(1), None)
    tell(call, t(1), t(5))
    tell(call, t(1), y=t(6))
    tell(call, t(1))


@program
def wrong_arguments_are_type_errors(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any, y: Any = None) -> Any:
            return x * 2

    call = run(Net())
    tell(call)
    tell(call, t(1), t(1), t(1))
    tell(call, t(1), z=t(1))
    tell(call, t(1), x=t(1))
    tell(call, t(1))


@program
def containers_come_in(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, pair: Any, items: Any, named: Any) -> Any:
            return pair[0] + pair[1], items[0] * items[-1], named["a"] - named["b"], len(items)

    call = run(Net())
    tell(call, (t(1), t(2)), [t(3), t(4)], {"a": t(5), "b": t(6)})
    tell(call, (t(10), t(2)), [t(30), t(4)], {"a": t(50), "b": t(6)})
    tell(call, (1, 2), [3, 4], {"a": 5, "b": 6})
    tell(call, (10, 2), [30, 4], {"a": 50, "b": 6})
    tell(call, ms.mutable((1, 2)), ms.mutable([3, 4]), ms.mutable({"a": 5, "b": 6}))


@program
def containers_go_out(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return 1, 2.5, True, None, "s", (1, (x, [x * 2, 2])), {"a": x, "b": {"c": 1}}, x.shape, (), []

    call = run(Net())
    tell(call, t(1))
    tell(call, t(2))


@program
def values_go_through_as_they_are(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x

    call = run(Net())
    for value in (3, 2.5, True, None, "text", (1, 2), [1, [t(2)]], {"a": (t(1), None)}, t(1), np.ones(2)):
        tell(call, value)


@program
def an_input_by_itself_comes_back_itself(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x

    class Held(Weighed):
        def construct(self, x: Any) -> Any:
            return self.w

    call, x = run(Net()), t(1)
    tell(bool, call(x) is x)
    net = Held()
    call = run(net)
    tell(bool, call(x) is net.w)


@differs(COPIES)
def what_comes_back_is_written_into(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x, x * 1, x.reshape(-1)

    call, x = run(Net()), Tensor(np.ones((1, 2), np.float32))
    same, product, flat = call(x)
    same[0, 0] = 50.0
    product[0, 0] = 60.0
    tell(tuple, (x, same, product, flat))
    tell(call, x)


# Control flow, Python within ----------------------------------------------------------------------------------------


@program
def a_branch_on_a_value(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            if x.sum() > 0:
                return x + 1
            return x - 1

    call = run(Net())
    for x in (t(1, 2), t(-1, -2), t(3, 2), t(-3, -2)):
        tell(call, x)


@program
def a_branch_on_a_value_within_a_gradient(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            if x.sum() > 0:
                y = x * 2
            else:
                y = x * x
            return y.sum()

    gradient = ms.grad(run(Net()))
    for x in (t(1, 2), t(-1, -2), t(3, 2)):
        tell(gradient, x)


@program
def a_loop_on_a_value(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            n = 0
            while x.sum() < 10:
                x = x * 2
                n = n + 1
            return x, n

    call = run(Net())
    for x in (t(1), t(3), t(11), t(1)):
        tell(call, x)


@program
def loops_over_numbers_and_containers(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any, n: Any) -> Any:
            y = x * 0
            for i in range(n):
                if i == 1:
                    continue
                if i == 4:
                    break
                y = y + i * 10
            for v in x:
                y = y + v
            for i, (a, b) in enumerate(zip((x, x * 2), [3, 4])):  # noqa: B905 - no keywords in MindSpore's zip
                y = y + i * a * b
            named = {"a": x, "b": 2}
            for key, value in named.items():
                y = y + value * len(key)
            return y

    call = run(Net())
    for n in (1, 3, 6):
        tell(call, t(1, 2), n)


@program
def functions_within_functions(run: Run, tell: Tell) -> None:
    def power(x: Any, n: Any) -> Any:
        if n == 0:
            return x * 0 + 1
        return x * power(x, n - 1)

    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            def scaled(y: Any, k: Any = 2) -> Any:
                return y * k

            twice = lambda y: y + y  # noqa: E731 - what users write
            return scaled(x) + scaled(x, 3), twice(x), power(x, 3), [v * 2 for v in (x, x)], sum([x, x, x])

    call = run(Net())
    tell(call, t(2))
    tell(call, t(3))


@program
def values_are_read_while_running(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x.sum().item(), float(x.max()), int(x.sum()), x * float(x.sum()), x.tolist()

    call = run(Net())
    tell(call, t(1, 2))
    tell(call, t(3, 4))


@program
def numpy_is_used_while_running(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return Tensor(x.asnumpy() * 2) + Tensor(np.array([1, 2], np.float32))

    call = run(Net())
    tell(call, t(1, 2))
    tell(call, t(3, 4))


@program
def shapes_that_depend_on_values(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x[x > 0], ops.masked_select(x, x < 0)

    call = run(Net())
    for x in (t(1, -1, 2), t(-1, -1, 2), t(1, 1, 2)):
        tell(call, x)


@differs(UNKNOWN_SYNTAX)
def an_error_is_caught(run: Run, tell: Tell) -> None:
    def function(x: Any) -> Any:
        try:
            return x.reshape(7)
        except ValueError:
            return x * 5

    call = run(function)
    tell(call, t(1, 2))
    tell(call, t(1, 2, 3, 4, 5, 6, 7))


@differs(UNKNOWN_SYNTAX)
def statements_of_python(run: Run, tell: Tell) -> None:
    def imports(x: Any) -> Any:
        import math

        return x * math.sqrt(4.0)

    def names(x: Any) -> Any:
        if (n := x.shape[0]) > 1:
            return x * n
        return x

    def deletes(x: Any) -> Any:
        named = {"a": 1, "b": x}
        del named["a"]
        return named

    def finishes(x: Any) -> Any:
        for _ in range(2):
            x = x + 1
        else:
            x = x + 10
        return x

    for function in (imports, names, deletes, finishes):
        tell(run(function), t(1, 2))


class OwnError(Exception):
    pass


@differs(ERRORS)
def errors_are_raised(run: Run, tell: Tell) -> None:
    def value(x: Any) -> Any:
        raise ValueError("own text")

    def own(x: Any) -> Any:
        raise OwnError("own text")

    def asserted(x: Any) -> Any:
        assert x.shape[0] == 3, "three wanted"
        return x

    def name(x: Any) -> Any:
        return x + not_there  # noqa: F821

    def attribute(x: Any) -> Any:
        return x.not_there

    def index(x: Any) -> Any:
        return x[5]

    def key(x: Any) -> Any:
        return {"a": x}["b"]

    def shape(x: Any) -> Any:
        return x.reshape(5)

    def kind(x: Any) -> Any:
        return x + "text"

    for function in (value, own, asserted, name, attribute, index, key, shape, kind):
        tell(run(function), t(1, 2))


@differs("under a condition on a value, raise fails also where it is false")
def an_error_is_raised_for_some_values(run: Run, tell: Tell) -> None:
    def function(x: Any) -> Any:
        if x.sum() > 0:
            raise ValueError("positive")
        return x * 2

    call = run(function)
    tell(call, t(-1))
    tell(call, t(1))
    tell(call, t(-2))


@program
def an_error_leaves_the_network_usable(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any, y: Any) -> Any:
            return x + y

    call = run(Net())
    tell(call, t(1, 2), t(1, 2))
    tell(call, t(1, 2), t(1, 2, 3))
    tell(call, t(1, 2), t(3, 4))


# Random numbers -----------------------------------------------------------------------------------------------------


@program
def random_numbers_are_others_in_each_call(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.standard_normal((64,)) + x, ops.dropout(x + ops.ones(64, ms.float32), 0.5)

    def equal(some: Any, others: Any) -> list[bool]:
        return [bool((a.asnumpy() == b.asnumpy()).all()) for a, b in zip(some, others, strict=True)]

    ms.set_seed(1)
    call = run(Net())
    first = call(t(0))
    tell(equal, first, call(t(0)))
    tell(equal, call(t(0)), call(t(0)))
    ms.set_seed(1)
    tell(equal, first, run(Net())(t(0)))


# Hooks and bprop ----------------------------------------------------------------------------------------------------


def tenfold(grad: Any) -> Any:
    return grad * 10


@program
def hooks_change_what_passes(run: Run, tell: Tell) -> None:
    def before(cell: Any, args: Any) -> Any:
        return args[0] + 10

    def after(cell: Any, args: Any, output: Any) -> Any:
        return output * 100

    net = Summed(Scale(2))
    net.inner.register_forward_pre_hook(before)
    net.inner.register_forward_hook(after)
    call = run(net)
    tell(call, t(1))
    tell(call, t(2))


@differs(HOOKS)
def hooks_come_and_go(run: Run, tell: Tell) -> None:
    def after(cell: Any, args: Any, output: Any) -> Any:
        return output * 100

    net = Summed(Scale(2))
    call = run(net)
    tell(call, t(1))
    handle = net.inner.register_forward_hook(after)
    tell(call, t(1))
    handle.remove()
    tell(call, t(1))


@differs(HOOKS)
def hooks_of_the_called_cell_itself(run: Run, tell: Tell) -> None:
    def before(cell: Any, args: Any) -> Any:
        return args[0] + 10

    def after(cell: Any, args: Any, output: Any) -> Any:
        return output * 100

    net = Scale(2)
    net.register_forward_pre_hook(before)
    net.register_forward_hook(after)
    tell(run(net), t(1))


@differs(HOOKS)
def hooks_of_a_cell_in_a_container(run: Run, tell: Tell) -> None:
    def after(cell: Any, args: Any, output: Any) -> Any:
        return output + 100

    net = nn.SequentialCell(Scale(2), nn.ReLU())
    net[0].register_forward_hook(after)
    tell(run(net), t(1))


@differs(LOST)
def hooks_that_write_down_what_they_see(run: Run, tell: Tell) -> None:
    log: list[Any] = []

    def after(cell: Any, args: Any, output: Any) -> None:
        log.append(output.shape)

    net = Summed(Scale(2))
    net.inner.register_forward_hook(after)
    call = run(net)
    tell(call, t(1))
    tell(call, t(2))
    tell(len, log)


@program
def a_hook_that_raises(run: Run, tell: Tell) -> None:
    def before(cell: Any, args: Any) -> Any:
        raise ValueError("from a hook")

    net = Summed(Scale(2))
    net.inner.register_forward_pre_hook(before)
    tell(run(net), t(1))


@program
def backward_hooks_change_gradients(run: Run, tell: Tell) -> None:
    def arriving(cell: Any, grad_output: Any) -> Any:
        return (grad_output[0] * 10,)

    def leaving(cell: Any, grad_input: Any, grad_output: Any) -> Any:
        return (grad_input[0] * 100,)

    net = Summed(Scale(2))
    net.inner.register_backward_pre_hook(arriving)
    net.inner.register_backward_hook(leaving)
    gradient = ms.grad(run(net))
    tell(gradient, t(1))
    tell(gradient, t(2))


@differs(HOOKS)
def backward_hooks_come_and_go(run: Run, tell: Tell) -> None:
    def leaving(cell: Any, grad_input: Any, grad_output: Any) -> Any:
        return (grad_input[0] * 100,)

    net = Summed(Scale(2))
    gradient = ms.grad(run(net))
    tell(gradient, t(1))
    handle = net.inner.register_backward_hook(leaving)
    tell(gradient, t(1))
    handle.remove()
    tell(gradient, t(1))


@program
def a_tensor_within_has_a_hook(run: Run, tell: Tell) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            y = x * 2
            y.register_hook(tenfold)
            return (y * 3).sum()

    gradient = ms.grad(run(Net()))
    tell(gradient, t(1))
    tell(gradient, t(2))


@differs(HOOKS)
def an_argument_has_a_hook(run: Run, tell: Tell) -> None:
    gradient = ms.grad(run(Summed(Scale(2))))
    x = t(1)
    tell(gradient, x)
    handle = x.register_hook(tenfold)
    tell(gradient, x)
    handle.remove()
    tell(gradient, x)


@differs(HOOKS)
def a_parameter_has_a_hook(run: Run, tell: Tell) -> None:
    net = Summed(Weighed())
    gradient = ms.grad(run(net), None, net.trainable_params())
    tell(gradient, t(3))
    handle = net.inner.w.register_hook(tenfold)
    tell(gradient, t(3))
    handle.remove()
    tell(gradient, t(3))


@differs("HookBackward is ignored")
def hook_backward_and_insert_gradient_of(run: Run, tell: Tell) -> None:
    def of_tuple(grad: Any) -> Any:
        return grad[0] * 10

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.hook, self.insert = ops.HookBackward(of_tuple), ops.InsertGradientOf(tenfold)

        def construct(self, x: Any, y: Any) -> Any:
            return (self.hook(x) * 2 + self.insert(y) * 3).sum()

    gradient = ms.grad(run(Net()), (0, 1))
    tell(gradient, t(1), t(1))
    tell(gradient, t(2), t(1))


@program
def a_bprop_of_a_child(run: Run, tell: Tell) -> None:
    class Own(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * x * 100,)

    gradient = ms.grad(run(Summed(Own())))
    tell(gradient, t(1))
    tell(gradient, t(2))


@differs(LOST)
def a_bprop_that_counts(run: Run, tell: Tell) -> None:
    log: list[int] = []

    class Own(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            log.append(1)
            return (dout * 100,)

    gradient = ms.grad(run(Own()))
    tell(gradient, t(1))
    tell(gradient, t(2))
    tell(len, log)


@program
def a_recomputed_child(run: Run, tell: Tell) -> None:
    class Square(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * x

    net = Summed(Square())
    net.inner.recompute()
    gradient = ms.grad(run(net))
    tell(gradient, t(3))
    tell(gradient, t(4))


# Gradients and training ---------------------------------------------------------------------------------------------


def dense() -> Any:
    return nn.Dense(2, 1, weight_init="ones", bias_init="zeros")


X, Y = Tensor(np.array([[1, 2]], np.float32)), Tensor(np.array([[1]], np.float32))


@program
def a_value_a_gradient_and_more(run: Run, tell: Tell) -> None:
    net, loss = dense(), nn.MSELoss()

    def forward(x: Any, y: Any) -> Any:
        out = net(x)
        return loss(out, y), out

    both = ms.value_and_grad(run(forward), None, net.trainable_params(), has_aux=True)
    tell(both, X, Y)
    tell(both, X * 2, Y)


@program
def gradients_within_and_of_gradients(run: Run, tell: Tell) -> None:
    def cube(x: Any) -> Any:
        return (x**3).sum()

    def slope(x: Any) -> Any:
        return ms.grad(cube)(x) * 2

    tell(run(slope), t(2, 3))
    tell(run(slope), t(4, 5))
    tell(ms.grad(ms.grad(run(cube))), t(2))


@program
def a_step_of_momentum(run: Run, tell: Tell) -> None:
    net, loss = dense(), nn.MSELoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)

    def forward(x: Any, y: Any) -> Any:
        return loss(net(x), y)

    both = ms.value_and_grad(forward, None, net.trainable_params())

    def step(x: Any, y: Any) -> Any:
        value, gradients = both(x, y)
        optimizer(gradients)
        return value

    call = run(step)
    for _ in range(4):
        tell(call, X, Y)
    tell(of, net, "weight")
    tell(of, optimizer, "global_step")


@program
def a_step_of_adam_whose_rate_changes(run: Run, tell: Tell) -> None:
    net, loss = dense(), nn.MSELoss()
    optimizer = nn.Adam(net.trainable_params(), 0.1)

    def forward(x: Any, y: Any) -> Any:
        return loss(net(x), y)

    both = ms.value_and_grad(forward, None, net.trainable_params())

    def step(x: Any, y: Any) -> Any:
        value, gradients = both(x, y)
        return ops.depend(value, optimizer(gradients))

    call = run(step)
    tell(call, X, Y)
    tell(call, X, Y)
    ops.assign(optimizer.learning_rate, Tensor(0.5, ms.float32))
    tell(call, X, Y)
    tell(of, net, "weight")


@program
def an_optimizer_outside_of_what_is_compiled(run: Run, tell: Tell) -> None:
    net, loss = dense(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1)

    def forward(x: Any, y: Any) -> Any:
        return loss(net(x), y)

    both = ms.value_and_grad(run(forward), None, net.trainable_params())
    for _ in range(3):
        tell(both, X, Y)
        optimizer(both(X, Y)[1])
    tell(of, net, "weight")


@program
def a_network_is_asked_while_it_is_trained(run: Run, tell: Tell) -> None:
    net = dense()
    call = run(net)
    optimizer = nn.SGD(net.trainable_params(), 0.1)

    def forward(x: Any) -> Any:
        return net(x).sum()

    both = ms.value_and_grad(forward, None, net.trainable_params())
    for _ in range(3):
        tell(call, X)
        optimizer(both(X)[1])
    tell(call, X)


@program
def a_train_one_step_cell_that_counts(run: Run, tell: Tell) -> None:
    class Loss(nn.Cell):
        def __init__(self, net: nn.Cell) -> None:
            super().__init__()
            self.net, self.loss, self.n = net, nn.MSELoss(), 0

        def construct(self, x: Any, y: Any) -> Any:
            self.n = self.n + 1
            return self.loss(self.net(x), y)

    net = dense()
    counted = Loss(net)
    step = nn.TrainOneStepCell(counted, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    step.set_train()
    call = run(step)
    for _ in range(3):
        tell(call, X, Y)
    tell(of, net, "weight")
    tell(of, counted, "n")


@program
def a_network_in_half_precision(run: Run, tell: Tell) -> None:
    net = nn.Dense(2, 2, weight_init="ones", bias_init="zeros").to_float(ms.float16)
    tell(run(net), X / 3)


def _record(name: str, mode: str, channel: Connection) -> None:
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    channel.send(results(name, mode))


def main() -> None:
    """Run each program and mode in a process of its own, in a folder for MindSpore's dumps."""
    fork, lines = multiprocessing.get_context("fork"), []
    os.chdir(tempfile.mkdtemp())
    for name in PROGRAMS:
        results = {}
        for mode in MODES:
            here, there = fork.Pipe(duplex=False)
            process = fork.Process(target=_record, args=(name, mode, there))
            process.start()
            if not here.poll(60):
                process.kill()
                sys.exit(f"{name} gives nothing in mode {mode}")
            results[mode] = here.recv()
            process.join()
        eager = results["pynative"]
        differences = {mode: values for mode, values in results.items() if mode == "pynative" or values != eager}
        why = {"differs": DIFFERS[name]} if name in DIFFERS else {}
        lines.append(f"{json.dumps(name)}: {json.dumps({**differences, **why})}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
