"""Lines on the terminal, which never stop or delay the program.

The reader may have exited, closed the stream, or stopped reading. A line that cannot be written
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
    """Write a line to the standard error stream if that is possible without waiting, from any thread.

    Args:
        line: its text.
        end: the end of the line; "" if the rest follows later.
    """
    stream = getattr(sys, "stderr", None)  # a program may even have deleted it
    if stream is None or _is_full(stream):  # None: a process without a console
        return
    with contextlib.suppress(Exception):  # a pipe without a reader, a closed file, a failing stream of the user's
        print(line, end=end, file=stream, flush=True)


def flush_output() -> None:
    """Flush standard output and error, as far as possible."""
    for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None)):
        if stream is not None:
            with contextlib.suppress(Exception):
                stream.flush()


def _is_full(stream: TextIO) -> bool:
    """Return whether a write would wait for a reader, as for a pipe that is not being read."""
    if not isinstance(stream, io.TextIOWrapper):  # a notebook's: its descriptor is not the text's destination
        return False
    try:
        poll = select.poll()
        poll.register(stream.fileno(), select.POLLOUT)
        return not poll.poll(0)
    except Exception:  # a stream without a descriptor, a system without poll
        return False
