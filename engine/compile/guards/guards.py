"""Guards on the Python values that a function's code reads.

``Snapshot`` records the values with their locations; ``Guards`` checks that they are unchanged. A full check of a
network with fifty cells takes a thousand look-ups, so ``memory_words.py`` first compares memory words that change with
the dictionaries, where these exist. Only if one differs is everything checked.
"""

from __future__ import annotations

import abc
import functools
import struct
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter, contains, getitem, is_
from typing import Any

import numpy as np

from ...tensors.tensor import Tensor
from ..graph import Value
from ..traced_array import layout_of
from .memory_words import MISSING, Form, MemoryWords

__all__ = ["BOOKKEEPING", "MISSING", "Guards", "Snapshot", "array_form", "contents_of", "is_same"]

BOOKKEEPING = frozenset(("_names_checked", "_unnamed", "create_time", "_scope", "_path", "_compiled", "_gradients"))
"""Attributes of a cell that do not affect its results."""

_EQUAL = (bool, int, str, bytes)


def is_same(a: Any, b: Any) -> bool:
    """Return whether two plain values are of one type and equal bit for bit.

    Args:
        a: the first value.
        b: the second value.
    """
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is float:
        return struct.pack("d", a) == struct.pack("d", b)
    if type(a) is complex:
        return struct.pack("dd", a.real, a.imag) == struct.pack("dd", b.real, b.imag)
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if type(a) is tuple:
        return len(a) == len(b) and all(map(is_same, a, b))
    if type(a) in _EQUAL or isinstance(a, np.dtype):
        return bool(a == b)
    return False


@dataclass
class Snapshot:
    """Objects, and their recorded state.

    Attributes:
        names: dictionaries, names in them, and the value of each name; MISSING if absent.
        owners: objects and the dictionaries of their attributes.
        stable_dictionaries: dictionaries among ``names`` that rarely change: of classes, and of modules that are not
            the user's.
        sequences: lists and deques, and their items.
        mappings: dictionaries of values, their keys, their values.
        sets: sets and their items.
        arrays: NumPy arrays, their form, their bytes.
        keys: dictionaries all of whose names matter, and the names.
        cells: closure cells and their contents.
        functions: functions, their code, and their defaults.
        slots: objects, names of attributes that are in no dictionary, and their values.
        classes: objects and their classes.
        abc_token: cache token of the abstract classes' registrations; None if there are none.
    """

    names: list[tuple[dict[str, Any], tuple[str, ...], tuple[Any, ...]]] = field(default_factory=list)
    owners: list[tuple[Any, dict[str, Any]]] = field(default_factory=list)
    stable_dictionaries: list[dict[str, Any]] = field(default_factory=list)
    sequences: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)
    mappings: list[tuple[dict[Any, Any], tuple[Any, ...], tuple[Any, ...]]] = field(default_factory=list)
    sets: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)
    arrays: list[tuple[np.ndarray[Any, Any], tuple[Any, ...], bytes]] = field(default_factory=list)
    keys: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)
    cells: list[tuple[types.CellType, Any]] = field(default_factory=list)
    functions: list[tuple[types.FunctionType, types.CodeType, Any, Any]] = field(default_factory=list)
    slots: list[tuple[Any, str, Any]] = field(default_factory=list)
    classes: list[tuple[Any, type]] = field(default_factory=list)
    abc_token: Any = None

    def changed_names(self) -> list[str]:
        """Return the names whose values changed, then those of containers with other items."""
        place_names = [
            name
            for namespace, names, values in self.names
            for name, value in zip(names, values, strict=True)
            if (current := namespace.get(name, MISSING)) is not value and not is_same(current, value)
        ]
        containers: list[Any] = [entry for entry in self.sequences if not _sequences_hold([entry])]
        containers += [entry for entry in self.mappings if not _Mappings([entry]).hold()]
        containers += [entry for entry in self.sets if not _sets_hold([entry])]
        containers += [entry for entry in self.arrays if not _arrays_hold([entry])]
        containers += [entry for entry in self.cells if not _cells_hold([entry])]
        slot_names = [name for entry, name, value in self.slots if not _slots_hold([(entry, name, value)])]
        changed = {id(entry[0]) for entry in containers}
        names_of_changed = [
            name
            for _, names, values in self.names
            for name, value in zip(names, values, strict=True)
            if id(value) in changed
        ]
        names_of_changed += [
            name
            for function, *_ in self.functions
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            if id(cell) in changed or id(contents_of(cell)) in changed
        ]
        return [*place_names, *slot_names, *names_of_changed]

    def containers(self) -> frozenset[int]:
        """Return the identities of the lists and dictionaries."""
        return frozenset(
            [
                id(container)
                for container in (
                    *[container for container, _ in self.sequences],
                    *[container for container, _, _ in self.mappings],
                )
            ]
        )


