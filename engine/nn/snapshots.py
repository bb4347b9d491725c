"""Side effects of user code that runs only for inspection, or a second time: saved and restored.

These are the random numbers of the engine, of NumPy and of Python, and the contents of the cells, tensors and random
number generators among some values. ``cell(value)`` updates running statistics and draws a mask, and the run must not
see that twice. The contents of a cell include lists, dictionaries, sets, NumPy arrays and attributes of objects. Other
objects, such as a list outside of cells, are not restored; nor are settings of the process.
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

__all__ = ["Snapshot", "random_positions", "restore_random_positions", "run_and_restore"]

_PLAIN = {bool, int, float, complex, str, bytes, type(None), type, ModuleType, FunctionType}


_OF_THE_PROCESS: list[tuple[Callable[[], Any], Callable[[Any], object]]] = [
    (random.position, random.go_to),
    (lambda: np.random.get_state(), lambda state: np.random.set_state(state)),  # NumPy imports it on first use
    (python_random.getstate, python_random.setstate),
]
"""Getters and setters of the positions of the random numbers of the engine, of NumPy and of Python."""


def random_positions() -> list[Any]:
    """Return the positions of the random numbers of the engine, of NumPy and of Python."""
    return [get_position() for get_position, _ in _OF_THE_PROCESS]


def restore_random_positions(positions: list[Any]) -> None:
    """Restore the positions of the random numbers.

    Args:
        positions: the result of ``random_positions``.
    """
    for (get_position, set_position), position in zip(_OF_THE_PROCESS, positions, strict=True):
        _set_if_changed(get_position, set_position, position)


def _set_if_changed(get_position: Callable[[], Any], set_position: Callable[[Any], object], position: Any) -> None:
    if not _is_same_position(get_position(), position):  # another thread may draw meanwhile: do not reset it needlessly
        set_position(position)


def run_and_restore(function: Callable[[], Any], values: Iterable[object]) -> tuple[Any, bool]:
    """Run a function, and restore what it changed.

    Args:
        function: the function.
        values: the values that it may use.

    Returns:
        Its result, as a separate tensor if that is one that is restored; and whether anything other than random numbers
        was restored.

    Raises:
        Exception: any error of the function.
    """
    snapshot, changed = Snapshot(values), False
    try:
        returned = function()
        if isinstance(returned, Tensor) and snapshot.has_changed(returned):
            returned = Tensor._wrap(returned._array)
    finally:
        changed = snapshot.restore()
    return returned, changed


class Snapshot:
    """Current contents of some values, and positions of the random numbers.

    Args:
        values: the values.
    """

    def __init__(self, values: Iterable[object]) -> None:
        self._tensors: dict[int, tuple[Tensor, Any, Any]] = {}
        self._parameters: list[tuple[Parameter, bool, str]] = []
        self._hooked: list[tuple[Tensor, dict[int, Any] | None]] = []
        self._containers: list[tuple[Any, Any]] = []
        self._arrays: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        self._random: list[tuple[Callable[[], Any], Callable[[Any], object], Any]] = []
        for get_position, set_position in _OF_THE_PROCESS:
            self._store_position(get_position, set_position)
        self._collect(values)

    def _collect(self, values: Iterable[object]) -> None:
        ids: set[int] = set()
        stack: list[tuple[Any, bool]] = [(value, False) for value in values]
        while stack:
            value, in_cell = stack.pop()
            if id(value) in ids:
                continue
            ids.add(id(value))
            kind = type(value)  # not ``__class__`` of a proxy, whose object may be freed
            if issubclass(kind, CellBase):
                stack.append((vars(value), True))
            elif issubclass(kind, Tensor):
                self._store_tensor(value)
            elif issubclass(kind, Sparse):
                self._store_tensor(value._values)
            elif issubclass(kind, dict | list | tuple | set | deque):
                if in_cell and not issubclass(kind, tuple):
                    plain = next(base for base in (dict, list, set, deque) if issubclass(kind, base))
                    self._containers.append((value, plain(value)))
                parts = value.values() if issubclass(kind, dict) else value
                stack += [(part, in_cell) for part in parts if type(part) not in _PLAIN]
            elif issubclass(kind, np.ndarray):
                if in_cell and not value.dtype.hasobject:
                    self._arrays.append((value, value.copy()))
            elif not self._store_generator(value) and in_cell and not is_of_the_engine(kind):
                with suppress(AttributeError):  # an object without attributes
                    stack.append((object.__getattribute__(value, "__dict__"), True))

    def _store_tensor(self, tensor: Tensor) -> None:
        """Store the arrays of a tensor and of those that share its elements: the tape identifies them by these."""
        root = tensor if tensor._view is None or not tensor._view.is_part else tensor._view.root_or_reference
        for tensor_or_view in (tensor, root, *[reference() for reference in root._views or ()]):
            if tensor_or_view is not None:
                self._tensors[id(tensor_or_view)] = tensor_or_view, tensor_or_view._array, tensor_or_view._view
        hooks = tensor._gradient_hooks
        self._hooked.append((tensor, None if hooks is None else dict(hooks)))
        if isinstance(tensor, Parameter):
            self._parameters.append((tensor, tensor.requires_grad, tensor.name))

    def _store_generator(self, value: Any) -> bool:
        """Store the position of a random number generator; return whether it is one."""
        kind = type(value)
        if issubclass(kind, Generator):
            self._store_position(value._get_position, value._set_position)
        elif issubclass(kind, np.random.Generator):
            bits = value.bit_generator
            self._store_position(lambda: bits.state, lambda state: setattr(bits, "state", state))
        elif issubclass(kind, np.random.RandomState):
            self._store_position(value.get_state, value.set_state)
        elif kind is python_random.Random:
            self._store_position(value.getstate, value.setstate)
        else:
            return False
        return True

    def _store_position(self, get_position: Callable[[], Any], set_position: Callable[[Any], object]) -> None:
        self._random.append((get_position, set_position, get_position()))

    def has_changed(self, tensor: Tensor) -> bool:
        """Return whether a tensor is one of them, and has been rebound since."""
        entry = self._tensors.get(id(tensor))
        return entry is not None and entry[1] is not tensor._array

    def restore(self) -> bool:
        """Restore everything; return whether anything other than random numbers had changed."""
        for get_position, set_position, position in self._random:
            _set_if_changed(get_position, set_position, position)
        changed = False
        for tensor, array, view in self._tensors.values():
            if tensor._array is not array:
                # Not by ``_rebind``, which propagates values: the others get their own arrays back, too.
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
        for current, previous in self._arrays:
            if current.tobytes() != previous.tobytes() and current.shape == previous.shape:
                current[...], changed = previous, True
        for container, previous in self._containers:
            changed = _refill(container, previous) or changed
        return changed


def _is_same_position(first: Any, second: Any) -> bool:
    """Return whether two positions of a generator are the same; NumPy's are tuples or dictionaries with arrays."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(
            _is_same_position(part, second[key]) for key, part in first.items()
        )
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(_is_same_position, first, second))
    return bool(np.array_equal(first, second)) if isinstance(first, np.ndarray) else bool(first == second)


def _refill(container: Any, before: Any) -> bool:
    """Restore the entries of a container; return whether they had changed."""
    if isinstance(container, dict):
        same = list(container) == list(before)
        if same and all(container[key] is value for key, value in before.items()):
            return False
        base = OrderedDict if isinstance(container, OrderedDict) else dict  # Members would update its cell for each
        if not same:
            base.clear(container)
        for key, value in before.items():
            base.__setitem__(container, key, value)
    elif len(container) == len(before) and all(
        entry is previous for entry, previous in zip(container, before, strict=True)
    ):
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
