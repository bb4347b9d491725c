"""``mindspore.device_context.cpu``: the CPU, which is always available; NumPy chooses its number of threads."""

from __future__ import annotations

import sys
import warnings

from ...base.argument_checks import check_positive_int
from ..runtime import settings

__all__ = ["device_count", "is_available", "threads_num"]

device = op_tuning = sys.modules[__name__]  # MindSpore has two modules; this one serves as both


def is_available() -> bool:
    """Return whether operators run on the CPU: True."""
    return True


def device_count() -> int:
    """Return the number of CPUs, for MindSpore: 1."""
    return 1


def threads_num(num: int) -> None:
    """Store the number of threads of a kernel; a warning says that it has no effect.

    NumPy's library of matrix products reads ``OPENBLAS_NUM_THREADS`` (or ``OMP_NUM_THREADS``) when Python starts.

    Args:
        num: the number, a positive int; it can be set once.

    Raises:
        TypeError: not an int.
        ValueError: 0 or less.
        RuntimeError: it was set earlier.
    """
    if "cpu_threads_num" in settings:
        raise RuntimeError("For 'threads_num', the number can be set once, and it was set before")
    settings["cpu_threads_num"] = check_positive_int(num, "threads_num", "num")
    warnings.warn(
        "'device_context.cpu.threads_num' has no effect here: NumPy's threads are counted when Python starts; set the "
        "environment variable OPENBLAS_NUM_THREADS before",
        stacklevel=2,
    )
