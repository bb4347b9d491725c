"""The session itself: when it watches, that there is one, and its errors for bad arguments."""

from __future__ import annotations

import copy
import pickle
import re
from contextlib import ExitStack
from typing import Any

import pytest
from debug_networks import SquareThenScale, tensor

from hookscope.engine.debug import Breakpoint, DebugAbort, DebugSession
from hookscope.engine.debug.stop.terminal import TerminalPauser

# When it watches


def test_a_block_inside_another_of_the_same_session_does_not_end_it() -> None:
    net = SquareThenScale()
    with DebugSession(net) as session:
        with session:
            net(tensor(1.0))
        assert session.attached
        net(tensor(1.0))
        session.detach()
        with session:
            assert session.attached
        assert not session.attached
    assert not session.attached and session.step == 2
    with session:
        assert session.attached
    assert not session.attached


def test_an_abort_gives_the_modes_back_that_stood_where_each_block_began() -> None:
    net = SquareThenScale()
    log: list[tuple[bool, bool]] = []

    def run(session: DebugSession) -> None:
        with session:
            net.set_train(True)
            try:
                with session:
                    net.set_train(False)
                    raise DebugAbort("inside")
            finally:
                log.append((net.training, session.attached))

    session = DebugSession(net)
    with pytest.raises(DebugAbort):
        run(session)
    assert [*log, (net.training, session.attached)] == [(True, True), (False, False)]


@pytest.mark.parametrize("error", [None, ValueError, DebugAbort])
def test_a_stack_of_contexts_ends_what_was_attached_by_hand(error: type[Exception] | None) -> None:
    session = DebugSession(SquareThenScale())
    session.attach()
    with ExitStack() as stack:
        stack.push(session)
        if error is not None:
            stack.enter_context(pytest.raises(error))
            raise error("from the block")
    assert not session.attached
    session.__exit__(None, None, None)
    session.__exit__(DebugAbort, DebugAbort("late"), None)
    assert not session.attached


def test_a_session_cannot_be_copied_and_goes_on() -> None:
    net = SquareThenScale()
    with DebugSession(net) as session:
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="a DebugSession cannot be copied or pickled; make a new one"):
                copied(session)
        assert session.attached
        net(tensor(1.0))
    assert session.step == 1


def test_a_network_with_hooks_of_a_session_can_be_copied() -> None:
    net = SquareThenScale()
    session = DebugSession(net)
    session.attach_hook("square", "forward")
    copy.deepcopy(net)(tensor(1.0))


# Arguments

NESTED = "-" * 9_000 + "1"


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"watch": 3}, TypeError, "watch must be a str, or a list of them, got int"),
        ({"watch": None}, TypeError, "watch must be a str, or a list of them, got NoneType"),
        ({"watch": b"square"}, TypeError, "watch must be a str, or a list of them, got bytes"),
        ({"watch": [3]}, TypeError, "watch[0] must be a str, got int"),
        ({"watch": ["square", b"x"]}, TypeError, "watch[1] must be a str, got bytes"),
        ({"watch": ["x" * 10_001]}, ValueError, "watch[0] must have at most 10,000 characters, got 10,001"),
        ({"breaks": 3}, TypeError, "breaks must be a str or a Breakpoint, or a list of them, got int"),
        ({"breaks": [None]}, TypeError, "breaks[0] must be a str or a Breakpoint, got NoneType"),
        ({"breaks": ["ops."]}, ValueError, "breakpoint 'ops.': the operator's name is missing, as in 'ops.log'"),
        (
            {"breaks": [Breakpoint("ops.", "backward")]},
            ValueError,
            "breakpoint 'ops.:backward': the operator's name is missing, as in 'ops.log'",
        ),
        ({"conditions": None}, TypeError, "conditions must be a str, or a list of them, got NoneType"),
        ({"conditions": [3]}, TypeError, "conditions[0] must be a str, got int"),
        (
            {"conditions": ["all=3"]},
            ValueError,
            "conditions 'all=3': 'all' takes no threshold, since not all it names have one; give it to one by name",
        ),
        ({"stop_on": [3]}, TypeError, "stop_on[0] must be a str, got int"),
        ({"step": "no"}, TypeError, "step must be True or False, got str"),
        ({"every": True}, ValueError, "every must be a positive integer, got True"),
        ({"pauser": 3}, TypeError, "pauser must be an object with the methods unavailable and wait, got int"),
        (
            {"pauser": TerminalPauser},
            TypeError,
            "pauser must be an object with the methods unavailable and wait, got the class TerminalPauser",
        ),
        ({"name": 3}, TypeError, "name must be a str, got int"),
    ],
)
@pytest.mark.parametrize("net", [SquareThenScale(), None])
def test_an_argument_that_cannot_be_is_one_sentence(
    options: dict[str, Any], kind: type[Exception], message: str, net: Any
) -> None:
    with pytest.raises(kind) as caught:
        DebugSession(net, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["(" * 9_000, NESTED])
