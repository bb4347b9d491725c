"""Whether the values that a function's code reads are still what they were.

``Found`` is what was found, beside the places where it stood; ``Holding`` asks whether it still stands there. To ask
a network of fifty cells takes a thousand look-ups, so ``words.py`` first compares words of memory that change with
the dictionaries, where there are such; only if one differs is everything asked.
"""

from __future__ import annotations

import abc
import functools
import struct
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import contains, getitem, is_
from typing import Any

import numpy as np

from ..tensors.tensor import Tensor
from .graph import Value
from .traced_array import layout_of
from .words import MISSING, Form, Words

__all__ = ["BOOKKEEPING", "MISSING", "Found", "Holding", "form", "held_by", "same"]

BOOKKEEPING = frozenset(("_names_checked", "_unnamed", "create_time", "_scope", "_path", "_compiled", "_gradients"))
"""Attributes of a cell that change without changing what it computes."""

_EQUAL = (bool, int, str, bytes)


def same(a: Any, b: Any) -> bool:
    """Whether two plain values are the same: of one type, and equal bit for bit.

    Args:
        a: a value.
        b: another one.
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
        return len(a) == len(b) and all(map(same, a, b))
    if type(a) in _EQUAL or isinstance(a, np.dtype):
        return bool(a == b)
    return False


@dataclass
class Found:
    """Objects, and what of them is as it must be.

    Attributes:
        places: dictionaries, names in them, and what stood under each; MISSING where nothing did.
        owners: objects and the dictionaries of their attributes.
        steady: dictionaries among the places that hardly ever change: of classes, of modules that are not the user's.
        sequences: lists and deques, and what was in them.
        mappings: dictionaries of values, their keys, their values.
        sets: sets and their items.
        arrays: NumPy arrays, their form, their bytes.
        keys: dictionaries all of whose names matter, and the names.
        cells: variables of closures, and what they held.
        functions: functions, their code, and their defaults.
        slots: objects, names of attributes that are in no dictionary, and their values.
        classes: objects and their classes.
        registered: of abstract classes, which others count as theirs; None where there are none.
    """

    places: list[tuple[dict[str, Any], tuple[str, ...], tuple[Any, ...]]] = field(default_factory=list)
    owners: list[tuple[Any, dict[str, Any]]] = field(default_factory=list)
    steady: list[dict[str, Any]] = field(default_factory=list)
    sequences: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)
    mappings: list[tuple[dict[Any, Any], tuple[Any, ...], tuple[Any, ...]]] = field(default_factory=list)
    sets: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)
    arrays: list[tuple[np.ndarray[Any, Any], tuple[Any, ...], bytes]] = field(default_factory=list)
    keys: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)
    cells: list[tuple[types.CellType, Any]] = field(default_factory=list)
    functions: list[tuple[types.FunctionType, types.CodeType, Any, Any]] = field(default_factory=list)
    slots: list[tuple[Any, str, Any]] = field(default_factory=list)
    classes: list[tuple[Any, type]] = field(default_factory=list)
    registered: Any = None

    def changed_names(self) -> list[str]:
        """Return the names under which something else stands by now, then those of containers with other items."""
        of_places = [
            name
            for held, names, values in self.places
            for name, value in zip(names, values, strict=True)
            if (now := held.get(name, MISSING)) is not value and not same(now, value)
        ]
        others: list[Any] = [one for one in self.sequences if not _sequences_hold([one])]
        others += [one for one in self.mappings if not _Mappings([one]).hold()]
        others += [one for one in self.sets if not _sets_hold([one])]
        others += [one for one in self.arrays if not _arrays_hold([one])]
        others += [one for one in self.cells if not _cells_hold([one])]
        of_slots = [name for one, name, value in self.slots if not _slots_hold([(one, name, value)])]
        changed = {id(one[0]) for one in others}
        holding = [
            name
            for _, names, values in self.places
            for name, value in zip(names, values, strict=True)
            if id(value) in changed
        ]
        holding += [
            name
            for function, *_ in self.functions
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            if id(cell) in changed or id(held_by(cell)) in changed
        ]
        return [*of_places, *of_slots, *holding]

    def containers(self) -> frozenset[int]:
        """The identities of the lists and dictionaries."""
        return frozenset([id(one) for one in (*[x for x, _ in self.sequences], *[x for x, _, _ in self.mappings])])


class Holding:
    """Asks whether what was found still holds.

    Args:
        found: what was found.
        externals: the tensors that a plan reads, with the Values that their arrays were in the trace.
        arguments: the forms that the arrays of a call's arguments must have.
    """

    def __init__(
        self, found: Found, externals: Sequence[tuple[Tensor, Value]] = (), arguments: Sequence[Form] = ()
    ) -> None:
        self._arguments = list(arguments)
        self._tensors = [tensor for tensor, _ in externals]
        self._forms = [(type(t._array), value.shape, value.dtype, value.layout) for t, value in externals]
        self._words = Words(found, list(zip(self._tensors, self._forms, strict=True)), arguments)
        self._all = _checks(found, frozenset())
        self._others = _checks(found, self._words.covers)

    def hold(self, arrays: Sequence[Any] = ()) -> bool:
        """Whether everything is what it was, for a call with these arrays, of which none is one of the tensors'."""
        if self._words.same(arrays):
            return not self._others or all(check() for check in self._others)
        wanted = self._arguments
        if len(arrays) != len(wanted) or any(map(_is_other, arrays, wanted)):
            return False
        numbers = self._words.read()  # before everything is asked: what changes meanwhile is seen the next time
        others = [t._array for t in self._tensors]
        if any(map(_is_other, others, self._forms)) or not set(map(id, arrays)).isdisjoint(map(id, others)):
            return False
        if not all(check() for check in self._all):
            return False
        self._words.keep(numbers)
        return True


