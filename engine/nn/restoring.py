"""What code of the user's that runs only to look, or once more, changes of the run, to be put back.

That is the random numbers of the engine, of NumPy and of Python, and what the cells, tensors and generators of random
numbers among some values hold. ``cell(value)`` moves statistics along and draws a mask, and the run must not see that
twice. Of what a cell holds that is lists, dictionaries, sets, NumPy's arrays and the attributes of objects, too. Other
objects are the user's own, as a list that is no cell's; so are settings of the process.
"""

from __future__ import annotations

import random as python_random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..base.module_names import is_of_the_engine
from ..tensors import random
from ..tensors.generator import Generator
from ..tensors.nested import Sparse
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor
from .members import CellBase

__all__ = ["Held", "go_to_places", "looking", "random_places"]

_PLAIN = {bool, int, float, complex, str, bytes, type(None), type, ModuleType, FunctionType}


_OF_THE_PROCESS: list[tuple[Callable[[], Any], Callable[[Any], object]]] = [
    (random.position, random.go_to),
    (lambda: np.random.get_state(), lambda state: np.random.set_state(state)),  # NumPy imports it on first use
    (python_random.getstate, python_random.setstate),
]
"""Where the random numbers of the engine, of NumPy and of Python stand, and what takes them there."""


def random_places() -> list[Any]:
    """Return where the random numbers of the engine, of NumPy and of Python stand, for ``go_to_places``."""
    return [stands_at() for stands_at, _ in _OF_THE_PROCESS]


def go_to_places(places: list[Any]) -> None:
    """Let the random numbers go on from where they stood.

    Args:
        places: what ``random_places`` returned.
    """
    for (stands_at, go_to), place in zip(_OF_THE_PROCESS, places, strict=True):
        _go_back(stands_at, go_to, place)


def _go_back(stands_at: Callable[[], Any], go_to: Callable[[Any], object], place: Any) -> None:
    if not _same(stands_at(), place):  # another thread may draw meanwhile: it is not turned back in vain
        go_to(place)


def looking(function: Callable[[], Any], named: Iterable[object]) -> tuple[Any, bool]:
    """Run a function, and put back what it changed.

    Args:
        function: what to run.
        named: the values that it may use.

    Returns:
        What it returned, in a tensor of its own if that is one that is put back; and whether something was put back
        other than random numbers.

    Raises:
        Exception: whatever the function raises.
    """
    held, changed = Held(named), False
    try:
        returned = function()
        if isinstance(returned, Tensor) and held.has_changed(returned):
            returned = Tensor._wrap(returned._array)
    finally:
        changed = held.put_back()
    return returned, changed


