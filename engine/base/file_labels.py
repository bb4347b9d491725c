"""What messages call the files of the user's code: a notebook's cell is compiled as a file, too."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable

from .code_origin import user_frame

__all__ = ["file_label", "place_of", "set_file_labels", "shown_name", "warn_user"]

_label: Callable[[str], str | None] | None = None


def set_file_labels(label: Callable[[str], str | None] | None) -> None:
    """Set what knows a better name for some files than their own."""
    global _label
    _label = label


def file_label(filename: str) -> str:
    """A file of the user's as messages name it."""
    return _better(filename) or os.path.basename(filename)


def shown_name(filename: str) -> str:
    """A file of the user's as warnings name it: ``Cell In[3]`` or ``/path/to/file.py``."""
    return _better(filename) or filename


def place_of(where: str) -> str:
    """A line of the user's, ``file:line``, as messages name it: ``Cell In[3], line 4`` or ``/path/to/file.py:4``."""
    filename, _, line = where.rpartition(":")
    better = _better(filename)
    return f"{better}, line {line}" if better else where


def warn_user(message: str) -> None:
    """Warn at the user's line, however deep in the engine this is called.

    Args:
        message: what is told.
    """
    frame = user_frame() or sys._getframe()
    names, file = frame.f_globals, frame.f_code.co_filename
    # By ``warn`` a cell of a notebook would be named as the file that it is compiled as.
    warnings.warn_explicit(
        message,
        UserWarning,
        shown_name(file),
        frame.f_lineno,
        module=names.get("__name__", file),
        registry=names.setdefault("__warningregistry__", {}),
    )


def _better(filename: str) -> str | None:
    found = _label and _label(filename)
    # Where nobody knows the cell's number its file, which is not there, would tell nothing.
    return found or ("a cell" if f"{os.sep}ipykernel_" in filename else None)
