"""Distribution of a kernel over threads: in parts that shapes determine, so that results do not depend on their number.

``share(kernel, parts, *arguments)`` runs the parts of a compiled kernel on this thread and on helpers, without the
interpreter's lock (``compiled.sharing`` is its inner half). Any number of threads may compute at once, also after a
fork: one thread at a time has the helpers; the others compute alone.

An idle helper polls for work for about a millisecond before it sleeps, longer than the gap between two kernels of a
small network. Waking it takes as long as many a kernel runs, above all on a virtual machine whose core has gone idle: a
step of an MLP after a pause took 3.6 ms when helpers slept after a tenth of a millisecond, and takes 2.7 ms now.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from .compiling import kernels

__all__ = ["number", "set_number", "share", "single_threaded_blas", "small_products"]

_MOST = 16
"""Maximum of threads: more would wait for the same memory."""
_LENGTH = 8
"""Length of the board of ``compiled.sharing``."""
_TURNS = 1_000_000
"""Number of polls of a helper before it sleeps."""

_chosen: int | None = None


def number() -> int:
    """Return the number of computing threads: ``set_number``, else OMP_NUM_THREADS, else the process's cores."""
    return _chosen or _default_number()


@functools.cache
def _default_number() -> int:
    setting = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(int(setting) if setting.isdecimal() and int(setting) > 0 else cores(), _MOST)


def cores() -> int:
    """Return the number of cores that the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_number(count: int | None) -> None:
    """Set the number of computing threads to ``count``; None restores the default."""
    global _chosen
    with _taken:
        _chosen = count
        _dismiss()


class _Helpers:
    """Helper threads, and the board with their work."""

    def __init__(self, count: int) -> None:
        self.inner = kernels("sharing")
        self.board = np.zeros(_LENGTH, np.int64)
        self.asleep = threading.Semaphore(0)
        for index in range(count):
            threading.Thread(target=self._serve, name=f"hookscope-{index + 1}", daemon=True).start()

    def _serve(self) -> None:
        while self.inner.help_out(self.board, _TURNS):
            self.asleep.acquire()

    def wake(self) -> None:
        for _ in range(self.inner.wake(self.board)):
            self.asleep.release()


_helpers: _Helpers | None = None
_taken = threading.Lock()


def _dismiss() -> None:
    global _helpers
    if _helpers is not None:
        _helpers.board[_helpers.inner.OVER] = 1
        _helpers.wake()
        _helpers = None


def _forked() -> None:
    """Reset the state after a fork: threads do not survive it, and the new process starts its own."""
    global _taken, _helpers
    _taken, _helpers = threading.Lock(), None
    single_threaded_blas._lock = threading.Lock()
    single_threaded_blas._users.update(numpy=0, scipy=0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def share(kernel: Any, parts: int, *arguments: Any) -> None:
    """Run all parts of a kernel, on several threads.

    Args:
        kernel: a kernel of a file in ``compiled``; the order of its parts must not matter.
        parts: their number: determined by shapes, never by the number of threads.
        arguments: further arguments of the kernel; arrays in the form of ``ready``.
    """
    global _helpers
    if parts > 1 and number() > 1 and _taken.acquire(blocking=False):
        try:
            if _helpers is None:
                _helpers = _Helpers(number() - 1)
            if _helpers.board[_helpers.inner.ASLEEP]:
                _helpers.wake()
            kernel(_helpers.board, parts, *arguments)
        finally:
            _taken.release()
    else:
        kernel(np.zeros(_LENGTH, np.int64), parts, *arguments)


@functools.cache
def _blas_libraries(whose: str) -> list[Any]:
    """Return the BLAS libraries of "numpy" or "scipy" whose number of threads can be set.

    All loaded ones, if it has no separate one.
    """
    import_module(f"{whose}.linalg")  # loads the library
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library for library in libraries if f"{whose}.libs" in library.filepath] or list(libraries)


@functools.cache
def _blas_counts(whose: str) -> list[tuple[Callable[[], int | None], Callable[[int], object]]]:
    """Return the getter and setter of the number of threads of each of these libraries.

    For OpenBLAS threadpoolctl supports only one calling Python thread, but any may compute here; so its own functions
    are used.
    """
    functions_found: list[tuple[Any, Any]] = []
    for library in _blas_libraries(whose):
        functions: tuple[Any, Any] = library.get_num_threads, library.set_num_threads
        if library.internal_api == "openblas" and library.threading_layer != "openmp":
            for prefix, suffix in itertools.product(("", "scipy_"), ("", "64_", "_64")):
                get = getattr(library.dynlib, f"{prefix}openblas_get_num_threads{suffix}", None)
                if get is not None:
                    functions = get, getattr(library.dynlib, f"{prefix}openblas_set_num_threads{suffix}")
        functions_found.append(functions)
    return functions_found


@functools.cache
def small_products() -> int:
    """Return 1 if SciPy's OpenBLAS has kernels for small products, else 0.

    ``compiled.library.blas.product`` composes large products of them.
    """
    with_kernels = ("SkylakeX", "Cooperlake", "SapphireRapids")
    return int(any(getattr(library, "architecture", None) in with_kernels for library in _blas_libraries("scipy")))


class single_threaded_blas:  # noqa: N801  # a context, as ``contextlib`` writes them
    """Products of matrices inside the block run on the calling thread: they are divided into parts instead.

    The order of sums in a library's own threads depends on their number.

    Args:
        whose: "numpy" for ``numpy.matmul``, "scipy" for ``compiled.library.blas``.
    """

    _lock = threading.Lock()
    _inside: ClassVar[
        dict[str, list[tuple[Callable[[int], object], int]]]
    ] = {}  # setters, and the previous numbers of threads
    _users: ClassVar[dict[str, int]] = {"numpy": 0, "scipy": 0}

    def __init__(self, whose: str) -> None:
        self._whose = whose

    def __enter__(self) -> None:
        counts = _blas_counts(self._whose)
        with self._lock:
            self._users[self._whose] += 1
            if self._users[self._whose] == 1:
                counts_now = [(set_count, get_count()) for get_count, set_count in counts]
                changed = self._inside[self._whose] = [
                    (tell, count) for tell, count in counts_now if count not in (1, None)
                ]
                for set_count, _ in changed:
                    set_count(1)

    def __exit__(self, *exc_info: object) -> None:
        with self._lock:
            self._users[self._whose] -= 1
            if self._users[self._whose] == 0:
                for set_count, count in self._inside[self._whose]:
                    set_count(count)
