"""Throttle for redrawing live views.

While a cell trains, no event loop runs: a panel can only be updated inside the session's own events, on the user's
time. A throttle allows at most `rate` updates a second, and limits updates to `share` of the elapsed time, regardless
of the network's size. `page_seconds` is the cost of an update in the server and in the page, on the same machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Throttle:
    """Schedule of the next update, from the clock and the cost of the last one."""

    def __init__(
        self, clock: Callable[[], float], rate: float = 25.0, share: float = 0.05, page_seconds: float = 0.0
    ) -> None:
        self._clock = clock
        self._interval = 1.0 / rate
        self._rest = (1.0 - share) / share
        self._page_seconds = page_seconds
        self._due = float("-inf")

    def due(self) -> bool:
        return self._clock() >= self._due

    def wait(self, seconds: float) -> None:
        """Allow no update for this many seconds."""
        self._due = max(self._due, self._clock() + seconds)

    @contextmanager
    def spend(self) -> Iterator[None]:
        """Time one update, and postpone the next one accordingly."""
        start = self._clock()
        try:
            yield
        finally:
            end = self._clock()
            self._due = max(start + self._interval, end + (end - start + self._page_seconds) * self._rest)
