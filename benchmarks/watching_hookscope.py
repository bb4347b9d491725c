"""The ways of watching a network that ``watching.py`` times, in Hookscope: one session over every cell, both ways.

A way makes what can be attached and detached. The debugger is imported by the first one, so that a worker that is never
told to watch never had it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, Event


def _session(net: Any, **options: Any) -> DebugSession:
    from hookscope.engine.debug import DebugSession

    return DebugSession(net, watch=["*"], **options)


class _Nothing:
    def attach(self) -> None:
        pass

    def detach(self) -> None:
        pass


def _nothing(net: Any) -> _Nothing:
    session = _session(net)
    session.attach()
    session.detach()
    return _Nothing()


def _statistics(net: Any) -> DebugSession:
    """Asked for at each capture, as a view does."""
    session = _session(net)
    looked_at = 0

    def look(event: Event) -> None:
        nonlocal looked_at
        if event != "captured":
            return
        place = len(session.captures) - 1
        newest = session.captures[place].index
        while place >= 0 and session.captures[place].index >= looked_at:
            session.captures[place].statistics()
            place -= 1
        looked_at = newest + 1

    session.observe(look)
    return session


WAYS = {
    "never": lambda net: _Nothing(),
    "nothing": _nothing,
    "references": _session,
    "statistics": _statistics,
    "producers": lambda net: _session(net, stop_on=["nan", "inf"]),
    "conditions": lambda net: _session(net, conditions=["all"]),
}
