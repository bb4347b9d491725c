"""Memory words that change whenever dictionaries, classes or the tensors' arrays change.

CPython 3.11 and 3.12 give a dictionary a new, globally unique version number on each change (PEP 509). One compiled
loop compares these numbers for all dictionaries, the dictionary and type of each object, and the type, dtype, shape and
strides of the tensors' arrays; it takes about as long as ten look-ups. An interpreter without version numbers, or a
process without Numba, compares nothing here: each call then makes the full check, which takes longer.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cpu.compiling import address, is_on, kernels
from ...nn.members import Members
from ...tensors.tensor import Tensor

if TYPE_CHECKING:
    from .guards import Snapshot

__all__ = ["MISSING", "Form", "MemoryWords"]

MISSING: Any = object()
"""Placeholder for an absent value."""
Form = tuple[type, tuple[int, ...] | None, "np.dtype[Any]", bool | tuple[int, ...]]
"""Type, shape, dtype and layout (see ``layout_of``) of an array; the shape is None if any is allowed."""

_word_at = ctypes.c_int64.from_address
_BEHIND = 8 if Tensor.__weakrefoffset__ > 0 else 0  # the list of weak references, which CPython 3.12 puts in front
_TYPE, _VERSION, _DICTIONARY, _ARRAY = 8, 24, -24, Tensor.__basicsize__ - 8 - _BEHIND
"""Offsets in an object: its type; a dictionary's version; the dictionary of its attributes; a tensor's array."""
_CODE, _DEFAULTS, _KEYWORDS, _CONTENTS = 48, 56, 64, 16
"""Offsets of a function's code and defaults, and of a closure cell's contents."""
_LEAST_CALLS = 32
"""Number of calls from which the import of Numba, some tenths of a second, pays off."""


class MemoryWords:
    """Memory words of recorded values, compared with their state at the last ``store``.

    Args:
        snapshot: the values that a function's code reads.
        externals: tensors, and the forms of their arrays.
        arguments: the forms of a call's arrays, see ``Form``.

    Attributes:
        covers: identities of the dictionaries whose changes the words detect.
    """

    def __init__(
        self, snapshot: Snapshot, externals: Sequence[tuple[Tensor, Form]], arguments: Sequence[Form] = ()
    ) -> None:
        self._unchanged: Callable[..., bool] | None = None
        self._table: tuple[Any, ...] = ()  # the table's address and the table; a reader keeps it alive
        self._addresses: Any = None
        self._calls = 0
        if not _is_layout_known():
            self.covers: frozenset[int] = frozenset()
            return
        owners = [
            (owner, offset, dictionaries)
            for owner, dictionaries in snapshot.owners
            if (offset := _dictionary_address(owner))
        ]
        mappings = [owner for owner, _, _ in snapshot.mappings if type(owner) is dict or type(owner) is Members]
        dictionaries = (*[dictionaries for _, _, dictionaries in owners], *mappings, *snapshot.stable_dictionaries)
        self._dictionaries = list({id(owner): owner for owner in dictionaries}.values())
        self.covers = frozenset(map(id, self._dictionaries))
        self._fixed = [(offset, id(dictionaries)) for _, offset, dictionaries in owners]
        self._fixed += [(id(owner) + _TYPE, id(kind)) for owner, kind in snapshot.classes]
        for function, *parts in snapshot.functions:
            offset_parts = zip((_CODE, _DEFAULTS, _KEYWORDS), parts, strict=True)
            self._fixed += [
                (id(function) + offset, 0 if owner is None else id(owner)) for offset, owner in offset_parts
            ]
        self._fixed += [(id(cell) + _CONTENTS, 0 if value is MISSING else id(value)) for cell, value in snapshot.cells]
        self._externals = externals
        self._arguments = arguments

    def are_unchanged(self, arrays: Sequence[Any]) -> bool:
        """Return whether all words are unchanged, for a call with at most four arrays, none of which is a tensor's."""
        if self._unchanged is None or len(arrays) > 4:
            return False
        table = self._table  # another thread may replace it meanwhile
        return self._unchanged(table[0], *map(id, arrays), *_PADDING[len(arrays)])

    def versions(self) -> Any:
        """Return the current version numbers of the dictionaries."""
        self._calls += 1
        if self._calls < _LEAST_CALLS or not self.covers:
            return None
        addresses = self._addresses
        if addresses is None:
            self._addresses = addresses = np.array(
                [id(dictionary) + _VERSION for dictionary in self._dictionaries], np.int64
            )
        numbers = np.empty_like(addresses)
        kernels("memory_words").versions(address(addresses), address(numbers), numbers.size)
        return numbers

    def store(self, numbers: Any) -> None:
        """Mark the state as valid that had these version numbers."""
        if numbers is None:
            return
        forms: list[int] = []
        dtypes = []  # kept alive, so that their addresses are not reused
        for tensor, (kind, shape, dtype, layout) in (*self._externals, *[(None, form) for form in self._arguments]):
            if kind is not np.ndarray:
                return
            if tensor is not None:
                dtype = tensor._array.dtype  # the identical object
                forms.append(id(tensor) + _ARRAY)
            dtypes.append(dtype)
            forms += (id(kind), id(dtype), -1 if shape is None else len(shape), layout is True, *(shape or ()))
            forms += layout if isinstance(layout, tuple) else ()
        addresses, expected = zip(*self._fixed, strict=True) if self._fixed else ((), ())
        counts = (numbers.size + len(expected), len(self._externals), len(self._arguments))
        table = np.array([*counts, *self._addresses, *addresses, *numbers, *expected, *forms], np.int64)
        self._table = address(table), table, dtypes
        self._unchanged = kernels("memory_words").unchanged


