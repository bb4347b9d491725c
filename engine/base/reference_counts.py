"""Calibration of reference counts: from which count on an array has another holder.

An array is modified in place if its count shows no other holder. How much the intended holders contribute depends on
the interpreter: since CPython 3.14 a local variable that is passed to a function is borrowed, and its reference on
the stack is not counted. Every place that compares a count therefore takes its bound from here. The bound is measured
at import by the comparing code itself, and is used if it equals the known bound of this version. Otherwise it is NEVER,
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
"""True if the count excludes references on the stack to local variables."""
NEVER = 0
"""The bound below every count."""
_MOST = 8


def calibrated(allows: Callable[[int, list[Any]], bool], expected: int, size: int = 1) -> int:
    """Return the largest count of an array without other holders.

    Args:
        allows: whether the comparing code would overwrite the array that is the only entry of a list, with this
            bound. It removes the array from the list.
        expected: the known bound for this version of Python.
        size: number of elements of the test arrays.

    Returns:
        `expected` if that is the least bound that permits it for an array without other holders, and does not permit it
        for one with another holder; else NEVER.
    """
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return NEVER  # another thread may take a reference after the count
    least = next((bound for bound in range(1, _MOST) if allows(bound, [np.zeros(size, np.float32)])), NEVER)
    other = np.zeros(size, np.float32)
    return expected if least == expected and not allows(least, [other]) else NEVER
