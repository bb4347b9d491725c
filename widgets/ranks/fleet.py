"""What the panel needs of the ranks that it looks at; `hookscope.kernel.remote.fleet` has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from hookscope.engine.debug.compare.ranks import RankFinding


class Connection(Protocol):
    """The connection to one rank."""

    @property
    def gone(self) -> str:
        """Why the rank is not there any more, in one clause; "" while it is."""


class Looked(Protocol):
    """One rank."""

    @property
    def rank(self) -> int:
        """Its number."""

    @property
    def remote(self) -> Connection:
        """The connection to it."""


class Fleet(Protocol):
    """All of them."""

    @property
    def ranks(self) -> Mapping[int, Looked]:
        """Those that there are or were, by number."""

    @property
    def living(self) -> Sequence[Looked]:
        """Those that have not ended."""

    def observe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call when a rank pauses, goes on or ends, in some thread."""

    def ask(self, kind: str, /, ranks: Iterable[int] | None = None, **fields: Any) -> Mapping[int, Future[Any]]:
        """Send a request to these ranks."""

    def findings(self) -> Sequence[RankFinding]:
        """What differs between them, oldest first."""

    def resume(self, command: str = "continue", ranks: Iterable[int] | None = None) -> None:
        """Let those go on that are paused."""

    def abort(self) -> None:
        """End what runs on all ranks."""

    def interrupt(self) -> None:
        """Interrupt what runs on all ranks."""
