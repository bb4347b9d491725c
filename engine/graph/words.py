"""Words of memory that tell whether dictionaries, classes and the tensors' arrays are what they were.

CPython 3.11 and 3.12 give a dictionary a new number, of all numbers that there were, whenever it changes (PEP 509).
One compiled loop compares the numbers of all dictionaries, where each object has its dictionary and its type, and type,
dtype, shape and strides of the tensors' arrays in about the time of ten look-ups. An interpreter without the numbers,
or a process without Numba, compares nothing here: then everything is asked at each call, which takes longer.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cpu.compiling import address, is_on, kernels
from ..nn.members import Members
from ..tensors.tensor import Tensor

if TYPE_CHECKING:
    from .holding import Found

__all__ = ["MISSING", "Form", "Words"]

MISSING: Any = object()
"""In the place of what stands in a place where nothing does."""
Form = tuple[type, tuple[int, ...] | None, "np.dtype[Any]", bool | tuple[int, ...]]
"""Type, shape, dtype and layout (see ``layout_of``) of an array; no shape where any will do."""

_word_at = ctypes.c_int64.from_address
_BEHIND = 8 if Tensor.__weakrefoffset__ > 0 else 0  # the list of weak references, which CPython 3.12 has in front
_TYPE, _VERSION, _DICTIONARY, _ARRAY = 8, 24, -24, Tensor.__basicsize__ - 8 - _BEHIND
"""Where in an object: its type; a dictionary's number; the dictionary of its attributes; a tensor's array."""
_CODE, _DEFAULTS, _KEYWORDS, _HELD = 48, 56, 64, 16
"""Where in a function its code and its defaults are, and in a variable of a closure what it holds."""
_WORTH = 32
"""Calls from which on it is worth some tenths of a second to import Numba."""


class Words:
    """The words for what was found; what they say is what ``keep`` was last told.

    Args:
        found: what a function's code reads.
        externals: tensors, and the forms of their arrays.
        arguments: the forms of a call's arrays, see ``Form``.

    Attributes:
        covers: identities of the dictionaries whose changes the words tell.
    """

    def __init__(self, found: Found, externals: Sequence[tuple[Tensor, Form]], arguments: Sequence[Form] = ()) -> None:
        self._unchanged: Callable[..., bool] | None = None
        self._kept: tuple[Any, ...] = ()  # where the table is, with the table; whoever reads it holds it
        self._addresses: Any = None
        self._calls = 0
        if not _are_known():
            self.covers: frozenset[int] = frozenset()
            return
        owners = [(one, place, held) for one, held in found.owners if (place := _place_of_dictionary(one))]
        mappings = [one for one, _, _ in found.mappings if type(one) is dict or type(one) is Members]
        held = (*[held for _, _, held in owners], *mappings, *found.steady)
        self._held = list({id(one): one for one in held}.values())
        self.covers = frozenset(map(id, self._held))
        self._fixed = [(place, id(held)) for _, place, held in owners]
        self._fixed += [(id(one) + _TYPE, id(kind)) for one, kind in found.classes]
        for function, *has in found.functions:
            words = zip((_CODE, _DEFAULTS, _KEYWORDS), has, strict=True)
            self._fixed += [(id(function) + place, 0 if one is None else id(one)) for place, one in words]
        self._fixed += [(id(cell) + _HELD, 0 if value is MISSING else id(value)) for cell, value in found.cells]
        self._externals = externals
        self._arguments = arguments

    def same(self, arrays: Sequence[Any]) -> bool:
        """Whether all words are what they were, for a call with at most four arrays of which none is a tensor's."""
        if self._unchanged is None or len(arrays) > 4:
            return False
        kept = self._kept  # another thread may put a new one in its place meanwhile
        return self._unchanged(kept[0], *map(id, arrays), *_NOTHING[len(arrays)])

    def read(self) -> Any:
        """The dictionaries' numbers as they are."""
        self._calls += 1
        if self._calls < _WORTH or not self.covers:
            return None
        addresses = self._addresses
        if addresses is None:
            self._addresses = addresses = np.array([id(one) + _VERSION for one in self._held], np.int64)
        numbers = np.empty_like(addresses)
        kernels("words").versions(address(addresses), address(numbers), numbers.size)
        return numbers

    def keep(self, numbers: Any) -> None:
        """Say that all is as it must be, and was when these numbers were read."""
        if numbers is None:
            return
        forms: list[int] = []
        dtypes = []  # held, so that no other one comes to be where one was
        for tensor, (kind, shape, dtype, layout) in (*self._externals, *[(None, form) for form in self._arguments]):
            if kind is not np.ndarray:
                return
            if tensor is not None:
                dtype = tensor._array.dtype  # the very object
                forms.append(id(tensor) + _ARRAY)
            dtypes.append(dtype)
            forms += (id(kind), id(dtype), -1 if shape is None else len(shape), layout is True, *(shape or ()))
            forms += layout if isinstance(layout, tuple) else ()
        places, wanted = zip(*self._fixed, strict=True) if self._fixed else ((), ())
        counts = (numbers.size + len(wanted), len(self._externals), len(self._arguments))
        table = np.array([*counts, *self._addresses, *places, *numbers, *wanted, *forms], np.int64)
        self._kept = address(table), table, dtypes
        self._unchanged = kernels("words").unchanged


