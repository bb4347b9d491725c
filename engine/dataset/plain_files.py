"""Regular files of data sets, opened so that a pipe or device in their place is rejected."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

__all__ = ["open_plain", "open_unzipped", "read_plain", "read_up_to"]

_PIECE = 1 << 20


def open_plain(caller: str, path: Path) -> BinaryIO:
    """Open a file for reading.

    Args:
        caller: Name of the data set, for the error.
        path: Path of the file.

    Raises:
        RuntimeError: it is a pipe, a device or similar: reading one may block or continue forever.
        OSError: it cannot be opened.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = open(path, "rb", opener=lambda name, _: os.open(name, flags))  # noqa: SIM115  # the caller closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise RuntimeError(f"For '{caller}', {path} must be a file with data, but is a pipe, device or socket")
    return file


def read_plain(caller: str, path: Path) -> bytes:
    """Read the bytes of a file.

    Args:
        caller: Name of the data set, for the error.
        path: Path of the file.

    Raises:
        RuntimeError, OSError: as for ``open_plain``.
    """
    with open_plain(caller, path) as file:
        return file.read()


@contextmanager
def open_unzipped(caller: str, path: Path) -> Iterator[BinaryIO]:
    """Open a gzipped file; only the part that is read is decompressed, since a small file may expand to any size.

    Args:
        caller: Name of the data set, for the error.
        path: Path of the file.

    Raises:
        RuntimeError: in the block, too: the content cannot be decompressed.
        OSError: it cannot be opened.
    """
    with open_plain(caller, path) as file, gzip.GzipFile(fileobj=file) as zipped:
        try:
            yield cast(BinaryIO, zipped)
        except (OSError, EOFError, zlib.error) as error:
            raise RuntimeError(f"For '{caller}', {path} cannot be unzipped: {error}") from error


def read_up_to(file: BinaryIO, most: int) -> bytes:
    """Read up to ``most`` bytes, without allocating that much for a wrong number.

    Args:
        file: File to read from its current position.
        most: Number of bytes.
    """
    buffer = io.BytesIO()
    while (remaining := most - buffer.tell()) > 0 and (piece := file.read(min(remaining, _PIECE))):
        buffer.write(piece)
    return buffer.getvalue()
