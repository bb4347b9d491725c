"""Sharing a kernel out to threads: in parts that shapes fix, so that results do not depend on how many threads.

``share(kernel, parts, *arguments)`` does the parts of a compiled kernel on this thread and on helpers, without the
interpreter's lock (``compiled.sharing`` is its inner half). Any number of threads may compute at once, also after a
fork: the helpers are one's at a time, and whoever finds them taken computes alone.

A helper without work looks for more for about a millisecond before it sleeps, longer than a small network computes
nothing between two kernels. To be woken takes as long as many a kernel runs, above all on a virtual machine whose core
has begun to rest: a step of an MLP after a pause took 3.6 ms where helpers slept after a tenth of a millisecond, and
2.7 ms now.
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
"""More threads than these wait for the same memory."""
_LENGTH = 8
"""Of the board of ``compiled.sharing``."""
_TURNS = 1_000_000
"""How often a helper looks for work before it sleeps."""

_chosen: int | None = None


def number() -> int:
    """How many threads compute: ``set_number``, else OMP_NUM_THREADS, else as many as the process may use cores."""
    return _chosen or _default_number()


@functools.cache
def _default_number() -> int:
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(int(asked) if asked.isdecimal() and int(asked) > 0 else cores(), _MOST)


def cores() -> int:
    """Return how many cores the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_number(count: int | None) -> None:
    """Compute with ``count`` threads from now on; None goes back to what it was at first."""
    global _chosen
    with _taken:
        _chosen = count
        _dismiss()


class _Helpers:
    """The threads that help, and the board on which they find their work."""

    def __init__(self, count: int) -> None:
        self.inner = kernels("sharing")
        self.board = np.zeros(_LENGTH, np.int64)
        self.asleep = threading.Semaphore(0)
        for place in range(count):
            threading.Thread(target=self._serve, name=f"hookscope-{place + 1}", daemon=True).start()

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
    """Threads do not outlive a fork; the new process starts its own."""
    global _taken, _helpers
    _taken, _helpers = threading.Lock(), None
    single_threaded_blas._lock = threading.Lock()
    single_threaded_blas._users.update(numpy=0, scipy=0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def share(kernel: Any, parts: int, *arguments: Any) -> None:
    """Do all parts of a kernel, on several threads.

    Args:
        kernel: of a file in ``compiled``; the order of its parts must not matter.
        parts: how many there are: fixed by shapes, never by the number of threads.
        arguments: what else the kernel is given; arrays as ``ready`` makes them.
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
    """Return the libraries that "numpy" or "scipy" multiplies matrices with, as far as they can be told how many threads to
    use; where it has none of its own, all that are loaded."""
    import_module(f"{whose}.linalg")  # which loads it
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [one for one in found if f"{whose}.libs" in one.filepath] or list(found)


@functools.cache
def _blas_counts(whose: str) -> list[tuple[Callable[[], int | None], Callable[[int], object]]]:
    """Of each of these libraries what tells how many threads it uses, and what sets that.

    threadpoolctl heeds of OpenBLAS's users one Python thread alone, and any may compute here; so it is asked itself.
    """
    found: list[tuple[Any, Any]] = []
    for one in _blas_libraries(whose):
        functions: tuple[Any, Any] = one.get_num_threads, one.set_num_threads
        if one.internal_api == "openblas" and one.threading_layer != "openmp":
            for prefix, suffix in itertools.product(("", "scipy_"), ("", "64_", "_64")):
                get = getattr(one.dynlib, f"{prefix}openblas_get_num_threads{suffix}", None)
                if get is not None:
                    functions = get, getattr(one.dynlib, f"{prefix}openblas_set_num_threads{suffix}")
        found.append(functions)
    return found


@functools.cache
def small_products() -> int:
    """1 where SciPy's OpenBLAS has kernels for small products, of which ``compiled.blas.product`` makes large ones; 0
    where it has none."""
    with_kernels = ("SkylakeX", "Cooperlake", "SapphireRapids")
    return int(any(getattr(one, "architecture", None) in with_kernels for one in _blas_libraries("scipy")))


class single_threaded_blas:  # noqa: N801  # a context, as ``contextlib`` writes them
    """Products of matrices inside the block run on the thread that asks for them: their parts are shared out instead.

    A library's own threads add up in an order that depends on how many they are.

    Args:
        whose: "numpy" for ``numpy.matmul``, "scipy" for ``compiled.blas``.
    """

    _lock = threading.Lock()
    _inside: ClassVar[dict[str, list[tuple[Callable[[int], object], int]]]] = {}  # what sets back, and to how many
    _users: ClassVar[dict[str, int]] = {"numpy": 0, "scipy": 0}

    def __init__(self, whose: str) -> None:
        self._whose = whose

    def __enter__(self) -> None:
        counts = _blas_counts(self._whose)
        with self._lock:
            self._users[self._whose] += 1
            if self._users[self._whose] == 1:
                many = [(set_count, get_count()) for get_count, set_count in counts]
                told = self._inside[self._whose] = [(tell, count) for tell, count in many if count not in (1, None)]
                for set_count, _ in told:
                    set_count(1)

    def __exit__(self, *exc_info: object) -> None:
        with self._lock:
            self._users[self._whose] -= 1
            if self._users[self._whose] == 0:
                for set_count, count in self._inside[self._whose]:
                    set_count(count)
