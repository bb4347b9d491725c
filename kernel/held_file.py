"""A descriptor that is kept while the user's script runs, which may close it: scripts that become daemons close all.

Its number may then be that of a file of the script's. So whoever writes looks first whether it is still the same file.
"""

from __future__ import annotations

import os

__all__ = ["HeldFile"]


class HeldFile:
    """An open file, known by what it is and not by its number alone.

    Args:
        descriptor: the number that it has now.

    Raises:
        OSError: nothing is open there.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._identity = _identity(descriptor)

    def is_open(self) -> bool:
        """Return whether the number still is that of the file."""
        try:
            return _identity(self.descriptor) == self._identity
        except OSError:
            return False


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino
