"""Whose code a file holds - the engine's, a library's or the user's - and which of the user's lines is running."""

from __future__ import annotations

import os
import sys
import sysconfig
import types
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["SITE", "is_engine", "is_library", "user_frame", "user_line"]

_ENGINE = str(Path(__file__).parents[1]) + os.sep
SITE = tuple([sysconfig.get_path(of) + os.sep for of in ("purelib", "platlib")])
"""Where packages are installed."""
_STANDARD = tuple([sysconfig.get_path(of) + os.sep for of in ("stdlib", "platstdlib")])
_NUMPY = str(Path(np.__file__).parent) + os.sep  # as its code names it: a folder on the way may be a link


def is_engine(file: str) -> bool:
    """Whether code of a file is the engine's."""
    return file.startswith(_ENGINE)


def is_library(file: str) -> bool:
    """Whether code of a file is Python's or NumPy's own."""
    return (file.startswith(_STANDARD) and not file.startswith(SITE)) or file.startswith((_NUMPY, "<frozen"))


def user_line() -> str:
    """Where the innermost code stands that is neither the engine's nor a library's: ``file:line``, "" where none is."""
    frame = user_frame()
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def user_frame() -> types.FrameType | None:
    """Return the innermost frame of code that is neither the engine's nor a library's."""
    frame: Any = sys._getframe(1)
    while frame is not None and (is_engine(frame.f_code.co_filename) or is_library(frame.f_code.co_filename)):
        frame = frame.f_back
    found: types.FrameType | None = frame
    return found