_PADDING = tuple((0,) * (4 - count) for count in range(5))
_IN_FRONT = 1 << 4
"""Flag of classes whose instances have their attribute dictionary in front of them."""


def _dictionary_address(owner: Any) -> int:
    """Return the address of the pointer to an object's attribute dictionary, or 0."""
    kind = type(owner)
    offset = _DICTIONARY if kind.__flags__ & _IN_FRONT else kind.__dictoffset__
    return id(owner) + offset if offset > 0 or kind.__flags__ & _IN_FRONT else 0


@functools.cache
def _is_layout_known() -> bool:
    """Return whether this interpreter and this NumPy have the expected memory layout."""
    if sys.implementation.name != "cpython" or sys.version_info[:2] not in ((3, 11), (3, 12)) or not is_on():
        return False
    if sys.maxsize < 1 << 32 or object.__basicsize__ != 16:
        return False
    tensor = Tensor._wrap(np.zeros((2, 3), np.float32))  # independent of the current device
    array: Any = tensor._array
    attributes: dict[str, Any] = vars(tensor)
    words = {
        id(tensor) + _TYPE: id(Tensor),
        id(tensor) + _DICTIONARY: id(attributes),
        id(tensor) + _ARRAY: id(array),
        id(array) + _TYPE: id(np.ndarray),
        id(array) + 56: id(array.dtype),
    }
    if any(_word_at(location).value != expected for location, expected in words.items()):
        return False
    if _word_at(id(array) + 24).value & 0xFFFFFFFF != 2:
        return False
    for offset, form in ((32, array.shape), (40, array.strides)):
        if [_word_at(_word_at(id(array) + offset).value + 8 * axis).value for axis in range(2)] != list(form):
            return False
    if [_word_at(id(candidate) + 64).value & 1 for candidate in (array, array.T)] != [1, 0]:
        return False
    shared = object()

    def function(_: object = shared, *, keyword: object = None) -> object:
        return shared

    (cell,) = function.__closure__ or ()
    parts = {_CODE: function.__code__, _DEFAULTS: function.__defaults__, _KEYWORDS: function.__kwdefaults__}
    if any(_word_at(id(function) + offset).value != id(part) for offset, part in parts.items()):
        return False
    if _word_at(id(cell) + _CONTENTS).value != id(shared):
        return False
    numbers = []
    changes: tuple[Callable[[], object], ...] = (
        lambda: setattr(tensor, "a", 1),
        lambda: setattr(tensor, "a", 2),
        lambda: delattr(tensor, "a"),
        lambda: attributes.update(a=1),
        lambda: attributes.pop("a"),
        lambda: attributes.setdefault("a", 1),
        attributes.clear,
    )
    for change in changes:
        change()
        numbers.append(_word_at(id(attributes) + _VERSION).value)
    return len(set(numbers)) == len(numbers)
