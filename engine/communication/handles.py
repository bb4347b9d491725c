"""Exchanges that go on while the rank computes: what ``async_op=True`` gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..distributed.worker import Pending

__all__ = ["CommHandle"]


class CommHandle:
    """An exchange that is under way. What it gives is in the tensor when ``wait`` has returned, and not before.

    Args:
        pending: the exchange; None of one that has ended.
        then: called by ``wait`` with what the exchange gave, once.
    """

    def __init__(self, pending: Pending | None = None, then: Callable[[Any], None] | None = None) -> None:
        self._pending, self._then = pending, then

    def wait(self) -> None:
        """Wait until it has ended.

        Raises:
            RuntimeError: the ranks' calls differ.
        """
        pending, then, self._pending, self._then = self._pending, self._then, None, None
        if pending is not None:
            found = pending.wait()
            if then is not None:
                then(found)

    def is_completed(self) -> bool:
        """Return whether ``wait`` would return immediately."""
        return self._pending is None or self._pending.is_done()

    def __repr__(self) -> str:
        return f"CommHandle({'ended' if self._pending is None else self._pending.what})"
