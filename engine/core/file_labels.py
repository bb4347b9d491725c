"""What messages call the files of the user's code: a notebook's cell is compiled as a file, too."""

from __future__ import annotations

import os
from collections.abc import Callable

__all__ = ["file_label", "place_of", "set_file_labels", "shown_name"]

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


def _better(filename: str) -> str | None:
    found = _label and _label(filename)
    # Where nobody knows the cell's number its file, which is not there, would tell nothing.
    return found or ("a cell" if f"{os.sep}ipykernel_" in filename else None)
