"""Calls by plans that end with an error or an interrupt leave the same state as the eager call.

Interrupts are raised by a trace function where Python looks for signals: at the start of a function, after a call, and
where a loop begins again.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import gc
import itertools
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.compile import cells, plans_of
from hookscope.engine.compile import function as function_module
from hookscope.engine.compile.trace import tracer
from hookscope.engine.compile.traced_array import TracedArray
from hookscope.engine.tape import tape, taps
from hookscope.engine.tensors import random

TABLE = Tensor(np.arange(6.0, dtype=np.float32).reshape(3, 2))
X = Tensor(np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]], np.float32))


def bits(value: Any) -> Any:
    """Return a value with all of its bits; for an error its class and text, with the tensors that it holds."""
    if isinstance(value, Tensor):
        array = np.array(value._array)
        return type(value).__name__, type(value._array).__name__, array.dtype, array.shape, array.tobytes()
    if isinstance(value, BaseException):
        return (
            type(value).__name__,
            str(value),
            [bits(argument) for argument in value.args if isinstance(argument, Tensor)],
        )
    if isinstance(value, tuple | list):
        return [bits(item) for item in value]
    return repr(value)


MADE: list[list[weakref.ref[TracedArray]]] = []


@pytest.fixture(autouse=True)
def traced_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Note the traced arrays of each trace, so that those still alive can be counted."""
    before = tracer.Tracer.__init__

    def noted(self: tracer.Tracer, *args: Any) -> None:
        before(self, *args)
        MADE.append(self.made)

    monkeypatch.setattr(tracer.Tracer, "__init__", noted)
    MADE.clear()


def leftovers() -> list[str]:
    """Return what a trace has left behind without need."""
    alive = [array for trace_array in MADE for reference in trace_array if (array := reference()) is not None]
    results = (
        [f"a {type(item).__name__}" for item in gc.get_referrers(*alive) if isinstance(item, Tensor)] if alive else []
    )
    around: dict[str, Any] = {
        "tracer": tape.state.tracer,
        "recordings": tape.state.recordings,
        "profile": sys.getprofile(),
        "taps": taps.operator_taps,
        "active_observers": tape.active_observers,
        "turn": tracer._turn,
        "inside": cells._local.is_inside,
        "collector": not gc.isenabled(),
    }
    return results + [name for name, item in around.items() if item]


def outcomes(program: Callable[[Callable[..., Any]], tuple[Callable[[int], Any], list[Any]]], way: str) -> list[Any]:
    """Return the results of eight calls of a program, and the state after each."""
    ms.set_seed(3)
    call, state = program(ms.jit if way == "jit" else lambda function: function)
    results = []
    ms.set_context(mode=ms.GRAPH_MODE if way == "graph" else ms.PYNATIVE_MODE)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="no plan can be made")
            for number in range(8):
                try:
                    result = call(number)
                except BaseException as error:
                    result = error
                results.append((bits(result), bits(state), random.position(), leftovers()))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    return results


def in_construct(by: Any) -> Any:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = Parameter(Tensor([1.0, 2.0]), name="weight")
            self.raises: Any = None

        def construct(self, x: Any) -> Any:
            ops.assign(self.weight, self.weight * 2.0)
            y = x * self.weight
            if self.raises is not None:
                raise self.raises("own", y)
            ops.assign_add(self.weight, x)
            return y

    net = Net()
    function = by(net)
    errors = (ValueError, None, SystemExit, KeyboardInterrupt, None, GeneratorExit, None, None)

    def call(number: int) -> Any:
        net.raises = errors[number]
        return function(Tensor([1.0, number]))

    return call, [net.weight]


def in_hooks(by: Any) -> Any:
    class Own(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 3.0

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            if positions[0] == "bprop":
                raise KeyError("bprop")
            return (dout * 5.0,)

    positions, values = [""], list[Any]()

    def hook(position: str, *gradient: Any) -> Any:
        if positions[0] == position:
            values.append(gradient[-1])
            raise KeyError(position)
        return None

    net = nn.SequentialCell(nn.Dense(3, 2), nn.Tanh(), Own())
    net[1].register_forward_pre_hook(functools.partial(hook, "forward_pre"))
    net[1].register_forward_hook(functools.partial(hook, "forward"))
    net[1].register_backward_hook(functools.partial(hook, "backward"))
    net[0].weight.register_hook(functools.partial(hook, "parameter"))
    function = by(ms.value_and_grad(lambda x: net(x).sum(), 0, net.trainable_params()))

    def call(number: int) -> Any:
        positions[0] = ("forward", "", "bprop", "parameter", "", "backward", "forward_pre", "")[number]
        return function(X * number)

    return call, [net.trainable_params(), values]


def in_a_step_that_is_caught(by: Any) -> Any:
    def picked(index: Any) -> Any:
        try:
            return ops.gather(TABLE, index, 0) * 2.0
        except RuntimeError:
            return TABLE * 10.0

    function = by(picked)
    return lambda number: function(Tensor([0, 7 if number in (0, 1, 4) else 2])), []


def in_an_optimizer(by: Any) -> Any:
    class Falling(nn.learning_rate_schedule.LearningRateSchedule):  # type: ignore[name-defined,misc]
        def construct(self, step: Any) -> Any:
            if int(step) in (2, 5):
                raise ArithmeticError("rate")
            return Tensor(0.1) / (step + 1)

    net = nn.SequentialCell(nn.BatchNorm1d(3), nn.Dense(3, 2)).set_train()
    optimizer = nn.Momentum(net.trainable_params(), Falling(), 0.9)
    function = by(nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer))
    target = Tensor(np.zeros((2, 2), np.float32))
    return lambda number: function(X * (number + 1.0), target), [*net.get_parameters(), *optimizer.get_parameters()]


