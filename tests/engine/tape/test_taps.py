"""Taps: the events a watcher is told, the gradients it sees, and that watching changes no bit."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, grad, nn, ops, value_and_grad
from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import recording_active
from hookscope.engine.tape.taps import CellCall, Tap


class Square(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * x


class Pass(nn.Cell):
    """Cell that returns its input."""

    def construct(self, x: Tensor) -> Tensor:
        return x


class Notes(Tap):
    """Tap that notes every event."""

    def __init__(self, names: dict[int, str] | None = None) -> None:
        self.names = names or {}
        self.events: list[Any] = []

    def name(self, call: CellCall) -> str:
        return self.names.get(id(call.cell), type(call.cell).__name__)

    def cell_enter(self, call: CellCall) -> None:
        self.events.append(("enter", self.name(call)))

    def cell_exit(self, call: CellCall) -> None:
        self.events.append(("exit", self.name(call)))

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        self.events.append(("error", self.name(call), type(error).__name__))

    def backward_enter(self, call: CellCall, grad_output: Any) -> None:
        self.events.append(("arrives", self.name(call), [None if g is None else g.tolist() for g in grad_output]))

    def backward_exit(self, call: CellCall, grad_input: Any) -> None:
        self.events.append(("leaves", self.name(call), [None if g is None else g.tolist() for g in grad_input]))

    def parameter_gradients(self, pairs: Any) -> None:
        self.events.append(("weights", [(p.name, g.tolist()) for p, g in pairs]))


@contextmanager
def watching(tap: Tap) -> Iterator[Any]:
    taps.attach(tap)
    try:
        yield tap
    finally:
        taps.detach(tap)


X = Tensor([2.0, 3.0])


# Events


def test_events_of_a_gradient_call_in_their_order() -> None:
    net = nn.SequentialCell(Square(), nn.Dense(2, 1, weight_init="ones", has_bias=False))
    with watching(Notes()) as notes:
        grad(net, None, net.trainable_params())(Tensor([[2.0, 3.0]]))
    assert notes.events == [
        ("enter", "SequentialCell"),
        ("enter", "Square"),
        ("exit", "Square"),
        ("enter", "Dense"),
        ("exit", "Dense"),
        ("exit", "SequentialCell"),
        ("arrives", "SequentialCell", [[[1.0]]]),
        ("arrives", "Dense", [[[1.0]]]),
        ("leaves", "Dense", [None]),
        ("leaves", "SequentialCell", [None]),
        ("weights", [("1.weight", [[4.0, 9.0]])]),
    ]


def test_calls_carry_arguments_output_depth_and_a_running_number() -> None:
    records: list[CellCall] = []

    class Keep(Tap):
        def cell_exit(self, call: CellCall) -> None:
            records.append(call)

    net = nn.SequentialCell(Square(), Square())
    with watching(Keep()):
        net(X)
    assert [(c.depth, c.args[0].tolist(), c.output.tolist()) for c in records] == [
        (1, [2.0, 3.0], [4.0, 9.0]),
        (1, [4.0, 9.0], [16.0, 81.0]),
        (0, [2.0, 3.0], [16.0, 81.0]),
    ]
    assert records[2].index < records[0].index < records[1].index


def test_a_tap_sees_inputs_after_the_pre_hooks_and_outputs_after_the_forward_hooks() -> None:
    net, records = Square(), []

    class Keep(Tap):
        def cell_exit(self, call: CellCall) -> None:
            records.append((call.args[0].tolist(), call.output.tolist()))

    net.register_forward_pre_hook(lambda cell, inputs: inputs[0] * 10.0)
    net.register_forward_hook(lambda cell, inputs, output: output + 1.0)
    with watching(Keep()):
        net(X)
    assert records == [([20.0, 30.0], [401.0, 901.0])]


def test_an_error_is_told_on_every_level_and_depths_are_right_afterwards() -> None:
    class Failing(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            raise ZeroDivisionError

    net = nn.SequentialCell(Failing())
    with watching(Notes()) as notes:
        with pytest.raises(ZeroDivisionError):
            net(X)
        Square()(X)
    assert notes.events == [
        ("enter", "SequentialCell"),
        ("enter", "Failing"),
        ("error", "Failing", "ZeroDivisionError"),
        ("error", "SequentialCell", "ZeroDivisionError"),
        ("enter", "Square"),
        ("exit", "Square"),
    ]
    assert taps._local.depth == 0


def test_operators_are_told_only_to_those_who_ask() -> None:
    class Operators(Tap):
        observes_operators = True

        def __init__(self) -> None:
            self.seen: list[Any] = []

        def operator(self, name: str, inputs: Any, outputs: Any, attrs: Any) -> None:
            self.seen.append((name, outputs.tolist()))

        def operator_backward(
            self, name: str, gradient: Any, gradients: Any, attrs: Any, inputs: Any, output: Any
        ) -> None:
            self.seen.append(
                (f"{name} back", np.asarray(gradient).tolist(), [np.asarray(g).tolist() for g in gradients])
            )

    quiet = Notes()
    with watching(quiet), watching(Operators()) as tap:
        grad(lambda x: ops.exp(x * 0.0))(Tensor([2.0]))
    assert tap.seen == [("mul", [0.0]), ("exp", [1.0]), ("exp back", [1.0], [[1.0]]), ("mul back", [1.0], [[0.0]])]
    assert quiet.events == []


def test_what_was_differentiated_is_told_with_a_none_for_each_weight_that_no_gradient_came_to() -> None:
    class Differentiated(Tap):
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def differentiated(self, values: Any, pairs: Any) -> None:
            messages = [(p.name, None if g is None else g.tolist()) for p, g in pairs]
            self.seen.append(([v.tolist() for v in values], messages))

    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    aside = ms.Parameter(Tensor([1.0]), name="aside")
    with watching(Differentiated()) as tap:
        grad(net, None, [net.weight, aside])(Tensor([[2.0, 3.0]]))
        grad(net)(Tensor([[2.0, 3.0]]))  # without weights: no event
    assert tap.seen == [([[[5.0]]], [("weight", [[2.0, 3.0]]), ("aside", None)])]


def test_a_tap_is_told_nothing_more_when_its_owner_is_gone() -> None:
    notes = Notes()
    owner: list[object] = [object()]
    notes.owner = lambda: owner[0] if owner else None
    with watching(notes):
        Square()(X)
        owner.clear()
        assert grad(Square())(X).tolist() == [4.0, 6.0]
    assert notes.events == [("enter", "Square"), ("exit", "Square")]


def test_every_tap_that_asks_runs_the_bprop_the_newest_outermost() -> None:
    class Custom(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x * x

        def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
            records.append("bprop")
            return (dout * 5.0,)

    class Runs(Tap):
        observes_bprop = True

        def __init__(self, name: str) -> None:
            self.name = name

        def run_bprop(self, cell: Any, function: Any, args: Any) -> Any:
            assert cell is net
            assert inspect.unwrap(function).__func__ is Custom.bprop
            assert list(inspect.signature(function).parameters) == ["x", "out", "dout"]
            records.append(f"{self.name} begins")
            (gradient,) = function(*args)
            records.append(f"{self.name} ends")
            return (gradient * 2.0,)

    net = Custom()
    records: list[str] = []
    with watching(Runs("older")), watching(Runs("newer")):
        assert grad(net)(X).tolist() == [20.0, 20.0]
    assert records == ["newer begins", "older begins", "bprop", "older ends", "newer ends"]


def test_while_a_tap_runs_nothing_is_recorded_and_nobody_is_told() -> None:
    class Computing(Notes):
        def cell_exit(self, call: CellCall) -> None:
            assert not recording_active()
            Square()(call.output)
            super().cell_exit(call)

    with watching(Computing()) as notes:
        assert grad(Square())(X).tolist() == [4.0, 6.0]
    assert [e[:2] for e in notes.events] == [
        ("enter", "Square"),
        ("exit", "Square"),
        ("arrives", "Square"),
        ("leaves", "Square"),
    ]


def test_muted_code_can_ask_for_the_recordings_around_it() -> None:
    results: list[int] = []

    def observe(x: Tensor) -> Tensor:
        with taps.mute():
            results.append(len(taps.outer_recordings()))
            with taps.mute():
                results.append(len(taps.outer_recordings()))
            assert not recording_active()
        return x * x

    assert grad(observe)(X).tolist() == [4.0, 6.0]
    observe(X)
    assert results == [1, 1, 0, 0]


def test_a_call_in_several_runs_that_are_one_to_the_user_says_in_which() -> None:
    contexts: list[str] = []

    class Reading(Tap):
        def cell_enter(self, call: CellCall) -> None:
            contexts.append(call.context)

    with watching(Reading()):
        Square()(X)
        ops.vmap(ops.vmap(Square()))(Tensor([[1.0, 2.0], [3.0, 4.0]]))
    inside = [f"sample {i}, sample {j}" for i in (0, 1) for j in (0, 1)]
    assert contexts == ["", *inside]


def test_attaching_twice_is_once_and_detaching_twice_is_no_error() -> None:
    notes = Notes()
    taps.attach(notes)
    taps.attach(notes)
    assert taps.is_attached(notes)
    Square()(X)
    taps.detach(notes)
    taps.detach(notes)
    assert not taps.is_attached(notes)
    assert notes.events == [("enter", "Square"), ("exit", "Square")]


# The gradients a tap sees are those that backward hooks see


class Residual(nn.Cell):
    """x + inner(x): the value that enters is used beside the inner cell too."""

    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


class Reused(nn.Cell):
    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Tensor) -> Tensor:
        return self.inner(self.inner(x)) * self.inner(x)


class TwoInputs(nn.Cell):
    def construct(self, x: Tensor, y: Tensor) -> Any:
        return x * y, x + y


class Branches(nn.Cell):
    """Cell with the same value for both inputs of one cell, and uses of both outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = TwoInputs()
        self.square = Square()

    def construct(self, x: Tensor) -> Tensor:
        product, total = self.pair(x, self.square(x))
        return product * total


