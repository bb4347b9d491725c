"""Memory of a collection of arrays: values that share memory are counted once."""

from __future__ import annotations

from typing import Any

__all__ = ["ArrayMemory"]


class ArrayMemory:
    """Multiset of kept arrays.

    Attributes:
        bytes: the memory that they keep alive.
    """

    def __init__(self) -> None:
        self.bytes = 0
        # By the id of an array that owns memory, which the owner of this object keeps valid.
        self._users: dict[int, int] = {}

    def add(self, array: Any) -> int:
        """Add a use of an array; return the number of bytes that it newly keeps alive."""
        owner = array if array.base is None else _owner(array)
        key, users = id(owner), self._users
        if key in users:
            users[key] += 1
            return 0
        users[key] = 1
        size: int = owner.nbytes
        self.bytes += size
        return size

    def remove(self, array: Any) -> int:
        """Remove a use of an array; return the number of bytes released. Call it while the array exists."""
        owner = array if array.base is None else _owner(array)
        key, users = id(owner), self._users
        if users[key] > 1:
            users[key] -= 1
            return 0
        del users[key]
        size: int = owner.nbytes
        self.bytes -= size
        return size

    def clear(self) -> None:
        """Remove all arrays."""
        self._users.clear()
        self.bytes = 0


def _owner(array: Any) -> Any:
    """Return the array whose memory ``array`` keeps alive."""
    while type(array.base) is type(array):
        array = array.base
    return array
