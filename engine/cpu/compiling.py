"""Compiling kernels with Numba on first use, and keeping the machine code on disk.

The kernels are in ``compiled``, one file for each subject, which is loaded whole when something first needs it:
``kernels("convolution")``. Importing this does not import Numba; loading the first file does.

Which kernel computes something is decided by shapes and dtypes alone (``is_worth``), never by what is compiled by now,
so that equal programs give equal bits in every process. ``HOOKSCOPE_NUMBA=0`` leaves everything to NumPy, to compare;
products of matrices are then BLAS's, whose sums depend on how many threads it has.

Machine code is kept in the user's cache folder, as trusted as compiled Python files, and not beside the sources, where
an uninstallation would leave it; where there is no such folder, each process compiles anew. Numba does not see when a
file changes that a kernel's file imports, so the names of the folders have a digest of both. What several files of
kernels are written with stands in ``_SHARED``; they import nothing else of each other. The digest has the processor and
Numba's version, too: of two that write at once, Numba may else give one the machine code of the other. What cannot be
read there, as after a crash of the machine, is made anew; what cannot be written, as on a full disk, is this process's.
"""

from __future__ import annotations

import contextlib
import ctypes
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


_word_at, _HEADER = ctypes.c_size_t.from_address, object.__basicsize__
_probe = np.zeros(1)
# NumPy's description of an array takes seven times as long as to read the one word, which is the first after the header
# of any object (``PyArrayObject_fields`` of its C interface); a step of a small network asks a hundred times.
_is_first = _word_at(id(_probe) + _HEADER).value == _probe.__array_interface__["data"][0]


def address(x: Array) -> int:
    """Where the elements of ``x`` begin.

    Raises:
        TypeError: ``x`` is no array; the elements of NumPy's scalars would have no place that lasts.
    """
    if not isinstance(x, np.ndarray):
        raise TypeError(f"x must be a numpy.ndarray, got {type(x).__name__}")
    found: int = _word_at(id(x) + _HEADER).value if _is_first else x.__array_interface__["data"][0]
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
    """Say that something was compiled, and where it is kept; nothing where HOOKSCOPE_COMPILE_NOTICE is 0."""
    if os.environ.get("HOOKSCOPE_COMPILE_NOTICE") == "0":
        return
    folder = _parent_folder()
    kept = f"kept in {folder}" if folder else "for this process: there is no folder to keep it in"
    kept = f"for this process: {_not_kept[-1]}" if _not_kept else kept
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
    from llvmlite import binding
    from numba import __version__

    parent = _parent_folder()
    if parent is None:
        return None
    processor = (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    found = hashlib.sha256(repr((__version__, *processor)).encode())
    for part in (*[Path(__file__).parent / "compiled" / name for name in _SHARED], Path(path)):
        found.update(part.read_bytes())
    return str(Path(parent, found.hexdigest()[:16]))


_not_kept: list[str] = []
"""Why machine code could not be kept."""


def on_disk(signature: Any, *, keep: bool = True) -> Any:
    """The decorator that compiles a function for one signature, or finds its machine code on disk.

    Without ``keep`` it does the first alone: what a function finds around itself is not in the name on disk.
    """
    import numba

    settings: Any = numba.config

    def compiled(function: Any) -> Any:
        folder = cache_folder(function.__code__.co_filename) if keep else None
        compile_ = functools.partial(numba.njit, signature, nogil=True, error_model="numpy")
        if folder is None:
            return compile_()(function)
        before, failed = (settings.CACHE_DIR, getattr(settings, "CACHE_LOCATOR_CLASSES", "")), ""
        # Numba asks for the folder once, here, and has no argument for it; where it cannot write there, it would go on
        # to the folder of the sources.
        settings.CACHE_DIR, settings.CACHE_LOCATOR_CLASSES = folder, "UserProvidedCacheLocator"
        try:
            for _ in range(2):
                try:
                    return compile_(cache=True)(function)
                except Exception as error:  # any may come of reading a damaged file
                    failed = f"{folder}: {error}"
                    with contextlib.suppress(OSError):
                        for path in Path(folder).rglob(f"*.{function.__name__}-*"):
                            path.unlink()
                    if isinstance(error, OSError):
                        break
        finally:
            settings.CACHE_DIR, settings.CACHE_LOCATOR_CLASSES = before
        _not_kept.append(failed)
        return compile_()(function)

    return compiled