def _is_other(array: np.ndarray[Any, Any], form: Form) -> bool:
    kind, shape, dtype, layout = form
    if type(array) is not kind or array.dtype != dtype or layout_of(array) != layout:
        return True
    return shape is not None and array.shape != shape


def _checks(found: Found, covers: frozenset[int]) -> list[Callable[[], bool]]:
    """What asks for all that was found, but for these dictionaries and what comes with them."""
    made: list[Callable[[], bool]] = []
    if places := [one for one in found.places if id(one[0]) not in covers]:
        made.append(_Places(places).hold)
    if mappings := [one for one in found.mappings if id(one[0]) not in covers]:
        made.append(_Mappings(mappings).hold)
    checked: list[tuple[Callable[[Any], bool], list[Any]]] = [
        (_keys_hold, [one for one in found.keys if id(one[0]) not in covers]),
        (_owners_hold, [one for one in found.owners if id(one[1]) not in covers]),
        (_classes_hold, found.classes if not covers else []),
        (_sequences_hold, found.sequences),
        (_functions_hold, found.functions if not covers else []),
        (_sets_hold, found.sets),
        (_arrays_hold, found.arrays),
        (_cells_hold, found.cells if not covers else []),
        (_slots_hold, found.slots),
        (_registered_hold, [] if found.registered is None else [found.registered]),
    ]
    return made + [functools.partial(check, items) for check, items in checked if items]


class _Places:
    """Names in dictionaries: most of the time under each is the very object that was there."""

    def __init__(self, places: list[tuple[dict[str, Any], tuple[str, ...], tuple[Any, ...]]]) -> None:
        self._slow = places
        present = [(d, k, v) for d, ks, vs in places for k, v in zip(ks, vs, strict=True) if v is not MISSING]
        absent = [(d, k) for d, ks, vs in places for k, v in zip(ks, vs, strict=True) if v is MISSING]
        self._present = tuple(zip(*present, strict=True)) or ((), (), ())
        self._absent = tuple(zip(*absent, strict=True)) or ((), ())

    def hold(self) -> bool:
        try:
            return (
                all(map(is_, map(getitem, *self._present[:2]), self._present[2]))
                and not any(map(contains, *self._absent))
            ) or self._hold_slowly()
        except KeyError:
            return False

    def _hold_slowly(self) -> bool:
        for held, names, values in self._slow:
            get = held.get
            for name, value in zip(names, values, strict=True):
                now = get(name, MISSING)
                if now is not value and not same(now, value):
                    return False
        return True


class _Mappings:
    """Dictionaries of values; most of them are empty."""

    def __init__(self, mappings: list[tuple[dict[Any, Any], tuple[Any, ...], tuple[Any, ...]]]) -> None:
        self._slow = mappings
        self._all = tuple([one for one, _, _ in mappings])
        self._lengths = [len(keys) for _, keys, _ in mappings]
        some = [one for one in mappings if one[1]]
        self._some = tuple([one for one, _, _ in some])
        self._keys = tuple(chain.from_iterable([keys for _, keys, _ in some]))
        self._values = tuple(chain.from_iterable([values for _, _, values in some]))

    def hold(self) -> bool:
        if list(map(len, self._all)) != self._lengths:
            return False
        if not self._some:
            return True
        keys, values = chain.from_iterable(self._some), chain.from_iterable([one.values() for one in self._some])
        return (all(map(is_, keys, self._keys)) and all(map(is_, values, self._values))) or self._hold_slowly()

    def _hold_slowly(self) -> bool:
        for mapping, keys, values in self._slow:
            for now, key, present, value in zip(mapping, keys, mapping.values(), values, strict=True):
                if not (same(now, key) and (present is value or same(present, value))):
                    return False
        return True


def _keys_hold(keys: list[tuple[Any, tuple[Any, ...]]]) -> bool:
    return all(tuple(held) == names or _kept(held) == _kept(names) for held, names in keys)


def _owners_hold(owners: list[tuple[Any, dict[str, Any]]]) -> bool:
    return all(vars(one) is held for one, held in owners)


def _classes_hold(classes: list[tuple[Any, type]]) -> bool:
    return all(type(one) is kind for one, kind in classes)


def _sequences_hold(sequences: list[tuple[Any, tuple[Any, ...]]]) -> bool:
    for sequence, values in sequences:
        if len(sequence) != len(values):
            return False
        for now, value in zip(sequence, values, strict=True):
            if now is not value and not same(now, value):
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
    return all(len(one) == len(items) and all(map(same, one, items)) for one, items in sets)


def _arrays_hold(arrays: list[tuple[np.ndarray[Any, Any], tuple[Any, ...], bytes]]) -> bool:
    return all(form(array) == its_form and array.tobytes() == numbers for array, its_form, numbers in arrays)


def _cells_hold(cells: list[tuple[types.CellType, Any]]) -> bool:
    for cell, value in cells:
        now = held_by(cell)
        if now is not value and not same(now, value):
            return False
    return True


def held_by(cell: types.CellType) -> Any:
    """Return what a variable of a closure holds, MISSING where it is empty as yet.

    Args:
        cell: the variable.
    """
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _slots_hold(slots: list[tuple[Any, str, Any]]) -> bool:
    for one, name, value in slots:
        now = getattr(one, name, MISSING)
        if now is not value and not same(now, value):
            return False
    return True


def _registered_hold(tokens: list[Any]) -> bool:
    return tokens == [abc.get_cache_token()]


def _kept(names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in BOOKKEEPING]


def form(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """What of an array is not its numbers."""
    return array.shape, array.dtype, array.strides, array.flags.writeable
