"""Isolated copy of a cell that can run repeatedly, each time from the same state, without changing the cell.

The copy computes in float64 (complex numbers in complex128) and has no hooks, no mixed precision and no recompute. Each
run starts with the same parameters, buffers, attributes and random state; afterwards the random states of the engine,
of NumPy and of Python are restored.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.nn import Cell
from hookscope.engine.nn.hooking import HOOK_KINDS
from hookscope.engine.nn.snapshots import random_positions, restore_random_positions
from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import Recording
from hookscope.engine.tensors.generator import Generator
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.tensor import Tensor

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter

__all__ = ["EPSILON", "IsolatedCell", "held_cells", "held_tensors", "widened"]

EPSILON = {
    "float64": 2.0**-52,
    "complex128": 2.0**-52,
    "float32": 2.0**-23,
    "complex64": 2.0**-23,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
}
"""Distance from 1 to the next number, by the name of the dtype; other dtypes have no gradient."""


def widened(array: Any) -> Any:
    """Return floating-point numbers as float64, complex ones as complex128, others unchanged."""
    if array.dtype.name not in EPSILON:
        return array
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


class IsolatedCell:
    """Isolated copy, see the module's docstring.

    Args:
        cell: the cell to copy.
        wide: whether to convert the copy's parameters, buffers and other tensors.

    Raises:
        TypeError: the cell cannot be copied.
    """

    def __init__(self, cell: Cell, wide: bool = True) -> None:
        # Hooks are left out of the copy: their closures are not necessarily copyable.
        memo: dict[int, Any] = {id(item._hooks): {kind: {} for kind in HOOK_KINDS} for item in _held(cell, Cell)}
        try:
            self.cell: Cell = copy.deepcopy(cell, memo)
        except Exception as error:  # any exception of a user's attribute when it is copied
            raise TypeError(f"the cell {type(cell).__name__} cannot be copied: {error}") from error
        self.narrowest = "float64"
        self._bprops: list[tuple[Cell, Callable[..., Any]]] = []
        cells = _held(self.cell, Cell)
        for item in cells:
            item.__dict__.update(mixed_precision_type=None, _recompute=None, _saved_tensors_hooks=None)
            if item.has_custom_bprop:
                self._bprops.append((item, self._noting_precision(item.bprop)))
        tensors: list[Tensor] = _held(self.cell, Tensor)
        for tensor in tensors if wide else ():
            tensor._rebind(widened(tensor._array))
        self._attributes = [(item, dict(item.__dict__)) for item in cells]
        self._arrays = [(tensor, tensor._array) for tensor in tensors]
        self._generators = [(item, item._get_position()) for item in _held(self.cell, Generator)]
        self._random_positions = random_positions()

    @property
    def has_bprop(self) -> bool:
        """True if the cell or an inner cell has its own bprop."""
        return bool(self._bprops)

    def parameters(self) -> list[tuple[str, Parameter]]:
        """Return the copy's parameters with their paths."""
        return list(self.cell.parameters_and_names())

    @contextmanager
    def run(self, automatic: bool = False) -> Iterator[Cell]:
        """Yield the copy in its initial state, with ``automatic`` without its bprops, unobserved and unrecorded."""
        previous = random_positions()
        with taps.mute(), np.errstate(all="ignore"):
            try:
                self._start_over(automatic)
                yield self.cell
            finally:
                restore_random_positions(previous)

    def _start_over(self, automatic: bool) -> None:
        for cell, attributes in self._attributes:
            cell.__dict__.clear()
            cell.__dict__.update(attributes)
        for tensor, array in self._arrays:
            tensor._rebind(array)
        for generator, position in self._generators:
            generator._set_position(position)
        for cell, bprop in self._bprops:
            cell.__dict__["bprop"] = None if automatic else bprop
        for cell, _ in self._attributes:
            cell._refresh()
        restore_random_positions(self._random_positions)

    def note_precision(self, recording: Recording) -> None:
        """Set ``narrowest`` to the dtype with the fewest digits in a recording."""
        for _, _, output, _ in recording.nodes:
            for array in output if isinstance(output, tuple) else (output,):
                self._note(array)

    def _note(self, array: Any) -> None:
        name = array.dtype.name
        if EPSILON.get(name, 0.0) > EPSILON[self.narrowest]:
            self.narrowest = name

    def _noting_precision(self, bprop: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*args: Any) -> Any:
            with Recording(tensor._array for tensor in tensors_in(args)) as recording:
                returned = bprop(*args)
            self.note_precision(recording)
            for tensor in tensors_in(returned):
                self._note(tensor._array)
            return returned

        return noting


def held_tensors(cell: Cell) -> list[Tensor]:
    """Return the tensors of a cell and its inner cells, including parameters; each once."""
    return _held(cell, Tensor)


def held_cells(cell: Cell) -> list[Cell]:
    """Return a cell and its inner cells, also those in lists and dictionaries; each once."""
    return _held(cell, Cell)


def _held(cell: Cell, kind: type[Any]) -> list[Any]:
    """Return all objects of a kind in a cell, including itself, also in lists and dictionaries; each once."""
    objects: list[Any] = []
    visited: set[int] = set()

    def look(value: Any) -> None:
        if id(value) in visited:
            return
        visited.add(id(value))
        if isinstance(value, kind):
            objects.append(value)
        if isinstance(value, Cell):
            look(value.__dict__)
        elif isinstance(value, dict):
            for part in tuple(value.values()):
                look(part)
        elif isinstance(value, list | tuple):
            for part in value:
                look(part)

    look(cell)
    return objects
