"""``hookscope run --serve script.py``: a script at which notebooks can look while it runs; it runs on without them."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hookscope.engine.debug.remote import RemotePauser, Served
from hookscope.engine.ranks.world import launched

from .comms import serve_comms
from .sessions import SessionRequests

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

__all__ = ["serving"]


@contextmanager
def serving(session: DebugSession, script: str, run: str) -> Iterator[None]:
    """Serve a session while the block runs.

    Args:
        session: watches the script's networks; at its pauses those answer who look.
        script: its path.
        run: the same text for all ranks that were started together; "" makes one.

    Raises:
        OSError: this process cannot listen, or the folder of cards is open to others.
    """
    rank, ranks = launched()
    # Those that one mpiexec has started on this machine have one parent.
    run = run or (f"{socket.gethostname()}-{os.getppid()}" if ranks > 1 else "")
    served = Served(script, rank, ranks, run)
    serve_comms(served)
    requests = SessionRequests(served, lambda: session, lambda: sys.modules["__main__"].__dict__, lambda: True)
    served.on("interrupt", _interrupt, at_once=True)
    session.pauser = RemotePauser(served)
    requests.record(session)
    served.answer_at_safe_points()
    served.open()
    print(f"hookscope: process {os.getpid()} is served: %cell --attach in a notebook shows it", file=sys.stderr)
    try:
        yield
    finally:
        requests.end_recording()
        if served.clients:
            served.tell({"type": "forms", "forms": requests.forms()})
        served.close()


def _interrupt(client: bytes, message: dict[str, Any], buffers: list[memoryview]) -> None:
    os.kill(os.getpid(), signal.SIGINT)
