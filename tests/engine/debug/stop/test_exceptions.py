"""Exceptions: where a breakpoint shows one, which are shown, and that the user's code gets the same one as without."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from debug_networks import Scale, Script, SquareThenScale, scripted, tensor

from hookscope.engine import ParameterTuple, Tensor, grad, nn, ops, value_and_grad
from hookscope.engine.debug import DebugAbort, DebugSession


class Attention(nn.Cell):
    """A cell that refuses three elements."""

    def construct(self, x: Any, scale: int = 2) -> Any:
        weights = x * scale
        if x.shape == (3,):
            raise ValueError("three elements")
        return weights


class Block(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.attn = Attention()

    def construct(self, x: Any) -> Any:
        hidden = x + 1.0
        return self.attn(hidden)


class Catching(nn.Cell):
    """A network that catches its block's error and goes on without it."""

    def __init__(self) -> None:
        super().__init__()
        self.block = Block()
        self.square = SquareThenScale()

    def construct(self, x: Any) -> Any:
        try:
            return self.block(x)
        except ValueError:
            return self.square(x)


class Around(nn.Cell):
    """A network that does something with its block's error."""

    def __init__(self, inner: nn.Cell, with_error: Callable[[Exception], None]) -> None:
        super().__init__()
        self.inner = inner
        self._with_error = with_error

    def construct(self, x: Any) -> Any:
        try:
            return self.inner(x)
        except ValueError as error:
            self._with_error(error)
            raise


THREE = (1.0, 2.0, 3.0)


def shown(script: Script) -> list[tuple[str, str]]:
    """Return where each stop was, and the exception there."""
    return [(point.where, type(point.exception).__name__) for point in script.points]


# Where it is shown


def test_an_exception_is_shown_where_it_was_raised_with_the_cell_its_inputs_and_every_frame() -> None:
    frames: list[tuple[str, set[str]]] = []

    def look(session: DebugSession) -> None:
        assert session.paused is not None
        for index in range(len(session.paused.frames)):
            point = session.show_frame(index)
            frames.append((point.function, set(point.locals)))

    net = Block()
    session, script = scripted(net, look=look, breaks=["exception"])
    with pytest.raises(ValueError, match="three elements"), session:
        net(tensor(*THREE))
    (point,) = script.points
    assert (point.kind, point.path, point.where) == ("exception", "attn", "attn")
    assert point.reason == "breakpoint .:exception"
    assert point.function == "construct"
    assert point.lines[point.line - point.first_line].strip() == 'raise ValueError("three elements")'
    assert point.place == f"attn, line {point.line}"
    assert point.notes == ["attn got x: float32 3"]
    assert point.locals["weights"].asnumpy().tolist() == [4.0, 6.0, 8.0]  # type: ignore[attr-defined]
    assert frames[-2:] == [("construct", {"self", "x", "hidden"}), ("construct", {"self", "x", "scale", "weights"})]
    assert frames[-3][0] == "test_an_exception_is_shown_where_it_was_raised_with_the_cell_its_inputs_and_every_frame"


def test_without_a_breakpoint_at_exceptions_nothing_pauses() -> None:
    net = Block()
    session, script = scripted(net, breaks=["attn"])
    with pytest.raises(ValueError, match="three elements"), session:
        net(tensor(*THREE))
    assert script.points == []


def test_an_exception_is_shown_once_though_it_leaves_cells_and_gradient_calls() -> None:
    net = Block()
    session, script = scripted(net, breaks=["exception", "*:exception", "attn:exception"])
    with session:
        for run in (net, grad(net), value_and_grad(net), grad(grad(net))):
            with pytest.raises(ValueError, match="three elements"):
                run(tensor(*THREE))
    assert shown(script) == [("attn", "ValueError")] * 4
    assert [stop.hits for stop in session.breakpoints] == [0, 4, 4]


def test_what_the_network_catches_is_shown_only_by_a_breakpoint_inside() -> None:
    net = Catching()
    session, script = scripted(net, breaks=["exception"])
    with session:
        net(tensor(*THREE))
        assert script.points == []
        assert session.failure is None
        session.add_breakpoint("*:exception")
        assert net(tensor(*THREE)).asnumpy().tolist() == [3.0, 12.0, 27.0]
    assert shown(script) == [("block.attn", "ValueError")]


def test_a_condition_sees_the_error_and_the_input() -> None:
    net = Block()
    session, script = scripted(net, breaks=["attn:exception if 'three' in str(error) and value.sum() >= 9"])
    with session:
        for values in (THREE, (0.0, 0.0, 0.0), THREE):
            with pytest.raises(ValueError, match="three elements"):
                net(tensor(*values))
    assert len(script.points) == 2
    assert script.session is not None and session.breakpoints[0].passes == 3


