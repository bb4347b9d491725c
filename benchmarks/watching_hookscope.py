"""The ways of watching for ``watching.py`` in Hookscope: one session over every cell, forward and backward.

A way returns an object with ``attach`` and ``detach``. The first one imports the debugger, so that a worker without
watching never imports it.
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
    """Return a session whose observer reads the statistics of each capture, as a view does."""
    session = _session(net)
    next_index = 0

    def read_statistics(event: Event) -> None:
        nonlocal next_index
        if event != "captured":
            return
        index = len(session.captures) - 1
        newest = session.captures[index].index
        while index >= 0 and session.captures[index].index >= next_index:
            session.captures[index].statistics()
            index -= 1
        next_index = newest + 1

    session.observe(read_statistics)
    return session


WAYS = {
    "never": lambda net: _Nothing(),
    "nothing": _nothing,
    "references": _session,
    "statistics": _statistics,
    "producers": lambda net: _session(net, stop_on=["nan", "inf"]),
    "conditions": lambda net: _session(net, conditions=["all"]),
}
