"""Server of this process for notebooks, for a script, an IPython shell or an ipyparallel engine."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hookscope.engine.cpu.notices import tell
from hookscope.engine.debug.remote import RequestService, cards
from hookscope.engine.debug.remote.addresses import only_on_its_machine, tcp_address
from hookscope.engine.distributed.world import launcher_rank

from .comms import serve_comms
from .sessions import SessionRequests

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

__all__ = ["ServedProcess"]

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class ServedProcess:
    """Server from ``open`` until ``close``.

    Args:
        what: a description of the program.
        session: returns the served session; None if there is none.
        names: returns the namespace of expressions while nothing is paused.
        runs: returns whether the user's code runs.
        run: the same text for all ranks that were started together; "" generates one.
        address: ``tcp://HOST:PORT``; None accepts only this user's processes on this machine.

    Attributes:
        served: the server.
        requests: the handlers of requests about the session.

    Raises:
        ValueError: ``run`` is not a valid name, another process has it, or the address is invalid.
        OSError: this process cannot listen, or the folder of cards is accessible to other users.
    """

    def __init__(
        self,
        what: str,
        session: Callable[[], DebugSession | None],
        names: Callable[[], dict[str, Any]],
        runs: Callable[[], bool],
        run: str = "",
        address: str | None = None,
    ) -> None:
        rank, ranks = launcher_rank()
        if not isinstance(run, str) or (run and not _NAME.fullmatch(run)):
            raise ValueError(f"run must be up to 64 letters, digits and _.- and begin with none of .-, got {run!r}")
        endpoint = None if address is None else tcp_address(address)
        # Processes started by one mpiexec on this machine have the same parent.
        run = run or (f"{socket.gethostname()}-{os.getppid()}" if ranks > 1 else "")
        for card in cards():
            if (card.run, card.rank, card.host) == (run, rank, socket.gethostname()):
                raise ValueError(f"process {card.pid} is rank {rank} of run {run!r} already: choose a different name")
        self._process = os.getpid()
        self.served = RequestService(what, rank, ranks, run, address=endpoint)
        serve_comms(self.served)
        self.requests = SessionRequests(self.served, session, names, runs)
        self.served.answer_at_safe_points()

    def open(self) -> None:
        """Make this process available, and print a notice."""
        self.served.open()
        card = self.served.card
        rank = f"rank {card.rank} of {card.ranks}, " if card.ranks > 1 else ""
        tell(f"hookscope: process {card.pid} is served ({rank}run {card.run}): %cell --attach in a notebook shows it")
        if not only_on_its_machine(card.address):
            tell(f"hookscope: anyone with its card can connect to {card.address}")

    def tell_forms(self) -> None:
        """Send connected clients the session's forms for a saved notebook."""
        if self.served.clients and self.served.card.ranks == 1:
            self.served.tell({"type": "forms", "forms": self.requests.forms()})

    def close(self) -> None:
        """Stop serving; in a process forked from this one, do nothing."""
        if os.getpid() == self._process:
            self.served.close()
