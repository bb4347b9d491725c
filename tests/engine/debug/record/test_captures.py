"""Captures of real networks: the right values, under the right names, within bounds, changing nothing."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from debug_networks import Scale, Square, SquareThenScale, Twice, tensor

from hookscope.engine import COOTensor, Parameter, ParameterTuple, Tensor, grad, nn, value_and_grad
from hookscope.engine.debug import Breakpoint, Capture, DebugSession


def values_of(session: DebugSession) -> dict[str, list[float]]:
    return {capture.key: capture.value.asnumpy().ravel().tolist() for capture in session.captures}


def test_forward_and_backward_values_are_those_computed_by_hand() -> None:
    net = SquareThenScale()
    with DebugSession(net) as session:
        gradient = grad(net)(tensor(1.0, 2.0))
    np.testing.assert_array_equal(gradient.asnumpy(), [12.0, 24.0])
    assert values_of(session) == {
        "square#0 forward input[0]": [1.0, 2.0],
        "square#0 forward output": [1.0, 4.0],
        "scale#0 forward input[0]": [1.0, 4.0],
        "scale#0 forward output": [3.0, 12.0],
        "scale#0 backward grad_output[0]": [1.0, 1.0],
        "scale#0 backward grad_input[0]": [6.0, 6.0],
        "square#0 backward grad_output[0]": [6.0, 6.0],
        "square#0 backward grad_input[0]": [12.0, 24.0],
    }
    assert session.step == 1 and session.roots == [net]


def test_a_dense_layer_has_the_gradients_of_linear_algebra() -> None:
    net = nn.Dense(3, 2)
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    net.weight.set_data(Tensor(weight))
    x = np.ones((4, 3), np.float32)
    with DebugSession(net) as session:
        grad(lambda data: net(data).sum(), 0, net.trainable_params())(Tensor(x))
    latest = {slot: session.captures.latest("", slot, "backward") for slot in ("grad_output[0]", "grad_input[0]")}
    assert all(latest.values())
    np.testing.assert_array_equal(latest["grad_output[0]"].value.asnumpy(), np.ones((4, 2)))  # type: ignore[union-attr]
    np.testing.assert_allclose(latest["grad_input[0]"].value.asnumpy(), np.ones((4, 2)) @ weight)  # type: ignore[union-attr]
    norms = {row.name: row.gradient_norm for row in session.parameters()}
    assert norms["weight"] == pytest.approx(np.linalg.norm(np.full((2, 3), 4.0)))
    assert norms["bias"] == pytest.approx(np.linalg.norm([4.0, 4.0]))


class ConvNet(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.head = nn.Dense(4 * 8 * 8, 3)

    def construct(self, x: Any) -> Any:
        return self.head(self.flatten(self.relu(self.norm(self.conv(x)))))


def test_watching_changes_no_bit_of_outputs_and_gradients() -> None:
    net = ConvNet().set_train()
    x = Tensor(np.random.default_rng(0).normal(size=(2, 1, 8, 8)).astype(np.float32))
    weights = ParameterTuple(net.trainable_params())
    step = value_and_grad(lambda data: (net(data) * net(data)).sum(), 0, weights)

    def run() -> list[bytes]:
        loss, (of_input, of_weights) = step(x)
        return [t.asnumpy().tobytes() for t in (loss, of_input, *of_weights)]

    unwatched = run()
    options = {"watch": ["*"], "stop_on": ["nan", "inf", "dead_relu"], "breaks": ["conv:backward if norm < 0"]}
    with DebugSession(net, **options) as session:  # type: ignore[arg-type]  # lists of names, each for its option
        watched = run()
    assert watched == unwatched == run()
    assert {capture.direction for capture in session.captures} == {"forward", "backward"}


def test_a_shared_cell_called_twice_has_calls_0_and_1() -> None:
    net = Twice(Square())
    with DebugSession(net) as session:
        grad(net)(tensor(3.0))
    assert values_of(session) == {
        "inner#0 forward input[0]": [3.0],
        "inner#0 forward output": [9.0],
        "inner#1 forward input[0]": [9.0],
        "inner#1 forward output": [81.0],
        "inner#1 backward grad_output[0]": [1.0],
        "inner#1 backward grad_input[0]": [18.0],
        "inner#0 backward grad_output[0]": [18.0],
        "inner#0 backward grad_input[0]": [108.0],
    }


class Nested(nn.Cell):
    def construct(self, pair: Any, *, scale: Any = None) -> Any:
        a, b = pair
        return {"sum": a + b, "both": (a * scale, [b])}


def test_nested_arguments_and_outputs_get_a_slot_each() -> None:
    net = Nested()
    with DebugSession(net) as session:
        net((tensor(1.0), tensor(2.0)), scale=tensor(5.0))
    assert values_of(session) == {
        "(root)#0 forward input[0][0]": [1.0],
        "(root)#0 forward input[0][1]": [2.0],
        "(root)#0 forward input[scale]": [5.0],
        "(root)#0 forward output[sum]": [3.0],
        "(root)#0 forward output[both][0]": [5.0],
        "(root)#0 forward output[both][1][0]": [2.0],
    }


class Sparse(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.places = Tensor([[0, 1], [1, 0]])
        self.double, self.whole = Double(), Whole()

    def construct(self, values: Tensor) -> Tensor:
        return self.whole(self.double(COOTensor(self.places, values, (2, 2))))


class Double(nn.Cell):
    def construct(self, x: COOTensor) -> COOTensor:
        return COOTensor(x.indices, x.values * 2, x.shape)


class Whole(nn.Cell):
    def construct(self, x: COOTensor) -> Tensor:
        return x.to_dense() * x.to_dense()


def test_of_sparse_tensors_the_values_and_their_gradients_are_captured_and_none_changes() -> None:
    net, x = Sparse(), tensor(1.0, 3.0)
    unwatched = grad(net)(x)
    with DebugSession(net) as session:
        watched = grad(net)(x)
    assert unwatched.tolist() == watched.tolist() == [8.0, 24.0]
    assert values_of(session) == {
        "double#0 forward input[0].values": [1.0, 3.0],
        "double#0 forward output.values": [2.0, 6.0],
        "whole#0 forward input[0].values": [2.0, 6.0],
        "whole#0 forward output": [0.0, 4.0, 36.0, 0.0],
        "whole#0 backward grad_output[0]": [1.0, 1.0, 1.0, 1.0],
        "whole#0 backward grad_input[0]": [4.0, 12.0],
        "double#0 backward grad_output[0]": [4.0, 12.0],
        "double#0 backward grad_input[0]": [8.0, 24.0],
    }


def test_without_a_network_every_root_is_watched_under_a_name_of_its_own() -> None:
    net, loss = SquareThenScale(), nn.MSELoss()
    with DebugSession() as session:
        grad(lambda x: loss(net(x), tensor(0.0)))(tensor(2.0))
    assert session.roots == [net, loss]
    assert {capture.path for capture in session.captures} == {"square", "scale", "MSELoss"}
    assert session.captures.latest("MSELoss", "output", "forward").value.asnumpy() == 144.0  # type: ignore[union-attr]
    assert session.step == 1
    assert [node.path for node in session.tree()] == ["", "square", "scale", "MSELoss"]


def test_a_network_inside_another_cell_is_still_the_root_of_its_session() -> None:
    inner = SquareThenScale()
    outer = Twice(inner)
    with DebugSession(inner) as session:
        outer(tensor(1.0))
    assert session.step == 2
    assert [capture.step for capture in session.captures] == [1] * 4 + [2] * 4


def test_roots_of_the_same_class_get_names_of_their_own() -> None:
    cells = [Square(), Square(), Square()]
    with DebugSession() as session:
        for cell in cells:
            cell(tensor(1.0))
    assert [capture.path for capture in session.captures if capture.slot == "output"] == ["", "Square", "Square_2"]


def test_a_network_that_calls_itself_is_one_step() -> None:
    class Down(nn.Cell):
        def construct(self, x: Any, levels: int) -> Any:
            return x if levels == 0 else self(x * 2.0, levels - 1)

    net = Down()
    with DebugSession(net) as session:
        net(tensor(1.0), 2)
    assert session.step == 1
    assert [capture.call for capture in session.captures] == [0, 1, 2, 2, 1, 0]


def test_patterns_choose_cells_and_directions() -> None:
    net = SquareThenScale()
    with DebugSession(net, watch=["sq*:backward", ".:forward"]) as session:
        grad(net)(tensor(1.0))
    assert list(values_of(session)) == [
        "(root)#0 forward input[0]",
        "(root)#0 forward output",
        "square#0 backward grad_output[0]",
        "square#0 backward grad_input[0]",
    ]


def test_every_keeps_the_first_of_each_so_many_steps() -> None:
    net = Square()
    with DebugSession(net, every=3) as session:
        for _ in range(7):
            net(tensor(1.0))
    assert sorted({capture.step for capture in session.captures}) == [1, 4, 7]


def test_a_capture_keeps_its_value_when_the_parameter_is_updated() -> None:
    class Weighted(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Square()
            self.w = Parameter(tensor(1.0, 2.0), name="w")

        def construct(self) -> Any:
            return self.inner(self.w)

    net = Weighted()
    with DebugSession(net) as session:
        net()
        before = session.captures.latest("inner", "input[0]", "forward").value.asnumpy().copy()  # type: ignore[union-attr]
        net.w.set_data(tensor(7.0, 7.0))
        net.w[0] = -1.0
    after = session.captures.latest("inner", "input[0]", "forward").value.asnumpy()  # type: ignore[union-attr]
    np.testing.assert_array_equal(before, after)


def test_the_ring_bounds_hold_while_training_goes_on() -> None:
    net = Square()
    with DebugSession(net, max_captures=5, max_bytes=100) as session:
        for _ in range(20):
            net(tensor(*range(10)))
    assert session.captures.bytes <= 100 and len(session.captures) + session.captures.given_up == 5
    assert session.captures.dropped == 35


def test_detaching_in_the_middle_of_a_run_leaves_the_run_alone() -> None:
    class Detaching(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.square, self.scale = Square(), Scale()

        def construct(self, x: Any) -> Any:
            y = self.square(x)
            session.detach()
            return self.scale(y)

    net = Detaching()
    session = DebugSession(net)
    session.attach()
    result = grad(net)(tensor(1.0, 2.0))
    np.testing.assert_array_equal(result.asnumpy(), [12.0, 24.0])
    assert {capture.path for capture in session.captures} == {"square"}


def test_attach_and_detach_may_be_repeated() -> None:
    net = Square()
    session = DebugSession(net)
    session.detach()
    session.attach()
    session.attach()
    net(tensor(1.0))
    assert len(session.captures) == 2
    session.detach()
    session.detach()
    net(tensor(1.0))
    assert len(session.captures) == 2


def test_a_cell_that_raises_does_not_confuse_the_next_run() -> None:
    class Fails(nn.Cell):
        broken = True

        def construct(self, x: Any) -> Any:
            if self.broken:
                raise KeyError("broken")
            return x + 1.0

    net = Twice(Fails())
    with DebugSession(net) as session:
        with pytest.raises(KeyError):
            net(tensor(1.0))
        net.inner.broken = False
        net(tensor(1.0))
    assert session.step == 2
    assert session.captures[-1].call == 1 and session.captures[-1].step == 2


def test_a_cell_added_while_watching_is_seen_from_the_next_step_on() -> None:
    net = nn.SequentialCell([Square()])
    with DebugSession(net) as session:
        net(tensor(2.0))
        net.append(Square())
        net(tensor(2.0))
    assert session.captures.latest("1", "output", "forward").value.asnumpy() == 16.0  # type: ignore[union-attr]


def test_two_sessions_watch_at_the_same_time() -> None:
    net = SquareThenScale()
    with DebugSession(net) as first, DebugSession(net, watch=["square"]) as second:
        net(tensor(1.0))
    assert (len(first.captures), len(second.captures)) == (4, 2)


def test_a_run_in_another_thread_is_captured() -> None:
    net = SquareThenScale()
    with DebugSession(net) as session:
        thread = threading.Thread(target=lambda: net(tensor(1.0)))
        thread.start()
        thread.join()
    assert len(session.captures) == 4


def test_nothing_is_recorded_for_autodiff_by_looking() -> None:
    net = Square()
    captures: list[Capture] = []

    def look(event: str) -> None:
        capture = session.captures[-1]
        captures.append(capture)
        assert capture.value.sum() is not None  # an operator that runs while taps are active

    with DebugSession(net) as session:
        session.observe(look)
        gradient = grad(net)(tensor(3.0))
    assert gradient.asnumpy() == 6.0
    assert len(session.captures) == 4 and captures


def test_the_table_is_text_that_does_not_change_from_run_to_run() -> None:
    def run() -> str:
        net = SquareThenScale()
        with DebugSession(net, watch=["scale"]) as session:
            grad(net)(tensor(1.0, 2.0))
        return session.table()

    assert run() == run()
    assert run().splitlines() == [
        "cell     direction  value           shape  dtype    min  max  mean  std  nan",
        "scale#0  forward    input[0]        2      float32    1    4   2.5  1.5    0",
        "scale#0  forward    output          2      float32    3   12   7.5  4.5    0",
        "scale#0  backward   grad_output[0]  2      float32    1    1     1    0    0",
        "scale#0  backward   grad_input[0]   2      float32    6    6     6    0    0",
    ]


def test_nan_is_a_hit_where_it_begins_and_where_it_goes() -> None:
    class Spoil(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x + tensor(float("nan"), 0.0)

    net = nn.SequentialCell([Spoil(), nn.ReLU()])
    with DebugSession(net, stop_on=["nan"]) as session:
        net(tensor(-1.0, 1.0))
    assert [hit.message for hit in session.hits] == [
        "nan in 0#0 forward output (1 of 2 elements); it came in as a constant of 0#0",
        "nan in 1#0 forward input[0] (1 of 2 elements); it came in as a constant of 0#0",
        "nan in 1#0 forward output (1 of 2 elements); it came in as a constant of 0#0",
    ]
    assert session.captures[1].hits == ["nan"] and session.captures[0].hits == []


def test_hits_are_forgotten_with_their_captures() -> None:
    net = Square()
    with DebugSession(net, stop_on=["if slot == 'output'"], max_captures=4) as session:
        for _ in range(10):
            net(tensor(0.0))
    assert len(session.hits) == 2
    assert all(hit.capture in list(session.captures) for hit in session.hits)


def test_clearing_the_captures_forgets_their_hits() -> None:
    net = Square()
    with DebugSession(net, stop_on=["if slot == 'output'"]) as session:
        net(tensor(0.0))
        assert len(session.hits) == 1
        session.captures.clear()
        assert session.hits == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"watch": ["squar"]}, "watch 'squar' matches no cell; the nearest is 'square'"),
        ({"watch": ["square:up"]}, "must be forward, backward or all"),
        ({"breaks": ["scal:bprop"]}, "breakpoint 'scal' matches no cell; the nearest is 'scale'"),
        ({"breaks": ["square:bprop"]}, "no such cell has a bprop of its own; 'scale' has one"),
        ({"breaks": [Breakpoint("sale")]}, "breakpoint 'sale' matches no cell; the nearest is 'scale'"),
        ({"stop_on": ["infinity"]}, "no such condition"),
        ({"every": 0}, "every must be a positive integer, got 0"),
        ({"max_bytes": 0}, "max_bytes must be a positive integer, got 0"),
    ],
)
def test_bad_options_are_refused_before_anything_is_attached(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DebugSession(SquareThenScale(), **options)


def test_what_is_no_cell_is_refused() -> None:
    with pytest.raises(TypeError, match="net must be a Cell, got int"):
        DebugSession(3)  # type: ignore[arg-type]
