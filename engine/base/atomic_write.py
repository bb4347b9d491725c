"""Atomic writing of files: the new content appears completely, or the old file stays.

The content is written to a hidden file beside the target and flushed to disk, and the file is renamed to the target.
As long as its writer lives, that file is locked; the system releases the lock with the process. So a hidden file
without a lock was left by a killed writer, and the next write into the folder removes it. On a system without such
locks it stays there.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

__all__ = ["file_behind", "write_file", "write_text"]

_HIDDEN = ".hookscope-{}.tmp"  # short, so that it is valid wherever any name is
_LEFT = re.compile(re.escape(_HIDDEN).replace(r"\{\}", "[0-9a-f]{16}"))


def write_file(
    path: str | os.PathLike[str],
    write: Callable[[BinaryIO], object],
    caller: str,
    mode: int | None = None,
    confirm: Callable[[], bool] | None = None,
) -> None:
    """Call ``write`` with a file; its content replaces ``path`` atomically, or not at all.

    Args:
        path: the file. A symbolic link stays, and its target is replaced, as in editors, if the system
            lets it be followed; other hard links keep the old content.
        write: gets a new file, open for writing.
        caller: the public function, for messages.
        mode: the permissions. By default a file keeps its own, and a new one gets those that the umask allows.
        confirm: called after the write; False leaves everything unchanged.

    Raises:
        ValueError: ``path`` has a null character.
        OSError: there is no such folder, no right to write there, no space, or ``path`` is not a regular file. Its
            ``filename`` is the file's.
    """
    target = file_behind(path, caller)
    folder = os.path.dirname(target)
    _sweep(folder)
    try:
        while not _replace(target, folder, write, mode, confirm):
            pass
    except OSError as error:
        if error.errno is None:
            raise
        # The hidden name means nothing to the user.
        raise OSError(error.errno, error.strerror, target) from None
    _flush_folder(folder)


def write_text(path: str | os.PathLike[str], text: str, caller: str) -> None:
    """Write a text with ``write_file``: in UTF-8, with surrogates, as in a file name that is not UTF-8, escaped."""
    content = text.encode(errors="backslashreplace")
    write_file(path, lambda file: file.write(content), caller)


def file_behind(path: str | os.PathLike[str], caller: str) -> str:
    """Return the file that a write to ``path`` replaces or creates: an absolute path without links.

    Raises:
        ValueError, OSError: ``write_file`` would reject it.
    """
    path_text = os.fspath(path)
    if "\0" in path_text:
        raise ValueError(f"For '{caller}', {path_text!r} is not the name of a file: it has a null character")
    try:
        target = os.path.realpath(path_text)
    except FileNotFoundError:
        raise FileNotFoundError(
            errno.ENOENT, f"For '{caller}', the working directory does not exist any more", path_text
        ) from None
    try:
        kind = os.stat(
            path_text
        ).st_mode  # not of the target: the system may forbid to follow a link (protected_symlinks)
    except FileNotFoundError:
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"For '{caller}', the folder '{folder}' does not exist; make it first") from None
        kind = stat.S_IFREG
    if stat.S_ISDIR(kind) or path_text.endswith(os.sep):
        raise IsADirectoryError(f"For '{caller}', {path_text!r} is not the name of a file")
    if not stat.S_ISREG(kind):
        # A rename would replace /dev/null by a file.
        raise OSError(errno.EINVAL, f"For '{caller}', a device, pipe or socket cannot be replaced by a file", path_text)
    return target


def _replace(
    target: str, folder: str, write: Callable[[BinaryIO], object], mode: int | None, confirm: Callable[[], bool] | None
) -> bool:
    """Return whether it was done: False if a sweeper removed the hidden file before its lock."""
    if mode is None and os.path.exists(target):
        mode = stat.S_IMODE(os.stat(target).st_mode)
    # No helper around the name: an interrupt may come between any two steps, and here each of them ends in `finally`.
    hidden = os.path.join(folder, _HIDDEN.format(os.urandom(8).hex()))
    try:
        # A file that gets other permissions at the end is private until then.
        with open(hidden, "xb", opener=partial(os.open, mode=0o666 if mode is None else 0o600)) as file:
            if not _locked(file.fileno(), hidden):
                return False
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                if hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), mode)
                else:
                    os.chmod(hidden, mode)
            if fcntl is not None:  # before the lock ends
                _take_name(hidden, target, confirm)
        if fcntl is None:  # once the file is closed: Windows does not rename open files
            _take_name(hidden, target, confirm)
        return True
    finally:
        try:  # noqa: SIM105  # suppress takes steps of its own
            os.unlink(hidden)
        except FileNotFoundError:
            pass  # it has the target's name


def _take_name(hidden: str, target: str, confirm: Callable[[], bool] | None) -> None:
    if confirm is None or confirm():
        os.replace(hidden, target)


def _locked(descriptor: int, hidden: str) -> bool:
    """Lock a file that was just created; return whether it still exists."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: no sweeper gets one either, and it leaves the file alone
    return os.path.exists(hidden)


def _sweep(folder: str) -> None:
    """Remove the files of killed writers; those that cannot be seen, locked or removed stay."""
    if fcntl is None:
        return
    try:
        names = os.listdir(folder)
    except OSError:
        return  # a folder may be written to and yet not be read
    for name in names:
        if _LEFT.fullmatch(name):
            _remove_stale(os.path.join(folder, name))


def _remove_stale(hidden: str) -> None:
    def remove(descriptor: int) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
            # A shared lock needs no write permission; a writer's lock prevents it.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            os.unlink(hidden)

    _try_with(hidden, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, remove)


def _flush_folder(folder: str) -> None:
    """Make the new name survive a power failure. The file itself is written, so a failure here is ignored."""
    _try_with(folder, os.O_RDONLY, os.fsync)


def _try_with(path: str, flags: int, action: Callable[[int], None]) -> None:
    """Open, act and close; do nothing if the system refuses."""
    descriptors: list[int] = []
    try:
        # One step, so that the list has the open descriptor at any interrupt.
        descriptors.extend(map(os.open, [path], [flags]))
        action(*descriptors)
    except OSError:
        pass
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