NETWORKS = {
    "chain": lambda: nn.SequentialCell(Square(), nn.Tanh(), Square()),
    "residual": lambda: Residual(Square()),
    "residual of residual": lambda: Residual(Residual(Square())),
    "reused": lambda: Reused(Square()),
    "reused residual": lambda: Reused(Residual(nn.Tanh())),
    "pass": lambda: nn.SequentialCell(Square(), Pass(), Square()),
    "pass in pass": lambda: Residual(nn.SequentialCell(Square(), nn.SequentialCell(Pass(), Pass()))),
    "identity alone": lambda: Pass(),
    "branches": Branches,
    "residual branches": lambda: Residual(Branches()),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_equal_those_of_backward_hooks(name: str) -> None:
    def labeled() -> tuple[nn.Cell, dict[int, str]]:
        net = NETWORKS[name]()
        return net, {id(cell): path or "root" for path, cell in net.cells_and_names()}

    def loss(net: nn.Cell) -> Any:
        return lambda x: ops.sin(net(x * 1.0)) * Tensor([1.0, 2.0])

    x = Tensor([0.3, -0.7], ms.float64)
    net, names = labeled()
    with watching(Notes(names)) as notes:
        watched = grad(loss(net))(x)
    events = [event for event in notes.events if event[0] in ("arrives", "leaves")]

    hooked, names = labeled()
    records: list[Any] = []

    def values(gradients: Any) -> list[Any]:
        return [None if g is None else g.tolist() for g in gradients]

    for _, cell in hooked.cells_and_names():
        cell.register_backward_pre_hook(lambda c, out: records.append(("arrives", names[id(c)], values(out))))
        cell.register_backward_hook(lambda c, into, out: records.append(("leaves", names[id(c)], values(into))))
    grad(loss(hooked))(x)
    assert [event[:2] for event in events] == [event[:2] for event in records]
    for (_, _, own), (_, _, reference) in zip(events, records, strict=True):
        np.testing.assert_allclose(np.array(own), np.array(reference), rtol=1e-12)
    np.testing.assert_array_equal(watched.asnumpy(), grad(loss(labeled()[0]))(x).asnumpy())


def test_a_cell_that_returns_its_very_input_shows_the_whole_gradient_of_that_value() -> None:
    net = Residual(Pass())
    with watching(Notes()) as notes:
        assert grad(net)(X).tolist() == [2.0, 2.0]
    assert ("arrives", "Pass", [[2.0, 2.0]]) in notes.events
    assert ("leaves", "Residual", [[2.0, 2.0]]) in notes.events


def test_each_level_of_nested_gradients_is_told() -> None:
    net = Square()
    with watching(Notes()) as notes:
        assert grad(grad(net))(X).tolist() == [2.0, 2.0]
    assert next(e for e in notes.events if e[0] == "leaves") == ("leaves", "Square", [[4.0, 6.0]])


class Doubled(Tap):
    """Tap that doubles the gradients that arrive at a cell."""

    def backward_enter(self, call: CellCall, grad_output: Any) -> Any:
        return tuple(g * 2 for g in grad_output)


def test_a_leaf_s_hook_runs_at_the_same_point_if_a_tap_replaces_gradients_of_a_second_derivative() -> None:
    class Cubic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = ms.Parameter(Tensor([2.0]))

        def construct(self, x: Tensor) -> Tensor:
            return x * self.w * self.w

    def log_of(cell: Cubic) -> list[str]:
        log: list[str] = []

        def slope(z: Tensor) -> Tensor:
            earlier = z * 2
            earlier.register_hook(lambda g: log.append(f"earlier {g.tolist()}"))
            return grad(lambda v: (v * cell(X)).sum(), 0, [cell.w])(z)[0] * earlier

        cell.w.register_hook(lambda g: log.append(f"weight {g.tolist()}"))
        grad(slope, 0, [cell.w])(Tensor([5.0]))
        return log

    hooked = Cubic()
    hooked.register_backward_pre_hook(lambda cell, grads: tuple(g * 2 for g in grads))
    with watching(Doubled()):
        log = log_of(Cubic())
    assert log == log_of(hooked)
    assert [line.split()[0] for line in log] == ["weight", "weight", "earlier"]  # of the inner gradient first


# Watching changes no bit


class SmallNet(nn.Cell):
    """Convolution, batch norm, dropout, a residual connection, a shared layer and a custom bprop."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, has_bias=True)
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.mix = nn.Conv2d(4, 4, 1)
        self.pool = nn.MaxPool2d(2, 2)
        self.drop = nn.Dropout(p=0.3)
        self.scale = Scaled()
        self.flat = nn.Flatten()
        self.head = nn.Dense(4 * 9, 3)

    def construct(self, x: Tensor) -> Tensor:
        x = self.relu(self.norm(self.conv(x)))
        x = x + self.mix(self.relu(self.mix(x)))
        return self.head(self.drop(self.flat(self.scale(self.pool(x)))))


class Scaled(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * 0.5

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        return (dout * 0.5,)


class AllNotes(Notes):
    observes_operators = True
    observes_bprop = True

    def operator(self, name: str, inputs: Any, outputs: Any, attrs: Any) -> None:
        self.events.append(name)

    def operator_backward(self, name: str, gradient: Any, gradients: Any, attrs: Any, inputs: Any, output: Any) -> None:
        self.events.append(name)


def twenty_steps() -> list[bytes]:
    """Return the bytes of every output, gradient and parameter of 20 training steps."""
    ms.set_seed(7)
    numbers = np.random.default_rng(0)
    net = SmallNet()
    net.set_train()
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    loss = nn.CrossEntropyLoss()
    step = value_and_grad(lambda x, y: loss(net(x), y), 0, net.trainable_params())
    results = []
    for _ in range(20):
        x = Tensor(numbers.standard_normal((4, 2, 6, 6)).astype(np.float32))
        y = Tensor(numbers.integers(0, 3, 4))
        value, (of_x, of_weights) = step(x, y)
        optimizer(of_weights)
        results += [t.asnumpy().tobytes() for t in (value, of_x, *of_weights, *net.get_parameters())]
    return results


def test_watching_changes_no_bit_over_twenty_steps() -> None:
    unwatched = twenty_steps()
    with watching(AllNotes()) as tap:
        watched = twenty_steps()
    assert len(tap.events) > 1000
    assert watched == unwatched


def test_cells_that_run_while_a_tap_is_muted_are_told_to_who_asks_for_them() -> None:
    records: list[Any] = []
    outer: list[Any] = []
    notes, square, twice = Notes(), Square(), Pass()
    x = Tensor([2.0])
    with watching(notes), taps.on_muted_call(outer.append):
        with taps.on_muted_call(records.append):
            square(x)  # the tap hears it
            with taps.mute():
                square(x)
                twice(x)
        assert records == [square, twice] and outer == []
        with taps.mute():
            twice(x)
    assert outer == [twice] and records == [square, twice]
    assert [event[:2] for event in notes.events] == [("enter", "Square"), ("exit", "Square")]
