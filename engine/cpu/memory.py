"""Setting of the allocator: freed memory stays with the process instead of being returned page by page.

A training step frees and allocates the same sizes repeatedly. glibc returns large blocks at once, and each page that
is allocated again costs a fault: 900 faults and a quarter of the time of a LeNet-5 step. So up to half a gigabyte of
freed memory stays with the process. No import sets this, but the first use of a compiled kernel (``compiling``), which
means that large arrays are computed. ``HOOKSCOPE_KEEP_MEMORY=0`` leaves the allocator unchanged.
"""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["keep_freed_memory"]

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_LARGEST_KEPT = 256 << 20
_MOST_KEPT = 512 << 20


def keep_freed_memory() -> bool:
    """Configure the process's allocator if it is glibc's; return whether that was done."""
    if sys.platform != "linux" or os.environ.get("HOOKSCOPE_KEEP_MEMORY") == "0":
        return False
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # the process does not expose its libraries
        return False
    if not hasattr(library, "mallopt"):  # musl has none
        return False
    return bool(library.mallopt(_M_MMAP_THRESHOLD, _LARGEST_KEPT) and library.mallopt(_M_TRIM_THRESHOLD, _MOST_KEPT))
