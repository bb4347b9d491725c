"""Failures: what stays after an uncaught error, how it is looked at, and when it is released."""

from __future__ import annotations

import gc
import sys
import types
import weakref
from typing import Any

import numpy as np
import pytest
from debug_networks import scripted, tensor

from hookscope.engine import Tensor, grad, nn
from hookscope.engine.debug import DebugAbort, DebugSession, FailedCall
from hookscope.engine.debug.stop import failure


class Attention(nn.Cell):
    def construct(self, x: Any) -> Any:
        weights = x * 2.0
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


def failed(session: DebugSession, *values: float) -> None:
    """Run the session's network with an error that ends the block."""
    with pytest.raises(ValueError, match="three elements"), session:
        grad(session.roots[0])(tensor(*(values or (1.0, 2.0, 3.0))))


@pytest.fixture
def session() -> DebugSession:
    return DebugSession(Block())


def test_an_uncaught_error_stays_with_its_path_and_frames(session: DebugSession) -> None:
    failed(session)
    failure = session.failure
    assert failure is not None
    assert (failure.path, failure.where, failure.message) == ("attn", "attn", "ValueError: three elements")
    assert failure.summary == "failed in attn: ValueError: three elements"
    assert failure.notes == ["attn got x: float32 3"]
    assert type(failure.error) is ValueError and failure.error.args == ("three elements",)
    assert failure.error.__traceback__ is None
    assert [frame.code.co_name for frame in failure.frames[-3:]] == ["failed", "construct", "construct"]
    assert set(failure.frames[-1].variables()) == {"self", "x", "weights"}


def test_the_post_mortem_is_a_pause_that_cannot_go_on(session: DebugSession) -> None:
    failed(session)
    point = session.post_mortem()
    assert (point.kind, point.place) == ("failure", f"attn, line {point.line}")
    assert session.shown is point and session.paused is None
    assert session.evaluate("weights.asnumpy().tolist(), error.args[0]") == ([4.0, 6.0, 8.0], "three elements")
    session.show_frame(-2)
    assert session.evaluate("hidden.shape") == (3,)
    with pytest.raises(RuntimeError, match="nothing can be set any more: the run has failed"):
        session.assign("hidden", 1)
    for request in (session.resume, session.step_back):
        with pytest.raises(RuntimeError, match="is not paused"):
            request()


def test_without_a_failure_there_is_no_post_mortem(session: DebugSession) -> None:
    with pytest.raises(RuntimeError, match="session has no failure: the newest run has not ended with an error"):
        session.post_mortem()


def test_at_a_pause_there_is_no_post_mortem() -> None:
    def look(session: DebugSession) -> None:
        with pytest.raises(RuntimeError, match="the run is paused"):
            session.post_mortem()

    session, script = scripted(Block(), look=look, breaks=["exception"])
    failed(session)
    assert len(script.points) == 1


# Release


def test_the_next_run_releases_it_and_its_display(session: DebugSession) -> None:
    failed(session)
    session.post_mortem()
    with session:
        session.roots[0](tensor(1.0))
        assert session.failure is None and session.shown is None
    with pytest.raises(RuntimeError, match="is not paused"):
        session.evaluate("x")


def test_clear_releases_it(session: DebugSession) -> None:
    failed(session)
    session.post_mortem()
    session.clear_failure()
    assert session.failure is None and session.shown is None


def test_what_the_code_around_the_network_catches_is_no_failure_in_the_end(session: DebugSession) -> None:
    with session:
        with pytest.raises(ValueError, match="three elements"):
            session.roots[0](tensor(1.0, 2.0, 3.0))
        assert session.failure is not None  # nobody can know yet
    assert session.failure is None


def test_an_error_of_the_block_itself_is_a_failure_outside_the_network(session: DebugSession) -> None:
    def block(size: int) -> float:
        with session:
            session.roots[0](tensor(1.0))
            return 1 / size

    with pytest.raises(ZeroDivisionError):
        block(0)
    failure = session.failure
    assert failure is not None and failure.summary == "failed: ZeroDivisionError: division by zero"
    assert failure.frames[-1].variables()["size"] == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, DebugAbort])
def test_an_interrupt_is_no_failure(session: DebugSession, error: type[BaseException]) -> None:
    with pytest.raises(error), session:
        raise error
    assert session.failure is None


# Memory


@pytest.fixture
def _no_collector() -> Any:
    gc.disable()
    yield
    gc.enable()


