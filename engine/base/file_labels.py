"""Names of the user's files in messages: a notebook cell is compiled as a file, too."""

from __future__ import annotations

import linecache
import os
import sys
import warnings
from collections.abc import Callable

from .code_origin import user_frame

__all__ = ["file_label", "file_label_or_path", "line_label", "line_text", "set_file_labels", "warn_user"]

_label: Callable[[str], str | None] | None = None


def set_file_labels(label: Callable[[str], str | None] | None) -> None:
    """Set the function that returns better names of some files."""
    global _label
    _label = label


def file_label(filename: str) -> str:
    """Return the name of a user's file for messages."""
    return _label_of(filename) or os.path.basename(filename)


def file_label_or_path(filename: str) -> str:
    """Return the name of a user's file for warnings: ``Cell In[3]`` or ``/path/to/file.py``."""
    return _label_of(filename) or filename


def line_label(location: str) -> str:
    """Return the text of a user's line, ``file:line``: ``Cell In[3], line 4`` or ``/path/to/file.py:4``."""
    filename, _, line = location.rpartition(":")
    label = _label_of(filename)
    return f"{label}, line {line}" if label else location


def line_text(filename: str, number: int) -> str:
    """Return the number of a user's line with its source: ``Cell In[3], line 4: y = x + 1``."""
    source = linecache.getline(filename, number).strip()
    return f"{file_label(filename)}, line {number}{': ' if source else ''}{source}"


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
        file_label_or_path(file),
        frame.f_lineno,
        module=names.get("__name__", file),
        registry=names.setdefault("__warningregistry__", {}),
    )


def _label_of(filename: str) -> str | None:
    label = _label and _label(filename)
    # If the cell's number is unknown, the name of its nonexistent file would not help.
    return label or ("a cell" if f"{os.sep}ipykernel_" in filename else None)
