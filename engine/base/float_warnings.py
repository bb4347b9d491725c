"""NumPy's warnings about division by zero, overflow and invalid values: off while an operator computes.

In a network Inf and NaN are results, and MindSpore does not warn about them; the debugger's conditions find them. So
the warnings are off around each kernel and each vjp rule, and on again before any user code runs: hooks, a custom
``bprop``, the lines of ``construct``.

``numpy.errstate`` does the same, and takes three times as long as an addition of two small arrays. It sets a context
variable, and setting that alone takes a fifth of the time. Away from the hot paths ``numpy.errstate`` is used. The
location of this state is internal to NumPy (the same in 2.0 to 2.5); for a NumPy with a different one ``numpy.seterr``
is used.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["quietly", "restore", "silence"]


def _restore(before: Any) -> None:
    np.seterr(**before)


silence: Callable[[], Any] = functools.partial(np.seterr, all="ignore")
"""Switch the warnings off in this thread; return the argument for ``restore``."""
restore: Callable[[Any], object] = _restore
"""Restore the state before the call of ``silence`` that returned the argument."""


def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    previous = silence()
    try:
        return function(*args)
    finally:
        restore(previous)


quietly: Callable[..., Any] = _quietly
"""Call a NumPy function with the warnings off: cheaper than the pair; a RuntimeError during another such call."""

_context = contextvars.Context()
_context.run(np.seterr, all="ignore")
if len(_context) == 1:
    ((_error_state, _ignoring),) = _context.items()
    silence, restore = functools.partial(_error_state.set, _ignoring), _error_state.reset
    quietly = _context.run
