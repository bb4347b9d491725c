"""Completion and inspection while a run is paused: names of the paused function precede the notebook's."""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ipykernel.zmqshell import ZMQInteractiveShell

from ..ipykernel_adapter import Namespaces, ShellHooks

_one_query = threading.RLock()  # a subshell replies in its own thread


class PausedNamesShell(ShellHooks, ZMQInteractiveShell):
    """A shell that can search other names than the notebook's during a query."""

    _scope: Mapping[str, object] | None = None

    def searched_namespaces(self) -> Namespaces | None:
        if self._scope is None:
            return None
        return [("Paused function", self._scope), ("Interactive", self.user_ns), ("Python builtin", vars(builtins))]

    @contextmanager
    def paused_names_first(self) -> Iterator[None]:
        """Search first the names of Evaluate's scope at the pause, if a run is paused."""
        scope = _paused_scope()
        if scope is None:
            yield
            return
        with _one_query, self.completed_among(scope, self.user_ns):
            try:
                self._scope = scope
                yield
            finally:
                self._scope = None


def _paused_scope() -> dict[str, object] | None:
    """Return the names at the innermost pause, without importing the engine if nothing can be paused."""
    showing = sys.modules.get("hookscope.engine.debug.stop.display")
    point = None if showing is None else showing.displayed_point()
    return None if point is None else {**point.names, **point.locals}
