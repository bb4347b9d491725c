"""Calibration of reference counts: from which count on an array has another holder.

An array is modified in place if its count shows no other holder. How much the intended holders contribute depends on
the interpreter: since CPython 3.14 a local variable that is passed to a function is borrowed, and its reference on
the stack is not counted. Every place that compares a count therefore takes its bound from here. The bound is measured
at import by the comparing code itself, and is used if it equals what is known of this version. Otherwise it is NEVER,
and arrays are copied. A bound that is too low costs a copy. One that is too high would modify arrays that others
hold: a debugger that inspects frames during the measurement would cause it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["BORROWS", "NEVER", "calibrated"]

BORROWS = sys.version_info >= (3, 14)
"""True where the count leaves out references on the stack to local variables."""
NEVER = 0
"""The bound that no count is within."""
_MOST = 8


def calibrated(allows: Callable[[int, list[Any]], bool], expected: int, size: int = 1) -> int:
    """Return the bound by which an array is told to have no other holder.

    Args:
        allows: whether the code that compares would write over the array that is the only entry of a list, with this
            bound. It takes the array out of the list.
        expected: the bound that is known for this version of Python.
        size: elements of the arrays that it is tried with.

    Returns:
        `expected` where that is the least bound that allows it for an array held nowhere else, and does not allow it
        for one that is; else NEVER.
    """
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return NEVER  # another thread may take hold of it after it is counted
    least = next((bound for bound in range(1, _MOST) if allows(bound, [np.zeros(size, np.float32)])), NEVER)
    other = np.zeros(size, np.float32)
    return expected if least == expected and not allows(least, [other]) else NEVER
