"""Locks of paths: saves of one path take turns in call order, in any thread.

An interrupt may occur between any two steps of the main thread. Therefore waiting uses a plain lock, which is
acquired and released in one step each, and every turn is ended.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator

from ..cpu.notices import tell

__all__ = ["raise_failure", "save_in_turn", "saving_in_background", "wait_for_saves"]

Save = Callable[[Callable[[], bool]], None]
"""Writes the file; calls the function just before it replaces the old one."""

_THREAD_NAME = "hookscope-save-checkpoint"


class _Turn:
    """One save's position in the queue of its path."""

    def __init__(self) -> None:
        self.before: _Turn | None = None  # until all of them have ended
        self.thread = threading.get_ident()  # which writes
        self.is_current = True  # cleared if a signal handler, called during this write, saves anew
        self.running = _acquired_lock()
        self.begun = _acquired_lock()  # in the background
        self.ownership = threading.Lock()  # by the background thread, or by the caller that never let it begin


def _acquired_lock() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


_newest: dict[str, _Turn] = {}
_failures: dict[str, BaseException] = {}
_changing = threading.RLock()  # a signal handler may save while its own thread holds it


def save_in_turn(path: str, save: Save, background: bool) -> None:
    """Save after all earlier saves of this path.

    Args:
        path: the file.
        save: writes it.
        background: return after the earlier saves, and write in a thread.

    Raises:
        OSError: an earlier save in the background failed, and the error was not reported yet. Nothing is saved.
        RuntimeError: other failures.
    """
    background = background and threading.main_thread().is_alive()  # no thread outlives a program that ends
    turn, started = _Turn(), False
    try:
        with _changing:
            turn.before, _newest[path] = _newest.get(path), turn
        for earlier in _unfinished(turn.before):
            if earlier.thread == turn.thread:
                earlier.is_current = False  # the signal interrupted it: it cannot end before this one
            else:
                with earlier.running:
                    pass
        turn.before = None
        raise_failure(path)
        if background:
            # Not a daemon in any case: the end of the program waits for it.
            threading.Thread(
                target=_save_in_background, args=(path, save, turn), name=_THREAD_NAME, daemon=False
            ).start()
            turn.begun.acquire()
            started = True
        else:
            save(lambda: turn.is_current)
    finally:
        if not background or (not started and turn.ownership.acquire(blocking=False)):
            turn.running.release()
            _forget(path, turn)


def _save_in_background(path: str, save: Save, turn: _Turn) -> None:
    if not turn.ownership.acquire(blocking=False):
        return  # the caller was interrupted
    turn.thread = threading.get_ident()
    turn.begun.release()
    try:
        save(lambda: turn.is_current)
    except BaseException as error:
        _failures[path] = error
        # Report immediately: the next save or load of this path may be hours away, or never happen.
        tell(f"hookscope: the asynchronous save of {path!r} failed: {error}")
    finally:
        turn.running.release()
        _forget(path, turn)


def _unfinished(turn: _Turn | None) -> Iterator[_Turn]:
    """Return a turn and the earlier ones that may not have ended; an interrupted caller's turn may end before them."""
    while turn is not None:
        yield turn
        turn = turn.before


def _forget(path: str, turn: _Turn) -> None:
    with _changing:
        if turn.before is None and _newest.get(path) is turn:
            del _newest[path]


def wait_for_saves(path: str) -> None:
    """Wait for the requested saves of a path.

    Args:
        path: the file.

    Raises:
        OSError: one in the background failed, and the error was not reported yet.
        RuntimeError: other failures.
    """
    for turn in _unfinished(_newest.get(path)):
        if turn.thread != threading.get_ident():
            with turn.running:
                pass
    raise_failure(path)


def raise_failure(path: str | None = None) -> None:
    """Raise, once, the error of a save in the background.

    Args:
        path: the file; None: any.

    Raises:
        OSError: a save failed.
        RuntimeError: other failures.
    """
    for failed in [path] if path is not None else list(_failures):
        error = _failures.pop(failed, None)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, f"an earlier asynchronous save failed: {error.strerror}", failed) from error
        if error is not None:
            raise RuntimeError(f"an earlier asynchronous save of {failed!r} failed: {error}") from error


def saving_in_background() -> bool:
    """Return whether a file is still being written."""
    return any(thread.name == _THREAD_NAME for thread in threading.enumerate())


def _forget_all() -> None:
    """Clear the turns in a forked process, in which the threads that would end them do not run."""
    global _changing
    _changing = threading.RLock()
    _newest.clear()
    _failures.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