_NOTHING = tuple((0,) * (4 - count) for count in range(5))
_IN_FRONT = 1 << 4
"""The flag of classes whose objects have the dictionary of their attributes in front of them."""


def _place_of_dictionary(one: Any) -> int:
    """The address of the address of the dictionary of an object's attributes, or 0."""
    kind = type(one)
    offset = _DICTIONARY if kind.__flags__ & _IN_FRONT else kind.__dictoffset__
    return id(one) + offset if offset > 0 or kind.__flags__ & _IN_FRONT else 0


@functools.cache
def _are_known() -> bool:
    """Whether this interpreter and this NumPy have the words where they are looked for."""
    if sys.implementation.name != "cpython" or sys.version_info[:2] not in ((3, 11), (3, 12)) or not is_on():
        return False
    if sys.maxsize < 1 << 32 or object.__basicsize__ != 16:
        return False
    tensor = Tensor._wrap(np.zeros((2, 3), np.float32))  # whatever device tensors are made on just now
    array: Any = tensor._array
    held: dict[str, Any] = vars(tensor)
    words = {
        id(tensor) + _TYPE: id(Tensor),
        id(tensor) + _DICTIONARY: id(held),
        id(tensor) + _ARRAY: id(array),
        id(array) + _TYPE: id(np.ndarray),
        id(array) + 56: id(array.dtype),
    }
    if any(_word_at(where).value != what for where, what in words.items()):
        return False
    if _word_at(id(array) + 24).value & 0xFFFFFFFF != 2:
        return False
    for place, form in ((32, array.shape), (40, array.strides)):
        if [_word_at(_word_at(id(array) + place).value + 8 * axis).value for axis in range(2)] != list(form):
            return False
    if [_word_at(id(one) + 64).value & 1 for one in (array, array.T)] != [1, 0]:
        return False
    held_by_both = object()

    def function(_: object = held_by_both, *, keyword: object = None) -> object:
        return held_by_both

    (cell,) = function.__closure__ or ()
    parts = {_CODE: function.__code__, _DEFAULTS: function.__defaults__, _KEYWORDS: function.__kwdefaults__}
    if any(_word_at(id(function) + place).value != id(part) for place, part in parts.items()):
        return False
    if _word_at(id(cell) + _HELD).value != id(held_by_both):
        return False
    numbers = []
    changes: tuple[Callable[[], object], ...] = (
        lambda: setattr(tensor, "a", 1),
        lambda: setattr(tensor, "a", 2),
        lambda: delattr(tensor, "a"),
        lambda: held.update(a=1),
        lambda: held.pop("a"),
        lambda: held.setdefault("a", 1),
        held.clear,
    )
    for change in changes:
        change()
        numbers.append(_word_at(id(held) + _VERSION).value)
    return len(set(numbers)) == len(numbers)
