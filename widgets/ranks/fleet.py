"""Protocols of the ranks that the panel needs; `hookscope.kernel.remote.fleet` implements them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from hookscope.engine.debug.compare.ranks import RankFinding


class Connection(Protocol):
    """The connection to one rank."""

    @property
    def gone(self) -> str:
        """The reason why the rank is gone, in one clause; "" while it is connected."""


class Member(Protocol):
    """One rank."""

    @property
    def rank(self) -> int:
        """The rank's number."""

    @property
    def remote(self) -> Connection:
        """The connection to the rank."""


class Fleet(Protocol):
    """All ranks of a session."""

    @property
    def ranks(self) -> Mapping[int, Member]:
        """Present and past ranks, by number."""

    @property
    def living(self) -> Sequence[Member]:
        """Ranks that have not ended."""

    def observe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` when a rank pauses, resumes or ends, in an arbitrary thread."""

    def ask(self, kind: str, /, ranks: Iterable[int] | None = None, **fields: Any) -> Mapping[int, Future[Any]]:
        """Send a request to these ranks; None is all of them."""

    def findings(self) -> Sequence[RankFinding]:
        """Return the differences between the ranks, oldest first."""

    def resume(self, command: str = "continue", ranks: Iterable[int] | None = None) -> None:
        """Resume the paused ranks."""

    def abort(self) -> None:
        """Abort the running code on all ranks."""

    def interrupt(self) -> None:
        """Interrupt the running code on all ranks."""