def test_the_name_of_the_exception_is_refused_at_other_moments() -> None:
    with pytest.raises(ValueError, match="the name 'error' is unknown here"):
        DebugSession(Block(), breaks=["attn if error"])


def test_the_breakpoint_is_known_by_one_text_and_can_be_removed() -> None:
    session = DebugSession(Block(), breaks=["exception"])
    assert [str(stop) for stop in session.breakpoints] == [".:exception"]
    session.remove_breakpoint("exception")
    assert session.breakpoints == []


@pytest.mark.parametrize("error", [StopIteration, KeyboardInterrupt, DebugAbort, SystemExit, GeneratorExit])
def test_ends_and_interrupts_are_not_shown(error: type[BaseException]) -> None:
    class Ends(nn.Cell):
        def construct(self, x: Any) -> Any:
            raise error

    net = Ends()
    session, script = scripted(net, breaks=["*:exception"])
    with pytest.raises(error), session:
        net(tensor(1.0))
    assert script.points == []
    assert session.failure is None


def test_an_exception_in_a_generator_shows_its_frame() -> None:
    def values(x: Any) -> Iterator[Any]:
        doubled = x * 2.0
        yield doubled
        raise ValueError("in a generator")

    class Sums(nn.Cell):
        def construct(self, x: Any) -> Any:
            return sum(values(x))

    net = Sums()
    session, script = scripted(net, breaks=["exception"])
    with pytest.raises(ValueError, match="in a generator"), session:
        net(tensor(1.0))
    assert script.points[0].function == "values"
    assert "doubled" in script.points[0].locals


# Hooks, bprops, losses, optimizers


@pytest.mark.parametrize("kind", ["forward_pre", "forward"])
@pytest.mark.parametrize("path", ["", "attn"])
def test_an_exception_in_a_hook_names_the_hook_and_its_cell(kind: str, path: str) -> None:
    def hook(cell: nn.Cell, *arguments: Any) -> None:
        raise ValueError("in a hook")

    net = Block()
    cell = net.attn if path else net
    getattr(cell, f"register_{kind}_hook")(hook)
    session, script = scripted(net, breaks=["exception"])
    with pytest.raises(ValueError, match="in a hook"), session:
        net(tensor(1.0))
    assert shown(script) == [(f"the {kind} hook of {path or '(root)'}", "ValueError")]
    assert script.points[0].function == "hook"
    assert session.failure is not None
    assert session.failure.summary.startswith(f"failed in the {kind} hook of {path or '(root)'}: ValueError: in a hook")


@pytest.mark.parametrize("kind", ["backward_pre", "backward"])
def test_an_exception_in_a_backward_hook_is_shown_when_it_leaves_the_gradient_call(kind: str) -> None:
    def hook(cell: nn.Cell, *gradients: Any) -> None:
        raise ValueError("in a hook")

    net = Block()
    getattr(net.attn, f"register_{kind}_hook")(hook)
    session, script = scripted(net, breaks=["exception"])
    with pytest.raises(ValueError, match="in a hook"), session:
        grad(net)(tensor(1.0))
    assert shown(script) == [(f"the {kind} hook of attn", "ValueError")]


def test_the_inputs_of_a_hook_have_the_names_of_its_arguments() -> None:
    def hook(cell: nn.Cell, grad_input: Any, grad_output: Any) -> None:
        raise ValueError("in a hook")

    net = Block()
    net.attn.register_backward_hook(hook)
    session, _ = scripted(net)
    with pytest.raises(ValueError, match="in a hook"), session:
        grad(net)(tensor(1.0))
    assert session.failure is not None
    assert session.failure.notes[0] == (
        "the backward hook of attn got grad_input: (float32 1), grad_output: (float32 1)"
    )


class Wrong(Scale):
    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        doubled = dout * 2.0
        raise ValueError(f"in the bprop of {doubled.shape}")


@pytest.mark.parametrize("step", [False, True])
def test_an_exception_in_a_bprop_is_shown_once_also_while_it_is_stepped(step: bool) -> None:
    net = SquareThenScale(Wrong())
    session, script = scripted(net, ["continue"] * 9, breaks=["exception"], step=step)
    with pytest.raises(ValueError, match="in the bprop"), session:
        grad(net)(tensor(1.0, 2.0))
    stops = [point for point in script.points if point.exception is not None]
    assert [point.function for point in stops] == ["bprop"]
    assert session.failure is not None
    assert session.failure.path == "scale" and session.failure.where == "the bprop of scale"
    assert session.failure.notes[0] == "the bprop of scale got x: float32 2, out: float32 2, dout: float32 2"


