"""Checks of numbers on a GPU, made when somebody reads numbers from it anyway.

Made at once, each would wait for all that the GPU has to do. So a check keeps its arrays until then; an error names the
line of the call that it is about.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .file_labels import place_of

__all__ = ["ask", "ask_later", "waiting"]

_OURS = str(Path(__file__).parents[1])
_MOST = 256
"""So many wait at most: then they are made, and the host waits."""
waiting: list[tuple[Callable[..., None], tuple[Any, ...], dict[str, Any], str]] = []
"""What is to be called, with what, and for which line of the user's."""


def ask_later(function: Callable[..., None], *arrays: Any, **attrs: Any) -> None:
    """Call ``function`` with the arrays' numbers when some are read next.

    Args:
        function: where numbers are not allowed it raises a TypeError, ValueError, IndexError or RuntimeError.
        *arrays: of a GPU.
        **attrs: further arguments.
    """
    if len(waiting) >= _MOST:
        ask()
    waiting.append((function, arrays, attrs, _line()))


def ask() -> None:
    """Make the checks that wait; none waits any longer, also where one raises.

    Raises:
        TypeError, ValueError, IndexError, RuntimeError: the first that finds something.
    """
    asked = waiting.copy()
    waiting.clear()
    for function, arrays, attrs, place in asked:
        try:
            function(*[x.get() if hasattr(x, "get") else x for x in arrays], **attrs)
        except (TypeError, ValueError, IndexError, RuntimeError) as error:
            told = f"{error}; on a GPU this is seen when numbers are read: the call was at {place}"
            raise type(error)(told) from None


def _line() -> str:
    frame: Any = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return place_of(f"{frame.f_code.co_filename}:{frame.f_lineno}")
