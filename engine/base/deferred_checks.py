"""Deferred checks of values on a GPU, made when the host reads values from it.

An immediate check would synchronize with the GPU. So a check keeps its arrays until then; its error names the line of
the original call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .file_labels import line_label

__all__ = ["defer_check", "pending_checks", "run_deferred_checks"]

_OURS = str(Path(__file__).parents[1])
_MOST = 256
"""Maximum of waiting checks; at more they are made, and the host waits."""
pending_checks: list[tuple[Callable[..., None], tuple[Any, ...], dict[str, Any], str]] = []
"""Functions to call, with their arguments, and the user's line of each."""


def defer_check(function: Callable[..., None], *arrays: Any, **attrs: Any) -> None:
    """Call ``function`` with the arrays' values at the next read of values.

    Args:
        function: raises a TypeError, ValueError, IndexError or RuntimeError on invalid values.
        *arrays: arrays on a GPU.
        **attrs: further arguments.
    """
    if len(pending_checks) >= _MOST:
        run_deferred_checks()
    pending_checks.append((function, arrays, attrs, _line()))


def run_deferred_checks() -> None:
    """Make the waiting checks; none waits any longer, even if one raises.

    Raises:
        TypeError, ValueError, IndexError, RuntimeError: the error of the first check that fails.
    """
    pending = pending_checks.copy()
    pending_checks.clear()
    for function, arrays, attrs, line in pending:
        try:
            function(*[x.get() if hasattr(x, "get") else x for x in arrays], **attrs)
        except (TypeError, ValueError, IndexError, RuntimeError) as error:
            message = f"{error}; on a GPU this is seen when numbers are read: the call was at {line}"
            raise type(error)(message) from None


def _line() -> str:
    frame: Any = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return line_label(f"{frame.f_code.co_filename}:{frame.f_lineno}")
