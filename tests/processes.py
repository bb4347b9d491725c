"""Questions about other processes that may end while they are asked."""

from __future__ import annotations

from pathlib import Path

__all__ = ["is_alive"]


def is_alive(pid: int) -> bool:
    """Return whether a process runs: one that has ended and waits to be reaped does not."""
    try:
        # The program's name stands in brackets and may have any character.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:  # FileNotFoundError before the file is opened, ProcessLookupError while it is read
        return False
