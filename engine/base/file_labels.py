"""Names of the user's files in messages: a notebook cell is compiled as a file, too."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable

from .code_origin import user_frame

__all__ = ["file_label", "place_of", "set_file_labels", "shown_name", "warn_user"]

_label: Callable[[str], str | None] | None = None


def set_file_labels(label: Callable[[str], str | None] | None) -> None:
    """Set the function that returns better names of some files."""
    global _label
    _label = label


def file_label(filename: str) -> str:
    """Return the name of a user's file for messages."""
    return _better(filename) or os.path.basename(filename)


def shown_name(filename: str) -> str:
    """Return the name of a user's file for warnings: ``Cell In[3]`` or ``/path/to/file.py``."""
    return _better(filename) or filename


def place_of(where: str) -> str:
    """Return the text of a user's line, ``file:line``: ``Cell In[3], line 4`` or ``/path/to/file.py:4``."""
    filename, _, line = where.rpartition(":")
    better = _better(filename)
    return f"{better}, line {line}" if better else where


def warn_user(message: str) -> None:
    """Warn at the user's line, however deep in the engine the call is.

    Args:
        message: the text.
    """
    frame = user_frame() or sys._getframe()
    names, file = frame.f_globals, frame.f_code.co_filename
    # ``warn`` would name a notebook cell by the file that it is compiled as.
    warnings.warn_explicit(
        message,
        UserWarning,
        shown_name(file),
        frame.f_lineno,
        module=names.get("__name__", file),
        registry=names.setdefault("__warningregistry__", {}),
    )


def _better(filename: str) -> str | None:
    label = _label and _label(filename)
    # If the cell's number is unknown, the name of its nonexistent file would not help.
    return label or ("a cell" if f"{os.sep}ipykernel_" in filename else None)
