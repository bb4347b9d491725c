"""Events of a session for its observers."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from debug_networks import SquareThenScale, tensor

from hookscope.engine import grad
from hookscope.engine.debug import DebugSession, Event


class GoesOn:
    """A pauser that continues each paused run."""

    session: DebugSession

    def unavailable(self) -> str | None:
        return None

    def wait(self, until: Callable[[], bool]) -> None:
        self.session.resume()
        assert until()


def test_a_run_with_a_pause_is_told_from_its_beginning_to_its_end_and_each_event_is_one_of_the_type() -> None:
    values: list[Event] = []
    pauser = GoesOn()
    pauser.session = session = DebugSession(SquareThenScale(), watch=["square:forward"], pauser=pauser)
    session.observe(values.append)
    with session:
        session.add_breakpoint("square")
        grad(session.roots[0])(tensor(2.0))
    # Both the input and the output are captured before the stop at the output.
    assert values == ["attached", "changed", "captured", "captured", "paused", "resumed", "finished"]
    assert set(values) == set(get_args(Event))