def _failed_session(**options: Any) -> tuple[DebugSession, weakref.ref[Any]]:
    """Return a session with a failure, whose frames have the session and an array among their variables."""
    session = DebugSession(Block(), **options)
    batch = np.ones(3, np.float32)
    inputs = Tensor(batch)
    with pytest.raises(ValueError, match="three elements"), session:
        grad(session.roots[0])(inputs)
    session.captures.clear()
    return session, weakref.ref(inputs)


@pytest.mark.usefixtures("_no_collector")
def test_the_values_go_with_the_session_at_once() -> None:
    session, inputs = _failed_session()
    assert inputs() is not None
    assert session.failure is not None and "session" not in session.failure.frames[-3].variables()
    owner = weakref.ref(session)
    del session
    assert owner() is None and inputs() is None


@pytest.mark.usefixtures("_no_collector")
def test_the_values_go_with_the_failure_at_once() -> None:
    session, inputs = _failed_session()
    session.clear_failure()
    assert inputs() is None


@pytest.mark.usefixtures("_no_collector")
def test_values_beyond_the_memory_limit_are_not_kept() -> None:
    session, inputs = _failed_session(max_bytes=30)
    assert session.failure is not None
    innermost, outer = session.failure.frames[-1].variables(), session.failure.frames[-3].variables()
    assert isinstance(innermost["x"], Tensor) and isinstance(innermost["weights"], Tensor)  # 24 bytes together
    assert repr(outer["inputs"]) == "<Tensor 3: not kept, since it exceeds the session's max_bytes>"
    assert inputs() is None


def test_the_variables_of_a_module_are_not_copied() -> None:
    net = Block()
    session = DebugSession(net)
    module = types.ModuleType("script")
    module.__dict__.update(net=net, x=tensor(1.0, 2.0, 3.0))
    sys.modules["script"] = module
    try:
        with pytest.raises(ValueError, match="three elements"), session:
            exec(compile("net(x)", __file__, "exec"), module.__dict__)
    finally:
        del sys.modules["script"]
    assert session.failure is not None
    frame = next(frame for frame in session.failure.frames if frame.is_module and "net" in frame.names)
    assert "x" in frame.variables()
    del module.x
    assert "x" not in frame.variables()


def test_an_exception_with_a_constructor_of_its_own_is_copied_with_its_attributes() -> None:
    class RefusedError(ValueError):
        def __init__(self, what: str, *, code: int) -> None:
            super().__init__(f"{what} refused")
            self.code = code

    class Refuses(nn.Cell):
        def construct(self, x: Any) -> Any:
            raise RefusedError("all", code=3)

    session = DebugSession(Refuses())
    with pytest.raises(RefusedError), session:
        session.roots[0](tensor(1.0))
    assert session.failure is not None
    error = session.failure.error
    assert isinstance(error, RefusedError) and (str(error), error.code) == ("all refused", 3)


@pytest.mark.parametrize(
    "error", [KeyError("key"), OSError(2, "missing", "file"), UnicodeDecodeError("utf-8", b"a", 0, 1, "bad")]
)
def test_exceptions_of_python_are_copied_with_their_text(error: Exception) -> None:
    class Raises(nn.Cell):
        def construct(self, x: Any) -> Any:
            raise error

    session = DebugSession(Raises())
    with pytest.raises(type(error)), session:
        session.roots[0](tensor(1.0))
    assert session.failure is not None
    assert type(session.failure.error) is type(error) and str(session.failure.error) == str(error)


# Explanation


def test_an_explanation_of_the_error_is_shown_below_the_inputs(
    session: DebugSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[BaseException, FailedCall | None]] = []

    def explain_error(error: BaseException, call: FailedCall | None, **recorded: object) -> str | None:
        calls.append((error, call))
        return "attn takes any number of elements but three"

    monkeypatch.setattr(failure, "explain_error", explain_error)
    failed(session)
    assert session.failure is not None
    assert session.failure.notes == ["attn got x: float32 3", "attn takes any number of elements but three"]
    error, call = calls[0]
    assert call is not None and call.cell is session.roots[0].attn
    assert (call.path, list(call.inputs), call.traceback) == ("attn", ["x"], error.__traceback__) or call.traceback


@pytest.mark.faults_expected
def test_an_explanation_that_fails_is_a_fault_and_the_users_error_goes_on(
    session: DebugSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explain_error(error: BaseException, call: FailedCall | None, **recorded: object) -> str | None:
        raise RuntimeError("no explanation")

    monkeypatch.setattr(failure, "explain_error", explain_error)
    failed(session)
    assert session.failure is not None and session.failure.notes == ["attn got x: float32 3"]
    assert [fault.error for fault in session.faults] == ["RuntimeError: no explanation"]