def test_an_exception_of_a_loss_is_shown_when_it_leaves_the_gradient_call() -> None:
    net, loss = nn.Dense(2, 3), nn.MSELoss()

    def forward(x: Tensor, y: Tensor) -> Tensor:
        predicted = net(x)
        if predicted.shape != y.shape:
            raise ValueError("shapes differ")
        return loss(predicted, y)

    session, script = scripted(net, breaks=["exception"])
    with pytest.raises(ValueError, match="shapes differ"), session:
        value_and_grad(forward, None, net.trainable_params())(ops.ones((1, 2)), ops.ones((1, 2)))
    assert [(point.path, point.where, point.function) for point in script.points] == [("", "forward", "forward")]
    assert "predicted" in script.points[0].locals
    assert session.failure is not None and session.failure.summary == "failed: ValueError: shapes differ"


def test_an_exception_of_an_optimizer_of_the_network_is_shown() -> None:
    net = nn.Dense(2, 2)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    session, script = scripted(net, breaks=["exception"])
    with pytest.raises((TypeError, ValueError)) as caught, session:
        optimizer((ops.ones((7, 7)), ops.ones((7,))))
    assert [point.exception for point in script.points] == [caught.value]
    assert script.points[0].where == "SGD"


def test_an_exception_of_another_network_is_not_shown() -> None:
    net, other = SquareThenScale(), Block()
    session, script = scripted(net, breaks=["exception", "*:exception"])
    with session:
        with pytest.raises(ValueError, match="three elements"):
            grad(other)(tensor(*THREE))
        assert session.failure is None
    assert script.points == []


def test_a_network_in_a_cell_that_is_not_watched_is_shown_when_it_is_left() -> None:
    net = Block()
    outer = Around(net, lambda error: None)
    session, script = scripted(net, breaks=["exception"])
    with pytest.raises(ValueError, match="three elements"), session:
        outer(tensor(*THREE))
    assert shown(script) == [("attn", "ValueError")]


def test_a_thread_of_the_run_shows_its_own() -> None:
    net = Block()
    session, script = scripted(net, breaks=["exception"])
    caught: list[BaseException] = []

    def run() -> None:
        try:
            net(tensor(*THREE))
        except ValueError as error:
            caught.append(error)

    with session:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert [point.exception for point in script.points] == caught
    assert script.points[0].stack[0].startswith("run, line ")


# The user's exception


def test_the_user_gets_the_same_exception_with_the_same_traceback_watched_or_not() -> None:
    raised: list[ValueError] = []

    def keep(error: Exception) -> None:
        assert isinstance(error, ValueError)
        raised.append(error)

    net = Around(Block(), keep)

    def texts() -> list[str]:
        with pytest.raises(ValueError, match="three elements") as caught:
            net(tensor(*THREE))
        assert caught.value is raised[-1]
        return [f"{frame.name} {frame.lineno}" for frame in traceback.extract_tb(caught.value.__traceback__)]

    plain = texts()
    session, script = scripted(net, breaks=["*:exception"])
    with session:
        watched = texts()
    assert len(script.points) == 1

    def users(entries: list[str]) -> list[str]:
        return [entry for entry in entries if entry.split()[0] in ("texts", "construct")]

    assert users(watched) == users(plain)
    assert vars(raised[0]) == vars(raised[1])


def test_a_reraised_exception_is_shown_once_and_one_raised_from_it_too() -> None:
    def wrap(error: Exception) -> None:
        raise RuntimeError("wrapped") from error

    net = Around(Block(), lambda error: None)
    session, script = scripted(net, breaks=["*:exception"])
    with pytest.raises(ValueError, match="three elements"), session:
        net(tensor(*THREE))
    assert shown(script) == [("inner.attn", "ValueError")]

    net = Around(Block(), wrap)
    session, script = scripted(net, breaks=["*:exception"])
    with pytest.raises(RuntimeError, match="wrapped") as caught, session:
        net(tensor(*THREE))
    assert shown(script) == [("inner.attn", "ValueError"), ("(root)", "RuntimeError")]
    assert isinstance(caught.value.__cause__, ValueError)
    assert script.points[1].function == "wrap"


def test_an_exception_whose_text_raises_is_shown_without_a_fault() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

        __repr__ = __str__

    class Raises(nn.Cell):
        def construct(self, x: Any) -> Any:
            raise SilentError

    net = Raises()
    session, script = scripted(net, breaks=["exception"])
    with pytest.raises(SilentError), session:
        net(tensor(1.0))
    assert shown(script) == [("(root)", "SilentError")]
    assert session.failure is not None and "Silent" in session.failure.summary
    assert session.faults == ()


