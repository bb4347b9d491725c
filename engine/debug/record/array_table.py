"""What is known of arrays, by their identity, for as long as they live."""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

__all__ = ["ByArray"]

# More than a recording of one step holds in practice. The dead are swept when there may be as many of them as of the
# living.
_MAX_ARRAYS = 100_000
_FIRST_SWEEP = 1_000

_T = TypeVar("_T")


class ByArray(Generic[_T]):
    """Something for each array; keeps no array alive."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], _T]] = {}
        self._sweep_at = _FIRST_SWEEP

    def get(self, array: Any) -> _T | None:
        """What was put for this array."""
        while array is not None:
            found = self._entries.get(id(array))
            if found is not None and found[0]() is array:
                return found[1]
            array = getattr(array, "base", None)  # a view has the elements of another array
        return None

    def put(self, array: Any, value: _T) -> None:
        """Put something for an array."""
        entries = self._entries
        if len(entries) >= self._sweep_at:
            self._entries = entries = {key: entry for key, entry in list(entries.items()) if entry[0]() is not None}
            if len(entries) >= _MAX_ARRAYS:
                entries.clear()
            self._sweep_at = max(_FIRST_SWEEP, 2 * len(entries))
        entries[id(array)] = (weakref.ref(array), value)