def after_an_optimizer(by: Any) -> Any:
    """Write before, after and between two optimizer steps, which the plan cannot undo."""
    net = nn.Dense(3, 2)
    optimizer = nn.Adam(net.trainable_params(), 0.1)
    gradient = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
    count, total = Parameter(Tensor(0.0), name="count"), Parameter(Tensor([1.0, 2.0]), name="total")

    def step(x: Any, matrix: Any) -> Any:
        ops.assign_add(count, Tensor(1.0))
        loss, gradients = gradient(x)
        optimizer(gradients)
        ops.assign_add(count, Tensor(1.0))
        total[0] = count * 2.0
        root = ops.cholesky(matrix)
        ops.assign_add(count, root.sum())
        optimizer(gradient(x * 2.0)[1])
        ops.assign(total, total * 0.5)
        return loss + ops.gather(TABLE, root.sum().astype(ms.int32), 0).sum()

    function = by(step)
    numbers = (1.0, 1.0, -1.0, 50.0, 0.3, -1.0, 0.2, 40.0)

    def call(number: int) -> Any:
        return function(X, Tensor(np.eye(2, dtype=np.float32) * numbers[number]))

    return call, [count, total, *net.get_parameters(), *optimizer.get_parameters()]


def after_nothing_but_an_optimizer(by: Any) -> Any:
    net = nn.Dense(3, 2)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    gradient = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

    def step(x: Any, index: Any) -> Any:
        loss, gradients = gradient(x)
        optimizer(gradients)
        return loss + ops.gather(TABLE, index, 0).sum()

    function = by(step)
    state = [*net.get_parameters(), *optimizer.get_parameters()]
    return lambda number: function(X, Tensor([0, 7 if number in (3, 5) else 2])), state


def after_a_draw(by: Any) -> Any:
    function = by(lambda x, index: ops.dropout(x, 0.5) + ops.gather(TABLE, index, 0).sum())
    return lambda number: function(X, Tensor([0, 7 if number in (3, 5) else 2])), []


PROGRAMS = [
    in_construct,
    in_hooks,
    in_a_step_that_is_caught,
    in_an_optimizer,
    after_an_optimizer,
    after_nothing_but_an_optimizer,
    after_a_draw,
]


