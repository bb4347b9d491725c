"""Tensors inside arguments and results of functions: through tuples, lists and dictionaries, in order.

A list or a dictionary may contain itself: its second occurrence is skipped. This is checked only on a recursion error,
since nearly all values are trees.
For a sparse tensor these are its values: gradients and hooks concern them, and their positions stay fixed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from .tensor import Tensor

__all__ = ["Sparse", "direct_positions", "gradients_like", "replaced", "tensors_in"]

S = TypeVar("S", bound="Sparse")


class Sparse:
    """Base of the sparse tensors, for code that only looks for the tensors in a value.

    Args:
        values: the stored elements; subclasses add their own state.
    """

    def __init__(self, values: Tensor) -> None:
        # A separate tensor of the same array: in-place operations on the other do not affect it.
        self._values = Tensor._wrap(values._array)

    @property
    def values(self) -> Tensor:
        """The stored elements."""
        return Tensor._wrap(self._values._array)

    def _with_values(self: S, values: Tensor) -> S:
        """Return the same positions with other values."""
        result: S = object.__new__(type(self))
        result.__dict__.update(self.__dict__)
        Sparse.__init__(result, values)
        return result


def tensors_in(value: object) -> list[Tensor]:
    """Return the tensors in a value."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, tuple | list):
        try:
            return [t for part in value for t in _in_tree(part)]
        except RecursionError:
            return _in_circles(value, ())
    if isinstance(value, dict):
        try:
            return _in_tree(value)
        except RecursionError:
            return _in_circles(value, ())
    return [value.values] if isinstance(value, Sparse) else []


def _in_tree(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, tuple | list):
        return [t for part in value for t in _in_tree(part)]
    if isinstance(value, dict):
        return [t for part in value.values() for t in _in_tree(part)]
    return [value.values] if isinstance(value, Sparse) else []


def _in_circles(value: object, outer_ids: tuple[int, ...]) -> list[Tensor]:
    """Return the tensors in a value inside of others, which are identified by their ids."""
    if not isinstance(value, dict | tuple | list):
        return tensors_in(value)
    ids, parts = (*outer_ids, id(value)), value.values() if isinstance(value, dict) else value
    return [t for part in parts if id(part) not in ids for t in _in_circles(part, ids)]


def direct_positions(values: Iterable[object]) -> list[int]:
    """Return the positions of bare tensors in several values, counted in the order of ``tensors_in``."""
    positions: list[int] = []
    position = 0
    for value in values:
        if isinstance(value, Tensor | Sparse):
            positions.append(position)
        position += 0 if value is values else len(tensors_in(value))
    return positions


def replaced(value: Any, tensors: list[Tensor], bare: bool = False) -> Any:
    """Return the value with its tensors replaced in order, taken from the front of ``tensors``.

    Args:
        value: the value that contains tensors.
        tensors: the replacements, one for each.
        bare: whether a replacement replaces a sparse tensor itself, not its values.
    """
    if isinstance(value, Tensor):
        return tensors.pop(0)
    remaining = tensors.copy()
    try:
        return _replaced_in_tree(value, tensors, bare)
    except (IndexError, RecursionError):  # no tensor is left, or a recursion error
        tensors[:] = remaining
        return _replaced_in_circles(value, tensors, bare, {})


def _replaced_in_tree(value: Any, tensors: list[Tensor], bare: bool) -> Any:
    if isinstance(value, Tensor):
        return tensors.pop(0)
    if isinstance(value, dict):
        return type(value)([(key, _replaced_in_tree(part, tensors, bare)) for key, part in value.items()])
    if isinstance(value, tuple | list):
        parts = [_replaced_in_tree(part, tensors, bare) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, Sparse):
        return tensors.pop(0) if bare else value._with_values(tensors.pop(0))
    return value


def _replaced_in_circles(value: Any, tensors: list[Tensor], bare: bool, new_containers: dict[int, Any]) -> Any:
    """Return the same for a value that contains itself; ``new_containers``: by the ids of the old ones."""
    if id(value) in new_containers:
        return new_containers[id(value)]
    if not isinstance(value, dict | tuple | list):
        return _replaced_in_tree(value, tensors, bare)
    new: Any = type(value)() if type(value) in (dict, list) else value
    new_containers[id(value)] = new
    if isinstance(value, dict):
        parts: Any = [(key, _replaced_in_circles(part, tensors, bare, new_containers)) for key, part in value.items()]
    else:
        parts = [_replaced_in_circles(part, tensors, bare, new_containers) for part in value]
    if new is value:
        new = type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    elif isinstance(new, dict):
        new.update(parts)
    else:
        new.extend(parts)
    del new_containers[id(value)]  # it may occur again, beside itself, with other tensors
    return new


def gradients_like(value: Any, gradients: list[Tensor]) -> Any:
    """Return gradients in the structure of the value that they belong to; a bare tensor for a sparse one."""
    return replaced(value, gradients, bare=True)
