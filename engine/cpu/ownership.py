"""Folders and files that only their user may change, or read: created so, and rejected otherwise.

A check and the following read use the same open file: the target of a path may change in between.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["NOT_READABLE", "NOT_WRITABLE", "NotOwnError", "own_folder", "read_own"]

NOT_WRITABLE = 0o022
"""Permissions that others must not have if only the integrity matters,"""
NOT_READABLE = 0o077
"""and if the content is secret, too."""


class NotOwnError(PermissionError):
    """A folder or file that belongs to another user, or is open to others."""


_user = getattr(os, "geteuid", None)  # absent on Windows, whose permissions are not in a mode


def own_folder(folder: Path, others: int = NOT_READABLE) -> Path:
    """Create a folder for this user only, or check that it is one.

    Args:
        folder: its path; missing parent folders are created.
        others: permissions that others must not have.

    Raises:
        NotOwnError: it is another user's, or open to others, or the link of another user.
        OSError: it cannot be created, or is not a folder.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink():
        _check_owner(folder.lstat(), "the link", folder)
    status = folder.stat()
    _check_owner(status, "the folder", folder)
    _check_mode(status, "the folder", folder, others)
    return folder


def read_own(path: Path, most: int, others: int = NOT_READABLE) -> bytes:
    """Read a file that belongs to this user only.

    Args:
        path: the path of the file.
        most: the maximum of bytes.
        others: permissions that others must not have.

    Raises:
        NotOwnError: it is another user's, or open to others.
        OSError: it cannot be read, is larger, or is not a regular file: a link, a folder, a pipe that would block.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is not a regular file")
        _check_owner(status, "the file", path)
        _check_mode(status, "the file", path, others)
        content = file.read(most + 1)
        if len(content) > most:
            raise OSError(f"{path} has more than {most} bytes")
        return content


def _check_owner(status_of: os.stat_result, what: str, path: Path) -> None:
    if _user is not None and status_of.st_uid != _user():
        raise NotOwnError(f"{what} {path} belongs to another user")


def _check_mode(status_of: os.stat_result, what: str, path: Path, others: int) -> None:
    if _user is None or not stat.S_IMODE(status_of.st_mode) & others:
        return
    if others == NOT_READABLE:
        mode = "700" if stat.S_ISDIR(status_of.st_mode) else "600"
        raise NotOwnError(f"{what} {path} is open to other users: chmod {mode} {path}")
    raise NotOwnError(f"{what} {path} can be written by other users: chmod go-w {path}")
