"""Errors in the debugger are reported once, with a traceback in a log, and the run equals an unwatched one."""

from __future__ import annotations

import copy
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from debug_networks import Script

from hookscope.engine import Tensor, nn, ops, set_seed, value_and_grad
from hookscope.engine.debug import CONDITIONS, DebugAbort, DebugSession, TerminalPauser
from hookscope.engine.debug.compare.ranks import RankRecorder
from hookscope.engine.debug.compare.ranks import recorder as recorders
from hookscope.engine.debug.diagnose.provenance import Provenance
from hookscope.engine.debug.diagnose.session_checks import WATCHERS
from hookscope.engine.debug.faults import log_fault
from hookscope.engine.debug.record.ring import CaptureRing
from hookscope.engine.debug.stop import points
from hookscope.engine.debug.stop.cell_stops import CellStops
from hookscope.engine.debug.stop.operator_stops import OperatorStops
from hookscope.engine.debug.stop.stepping import session_stepping as stepped
from hookscope.engine.debug.stop.stepping.history import LineHistory
from hookscope.engine.debug.watch import newest_session
from hookscope.engine.debug.watch.observer import Observer
from hookscope.engine.tape import taps
from hookscope.engine.tape.progress import listen, progress

pytestmark = pytest.mark.faults_expected


class Doubled(nn.Cell):
    """A cell with a custom bprop of several lines."""

    def construct(self, x: Any) -> Any:
        return x * 2.0

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        half = dout * 1.0
        result = half + half
        return (result,)


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(3, 8)
        self.norm = nn.BatchNorm1d(8)
        self.relu = nn.ReLU()
        self.doubled = Doubled()
        self.drop = nn.Dropout(p=0.3)
        self.last = nn.Dense(8, 4)

    def construct(self, x: Any) -> Any:
        return self.last(self.drop(self.doubled(self.relu(self.norm(self.first(x))))))


def bits_of(watch: Callable[[Net], DebugSession | None] = lambda net: None) -> tuple[list[bytes], DebugSession | None]:
    """Return the bits of all results of a short training, and the session that watched it."""
    set_seed(1)
    net = Net().set_train()
    recomputed = nn.SequentialCell(nn.Dense(4, 4), nn.Tanh()).set_train()
    recomputed.recompute()
    both = nn.SequentialCell(net, recomputed)
    optimizer = nn.Momentum(both.trainable_params(), 0.1, 0.9)
    x = Tensor(np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32))
    labels = Tensor((np.arange(8) % 4).astype(np.int32))
    step = value_and_grad(lambda: ops.cross_entropy(both(x), labels), None, both.trainable_params())
    results: list[Any] = []
    session = watch(both)
    try:
        if session is not None:
            session.attach()
        for index in range(4):
            value, gradients = step()
            results += [value, *gradients]
            optimizer(gradients)
            results += both.get_parameters()
            if index == 2:  # non-finite values have conditions of their own
                x = x * float("inf")
    finally:
        if session is not None:
            session.detach()
    return [result._array.tobytes() for result in results], session


@pytest.fixture(scope="module")
def alone() -> list[bytes]:
    return bits_of()[0]


def boom(*args: Any, **options: Any) -> Any:
    raise RuntimeError("planted")


def message_lines(err: str) -> list[str]:
    return [line for line in err.splitlines() if "planted" in line]


