"""Table of arrays by identity, with entries that last as long as the arrays."""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

__all__ = ["ByArray"]

# More than a recording of one step needs in practice. Dead entries are swept when there may be as many of them as live
# ones.
_MAX_ARRAYS = 100_000
_FIRST_SWEEP = 1_000

_T = TypeVar("_T")


class ByArray(Generic[_T]):
    """Mapping from arrays to values that keeps no array alive."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], _T]] = {}
        self._sweep_at = _FIRST_SWEEP

    def get(self, array: Any) -> _T | None:
        """Return the value of this array, or of the array that it is a view of."""
        while array is not None:
            entry = self._entries.get(id(array))
            if entry is not None and entry[0]() is array:
                return entry[1]
            array = getattr(array, "base", None)  # a view has the elements of another array
        return None

    def put(self, array: Any, value: _T) -> None:
        """Set the value of an array."""
        entries = self._entries
        if len(entries) >= self._sweep_at:
            self._entries = entries = {key: entry for key, entry in list(entries.items()) if entry[0]() is not None}
            if len(entries) >= _MAX_ARRAYS:
                entries.clear()
            self._sweep_at = max(_FIRST_SWEEP, 2 * len(entries))
        entries[id(array)] = (weakref.ref(array), value)
