"""Output of the ranks in labeled lines, each with the text of a single rank.

A rank's line is written when it is complete. On a terminal, rank 0, the only one that can read the keyboard, also shows
incomplete lines, such as a prompt or a progress bar. If carriage returns have overwritten a line, its last state is
shown.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import time
from collections.abc import Callable
from typing import BinaryIO

__all__ = ["Screen", "Stream", "last_state"]

_PIECE = select.PIPE_BUF  # bytes that a ready pipe accepts without blocking
_LONGEST = 16 << 20  # bytes of a line; a longer one is cut, since it would have to be buffered
_PARTIAL_EVERY = 0.1  # s between two updates of an incomplete line on a terminal


def last_state(line: bytes) -> bytes:
    """Return the visible state of a line, as UTF-8: after carriage returns, the last text that is not blank."""
    if b"\r" in line:
        line = next((part for part in reversed(line.split(b"\r")) if part.strip()), b"")
    return line.decode("utf-8", "replace").encode("utf-8")


class Screen:
    """Standard output and standard error of the launcher.

    Args:
        wait: called with a descriptor before a write; returns when it is ready, or False to stop writing.
    """

    def __init__(self, wait: Callable[[int], bool]) -> None:
        self._wait = wait
        self._open: tuple[Stream, bytes] | None = None  # the terminal's incomplete line: stream and text
        self.broken: set[int] = set()  # descriptors whose reader is gone

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all data, unless the reader is gone."""
        remaining = memoryview(data)
        while remaining and descriptor not in self.broken:
            if not self._wait(descriptor):
                self.broken.add(descriptor)
                return
            try:
                remaining = remaining[os.write(descriptor, remaining[:_PIECE]) :]
            except BlockingIOError:  # set by a process that shares the descriptor
                time.sleep(0.01)
            except OSError as error:
                if error.errno == errno.EBADF:  # the launcher was started without it
                    return
                self.broken.add(descriptor)

    def lines(self, stream: Stream, lines: list[bytes]) -> None:
        """Show complete lines."""
        texts = [stream.label + last_state(line) + b"\n" for line in lines]
        self.write(stream.descriptor, self._on_a_new_line(stream, texts[0]) + b"".join(texts[1:]))
        self._open = None

    def partial(self, stream: Stream, line: bytes) -> None:
        """Show an incomplete line on a terminal."""
        text = stream.label + last_state(line)
        self.write(stream.descriptor, self._on_a_new_line(stream, text))
        self._open = stream, text

    def _on_a_new_line(self, stream: Stream, text: bytes) -> bytes:
        if self._open is None:
            return text
        owner, prefix = self._open
        if owner is not stream:
            return b"\n" + text
        return text[len(prefix) :] if text.startswith(prefix) else b"\r\x1b[K" + text


class Stream:
    """One of the two streams of a rank.

    Args:
        screen: shows the lines.
        descriptor: 1 or 2, the launcher's descriptor.
        label: the prefix of each line.
        visible: whether it is shown at all.
        log: a file that receives the bytes unchanged.
        live: whether incomplete lines are shown, on a terminal.
    """

    def __init__(
        self,
        screen: Screen,
        descriptor: int,
        label: bytes,
        *,
        visible: bool = True,
        log: BinaryIO | None = None,
        live: bool = False,
    ) -> None:
        self.descriptor, self.label = descriptor, label
        self._screen, self._is_visible, self._log, self._live = screen, visible, log, live
        self._pieces: list[bytes] = []  # of the incomplete line
        self._size = 0
        self._has_news = False  # since the incomplete line was last shown
        self._display_time = 0.0

    def feed(self, data: bytes) -> None:
        """Process output of the rank."""
        if self._log is not None:
            with contextlib.suppress(OSError):  # a full disk does not end the run
                self._log.write(data)
        if not self._is_visible:
            return
        *complete, rest = data.split(b"\n")
        if complete:
            complete[0] = b"".join((*self._pieces, complete[0]))
            self._pieces, self._size = [], 0
            self._screen.lines(self, complete)
        if rest:
            self._pieces.append(rest)
            self._size += len(rest)
        self._has_news = bool(self._pieces)
        if self._size > _LONGEST:
            self.close()

    def close(self) -> None:
        """Show the rest of an incomplete line."""
        if self._pieces:
            line = b"".join(self._pieces)
            self._pieces, self._size, self._has_news = [], 0, False
            self._screen.lines(self, [line])

    def look(self, now: float) -> float | None:
        """Show the incomplete line on a terminal if it is due; return the seconds until then, else None."""
        if not (self._live and self._has_news):
            return None
        if (remaining := self._display_time + _PARTIAL_EVERY - now) > 0:
            return remaining
        self._has_news, self._display_time = False, now
        self._screen.partial(self, b"".join(self._pieces))
        return None