def _watching_all(**options: Any) -> Callable[[Net], DebugSession]:
    return lambda net: DebugSession(net, conditions=["all"], **options)


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_whose_formula_raises_is_told_once_and_the_run_has_the_same_bits(
    name: str,
    alone: list[bytes],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls = []

    def formula(*arguments: Any) -> Any:
        calls.append(arguments)
        return boom()

    monkeypatch.setitem(CONDITIONS, name, replace(CONDITIONS[name], formula=formula))
    bits, session = bits_of(_watching_all())
    assert bits == alone
    assert session is not None
    expected = 1 if calls else 0
    assert message_lines(capsys.readouterr().err) == expected * [
        f"hookscope: session: condition {name!r} raised RuntimeError: planted; the run goes on without it "
        "(traceback: session.faults, and the log 'hookscope.debug')"
    ]
    assert [fault.place for fault in session.faults] == expected * [f"condition {name!r}"]
    assert [record.name for record in caplog.records] == expected * ["hookscope.debug"]
    assert all("Traceback" in text and "in boom" in text for text in caplog.messages)
    assert all("in boom" in fault.traceback for fault in session.faults)


def test_most_conditions_are_tried_in_that_training(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, row in CONDITIONS.items():
        monkeypatch.setitem(CONDITIONS, name, replace(row, formula=boom))
    _, session = bits_of(_watching_all())
    assert session is not None
    assert len(session.faults) > 25


_METHODS = (
    "cell_enter",
    "cell_exit",
    "cell_error",
    "backward_enter",
    "backward_exit",
    "operator",
    "operator_backward",
    "loss",
    "parameter_gradients",
    "differentiated",
)
TAPS = (Observer, Provenance, *WATCHERS, recorders._Tap)
OF_TAPS = [(tap, method) for tap in TAPS for method in (*_METHODS, "run_bprop") if method in vars(tap)]


def _recorded(net: Net) -> DebugSession:
    session = DebugSession(net, conditions=["all"])
    session.recorder = RankRecorder(session, lambda record: None)
    return session


@pytest.mark.parametrize(("tap", "method"), OF_TAPS, ids=[f"{tap.__name__}.{method}" for tap, method in OF_TAPS])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_tap_that_raises_is_told_once_and_the_run_has_the_same_bits(
    tap: type[taps.Tap],
    method: str,
    when: str,
    alone: list[bytes],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain, calls = getattr(tap, method), []

    def broken(self: Any, *arguments: Any) -> Any:
        calls.append(method)
        if when == "after":
            plain(self, *arguments)
        return boom()

    monkeypatch.setattr(tap, method, broken)
    bits, session = bits_of(_recorded)
    assert bits == alone
    assert session is not None
    assert len(message_lines(capsys.readouterr().err)) == len(session.faults) == bool(calls)


OF_STEPS = [(kind, method) for kind in WATCHERS for method in ("run_began", "ended") if method in vars(kind)]


@pytest.mark.parametrize(("kind", "method"), OF_STEPS, ids=[f"{kind.__name__}.{method}" for kind, method in OF_STEPS])
def test_a_check_that_raises_at_a_step_is_told_once_and_the_others_are_made(
    kind: type[Any], method: str, alone: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, method, boom)
    bits, session = bits_of(_watching_all())
    assert bits == alone
    assert session is not None
    assert [fault.place.partition(" ")[0] for fault in session.faults] == [f"{kind.__name__}.boom"]
    assert {"nan", "frozen_parameter"}.isdisjoint(fault.place for fault in session.faults)
    assert "nan" in {finding.condition for finding in session.findings()}


@pytest.mark.parametrize("event", ["attached", "captured", "changed", "finished"])
def test_an_observer_that_raises_is_told_once_and_the_run_has_the_same_bits(
    event: str, alone: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    def watch(net: Net) -> DebugSession:
        session = DebugSession(net, conditions=["all"])
        session.observe(lambda message_lines: boom() if message_lines == event else None)
        return session

    bits, session = bits_of(watch)
    assert bits == alone
    assert session is not None
    assert len(message_lines(capsys.readouterr().err)) == len(session.faults) == 1


def test_a_listener_to_sessions_that_raises_does_not_end_the_run(
    alone: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr(newest_session, "when_attached", [boom])
    bits, session = bits_of(_watching_all())
    assert bits == alone
    assert session is not None
    assert len(session.faults) == 1


def test_a_recorder_whose_records_nobody_takes_does_not_end_the_run(
    alone: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    made = []

    def watch(net: Net) -> DebugSession:
        session = DebugSession(net)
        made.append(RankRecorder(session, boom))
        return session

    bits, session = bits_of(watch)
    (recorder,) = made
    recorder.failed(RuntimeError("of a collective"))
    recorder.close()
    assert bits == alone
    assert recorder.steps == 4
    assert session is not None
    assert len(message_lines(capsys.readouterr().err)) == len(session.faults) == 1


@pytest.mark.parametrize("part", ["append", "note"])
def test_captures_that_cannot_be_kept_do_not_end_the_run(
    part: str, alone: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CaptureRing, part, boom)
    bits, session = bits_of(lambda net: DebugSession(net, conditions=[] if part == "note" else ["all"]))
    assert bits == alone
    assert session is not None
    assert session.faults


class Unreadable(dict[str, Any]):
    """A user's dictionary that refuses to be read."""

    values = items = boom


class OddBeside(nn.Cell):
    """A cell that returns something odd beside its output, also under a gradient."""

    def __init__(self, odd: Callable[[Any], Any]) -> None:
        super().__init__()
        self.dense = nn.Dense(2, 2)
        self.part = nn.SequentialCell(Odd(odd))

    def construct(self, x: Any) -> Any:
        return self.part(self.dense(x))[0]


class Odd(nn.Cell):
    def __init__(self, odd: Callable[[Any], Any]) -> None:
        super().__init__()
        self.odd = odd

    def construct(self, x: Any) -> Any:
        return x, self.odd(x)


class Wordless:
    """A key without a text."""

    def __format__(self, spec: str) -> str:
        return str(boom())

    __str__ = __repr__ = __format__


def _in_list(x: Any) -> list[Any]:
    held = [x]
    held.append(held)
    return held


def _in_dictionary(x: Any) -> dict[str, Any]:
    held = {"x": x}
    held["again"] = held
    return held


def _in_tuple(x: Any) -> tuple[Any, ...]:
    held: list[Any] = [x]
    held.append((held, x))
    return (held, held)


def _deep(x: Any) -> Any:
    for _ in range(20_000):
        x = [x]
    return x


class Takes(nn.Cell):
    """A cell that takes something odd, and may have a hook and a ``bprop``."""

    def construct(self, x: Any, odd: Any) -> Any:
        return x * 2, odd


@pytest.mark.parametrize("odd", [_in_list, _in_dictionary, _in_tuple])
@pytest.mark.parametrize(
    "options", [{}, {"watch": ["*"]}, {"conditions": ["all"]}, {"breaks": ["part.0", "takes:forward_pre"]}], ids=str
)
def test_what_holds_itself_passes_as_without_a_session_and_is_looked_at_once(
    odd: Callable[[Any], Any], options: dict[str, Any]
) -> None:
    def run(net: OddBeside) -> list[bytes]:
        def both(x: Any) -> Any:
            return net.takes(net(x), odd(x))[0]

        x = Tensor(np.ones((1, 2), np.float32))
        value, gradients = value_and_grad(both, None, net.trainable_params())(x)
        return [item._array.tobytes() for item in (both(x), value, *gradients)]

    net = OddBeside(odd)
    net.takes = Takes()
    unwatched = run(net)
    with DebugSession(net, **options) as session:
        assert run(net) == unwatched
    assert session.faults == ()
    if options.get("watch"):
        slots = [capture.slot for capture in session.captures if (capture.path, capture.step) == ("part.0", 1)]
        expected = {
            _in_list: ["[0]"],
            _in_dictionary: ["[x]"],
            _in_tuple: ["[0][0]", "[0][1][1]", "[1][0]", "[1][1][1]"],
        }
        forward = ["input[0]", "output[0]", *(f"output[1]{index}" for index in expected[odd])]
        assert slots[: len(forward)] == forward


@pytest.mark.parametrize(
    "odd",
    [_deep, lambda x: Unreadable(x=x), lambda x: {Wordless(): x}],
    ids=["lists without end", "a dictionary that raises", "a key without a text"],
)
@pytest.mark.parametrize("options", [{}, {"conditions": ["all"]}, {"breaks": ["part.0"]}], ids=str)
def test_a_structure_that_cannot_be_looked_into_passes_as_without_a_session(
    odd: Callable[[Any], Any], options: dict[str, Any]
) -> None:
    def run(net: nn.Cell) -> list[bytes]:
        x = Tensor(np.ones((1, 2), np.float32))
        value, gradients = value_and_grad(net, None, net.trainable_params())(x)
        return [item._array.tobytes() for item in (net(x), value, *gradients)]

    net = OddBeside(odd)
    unwatched = run(net)
    with DebugSession(net, **options) as session:
        assert run(net) == unwatched
    assert 1 <= len(session.faults) <= 6


# Clocks


CLOCKS = ("monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns")


def test_a_clock_that_the_user_has_replaced_by_one_that_raises_is_not_asked(
    alone: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    net = Net()
    with monkeypatch.context() as replaced:
        for name in CLOCKS:
            replaced.setattr(time, name, boom)
        bits, session = bits_of(lambda net: DebugSession(net, conditions=["all"], stop_on=["nan"], max_bytes=2_000))
        assert session is not None
        session.table()
        with listening(), progress("training", 3) as work:
            for _ in range(3):
                work.advance()
        copy.deepcopy(net)
    assert bits == alone and session.faults == ()


@contextmanager
def listening() -> Iterator[None]:
    unsubscribe = listen(lambda work: None)
    try:
        yield
    finally:
        unsubscribe()


# Stops


def _paused(net: Net, **options: Any) -> DebugSession:
    script = Script()
    session = script.session = DebugSession(net, pauser=script, **options)
    return session


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (LineHistory, "passes"),
        (LineHistory, "operator"),
        (LineHistory, "clear"),
        (stepped, "point_at_stop"),
        (stepped._Thread, "_changed"),
        (stepped._Thread, "_reason_of"),
        (stepped._OperatorRecorder, "operator"),
        (stepped, "contents"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_fault_while_a_bprop_is_stepped_does_not_end_it(
    owner: Any, name: str, alone: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, boom)
    bits, session = bits_of(lambda net: _paused(net, step=True))
    assert bits == alone
    assert session is not None
    assert 1 <= len(session.faults) <= 3


@pytest.mark.parametrize(
    ("owner", "name", "breaks"),
    [
        (CellStops, "stop", ["0.relu"]),
        (OperatorStops, "_stop_after", ["ops.relu", "ops.matmul:backward"]),
        (points, "source_of", ["ops.relu"]),
        (points, "running_frames", ["ops.relu"]),
    ],
    ids=["cell", "operator", "source", "stack"],
)
def test_a_fault_at_a_breakpoint_does_not_end_the_run(
    owner: Any, name: str, breaks: list[str], alone: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, boom)
    bits, session = bits_of(lambda net: _paused(net, breaks=breaks))
    assert bits == alone
    assert session is not None
    assert session.faults


# Values that pass


class Raising(Script):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def wait(self, until: Callable[[], bool]) -> None:
        raise self.error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), DebugAbort("no more"), SystemExit(3), ValueError("mine")])
@pytest.mark.parametrize(
    "stop", [{"breaks": ["0.relu"]}, {"step": True}, {"stop_on": ["nan"]}, {"breaks": ["ops.relu"]}], ids=str
)
def test_an_interrupt_an_abort_and_an_error_of_a_pauser_of_the_users_end_the_run(
    error: BaseException, stop: dict[str, Any]
) -> None:
    sessions = []

    def watch(net: Net) -> DebugSession:
        sessions.append(DebugSession(net, pauser=Raising(error), **stop))
        return sessions[0]

    with pytest.raises(type(error)) as raised:
        bits_of(watch)
    assert raised.value is error
    assert sessions[0].faults == ()


def test_a_pauser_of_the_debuggers_own_that_raises_does_not_end_the_run(
    alone: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TerminalPauser, "unavailable", lambda self: None)
    monkeypatch.setattr(TerminalPauser, "wait", boom)
    bits, session = bits_of(lambda net: DebugSession(net, breaks=["0.relu"], step=True))
    assert bits == alone
    assert session is not None
    assert session.faults


@pytest.mark.parametrize("options", [{}, {"step": True}, {"conditions": ["all"]}])
def test_an_error_of_the_users_bprop_comes_out_as_it_is(options: dict[str, Any]) -> None:
    mine = ValueError("mine")

    class Broken(Doubled):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            raise mine

    net = nn.SequentialCell(nn.Dense(2, 2), Broken())
    script = Script()
    script.session = session = DebugSession(net, pauser=script, **options)
    with pytest.raises(ValueError, match="mine") as raised, session:
        value_and_grad(net, None, net.trainable_params())(Tensor(np.ones((1, 2), np.float32)))
    assert raised.value is mine
    assert session.faults == ()


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_bprop_is_run_once_wherever_the_debugger_fails_around_it(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []

    class Counted(Doubled):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            runs.append(1)
            return super().bprop(x, out, dout)

    plain = Provenance.run_bprop

    def broken(self: Any, cell: Any, function: Any, args: Any) -> Any:
        if where == "after":
            plain(self, cell, function, args)
        return boom()

    monkeypatch.setattr(Provenance, "run_bprop", broken)
    net = nn.SequentialCell(nn.Dense(2, 2), Counted())
    with DebugSession(net, conditions=["nan"]) as session:
        value_and_grad(net, None, net.trainable_params())(Tensor(np.ones((1, 2), np.float32)))
    assert len(runs) == len(session.faults) == 1


def test_an_error_of_the_users_edit_that_is_made_again_comes_out_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []

    def once() -> float:
        runs.append(1)
        return 1 / (2 - len(runs))

    monkeypatch.setattr(ops, "once", once, raising=False)
    script = Script(look=lambda session: session.edit("output", "output * ms.ops.once()"))
    net = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU())
    net.recompute()
    script.session = session = DebugSession(net, breaks=["1"], pauser=script)
    with pytest.raises(ZeroDivisionError), session:
        value_and_grad(net, None, net.trainable_params())(Tensor(np.ones((1, 2), np.float32)))
    assert len(runs) == 2
    assert session.faults == ()


# Reports


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_an_exception_whose_text_raises_is_told_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    session = DebugSession(nn.ReLU())
    assert session.report_fault("a view", UnspeakableError())
    assert "a view raised UnspeakableError: <its text raised RuntimeError>; the run" in capsys.readouterr().err
    assert log_fault("a view", UnspeakableError()).error.startswith("UnspeakableError")


@pytest.mark.parametrize("stream", [None, "closed"])
def test_a_standard_error_that_is_gone_does_not_end_the_run(
    stream: str | None, alone: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = io.StringIO()
    gone.close()
    monkeypatch.setattr(sys, "stderr", None if stream is None else gone)
    monkeypatch.setitem(CONDITIONS, "nan", replace(CONDITIONS["nan"], formula=boom))
    bits, session = bits_of(_watching_all())
    assert bits == alone
    assert session is not None
    assert len(session.faults) == 1


def test_without_a_handler_of_the_users_the_traceback_goes_to_no_stream(run_python: Callable[..., Any]) -> None:
    process = run_python(
        "from hookscope.engine import nn\n"
        "from hookscope.engine.debug import DebugSession\n"
        "session = DebugSession(nn.ReLU())\n"
        "for _ in range(3): assert session.report_fault('a view', RuntimeError('planted'))\n"
        "print(len(session.faults))\n"
    )
    assert process.stdout == "1\n"
    assert process.stderr.count("planted") == 1 and "Traceback" not in process.stderr


def test_places_are_many_and_kept_in_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    session = DebugSession(nn.ReLU())
    for index in range(1000):
        assert session.report_fault(f"place {index}", RuntimeError("planted"))
    assert len(session.faults) == len(message_lines(capsys.readouterr().err)) == 100


def test_trainings_in_several_threads_have_the_same_bits_and_no_fault() -> None:
    def train(index: int, result: dict[int, list[bytes]]) -> None:
        draw = np.random.default_rng(index)
        net = nn.SequentialCell(nn.Dense(3, 8), nn.ReLU(), Doubled(), nn.BatchNorm1d(8), nn.Dense(8, 4)).set_train()
        for parameter in net.trainable_params():
            parameter.set_data(Tensor(draw.normal(size=parameter.shape).astype(np.float32)))
        optimizer = nn.Adam(net.trainable_params(), 0.01)
        labels = Tensor(draw.integers(0, 4, 8).astype(np.int32))
        step = value_and_grad(lambda x: ops.cross_entropy(net(x), labels), None, net.trainable_params())
        for number in range(12):
            x = Tensor(draw.normal(size=(8, 3)).astype(np.float32) * (np.inf if number == 9 else 1))
            value, gradients = step(x)
            optimizer(gradients)
            result.setdefault(index, []).extend(item._array.tobytes() for item in (value, *gradients))

    one_by_one: dict[int, list[bytes]] = {}
    for position in range(3):
        train(position, one_by_one)
    before = sys.getswitchinterval()
    together: dict[int, list[bytes]] = {}
    threads = [threading.Thread(target=train, args=(index, together)) for index in range(3)]
    try:
        sys.setswitchinterval(1e-5)
        with DebugSession(conditions=["all"]) as session:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    assert together == one_by_one
    assert session.faults == ()
