"""Folders and files that only their user may change, or may read: made so, and refused where they are not.

A check and the reading that follows it are about one open file: what a path leads to may change between two looks.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["NOT_READABLE", "NOT_WRITABLE", "NotOwnError", "own_folder", "read_own"]

NOT_WRITABLE = 0o022
"""The permissions that others must not have where only the content counts,"""
NOT_READABLE = 0o077
"""and where it is a secret, too."""


class NotOwnError(PermissionError):
    """A folder or file is another user's, or open to others."""


_user = getattr(os, "geteuid", None)  # absent on Windows, whose permissions are not in a mode


def own_folder(folder: Path, others: int = NOT_READABLE) -> Path:
    """Make a folder that is this user's alone, or see that it is.

    Args:
        folder: its path; folders above it are made where they are missing.
        others: permissions that nobody else may have.

    Raises:
        NotOwnError: it is another user's, or open to others, or the link of another user.
        OSError: it cannot be made, or is not a folder.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink():
        _check_owner(folder.lstat(), "the link", folder)
    found = folder.stat()
    _check_owner(found, "the folder", folder)
    _check_mode(found, "the folder", folder, others)
    return folder


def read_own(path: Path, most: int, others: int = NOT_READABLE) -> bytes:
    """Read a file that is this user's alone.

    Args:
        path: of the file.
        most: the most bytes that it may have.
        others: permissions that nobody else may have.

    Raises:
        NotOwnError: it is another user's, or open to others.
        OSError: it cannot be read, is larger, or is not a regular file: a link, a folder, a pipe that would block.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is not a regular file")
        _check_owner(found, "the file", path)
        _check_mode(found, "the file", path, others)
        content = file.read(most + 1)
        if len(content) > most:
            raise OSError(f"{path} has more than {most} bytes")
        return content


def _check_owner(found: os.stat_result, what: str, path: Path) -> None:
    if _user is not None and found.st_uid != _user():
        raise NotOwnError(f"{what} {path} belongs to another user")


def _check_mode(found: os.stat_result, what: str, path: Path, others: int) -> None:
    if _user is None or not stat.S_IMODE(found.st_mode) & others:
        return
    if others == NOT_READABLE:
        mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
        raise NotOwnError(f"{what} {path} is open to other users: chmod {mode} {path}")
    raise NotOwnError(f"{what} {path} can be written by other users: chmod go-w {path}")
