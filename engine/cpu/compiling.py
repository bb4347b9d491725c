"""Compiling kernels with Numba on first use, and keeping the machine code on disk.

The kernels are in ``compiled``, one file for each subject, which is loaded whole when something first needs it:
``kernels("convolution")``. Importing this does not import Numba; loading the first file does.

Which kernel computes something is decided by shapes and dtypes alone (``is_worth``), never by what is compiled by now,
so that equal programs give equal bits in every process. ``HOOKSCOPE_NUMBA=0`` leaves everything to NumPy, to compare.

Machine code is kept in the user's cache folder, as trusted as compiled Python files, and not beside the sources, where
an uninstallation would leave it; where there is no such folder, each process compiles anew. Numba does not see when a
file changes that a kernel's file imports, so the names of the folders have a digest of both. What several files of
kernels are written with stands in ``_SHARED``; they import nothing else of each other.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .array_module import Array
from .interrupts import uninterrupted

__all__ = ["address", "announce", "cache_folder", "is_on", "is_worth", "kernels", "on_disk", "ready"]

_SINGLE = np.dtype(np.float32)
_LEAST = 1 << 14
"""Elements from which on a compiled loop is worth its call: NumPy takes some microseconds for fewer."""

_loading = threading.RLock()


@functools.cache
def is_on() -> bool:
    """Whether anything is compiled in this process."""
    return os.environ.get("HOOKSCOPE_NUMBA") != "0" and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def is_worth(x: Array, least: int = _LEAST) -> bool:
    """Whether a compiled kernel computes with ``x``: float32 on the CPU, and ``least`` elements or more."""
    return x.size >= least and x.dtype is _SINGLE and type(x) is np.ndarray and is_on()


def ready(x: Array) -> Array:
    """``x`` as the kernels take it, in one piece and aligned; the same object if it is so."""
    flags = x.flags
    return x if flags.c_contiguous and flags.aligned else np.array(x, order="C")


def address(x: Array) -> int:
    """Where the elements of ``x`` begin."""
    found: int = x.__array_interface__["data"][0]
    return found


@functools.cache
def kernels(name: str) -> ModuleType:
    """The file ``compiled/<name>.py``, ready to run; says in one line what it had to compile."""
    # The lock because two threads may come at once; an interrupt, because Numba, half imported, could not be imported
    # again in this process.
    with _loading, uninterrupted():
        from numba.core import event

        began = time.perf_counter()
        collecting = gc.isenabled()
        gc.disable()  # what a compiler makes is many objects, and little of it garbage
        try:
            with event.install_recorder("numba:compile") as recorder:
                module = import_module(f"{__package__}.compiled.{name}")
        finally:
            if collecting:
                gc.enable()
        if recorder.buffer:
            announce(name.replace("_", " "), time.perf_counter() - began)
        return module


def announce(what: str, seconds: float) -> None:
    """Say that something was compiled, and where it is kept."""
    folder = _parent_folder()
    kept = f"kept in {folder}" if folder else "for this process: there is no folder to keep it in"
    print(f"Hookscope compiled {what} for this CPU in {seconds:.1f} s ({kept})", file=sys.stderr, flush=True)


@functools.cache
def _parent_folder() -> str | None:
    """$NUMBA_CACHE_DIR, or a place in the user's cache folder; None where neither can be written."""
    try:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = Path(os.environ.get("NUMBA_CACHE_DIR") or user / "hookscope" / "numba")
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


_SHARED = ("blas.py", "loops.py", "philox.py", "sharing.py", "spans.py")


@functools.cache
def cache_folder(path: str) -> str | None:
    """Where the machine code of a file of kernels is kept; None where it cannot be."""
    parent, found = _parent_folder(), hashlib.sha256()
    if parent is None:
        return None
    for part in (*[Path(__file__).parent / "compiled" / name for name in _SHARED], Path(path)):
        found.update(part.read_bytes())
    folder = Path(parent, found.hexdigest()[:16])
    folder.mkdir(exist_ok=True)
    return str(folder)


def on_disk(signature: Any, *, keep: bool = True) -> Any:
    """The decorator that compiles a function for one signature, or finds its machine code on disk.

    Without ``keep`` it does the first alone: what a function finds around itself is not in the name on disk.
    """
    import numba

    settings: Any = numba.config

    def compiled(function: Any) -> Any:
        folder, before = cache_folder(function.__code__.co_filename) if keep else None, settings.CACHE_DIR
        # Numba asks for the folder once, here, and has no argument for it.
        settings.CACHE_DIR = folder or before
        try:
            return numba.njit(signature, nogil=True, error_model="numpy", cache=folder is not None)(function)
        finally:
            settings.CACHE_DIR = before

    return compiled