class Held:
    """What some values hold now, and where the random numbers stand.

    Args:
        named: the values.
    """

    def __init__(self, named: Iterable[object]) -> None:
        self._tensors: dict[int, tuple[Tensor, Any, Any]] = {}
        self._parameters: list[tuple[Parameter, bool, str]] = []
        self._hooked: list[tuple[Tensor, dict[int, Any] | None]] = []
        self._containers: list[tuple[Any, Any]] = []
        self._arrays: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        self._random: list[tuple[Callable[[], Any], Callable[[Any], object], Any]] = []
        for stands_at, go_to in _OF_THE_PROCESS:
            self._keep_place(stands_at, go_to)
        self._look(named)

    def _look(self, named: Iterable[object]) -> None:
        seen: set[int] = set()
        left: list[tuple[Any, bool]] = [(value, False) for value in named]
        while left:
            value, in_cell = left.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            kind = type(value)  # not what a proxy says, whose object may be gone
            if issubclass(kind, CellBase):
                left.append((vars(value), True))
            elif issubclass(kind, Tensor):
                self._keep(value)
            elif issubclass(kind, Sparse):
                self._keep(value._values)
            elif issubclass(kind, dict | list | tuple | set | deque):
                if in_cell and not issubclass(kind, tuple):
                    plain = next(one for one in (dict, list, set, deque) if issubclass(kind, one))
                    self._containers.append((value, plain(value)))
                parts = value.values() if issubclass(kind, dict) else value
                left += [(part, in_cell) for part in parts if type(part) not in _PLAIN]
            elif issubclass(kind, np.ndarray):
                if in_cell and not value.dtype.hasobject:
                    self._arrays.append((value, value.copy()))
            elif not self._keep_generator(value) and in_cell and not is_of_the_engine(kind):
                with suppress(AttributeError):  # an object without attributes
                    left.append((object.__getattribute__(value, "__dict__"), True))

    def _keep(self, tensor: Tensor) -> None:
        """Of a tensor and those that share its elements: their arrays, which are what the tape knows them by."""
        root = tensor if tensor._view is None or not tensor._view.is_part else tensor._view.held
        for one in (tensor, root, *[reference() for reference in root._views or ()]):
            if one is not None:
                self._tensors[id(one)] = one, one._array, one._view
        hooks = tensor._gradient_hooks
        self._hooked.append((tensor, None if hooks is None else dict(hooks)))
        if isinstance(tensor, Parameter):
            self._parameters.append((tensor, tensor.requires_grad, tensor.name))

    def _keep_generator(self, value: Any) -> bool:
        """Keep where a generator of random numbers stands; returns whether it is one."""
        kind = type(value)
        if issubclass(kind, Generator):
            self._keep_place(value._stands_at, value._go_to)
        elif issubclass(kind, np.random.Generator):
            bits = value.bit_generator
            self._keep_place(lambda: bits.state, lambda state: setattr(bits, "state", state))
        elif issubclass(kind, np.random.RandomState):
            self._keep_place(value.get_state, value.set_state)
        elif kind is python_random.Random:
            self._keep_place(value.getstate, value.setstate)
        else:
            return False
        return True

    def _keep_place(self, stands_at: Callable[[], Any], go_to: Callable[[Any], object]) -> None:
        self._random.append((stands_at, go_to, stands_at()))

    def has_changed(self, tensor: Tensor) -> bool:
        """Whether a tensor is one of them, and has another array by now."""
        kept = self._tensors.get(id(tensor))
        return kept is not None and kept[1] is not tensor._array

    def put_back(self) -> bool:
        """Let all be as it was; returns whether something other than random numbers was not."""
        for stands_at, go_to, place in self._random:
            _go_back(stands_at, go_to, place)
        changed = False
        for tensor, array, view in self._tensors.values():
            if tensor._array is not array:
                # Not by ``_rebind``, which hands on values: the others have their own arrays back, too.
                tensor._array, tensor._view, changed = array, view, True
        for parameter, trained, name in self._parameters:
            if (parameter.requires_grad, parameter.name) != (trained, name):
                parameter.requires_grad, parameter.name, changed = trained, name, True
        for tensor, hooks in self._hooked:
            now = tensor._gradient_hooks
            if now is not None and now != (hooks or {}):
                now.clear()
                now.update(hooks or {})
                changed = True
        for array_now, before in self._arrays:
            if array_now.tobytes() != before.tobytes() and array_now.shape == before.shape:
                array_now[...], changed = before, True
        for container, before in self._containers:
            changed = _refilled(container, before) or changed
        return changed


def _same(one: Any, other: Any) -> bool:
    """Return whether two places of a generator are the same; NumPy gives them as tuples or dictionaries with arrays."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(part, other[key]) for key, part in one.items())
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(np.array_equal(one, other)) if isinstance(one, np.ndarray) else bool(one == other)


def _refilled(container: Any, before: Any) -> bool:
    """Put into a container what it held; returns whether it held something else."""
    if isinstance(container, dict):
        same = list(container) == list(before)
        if same and all(container[key] is value for key, value in before.items()):
            return False
        base = OrderedDict if isinstance(container, OrderedDict) else dict  # Members would tell its cell of each
        if not same:
            base.clear(container)
        for key, value in before.items():
            base.__setitem__(container, key, value)
    elif len(container) == len(before) and all(one is other for one, other in zip(container, before, strict=True)):
        return False
    elif isinstance(container, list):
        container[:] = before
    elif isinstance(container, deque):
        container.clear()
        container.extend(before)
    else:
        container.clear()
        container.update(before)
    return True
