"""Editing at a pause: the run goes on bit for bit as if a hook of that moment had returned the value."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from debug_networks import Scale, Square, scripted, tensor

import hookscope.engine as ms
from hookscope.engine import Tensor, grad, nn, ops, value_and_grad
from hookscope.engine.debug import DebugAbort, DebugSession
from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import Recording

NAMES = {"forward_pre": "inputs", "forward": "output", "backward_pre": "grad_output", "backward": "grad_input"}


class Mixed(nn.Cell):
    """A network that uses the input of ``cell`` before, inside and after it, so that the order of additions shows."""

    def __init__(self, cell: nn.Cell) -> None:
        super().__init__()
        self.first = nn.Dense(5, 5, weight_init="ones")
        self.cell = cell
        self.last = nn.Dense(5, 5)

    def construct(self, x: Any) -> Any:
        y = ops.tanh(self.first(x) * 0.1)
        before = y * 0.37 + ops.sin(y)
        inside = self.cell(y)
        return self.last(ops.exp(y * 0.3) + before * inside + ops.cos(inside) * y)


class Inner(nn.Cell):
    """A cell that uses its argument several times, and a weight; it calls a cell with the same argument."""

    def __init__(self) -> None:
        super().__init__()
        self.part = Square()
        self.dense = nn.Dense(5, 5)

    def construct(self, x: Any) -> Any:
        return self.dense(x) * ops.sigmoid(x) + self.part(x) * x + x * 0.1


class Branching(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.two = TwoToTwo()

    def construct(self, x: Any) -> Any:
        total, product = self.two(x, ops.sin(x))
        return total * product + x


class TwoToTwo(nn.Cell):
    def construct(self, x: Any, y: Any) -> Any:
        return x + y * x, x * y + ops.sin(y)


def recomputed() -> nn.Cell:
    cell = Inner()
    cell.recompute()
    return cell


def around_recomputed() -> nn.Cell:
    cell = nn.SequentialCell(Inner(), nn.Tanh())
    cell.recompute()
    return cell


# The cell that Mixed calls ``cell``, and the path of the cell to edit.
CELLS: dict[str, tuple[Callable[[], nn.Cell], str]] = {
    "a layer": (lambda: nn.Dense(5, 5), "cell"),
    "several uses inside": (Inner, "cell"),
    "a cell inside": (Inner, "cell.part"),
    "two inputs and outputs": (Branching, "cell.two"),
    "with a bprop": (Scale, "cell"),
    "recompute": (recomputed, "cell"),
    "inside recompute": (around_recomputed, "cell.0"),
    "deep inside recompute": (around_recomputed, "cell.0.part"),
}


def build(kind: str) -> tuple[nn.Cell, str]:
    ms.set_seed(3)
    np.random.seed(3)
    make, path = CELLS[kind]
    return Mixed(make()), path


X = Tensor(np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32))


def train(net: nn.Cell) -> list[bytes]:
    """Return loss, gradients and parameters of two training steps."""
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    step = value_and_grad(lambda x: (net(x) * net(x + 0.5)).mean(), 0, net.trainable_params())
    results = []
    for _ in range(2):
        loss, (of_x, of_weights) = step(X)
        optimizer(of_weights)
        results += [loss, of_x, *of_weights, *net.get_parameters()]
    return [result.asnumpy().tobytes() for result in results]


def second(net: nn.Cell) -> list[bytes]:
    """Return a second-order gradient, with respect to the input and the weights."""
    inner = grad(lambda x: (net(x) * ops.sin(net(x))).sum())
    of_x, of_weights = grad(lambda x: (inner(x) * X).sum(), 0, net.trainable_params())(X)
    return [item.asnumpy().tobytes() for item in (of_x, *of_weights)]


Run = Callable[[nn.Cell], list[bytes]]


def hooked(kind: str, moment: str, function: Callable[[Any], Any], run: Run) -> list[bytes]:
    net, path = build(kind)
    cell = dict(net.cells_and_names())[path]
    if moment == "backward":
        cell.register_backward_hook(lambda c, into, out: function(into))
    elif moment == "forward":
        cell.register_forward_hook(lambda c, inputs, output: function(output))
    else:
        getattr(cell, f"register_{moment}_hook")(lambda c, passing: function(passing))
    return run(net)


def edited(kind: str, moment: str, expression: str, run: Run) -> tuple[list[bytes], int]:
    net, path = build(kind)

    def look(session: DebugSession) -> None:
        session.edit(NAMES[moment], expression)

    session, script = scripted(net, (), look, breaks=[f"{path}:{moment}"])
    with session:
        return run(net), len(script.points)


def plain(kind: str, run: Run) -> list[bytes]:
    return run(build(kind)[0])


COMPUTED = {
    "forward_pre": ("tuple(ms.ops.sin(x) * 1.3 for x in inputs)", lambda v: tuple(ops.sin(x) * 1.3 for x in v)),
    "forward": (
        "tuple(o * o * 0.7 for o in output) if isinstance(output, tuple) else output * output * 0.7",
        lambda v: tuple(o * o * 0.7 for o in v) if isinstance(v, tuple) else v * v * 0.7,
    ),
    "backward_pre": ("tuple(g * 1.7 + 0.01 for g in grad_output)", lambda v: tuple(g * 1.7 + 0.01 for g in v)),
    "backward": ("tuple(g * g * 0.7 + g for g in grad_input)", lambda v: tuple(g * g * 0.7 + g for g in v)),
}


@pytest.mark.parametrize("run", [train, second])
@pytest.mark.parametrize("moment", COMPUTED)
@pytest.mark.parametrize("kind", CELLS)
def test_a_computed_edit_is_bit_for_bit_what_a_hook_does(kind: str, moment: str, run: Any) -> None:
    expression, function = COMPUTED[moment]
    result, pauses = edited(kind, moment, expression, run)
    assert pauses
    if (kind, moment) == ("with a bprop", "forward"):
        return  # as in MindSpore, a forward hook of such a cell is not called: see the test below
    assert result == hooked(kind, moment, function, run)
    assert result != plain(kind, run)


CONSTANT = {
    "forward_pre": "tuple(ms.ops.full_like(x, 0.25) for x in inputs)",
    "forward": "tuple(ms.ops.full_like(o, 0.5) for o in output) if isinstance(output, tuple) else "
    "ms.ops.full_like(output, 0.5)",
    "backward_pre": "tuple(ms.ops.ones_like(g) for g in grad_output)",
    "backward": "tuple(ms.ops.ones_like(g) for g in grad_input)",
}


@pytest.mark.parametrize("run", [train, second])
@pytest.mark.parametrize("moment", CONSTANT)
@pytest.mark.parametrize("kind", CELLS)
def test_a_value_that_is_put_in_place_is_bit_for_bit_what_a_hook_does(kind: str, moment: str, run: Any) -> None:
    if (kind, moment) == ("with a bprop", "forward"):
        return
    net, path = build(kind)
    values: list[Any] = []

    def look(session: DebugSession) -> None:
        values.append(session.evaluate(CONSTANT[moment]))
        session.assign(NAMES[moment], values[-1])

    session, script = scripted(net, (), look, breaks=[f"{path}:{moment}"])
    with session:
        result = run(net)
    assert script.points
    assert result == hooked(kind, moment, lambda passing: values[0], run)


def test_the_output_of_a_cell_with_a_bprop_is_replaced_after_it_and_the_gradient_goes_through_both() -> None:
    net = Scale()
    session, _ = scripted(net, (), lambda s: s.edit("output", "output * output"), breaks=["."])
    with session:
        value, slope = value_and_grad(net)(tensor(2.0))
    assert (value.tolist(), slope.tolist()) == ([36.0], [12.0 * 6.0])  # 2 * out, then the bprop's 6


def at(moment: str, look: Callable[[DebugSession], None], net: nn.Cell | None = None) -> tuple[float, Any]:
    net = net or nn.SequentialCell(Square(), nn.Tanh())
    path = "0" if isinstance(net, nn.SequentialCell) else "."
    session, script = scripted(net, (), look, breaks=[f"{path}:{moment}"])
    with session:
        gradient = float(grad(net)(tensor(2.0)).asnumpy()[0])
    (point,) = script.points
    return gradient, point


REFUSED: list[tuple[str, str, Any, type[Exception], str]] = [
    ("forward_pre", "inputs", (), TypeError, "construct of Square cannot be called with this: missing a required"),
    ("forward_pre", "inputs", None, ValueError, "inputs cannot be None: a hook that returns None changes nothing"),
    ("forward_pre", "keywords", 3, TypeError, "keywords must be a dict, but got int"),
    ("forward_pre", "keywords", {"z": 1}, TypeError, "cannot be called with this: got an unexpected keyword"),
    ("forward_pre", "output", 3, NameError, "'output' cannot be set at forward_pre: there is inputs, keywords"),
    ("forward", "inputs", 3, NameError, "'inputs' cannot be set at forward: there is output"),
    ("forward", "output[1]", 3, TypeError, "output has no elements by index: it is a Tensor"),
    ("backward_pre", "grad_output", (), TypeError, "must return 1 gradients, but got 0"),
    ("backward_pre", "grad_output", 3.0, TypeError, "must return None, a tensor or a tuple of tensors, but got float"),
    ("backward_pre", "grad_output", tensor(1.0, 2.0), ValueError, "gradients of the shapes and dtypes that came"),
    ("backward", "grad_input", Tensor([1.0], ms.float64), ValueError, "gradients of the shapes and dtypes that came"),
    ("backward", "grad_input[2]", tensor(1.0), IndexError, "grad_input has 1 elements, and none at index 2"),
    ("backward", "grad_input", [tensor(1.0)], TypeError, "but got list"),
]


@pytest.mark.parametrize(("moment", "name", "value", "kind", "text"), REFUSED)
def test_what_a_hook_must_not_return_is_refused_at_the_edit_and_the_run_is_as_it_was(
    moment: str, name: str, value: Any, kind: type[Exception], text: str
) -> None:
    def look(session: DebugSession) -> None:
        with pytest.raises(kind) as caught:
            session.assign(name, value)
        assert text in str(caught.value) and "\n" not in str(caught.value)

    result, point = at(moment, look)
    assert result == at(moment, lambda session: None)[0]
    assert point.changed == set()


def test_an_edit_is_shown_and_captured_and_one_place_can_be_set() -> None:
    def look(session: DebugSession) -> None:
        session.edit("grad_input[0]", "grad_input[0] * 100")
        assert session.evaluate("float(value.sum())") == pytest.approx(expected, 1e-3)
        session.edit("grad_input", "(grad_input[0] + 1,)")
        assert session.captures.latest("0", "grad_input[0]", "backward").origin == "tap"  # type: ignore[union-attr]
        captures.append(session)

    captures: list[DebugSession] = []
    expected = 100 * 4 * (1 - np.tanh(4.0) ** 2)
    result, point = at("backward", look)
    assert result == pytest.approx(expected + 1, 1e-3)
    assert point.changed == {"grad_input"}
    latest = captures[0].captures.latest("0", "grad_input[0]", "backward")
    assert latest is not None and latest.origin == "edit" and latest.array[0] == result


def test_of_an_edited_moment_each_value_is_captured_once_and_what_was_edited_is_marked() -> None:
    class Two(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2.0, x * 3.0

    def captured(look: Callable[[DebugSession], None]) -> list[tuple[str, str, float, list[str]]]:
        net = Two()
        session, _ = scripted(net, (), look, breaks=["."], watch=[".:forward"], stop_on=["nan"])
        with session:
            net(tensor(1.0))
        captures = list(session.captures)
        assert [capture.index for capture in captures] == sorted({capture.index for capture in captures})
        assert session.captures.bytes == sum(capture.nbytes for capture in captures)
        return [(item.slot, item.origin, float(item.array[0]), item.hits) for item in captures]

    def twice(session: DebugSession) -> None:
        session.edit("output[1]", "output[1] * 10")
        session.edit("output[1]", "output[1] + 1")

    first = ("input[0]", "tap", 1.0, [])
    assert captured(twice) == [first, ("output[0]", "tap", 2.0, []), ("output[1]", "edit", 31.0, [])]
    complete = captured(lambda session: void(session.edit("output", "output[0] * 4")))
    assert complete == [first, ("output", "edit", 8.0, [])]
    (_, sessions, broken) = captured(lambda session: void(session.edit("output[1]", "output[1] * float('nan')")))
    assert sessions[1] == "tap" and broken[1] == "edit" and broken[3] == ["nan"]


def void(value: object) -> None:
    """Take the result of a call made for its effect."""


def test_keyword_arguments_are_edited() -> None:
    class Shift(nn.Cell):
        def construct(self, x: Any, by: Any = 0.0) -> Any:
            return x * 2.0 + by

    class Root(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.shift = Shift()

        def construct(self, x: Any) -> Any:
            return self.shift(x, by=1.0)

    net = Root()
    session, _ = scripted(net, (), lambda s: s.edit("keywords", "{'by': inputs[0] * 10}"), breaks=["shift:forward_pre"])
    with session:
        value, slope = value_and_grad(net)(tensor(1.0))
    assert (value.tolist(), slope.tolist()) == ([12.0], [12.0])


def test_what_a_hook_tells_apart_and_a_tap_does_not_is_refused() -> None:
    class Product(nn.Cell):
        def construct(self, x: Any, y: Any) -> Any:
            return x * y

    class SameTwice(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.product = Product()
            self.same = nn.Identity()

        def construct(self, x: Any) -> Any:
            z = x * 1.0
            return self.product(z, z) + self.same(z) * z

    texts: list[str] = []

    def look(session: DebugSession) -> None:
        with pytest.raises(RuntimeError) as caught:
            session.edit("grad_input", "tuple(g * 2 for g in grad_input)")
        texts.append(str(caught.value))

    net = SameTwice()
    session, _ = scripted(net, (), look, breaks=["product:backward", "same:backward"])
    with session:
        assert grad(net)(tensor(3.0)).tolist() == [12.0]
    assert texts == [
        "grad_input cannot be set: the cell returned its very input, and only a hook can tell its gradient from other "
        "users'",
        "grad_input cannot be set: the cell got one tensor in two places, whose gradients only a hook can tell apart",
    ]


def test_a_cell_that_hands_its_input_on_to_one_user_is_edited_like_any_other() -> None:
    doubled = "(grad_output[0] * 2,)"
    assert at("backward_pre", lambda s: s.edit("grad_output", doubled), chain())[0] == 32.0
    doubled = "(grad_input[0] * 2,)"
    assert at("backward", lambda s: s.edit("grad_input", doubled), chain())[0] == 32.0


class HalfOfFourthPower(nn.Cell):
    """x ** 4 / 2, whose slope at 2 is 16."""

    def construct(self, x: Any) -> Any:
        return ops.pow(x, 4.0) * 0.5


def chain() -> nn.Cell:
    return nn.SequentialCell(nn.Identity(), HalfOfFourthPower())


def test_pauses_at_every_moment_without_edits_change_no_bit() -> None:
    for run in (train, second):
        for kind in CELLS:
            net, _ = build(kind)
            session, script = scripted(net, breaks=[f"*:{moment}" for moment in NAMES])
            with session:
                result = run(net)
            assert script.points and result == plain(kind, run)


def test_two_sessions_edit_one_after_the_other() -> None:
    net = Square()
    first, _ = scripted(net, (), lambda s: s.edit("output", "output + 1"), breaks=["."])
    then, _ = scripted(net, (), lambda s: s.edit("output", "output * 10"), breaks=["."])
    with first, then:
        assert net(tensor(2.0)).tolist() == [50.0]


def test_an_expression_that_pauses_is_refused_and_breakpoints_do_not_stop_in_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def look(session: DebugSession) -> None:
        for use in (session.evaluate, lambda text: session.edit("output", text)):
            with pytest.raises(RuntimeError, match="^an expression that is evaluated at a pause cannot pause$"):
                use("cell.session.pause()")
        for _ in range(2):
            assert session.evaluate("float(cell(inputs[0]).sum())") == 9.0

    net = Square()
    session, script = scripted(net, (), look, breaks=["."])
    net.session = session
    with session:
        assert grad(net)(tensor(3.0)).tolist() == [6.0]
    assert len(script.points) == 1
    message = "hookscope: session: breakpoints do not stop inside an expression that is evaluated at a pause\n"
    assert capsys.readouterr().err == message


def test_an_edit_at_a_line_of_a_bprop_is_part_of_the_gradient_of_the_gradient() -> None:
    class Cubed(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * x * x

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            slope = x * 1.0
            return (dout * slope,)

    def look(session: DebugSession) -> None:
        if "slope" in session.paused.locals:  # type: ignore[union-attr]
            session.edit("slope", "3.0 * x * x")

    def assigned(session: DebugSession) -> None:
        if "slope" in session.paused.locals:  # type: ignore[union-attr]
            session.assign("slope", session.evaluate("3.0 * x * x"))

    net = Cubed()
    for how, second_slope in ((look, 12.0), (assigned, 0.0)):
        session, _ = scripted(net, ["over"] * 2, how, step=True)
        with session:
            assert grad(grad(net))(tensor(2.0)).tolist() == [second_slope]


def test_watching_leaves_no_tape_to_the_garbage_collector() -> None:
    def tapes() -> list[Recording]:
        return [
            get_object for get_object in gc.get_objects() if issubclass(type(get_object), Recording)
        ]  # not of a dead proxy

    net = nn.SequentialCell(Square(), nn.Tanh())
    gc.collect()
    before = tapes()  # pytest may keep an error that holds one
    gc.disable()
    try:
        with DebugSession(net, watch=["1:forward"]):
            for run in (grad(net), grad(grad(lambda x: net(x) * x))):
                run(tensor(0.5))
                assert not [tape for tape in tapes() if not any(tape is item for item in before)]
    finally:
        gc.enable()


# Abort


def test_abort_undoes_what_was_done_at_the_pauses_of_this_step_and_nothing_else() -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Dropout(p=0.5), nn.ReLU())
    net.register_forward_hook(lambda cell, inputs, output: None)
    weight = net[0].weight
    x = Tensor(np.ones((1, 2), np.float32))

    def change(session: DebugSession) -> None:
        if session.paused is not script.points[0]:
            return
        session.set_train(".", True)
        session.set_requires_grad(weight.name, False)
        session.attach_hook("0", "forward")
        session.parameter_edits.apply(session.parameter_edits.preview(weight.name, "set", index="...", number=7.0))

    session, _ = scripted(net, ["continue"], lambda s: s.set_train("2", True), breaks=["0:forward if step == 1"])
    with session:
        net(x)
    assert net[2].training
    value = weight.asnumpy().tobytes()
    session, script = scripted(net, ["into", "abort"], change, breaks=["0:forward"])
    with pytest.raises(DebugAbort), session:
        net(x)
    assert len(script.points) == 2
    assert (net.training, net[1].training, net[2].training) == (False, False, True)
    assert weight.requires_grad and weight.asnumpy().tobytes() == value
    assert [(row.path, row.kind, row.by_session) for row in session.hooks()] == [("", "forward", False)]
    assert net[0](x).shape == (1, 2)


@pytest.mark.parametrize("moment", [*NAMES, "bprop"])
def test_abort_at_any_moment_leaves_depth_and_hooks_as_they_were(moment: str) -> None:
    net = nn.SequentialCell(Square(), Scale())
    session, script = scripted(net, ["abort"], breaks=[f"1:{moment}"])
    with session:
        with pytest.raises(DebugAbort):
            grad(net)(tensor(1.0))
        session.breakpoints.clear()
        assert grad(net)(tensor(1.0)).tolist() == [12.0]
    assert len(script.points) == 1 and session.step == 2
    assert taps._local.depth == 0 and session.hooks() == []


def test_without_an_abort_what_was_changed_at_a_pause_stays() -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU())
    session, _ = scripted(net, (), lambda s: s.set_train("0", True), breaks=["1"])
    with session:
        net(Tensor(np.ones((1, 2), np.float32)))
    assert net[0].training and not net[1].training


# Hooks attached and removed while the run is paused


def test_a_hook_attached_in_mid_forward_acts_from_then_on_as_the_engine_has_it() -> None:
    net = nn.SequentialCell(Square(), Square(), nn.Tanh())
    log: list[str] = []

    def look(session: DebugSession) -> None:
        session.attach_hook("1", "forward", lambda cell, inputs, output: log.append("later cell"))
        session.attach_hook("0", "forward", lambda cell, inputs, output: log.append("this cell"))
        session.attach_hook("0", "backward", lambda cell, into, out: log.append("backward of this cell"))
        session.attach_hook("2", "backward", lambda cell, into, out: log.append("backward of a later cell"))

    session, _ = scripted(net, (), look, breaks=["0:forward"])
    with session:
        grad(net)(tensor(0.5))
        # The marks of a backward hook are put around a cell when it is called: too late for the cell that has run.
        assert log == ["later cell", "backward of a later cell"]
        session.breakpoints.clear()
        log.clear()
        grad(net)(tensor(0.5))
    assert log == ["this cell", "later cell", "backward of a later cell", "backward of this cell"]


def test_a_hook_attached_between_forward_and_backward_waits_for_the_next_call_and_one_taken_off_is_gone() -> None:
    net = nn.SequentialCell(Square(), nn.Tanh())
    log: list[str] = []

    def look(session: DebugSession) -> None:
        session.attach_hook("0", "backward", lambda cell, into, out: log.append("new"))
        session.detach_hook("1", "backward")

    session, _ = scripted(net, (), look, breaks=[".:backward_pre"])
    session.attach_hook("1", "backward", lambda cell, into, out: log.append("old"))
    with session:
        grad(net)(tensor(0.5))
        assert log == []
        session.breakpoints.clear()
        grad(net)(tensor(0.5))
    assert log == ["new"]
