"""Files that appear whole or not at all, and writers in the background."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["background_writers_running", "replacing", "wait_for_writer", "write_in_background"]


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """A name beside ``path`` to write to; at the end it is flushed to disk and takes the place of ``path``.

    A writer that is killed leaves the old file as it was (and its own hidden one, whose name ends in ".tmp").

    Raises:
        FileNotFoundError: the folder does not exist.
        IsADirectoryError: ``path`` is a folder.
    """
    if not path or os.path.isdir(path):
        raise IsADirectoryError(f"For 'save_checkpoint', {path!r} is no name of a file")
    folder, name = os.path.split(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"For 'save_checkpoint', the folder '{folder}' does not exist; make it first")
    import tempfile

    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.", suffix=".tmp")
    os.close(handle)
    try:
        yield temporary
        _flush(temporary)
        os.chmod(temporary, 0o400)  # as MindSpore leaves them: readable by the owner, changed by nobody
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    _flush(folder)  # the new name, too, outlives a power cut


def _flush(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_writers: dict[str, threading.Thread] = {}


def write_in_background(path: str, write: Callable[[], None]) -> None:
    """Write in a thread of its own, which the end of the program waits for; one writer a file at a time."""
    wait_for_writer(path)

    def run() -> None:
        try:
            write()
        finally:
            if _writers.get(key) is threading.current_thread():
                del _writers[key]

    key = os.path.abspath(path)
    _writers[key] = threading.Thread(target=run, name="hookscope-save-checkpoint")
    _writers[key].start()


def wait_for_writer(path: str) -> None:
    """Return when nobody writes this file any more."""
    writer = _writers.get(os.path.abspath(path))
    if writer is not None:
        writer.join()


def background_writers_running() -> bool:
    """Whether a file is still being written."""
    return any(writer.is_alive() for writer in tuple(_writers.values()))
