"""When a live view may be redrawn.

While a cell trains, no event loop turns: the only moment to update a panel is inside the session's own
events, on the user's time. A throttle lets an update pass at most `rate` times a second, and never so
often that updates take more than `share` of the elapsed time, however large the network is. What an update costs
elsewhere on the same machine, in the server and in the page, is `beyond`, in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Throttle:
    """Says when the next update is due, from the clock and from what the last one cost."""

    def __init__(
        self, clock: Callable[[], float], rate: float = 25.0, share: float = 0.05, beyond: float = 0.0
    ) -> None:
        self._clock = clock
        self._interval = 1.0 / rate
        self._rest = (1.0 - share) / share
        self._beyond = beyond
        self._due = float("-inf")

    def due(self) -> bool:
        return self._clock() >= self._due

    def wait(self, seconds: float) -> None:
        """Let no update pass for so long."""
        self._due = max(self._due, self._clock() + seconds)

    @contextmanager
    def spend(self) -> Iterator[None]:
        """Time one update, and push the next one back accordingly."""
        start = self._clock()
        try:
            yield
        finally:
            end = self._clock()
            self._due = max(start + self._interval, end + (end - start + self._beyond) * self._rest)
