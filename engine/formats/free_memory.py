"""Available memory, so that a larger file is rejected before the system ends the process."""

from __future__ import annotations

import sys

__all__ = ["free_memory"]


# Of the container, if there is one: version 2, version 1.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def free_memory() -> int:
    """Return the bytes available for another allocation; the largest int if the system does not report them."""
    return min(_left_in_machine(), *map(_limit, _LIMITS))


def _left_in_machine() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            rows = dict(line.split(":", 1) for line in file)
        return sum(int(rows[name].split()[0]) * 1024 for name in ("MemAvailable", "SwapFree"))
    except (OSError, KeyError, ValueError):
        return sys.maxsize


def _limit(path: str) -> int:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return sys.maxsize  # no container, or "max"
