"""Captures name the context of their call (recompute, a sample of a vmap, the order), and keep their value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from debug_networks import Scale, Square, Twice, scripted, tensor

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, grad, jit, jvp, nn, ops, value_and_grad, vjp, vmap
from hookscope.engine.debug import DebugSession


def keys(session: DebugSession, slot: str = "") -> list[str]:
    return [f"{c.step} {c.key}" for c in session.captures if slot in c.slot]


# Calls


def test_a_recursive_cell_is_numbered_by_the_order_in_which_its_calls_begin() -> None:
    class Power(nn.Cell):
        def construct(self, x: Any, n: int = 3) -> Any:
            return x if n == 1 else x * self(x, n - 1)

    with DebugSession(Power()) as session:
        assert grad(session.roots[0])(tensor(2.0)).tolist() == [12.0]
    assert keys(session, "put") == [
        "1 (root)#0 forward input[0]",
        "1 (root)#1 forward input[0]",
        "1 (root)#2 forward input[0]",
        "1 (root)#2 forward output",
        "1 (root)#1 forward output",
        "1 (root)#0 forward output",
        "1 (root)#0 backward grad_output[0]",
        "1 (root)#1 backward grad_output[0]",
        "1 (root)#2 backward grad_output[0]",
        "1 (root)#2 backward grad_input[0]",
        "1 (root)#1 backward grad_input[0]",
        "1 (root)#0 backward grad_input[0]",
    ]
    assert [c.array.tolist() for c in session.captures if c.slot == "output"] == [[2.0], [4.0], [8.0]]


def test_nested_outputs_keyword_arguments_and_gradients_have_slots() -> None:
    class Parts(nn.Cell):
        def construct(self, x: Any, scale: Any = None) -> Any:
            return {"a": x * scale, "rest": [x + 1.0, (x, 3)]}

    class Root(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.parts = Parts()

        def construct(self, x: Any) -> Any:
            result = self.parts(x, scale=x)
            return result["a"] * result["rest"][0]

    with DebugSession(Root(), watch=["parts"]) as session:
        grad(session.roots[0])(tensor(2.0))
    assert [c.slot for c in session.captures] == [
        "input[0]",
        "input[scale]",
        "output[a]",
        "output[rest][0]",
        "output[rest][1][0]",
        "grad_output[0]",
        "grad_output[1]",
        "grad_input[0]",
    ]


def test_the_second_run_of_a_recomputed_cell_is_the_same_step_and_call_and_says_so() -> None:
    net = nn.SequentialCell(Twice(Square()), nn.Tanh())
    net[0].recompute()
    with DebugSession(net, watch=["0.inner"]) as session:
        grad(net)(tensor(0.5))
        grad(net)(tensor(0.5))
    forward = [f"0.inner#{i} forward {slot}" for i in (0, 1) for slot in ("input[0]", "output")]
    again = [f"{key} (recomputed)" for key in forward]
    backward = [f"0.inner#{i} backward grad_{slot}[0] (recomputed)" for i in (1, 0) for slot in ("output", "input")]
    assert keys(session) == [f"{step} {key}" for step in (1, 2) for key in (*forward, *again, *backward)]
    assert session.step == 2


def test_a_root_that_is_recomputed_begins_no_step_of_its_own() -> None:
    net = Twice(Square())
    with DebugSession(watch=["*inner"]) as session:
        grad(lambda x: ms.recompute(net, x) * 1.0)(tensor(0.5))
    assert session.step == 1 and session.roots == [net]
    assert {c.context for c in session.captures if c.direction == "backward"} == {"recomputed"}
    assert [c.call for c in session.captures if c.direction == "backward"] == [1, 1, 0, 0]


def test_a_recomputed_call_stops_once() -> None:
    net = nn.SequentialCell(nn.SequentialCell(Square()), nn.Tanh())
    net[0].recompute()
    session, script = scripted(net, breaks=["0.0:forward", "0.0:backward"])
    with session:
        grad(net)(tensor(0.5))
    assert [(p.moment, p.reason) for p in script.points] == [
        ("forward", "breakpoint 0.0:forward"),
        ("backward", "breakpoint 0.0:backward; recomputed"),
    ]


def test_captures_in_a_function_under_jit_are_those_without() -> None:
    class Compiled(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Square()

        @jit
        def construct(self, x: Any) -> Any:
            return self.inner(x) * 2.0

    with DebugSession(Compiled()) as session:
        assert grad(session.roots[0])(tensor(3.0)).tolist() == [12.0]
    assert keys(session) == [
        "1 inner#0 forward input[0]",
        "1 inner#0 forward output",
        "1 inner#0 backward grad_output[0]",
        "1 inner#0 backward grad_input[0]",
    ]


# Gradients of gradients, and function transforms


def test_the_walks_of_a_gradient_of_a_gradient_are_told_apart_by_their_order() -> None:
    net = Square()
    with DebugSession(net) as session:
        assert grad(grad(lambda x: net(x) * x))(tensor(2.0)).tolist() == [12.0]
    assert keys(session, "grad_input") == [
        "1 (root)#0 backward grad_input[0]",
        "1 (root)#0 backward grad_input[0] (order 2)",
    ]
    assert [c.array.tolist() for c in session.captures if c.slot == "grad_input[0]"] == [[8.0], [4.0]]


def test_a_gradient_inside_a_step_has_order_1_and_the_step_around_it_order_2_where_it_went_through_both() -> None:
    net = nn.SequentialCell(nn.Tanh(), Square())

    def penalized(x: Tensor) -> Any:
        return net(x).sum() + (grad(net)(x) ** 2).sum()

    with DebugSession(net, watch=["0:backward"]) as session:
        grad(penalized)(tensor(0.5))
    assert [(c.step, c.call, c.context) for c in session.captures if c.slot == "grad_output[0]"] == [
        (2, 0, ""),
        (2, 0, "order 2"),
        (1, 0, ""),
    ]


class Exp(nn.Cell):
    def construct(self, x: Any) -> Any:
        return ops.exp(x)


def test_three_orders() -> None:
    net = Exp()
    with DebugSession(net, watch=[".:backward"]) as session:
        assert grad(grad(grad(net)))(tensor(0.0)).tolist() == [1.0]
    assert [c.context for c in session.captures if c.slot == "grad_input[0]"] == ["", "order 2", "order 3"]


def test_gradients_that_go_back_again_through_one_run_are_numbered() -> None:
    net = Square()
    with DebugSession(net, watch=[".:backward"]) as session:
        _, back = vjp(net, tensor(2.0, 3.0))
        back(tensor(1.0, 0.0))
        back(tensor(0.0, 1.0))
    assert [(c.context, c.array.tolist()) for c in session.captures if c.slot == "grad_output[0]"] == [
        ("", [1.0, 0.0]),
        ("walk 2", [0.0, 1.0]),
    ]


def test_the_samples_of_a_vmap_are_one_step() -> None:
    net = nn.SequentialCell(Square())
    with DebugSession(net, watch=["0:forward"]) as session:
        vmap(net)(Tensor(np.arange(3, dtype=np.float32)))
        net(tensor(1.0))
    assert keys(session, "output") == [
        "1 0#0 forward output (sample 0)",
        "1 0#1 forward output (sample 1)",
        "1 0#2 forward output (sample 2)",
        "2 0#0 forward output",
    ]


def test_a_jvp_shows_the_one_run_that_the_user_asked_for() -> None:
    net = Square()
    with DebugSession(net) as session:
        value, slope = jvp(net, tensor(3.0), tensor(1.0))
    assert (value.tolist(), slope.tolist()) == ([9.0], [6.0])
    assert keys(session) == ["1 (root)#0 forward input[0]", "1 (root)#0 forward output"]


def test_a_cell_that_a_bprop_calls_says_so() -> None:
    class Calls(Scale):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Square()

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (self.inner(dout),)

    with DebugSession(Calls(), watch=["inner"]) as session:
        grad(session.roots[0])(tensor(1.0))
    assert keys(session, "output") == ["1 inner#0 forward output (in the bprop of (root))"]


@pytest.mark.parametrize("every", [1, 2, 3, 7])
def test_every_nth_step_is_exact_for_taps_hooks_and_gradients(every: int) -> None:
    net = nn.SequentialCell(Square(), nn.Tanh())
    session = DebugSession(net, every=every)
    for kind in ("forward_pre", "forward", "backward_pre", "backward"):
        session.attach_hook(".", kind)
        session.attach_hook("0", kind)
    with session:
        for _ in range(8):
            grad(net)(tensor(0.5))
    expected = list(range(1, 9, every))
    for origin, count in (("tap", 8), ("hook", 10)):
        results = [c.step for c in session.captures if c.origin == origin]
        assert sorted(set(results)) == expected and len(results) == count * len(expected)


# The value stays


def in_place_item(x: Any) -> None:
    x[0] = 100.0


IN_PLACE: dict[str, Callable[[Any], Any]] = {
    "x[0] = ...": in_place_item,
    "x[:] = ...": lambda x: x.__setitem__(slice(None), 7.0),
    "assign_value": lambda x: x.assign_value(Tensor(np.full(2, 9.0, np.float32))),
    "set_data": lambda x: x.set_data(Tensor(np.full(2, 9.0, np.float32))) if isinstance(x, Parameter) else x.fill_(3.0),
    "ops.assign": lambda x: ops.assign(x, Tensor(np.full(2, 9.0, np.float32))),
    "add_": lambda x: x.add_(1.0),
    "zero_": lambda x: x.zero_(),
}


@pytest.mark.parametrize("how", IN_PLACE)
def test_a_capture_keeps_its_value_when_the_tensor_is_changed_in_place(how: str) -> None:
    class Holds(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name="weight")
            self.same = nn.Identity()

        def construct(self, x: Any) -> Any:
            return self.same(x), self.same(self.weight)

    net = Holds()
    x = tensor(3.0, 4.0)
    with DebugSession(net, watch=["*"]) as session:
        outputs = net(x)
    for value in (x, net.weight, *outputs):
        IN_PLACE[how](value)
    assert x.tolist() != [3.0, 4.0] and net.weight.asnumpy().tolist() != [1.0, 2.0]
    for capture in session.captures:
        assert capture.array.tolist() in ([3.0, 4.0], [1.0, 2.0]), capture.key
        assert capture.value.tolist() == capture.array.tolist()


@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam", "AdamWeightDecay", "RMSProp"])
def test_a_captured_parameter_and_its_gradient_outlive_the_optimizers_step(name: str) -> None:
    class Holds(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name="weight")
            self.square = Square()

        def construct(self, x: Any) -> Any:
            return self.square(self.weight) * x

    net = Holds()
    more = {"momentum": 0.9} if name == "Momentum" else {}
    optimizer = getattr(nn, name)(net.trainable_params(), learning_rate=0.1, **more)
    with DebugSession(net, watch=["square"]) as session:
        _, of_weights = value_and_grad(net, None, net.trainable_params())(tensor(1.0, 1.0))
        optimizer(of_weights)
    assert net.weight.asnumpy().tolist() != [1.0, 2.0]
    results = {c.slot: c.array.tolist() for c in session.captures}
    assert results["input[0]"] == [1.0, 2.0] and results["grad_input[0]"] == [2.0, 4.0]
    assert session.gradients[id(net.weight)].tolist() == [2.0, 4.0]