def test_a_deep_recursion_is_shown_at_the_network_with_its_outermost_and_innermost_frames() -> None:
    class Deep(nn.Cell):
        def construct(self, x: Any) -> Any:
            def down(level: int) -> Any:
                return down(level + 1)

            return down(0)

    class Holds(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.deep = Deep()

        def construct(self, x: Any) -> Any:
            return self.deep(x)

    net = Holds()
    session, script = scripted(net, breaks=["*:exception", "exception"])
    with pytest.raises(RecursionError), session:
        net(tensor(1.0))
    assert shown(script) == [("deep", "RecursionError")]
    stack = script.points[0].stack
    assert len(stack) <= 100 < sys.getrecursionlimit()
    assert stack[-1].startswith("down, line ")
    assert session.faults == ()


@pytest.mark.parametrize("differentiated", [False, True])
def test_a_network_that_calls_itself_without_end_is_shown_once(differentiated: bool) -> None:
    class Endless(nn.Cell):
        def construct(self, x: Any) -> Any:
            return self(x + 1.0)

    net = Endless()
    session, script = scripted(net, breaks=["*:exception"])
    with pytest.raises(RecursionError), session:
        (grad(net) if differentiated else net)(tensor(1.0))
    assert shown(script) == [("(root)", "RecursionError")]
    assert session.faults == ()


def test_an_error_of_a_recomputed_cell_names_the_cell_whose_gradient_is_computed() -> None:
    class Once(nn.Cell):
        calls = 0

        def construct(self, x: Any) -> Any:
            Once.calls += 1
            if Once.calls == 2:
                raise ValueError("in the second run")
            return x * 2.0

    net = nn.SequentialCell(Once(), nn.ReLU())
    net[0].recompute()
    session, script = scripted(net, breaks=["exception"])
    with pytest.raises(ValueError, match="in the second run"), session:
        grad(net)(tensor(1.0))
    assert [(point.path, point.where, point.function) for point in script.points] == [
        ("0", "the backward pass of 0", "construct")
    ]
    assert session.failure is not None and session.failure.where == "the backward pass of 0"


def test_abort_at_an_exception_ends_the_run_with_the_abort() -> None:
    net = Catching()
    session, _ = scripted(net, ["abort"], breaks=["*:exception"])
    with pytest.raises(DebugAbort) as caught, session:
        net(tensor(*THREE))
    assert isinstance(caught.value.__context__, ValueError)
    assert session.failure is None


def test_a_step_from_an_exception_that_is_caught_stops_at_the_next_cell() -> None:
    net = Catching()
    session, script = scripted(net, ["cell"], breaks=["*:exception"])
    with session:
        net(tensor(*THREE))
    assert [(point.path, point.moment) for point in script.points] == [
        ("block.attn", "exception"),
        ("square", "forward_pre"),
    ]


def test_nothing_can_be_set_in_a_function_that_has_ended_but_in_one_that_goes_on() -> None:
    problems: list[str] = []

    def look(session: DebugSession) -> None:
        with pytest.raises(RuntimeError) as refused:
            session.assign("x", 1)
        problems.append(str(refused.value))
        assert session.paused is not None
        names = [frame.code.co_name for frame in session.paused.frames]
        session.show_frame(names.index("run"))
        session.assign("rate", 5)

    net = Block()

    def run() -> int:
        rate = 1
        with suppress(ValueError):
            net(tensor(*THREE))
        return rate

    session, _ = scripted(net, look=look, breaks=["exception"])
    with session:
        assert run() == 5
    assert problems == ["nothing can be set here: the line has raised ValueError"]


def test_without_somebody_to_answer_the_pause_is_kept_and_holds_no_running_function(
    capsys: pytest.CaptureFixture[str],
) -> None:
    net = Block()
    session = DebugSession(net, breaks=["exception"])
    with pytest.raises(ValueError, match="three elements") as caught, session:
        net(tensor(*THREE))
    (point,) = session.skipped_pauses
    assert point.where == "attn" and not point.frames
    assert point.exception is not caught.value and str(point.exception) == "three elements"
    assert "not paused at attn, line" in capsys.readouterr().err


def test_watched_values_are_the_same_with_a_breakpoint_at_exceptions() -> None:
    net = SquareThenScale()
    plain = grad(net)(tensor(1.0, 2.0)).asnumpy().tobytes()
    session, script = scripted(net, breaks=["exception", "*:exception"])
    with session:
        assert grad(net)(tensor(1.0, 2.0)).asnumpy().tobytes() == plain
    assert script.points == [] and len(session.captures) > 0


def test_in_a_gradient_call_for_weights_an_error_is_shown_once() -> None:
    net = nn.SequentialCell(nn.Dense(3, 3), Attention())
    weights = ParameterTuple(net.trainable_params())
    session, script = scripted(net, breaks=["exception"])
    with pytest.raises(ValueError, match="three elements"), session:
        value_and_grad(lambda x: net(x)[0], None, weights)(tensor(*THREE).reshape(1, 3)[0])
    assert shown(script) == [("1", "ValueError")]
