"""Handles of collectives that run in the background, returned for ``async_op=True``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...distributed.worker import Pending

__all__ = ["CommHandle"]


class CommHandle:
    """A pending exchange. Its result is in the tensor only after ``wait`` has returned.

    Args:
        pending: the exchange; None for a finished one.
        then: called once by ``wait`` with the result of the exchange.
    """

    def __init__(self, pending: Pending | None = None, then: Callable[[Any], None] | None = None) -> None:
        self._pending, self._then = pending, then

    def wait(self) -> None:
        """Wait until it has ended.

        Raises:
            RuntimeError: the ranks' calls differ.
        """
        pending, callback, self._pending, self._then = self._pending, self._then, None, None
        if pending is not None:
            result = pending.wait()
            if callback is not None:
                callback(result)

    def is_completed(self) -> bool:
        """Return whether ``wait`` would return immediately."""
        return self._pending is None or self._pending.is_done()

    def __repr__(self) -> str:
        return f"CommHandle({'ended' if self._pending is None else self._pending.what})"
