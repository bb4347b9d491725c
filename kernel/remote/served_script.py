"""``hookscope run --serve script.py``: a script that notebooks can attach to; it runs on without them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hookscope.engine.debug.remote import RemotePauser

from .served_process import ServedProcess

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

__all__ = ["serving"]


@contextmanager
def serving(session: DebugSession, script: str, run: str, address: str | None = None) -> Iterator[None]:
    """Serve a session inside the context.

    Args:
        session: the session over the script's networks; its pauses wait for attached notebooks.
        script: the script's path.
        run, address: see ``ServedProcess``.

    Raises:
        ValueError, OSError: see ``ServedProcess``.
    """
    process = ServedProcess(
        script, lambda: session, lambda: sys.modules["__main__"].__dict__, lambda: True, run, address
    )
    session.pauser = RemotePauser(process.served)
    process.requests.record(session)
    process.open()
    try:
        yield
    finally:
        process.requests.end_recording()
        process.tell_forms()
        process.close()