class Guards:
    """Check that recorded values are unchanged.

    Args:
        snapshot: the recorded values.
        externals: the tensors that a plan reads, with the Values of their arrays in the trace.
        arguments: the required forms of the arrays of a call's arguments.
    """

    def __init__(
        self, snapshot: Snapshot, externals: Sequence[tuple[Tensor, Value]] = (), arguments: Sequence[Form] = ()
    ) -> None:
        self._arguments = list(arguments)
        self._tensors = [tensor for tensor, _ in externals]
        self._forms = [(type(t._array), value.shape, value.dtype, value.layout) for t, value in externals]
        arrays = [t._array for t in self._tensors]
        self._kinds = [kind for kind, *_ in self._forms]
        self._exact = None if any(map(_is_other, arrays, self._forms)) else list(map(_properties, arrays))
        self._memory_words = MemoryWords(snapshot, list(zip(self._tensors, self._forms, strict=True)), arguments)
        self._checks = _checks(snapshot, frozenset())
        self._uncovered = _checks(snapshot, self._memory_words.covers)

    def hold(self, arrays: Sequence[Any] = ()) -> bool:
        """Return whether all guards hold for a call with these arrays, none of which belongs to an external tensor."""
        if self._memory_words.are_unchanged(arrays):
            return not self._uncovered or all(check() for check in self._uncovered)
        expected = self._arguments
        if len(arrays) != len(expected) or any(map(_is_other, arrays, expected)):
            return False
        numbers = (
            self._memory_words.versions()
        )  # read before the checks, so that a change in between is noticed next time
        if not self.hold_in_full(arrays):
            return False
        self._memory_words.store(numbers)
        return True

    def hold_in_full(self, arrays: Sequence[Any] = ()) -> bool:
        """Return whether all guards but the forms of these arrays hold, by ordinary means alone."""
        external_arrays = list(map(_array_of, self._tensors))
        if not all(map(is_, map(type, external_arrays), self._kinds)):
            return False
        if list(map(_properties, external_arrays)) != self._exact and any(map(_is_other, external_arrays, self._forms)):
            return False
        if not set(map(id, arrays)).isdisjoint(map(id, external_arrays)):
            return False
        return all(check() for check in self._checks)


_array_of = attrgetter("_array")
_properties = attrgetter("shape", "strides", "dtype")


def _is_other(array: np.ndarray[Any, Any], form: Form) -> bool:
    kind, shape, dtype, layout = form
    if type(array) is not kind or array.dtype != dtype or layout_of(array) != layout:
        return True
    return shape is not None and array.shape != shape


def _checks(snapshot: Snapshot, covers: frozenset[int]) -> list[Callable[[], bool]]:
    """Return the checks of all records, except those of these dictionaries and what they imply."""
    checks: list[Callable[[], bool]] = []
    if names := [entry for entry in snapshot.names if id(entry[0]) not in covers]:
        checks.append(_Names(names).hold)
    if mappings := [entry for entry in snapshot.mappings if id(entry[0]) not in covers]:
        checks.append(_Mappings(mappings).hold)
    if owners := [entry for entry in snapshot.owners if id(entry[1]) not in covers]:
        checks.append(_Owners(owners).hold)
    if snapshot.classes and not covers:
        checks.append(_Classes(snapshot.classes).hold)
    checked: list[tuple[Callable[[Any], bool], list[Any]]] = [
        (_keys_hold, [entry for entry in snapshot.keys if id(entry[0]) not in covers]),
        (_sequences_hold, snapshot.sequences),
        (_functions_hold, snapshot.functions if not covers else []),
        (_sets_hold, snapshot.sets),
        (_arrays_hold, snapshot.arrays),
        (_cells_hold, snapshot.cells if not covers else []),
        (_slots_hold, snapshot.slots),
        (_abc_token_holds, [] if snapshot.abc_token is None else [snapshot.abc_token]),
    ]
    return checks + [functools.partial(check, items) for check, items in checked if items]


class _Names:
    """Names in dictionaries; usually each value is the identical object."""

    def __init__(self, names: list[tuple[dict[str, Any], tuple[str, ...], tuple[Any, ...]]]) -> None:
        self._entries = names
        entries = [(d, k, v) for d, ks, vs in names for k, v in zip(ks, vs, strict=True)]
        distinct = list({(id(d), k, id(v)): (d, k, v) for d, k, v in entries}.values())
        present = [entry for entry in distinct if entry[2] is not MISSING]
        absent = [(d, k) for d, k, v in distinct if v is MISSING]
        self._present = tuple(zip(*present, strict=True)) or ((), (), ())
        self._absent = tuple(zip(*absent, strict=True)) or ((), ())

    def hold(self) -> bool:
        try:
            return (
                all(map(is_, map(getitem, *self._present[:2]), self._present[2]))
                and not any(map(contains, *self._absent))
            ) or self._hold_entry_by_entry()
        except KeyError:
            return False

    def _hold_entry_by_entry(self) -> bool:
        for namespace, names, values in self._entries:
            get = namespace.get
            for name, value in zip(names, values, strict=True):
                current = get(name, MISSING)
                if current is not value and not is_same(current, value):
                    return False
        return True


