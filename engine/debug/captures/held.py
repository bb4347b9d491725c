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

    def add(self, array: Any) -> None:
        """One more user of an array."""
        owner = _owner(array)
        users = self._users.get(id(owner), 0)
        self._users[id(owner)] = users + 1
        if not users:
            self.bytes += owner.nbytes

    def remove(self, array: Any) -> None:
        """One user less; call it before the array is let go."""
        owner = _owner(array)
        users = self._users[id(owner)] - 1
        if users:
            self._users[id(owner)] = users
        else:
            del self._users[id(owner)]
            self.bytes -= owner.nbytes

    def clear(self) -> None:
        """No user of any."""
        self._users.clear()
        self.bytes = 0


def _owner(array: Any) -> Any:
    """The array whose memory ``array`` keeps alive."""
    while type(array.base) is type(array):
        array = array.base
    return array
