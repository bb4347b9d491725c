"""How much memory a collection of arrays keeps alive: values that share memory are counted once."""

from __future__ import annotations

from typing import Any

__all__ = ["HeldArrays"]


class HeldArrays:
    """Arrays that somebody keeps, each as often as it was added.

    Attributes:
        bytes: the memory that they keep alive.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._users: dict[int, int] = {}  # by id of an array that owns memory; whoever keeps the arrays keeps it valid

    def add(self, array: Any) -> int:
        """One more user of an array; returns by how many bytes more is kept alive."""
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
        """One user less; returns how many bytes nobody here keeps any more. Call it before the array is let go."""
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
        """No user of any."""
        self._users.clear()
        self.bytes = 0


def _owner(array: Any) -> Any:
    """The array whose memory ``array`` keeps alive."""
    while type(array.base) is type(array):
        array = array.base
    return array