class _Mappings:
    """Dictionaries of values; most are empty."""

    def __init__(self, mappings: list[tuple[dict[Any, Any], tuple[Any, ...], tuple[Any, ...]]]) -> None:
        self._entries = mappings
        self._checks = tuple([mapping for mapping, _, _ in mappings])
        self._lengths = [len(keys) for _, keys, _ in mappings]
        nonempty = [mapping for mapping in mappings if mapping[1]]
        self._nonempty = tuple([mapping for mapping, _, _ in nonempty])
        self._keys = tuple(chain.from_iterable([keys for _, keys, _ in nonempty]))
        self._values = tuple(chain.from_iterable([values for _, _, values in nonempty]))

    def hold(self) -> bool:
        if list(map(len, self._checks)) != self._lengths:
            return False
        if not self._nonempty:
            return True
        keys, values = (
            chain.from_iterable(self._nonempty),
            chain.from_iterable([mapping.values() for mapping in self._nonempty]),
        )
        return (all(map(is_, keys, self._keys)) and all(map(is_, values, self._values))) or self._hold_entry_by_entry()

    def _hold_entry_by_entry(self) -> bool:
        for mapping, keys, values in self._entries:
            for current, key, content, value in zip(mapping, keys, mapping.values(), values, strict=True):
                if not (is_same(current, key) and (content is value or is_same(content, value))):
                    return False
        return True


def _keys_hold(keys: list[tuple[Any, tuple[Any, ...]]]) -> bool:
    return all(
        tuple(mapping) == names or _without_bookkeeping(mapping) == _without_bookkeeping(names)
        for mapping, names in keys
    )


class _Owners:
    """Objects, each of which has the identical dictionary of attributes."""

    def __init__(self, owners: list[tuple[Any, dict[str, Any]]]) -> None:
        self._owners, self._attributes = zip(*owners, strict=True)

    def hold(self) -> bool:
        return all(map(is_, map(vars, self._owners), self._attributes))


class _Classes:
    """Objects, each of which has the identical class."""

    def __init__(self, classes: list[tuple[Any, type]]) -> None:
        self._instances, self._kinds = zip(*classes, strict=True)

    def hold(self) -> bool:
        return all(map(is_, map(type, self._instances), self._kinds))


def _sequences_hold(sequences: list[tuple[Any, tuple[Any, ...]]]) -> bool:
    for sequence, values in sequences:
        if len(sequence) != len(values):
            return False
        for current, value in zip(sequence, values, strict=True):
            if current is not value and not is_same(current, value):
                return False
    return True


def _functions_hold(functions: list[tuple[types.FunctionType, types.CodeType, Any, Any]]) -> bool:
    for function, code, defaults, keywords in functions:
        if function.__code__ is not code or function.__defaults__ is not defaults:
            return False
        if function.__kwdefaults__ is not keywords:
            return False
    return True


def _sets_hold(sets: list[tuple[Any, tuple[Any, ...]]]) -> bool:
    return all(len(content) == len(items) and all(map(is_same, content, items)) for content, items in sets)


def _arrays_hold(arrays: list[tuple[np.ndarray[Any, Any], tuple[Any, ...], bytes]]) -> bool:
    return all(
        array_form(array) == expected_form and array.tobytes() == numbers for array, expected_form, numbers in arrays
    )


def _cells_hold(cells: list[tuple[types.CellType, Any]]) -> bool:
    for cell, value in cells:
        current = contents_of(cell)
        if current is not value and not is_same(current, value):
            return False
    return True


def contents_of(cell: types.CellType) -> Any:
    """Return the contents of a closure cell, MISSING if it is empty.

    Args:
        cell: the cell.
    """
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _slots_hold(slots: list[tuple[Any, str, Any]]) -> bool:
    for owner, name, value in slots:
        current = getattr(owner, name, MISSING)
        if current is not value and not is_same(current, value):
            return False
    return True


def _abc_token_holds(tokens: list[Any]) -> bool:
    return tokens == [abc.get_cache_token()]


def _without_bookkeeping(names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in BOOKKEEPING]


def array_form(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Return the properties of an array other than its numbers."""
    return array.shape, array.dtype, array.strides, array.flags.writeable
