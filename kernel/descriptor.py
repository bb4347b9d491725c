"""File descriptor that is safe to write to even if a user's script has closed it.

A script that becomes a daemon closes all descriptors. The number of the descriptor may then belong to a file of the
script's own. So the identity of the file is checked before each write.
"""

from __future__ import annotations

import os

__all__ = ["Descriptor"]


class Descriptor:
    """An open file, identified by device and inode and not by its descriptor alone.

    Args:
        descriptor: the file's current descriptor.

    Raises:
        OSError: the descriptor is not open.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._identity = _identity(descriptor)

    def is_open(self) -> bool:
        """Return whether the descriptor still refers to the file."""
        try:
            return _identity(self.descriptor) == self._identity
        except OSError:
            return False


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino
