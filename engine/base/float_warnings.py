"""NumPy's warnings about division by zero, overflow and invalid values: off while an operator computes.

In a network Inf and NaN are results, and MindSpore says nothing of them; the debugger's conditions are there to find
them. So the warnings are off around each kernel and each vjp rule, and on again before any code of the user runs:
hooks, a custom ``bprop``, the lines of ``construct``.

``numpy.errstate`` does the same, and takes three times as long as an addition of two small arrays. What it sets is a
context variable, and setting that takes a fifth of the time. Away from the hot paths ``numpy.errstate`` is used.
Where the state lives is NumPy's own affair (2.0 to 2.5 agree); a NumPy that has it elsewhere gets ``numpy.seterr``.
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
"""Switch the warnings off in this thread; returns what ``restore`` wants."""
restore: Callable[[Any], object] = _restore
"""Go back to what was before the call of ``silence`` that returned the argument."""


def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    before = silence()
    try:
        return function(*args)
    finally:
        restore(before)


quietly: Callable[..., Any] = _quietly
"""Call a NumPy function with the warnings off: cheaper than the pair, and a RuntimeError while another call is on."""

_context = contextvars.Context()
_context.run(np.seterr, all="ignore")
if len(_context) == 1:
    ((_error_state, _ignoring),) = _context.items()
    silence, restore = functools.partial(_error_state.set, _ignoring), _error_state.reset
    quietly = _context.run