@pytest.mark.parametrize("way", ["jit", "graph"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_error_leaves_what_it_leaves_eagerly(program: Any, way: str) -> None:
    assert outcomes(program, way) == outcomes(program, "eager")


def test_an_operator_that_fails_and_is_caught_makes_no_plan() -> None:
    call, _ = in_a_step_that_is_caught(ms.jit)
    with pytest.warns(UserWarning, match="fails, and the function catches the error .*test_interrupted_traces.py"):
        call(0)


def test_compile_that_fails_draws_no_numbers() -> None:
    class Drawing(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.rand(3) + ops.gather(TABLE, x, 0)

    position = random.position()
    with pytest.raises(RuntimeError, match="gather"):
        Drawing().compile(Tensor([9]))
    assert random.position() == position and not leftovers()


# Interrupts


@functools.cache
def _ends_of_calls(code: types.CodeType) -> frozenset[int]:
    """Return the offsets before which Python may have looked for signals, where the same handlers catch an error."""
    entries = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]

    def handlers(offset: int) -> list[int]:
        return [entry.target for entry in entries if entry.start <= offset < entry.end]

    steps = list(dis.get_instructions(code))
    return frozenset(
        after.offset
        for step, after in itertools.pairwise(steps)
        if (step.opname.startswith("CALL") or step.opname == "JUMP_BACKWARD")
        and handlers(step.offset) == handlers(after.offset)
    )


@contextlib.contextmanager
def interrupted(number: int, files: tuple[str, ...]) -> Iterator[list[str]]:
    """Interrupt at one of the positions in some of the engine's files; the list has the position, if it was reached."""
    left, positions = [number], list[str]()

    def stop_if_due(frame: types.FrameType) -> None:
        left[0] -= 1
        if not left[0]:
            sys.settrace(None)
            positions.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
            raise KeyboardInterrupt

    def inside(frame: types.FrameType, event: str, argument: Any) -> Any:
        if event == "opcode" and frame.f_lasti in _ends_of_calls(frame.f_code):
            stop_if_due(frame)
        return inside

    def called(frame: types.FrameType, event: str, argument: Any) -> Any:
        # A generator may be finished when its last reference goes, from where no error can propagate.
        if not frame.f_code.co_filename.endswith(files) or frame.f_code.co_name == "<genexpr>":
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        stop_if_due(frame)
        return inside

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield positions
    finally:
        sys.settrace(before)


def dropping() -> tuple[nn.Cell, Callable[[], Any], list[Any]]:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.dense, self.drop = nn.Dense(3, 2), nn.Dropout(p=0.3)
            self.count = Parameter(Tensor(0.0), name="count")

        def construct(self, x: Any) -> Any:
            ops.assign_add(self.count, Tensor(1.0))
            return self.drop(ops.relu(self.dense(x))) * self.count

    net = Net().set_train()
    function = ms.jit(ms.value_and_grad(lambda x: net(x).sum(), 0, net.trainable_params()))
    return net, lambda: function(X), list(net.get_parameters())


FILES = tuple(
    f"/compile/{name}.py" for name in ("function", "trace/tracer", "trace/calls", "cells", "traced_array", "plan/plan")
)


@pytest.mark.parametrize(("calls_before", "stride", "first"), [(0, 149, 7), (2, 3, 1)])
def test_an_interrupt_at_any_moment_leaves_nothing_behind(calls_before: int, stride: int, first: int) -> None:
    number = first
    while True:
        ms.set_seed(1)
        _, call, parameters = dropping()
        for _ in range(calls_before):
            call()
        with interrupted(number, FILES) as position, contextlib.suppress(KeyboardInterrupt):
            call()
            assert not position, f"swallowed at {position[0]}"
        if not position:
            break
        assert not leftovers(), position[0]
        arrays, at = [parameter._array for parameter in parameters], random.position()
        by_plans = bits([call() for _ in range(3)]), bits(parameters)
        random.go_to(at)
        for parameter, array in zip(parameters, arrays, strict=True):
            parameter._array = array
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cells, "IS_OFF", True)
            assert by_plans == (bits([call() for _ in range(3)]), bits(parameters)), position[0]
        number += stride
    assert number > first, "the trace reached no line of these files"


def test_an_interrupt_of_the_end_of_a_trace_comes_when_all_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    original, number, positions = function_module.Trace._leave, 0, [""]

    def leave(self: Any, undoes: bool) -> None:
        with contextlib.nullcontext([]) if positions else interrupted(number, FILES) as position:
            try:
                original(self, undoes)
            finally:
                positions.extend(position)

    monkeypatch.setattr(function_module.Trace, "_leave", leave)
    while positions:
        positions.clear()
        number += 3
        weight = Parameter(Tensor([1.0, 2.0]), name="weight")
        function = ms.jit(lambda x, weight=weight: x * weight)
        with contextlib.suppress(KeyboardInterrupt):
            function(Tensor([1.0, 2.0]))
            assert not positions
        assert not leftovers(), positions[:1]
        assert type(weight._array) is np.ndarray
    assert number > 3, "the end of the trace reached no line of these files"


def test_an_interrupt_at_the_end_of_a_recording_leaves_none_open() -> None:
    weight = Parameter(Tensor([1.0, 2.0]), name="weight")
    gradient = ms.grad(lambda x: (x * weight).sum())

    class Late(tape.Recording):
        def __exit__(self, *exc_info: object) -> None:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hookscope.engine.autograd.grad.Recording", Late)
        with pytest.raises(KeyboardInterrupt):
            gradient(Tensor([1.0, 2.0]))
    assert not tape.recording_active()
    tape.active_observers.clear()
    assert gradient(Tensor([1.0, 2.0])).tolist() == [1.0, 2.0]


def test_a_caught_interrupt_of_the_watcher_makes_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    from hookscope.engine.compile.trace.calls import Calls

    def helper(x: Any) -> Any:
        return x * 2.0

    def careful(x: Any) -> Any:
        try:
            return helper(x)
        except KeyboardInterrupt:
            return x * 3.0

    def called(self: Any, frame: types.FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code is helper.__code__:
            raise KeyboardInterrupt

    function = ms.jit(careful)
    with monkeypatch.context() as patch:
        patch.setattr(Calls, "_observe", called)
        with pytest.warns(UserWarning, match="an interrupt came"):
            assert float(function(Tensor([1.0]))[0]) == 3
    assert float(function(Tensor([1.0]))[0]) == 2
    assert plans_of(function)[0].counts["replayed"] == 0
