"""Lines for the person at the terminal, which never stop what works.

Whoever reads them may be gone, may have closed the stream, or may have stopped reading. A line that cannot be written
now is lost; nothing raises, and nothing waits for a reader.
"""

from __future__ import annotations

import contextlib
import io
import select
import sys
from typing import TextIO

__all__ = ["flush_output", "tell"]


def tell(line: str, end: str = "\n") -> None:
    """Write a line to the standard error stream if that can be done at once, from any thread.

    Args:
        line: its text.
        end: what comes behind it; nothing where the rest of the line comes later.
    """
    stream = getattr(sys, "stderr", None)  # which a program may even have deleted
    if stream is None or _is_full(stream):  # None: a process without a console
        return
    with contextlib.suppress(Exception):  # a pipe without a reader, a closed file, a stream of the user's that fails
        print(line, end=end, file=stream, flush=True)


def flush_output() -> None:
    """Write out what standard output and error hold back, as far as that can be done."""
    for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None)):
        if stream is not None:
            with contextlib.suppress(Exception):
                stream.flush()


def _is_full(stream: TextIO) -> bool:
    """Return whether a write would wait for a reader, as into a pipe that nobody empties."""
    if not isinstance(stream, io.TextIOWrapper):  # a notebook's: its descriptor is not where the text goes
        return False
    try:
        poll = select.poll()
        poll.register(stream.fileno(), select.POLLOUT)
        return not poll.poll(0)
    except Exception:  # a stream without a descriptor, a system without poll
        return False