def test_an_expression_that_the_compiler_gives_up_with_is_one_short_sentence(text: str) -> None:
    net = SquareThenScale()
    session = DebugSession(net)
    for options in ({"breaks": [f"square if {text}"]}, {"conditions": [f"if {text}"]}, {"stop_on": [f"if {text}"]}):
        with pytest.raises(ValueError, match=re.escape(f"({len(text):,} characters): ")) as caught:
            DebugSession(net, **options)  # type: ignore[arg-type]
        assert len(str(caught.value)) < 400
    with pytest.raises(ValueError, match=r"^breakpoint 'square': expression .*: (it has )?too many "):
        session.add_breakpoint(f"square if {text}")
    assert session.breakpoints == []


@pytest.mark.parametrize("every", [0, -1, "x", True, 1.5, None])
def test_every_is_checked_also_later(every: Any) -> None:
    session = DebugSession(SquareThenScale(), every=3)
    with pytest.raises(ValueError, match=re.escape(f"every must be a positive integer, got {every!r}")):
        session.every = every
    assert session.every == 3
    session.every = 2
    assert session.every == 2


def test_what_is_set_or_added_later_is_checked_as_at_first() -> None:
    session: Any = DebugSession(SquareThenScale())
    for change, message in (
        (
            lambda: setattr(session, "pauser", 3),
            "pauser must be an object with the methods unavailable and wait, got int",
        ),
        (lambda: setattr(session, "step_bprop", "no"), "step_bprop must be True or False, got str"),
        (lambda: session.add_watch(3), "watch must be a str, got int"),
        (lambda: session.add_breakpoint(None), "breakpoint must be a str or a Breakpoint, got NoneType"),
        (lambda: session.add_condition(3), "conditions must be a str, got int"),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
            change()
    for remove, message in (
        (lambda: session.remove_condition(3), "no condition 3 in this session"),
        (lambda: session.set_train(3, True), "no cell 3 in this session"),
        (lambda: session.set_requires_grad(3, True), "no parameter 3 in this session"),
    ):
        with pytest.raises(ValueError, match=f"^{message}$"):
            remove()
    assert (session.pauser, session.step_bprop, session.breakpoints) == (None, False, [])


# Suggestions for wrong names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"watch": ["zebra"]}, "watch 'zebra' matches no cell"),
        ({"watch": ["squar"]}, "watch 'squar' matches no cell; the nearest is 'square'"),
        ({"breaks": ["zebra"]}, "breakpoint 'zebra' matches no cell"),
        ({"breaks": ["ops.zzzqqq"]}, "breakpoint 'ops.zzzqqq': there is no operator 'zzzqqq'"),
        (
            {"breaks": ["square if zzzqqq"]},
            "breakpoint 'square': expression 'zzzqqq': the name 'zzzqqq' is unknown here",
        ),
        ({"conditions": ["zzzqqq"]}, "conditions 'zzzqqq': no such condition (all: inputs_not_normalized, "),
    ],
)
def test_only_a_name_that_is_much_alike_is_suggested(options: dict[str, Any], message: str) -> None:
    end = "" if message.endswith(", ") else "$"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}{end}"):
        DebugSession(SquareThenScale(), **options)
