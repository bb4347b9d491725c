"""Origin of code - engine, library or user - by its file, and the user's current line."""

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
"""Folders of installed packages."""
_STANDARD = tuple([sysconfig.get_path(of) + os.sep for of in ("stdlib", "platstdlib")])
_NUMPY = str(Path(np.__file__).parent) + os.sep  # as in its code objects: a folder of the path may be a link


def is_engine(file: str) -> bool:
    """Return whether a file contains the engine's code."""
    return file.startswith(_ENGINE)


def is_library(file: str) -> bool:
    """Return whether a file contains Python's or NumPy's code."""
    return (file.startswith(_STANDARD) and not file.startswith(SITE)) or file.startswith((_NUMPY, "<frozen"))


def user_line() -> str:
    """Return the innermost line that is neither the engine's nor a library's: ``file:line``, "" if there is none."""
    frame = user_frame()
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def user_frame() -> types.FrameType | None:
    """Return the innermost frame of code that is neither the engine's nor a library's."""
    frame: Any = sys._getframe(1)
    while frame is not None and (is_engine(frame.f_code.co_filename) or is_library(frame.f_code.co_filename)):
        frame = frame.f_back
    result: types.FrameType | None = frame
    return result
