"""The tensors within what functions take and return: through tuples, lists and dictionaries, in order.

A list or a dictionary may be inside itself: where it is come to again it is passed over. Whether it is, is asked only
when Python's stack has run out, since nearly all that passes is a tree.
Of a sparse tensor that is its values: gradients and hooks are about them, and where they are stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from .tensor import Tensor

__all__ = ["Sparse", "direct_places", "gradients_like", "replaced", "tensors_in"]

S = TypeVar("S", bound="Sparse")


class Sparse:
    """Base of the sparse tensors: what a sparse tensor is to code that only looks for the tensors in a value.

    Args:
        values: the elements that are kept, with whatever a class says beside them.
    """

    def __init__(self, values: Tensor) -> None:
        # A tensor of its own around the same array: what is done to the other in place does not show here.
        self._values = Tensor._wrap(values._array)

    @property
    def values(self) -> Tensor:
        """The elements that are kept."""
        return Tensor._wrap(self._values._array)

    def _with_values(self: S, values: Tensor) -> S:
        """The same places with other values."""
        made: S = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        Sparse.__init__(made, values)
        return made


def tensors_in(value: object) -> list[Tensor]:
    """The tensors in a value."""
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


def _in_circles(value: object, around: tuple[int, ...]) -> list[Tensor]:
    """The same of a value inside of others, which are known by their ids."""
    if not isinstance(value, dict | tuple | list):
        return tensors_in(value)
    inside, parts = (*around, id(value)), value.values() if isinstance(value, dict) else value
    return [t for part in parts if id(part) not in inside for t in _in_circles(part, inside)]


def direct_places(values: Iterable[object]) -> list[int]:
    """Which of the tensors in several values, in the order of ``tensors_in``, are values by themselves."""
    found: list[int] = []
    place = 0
    for value in values:
        if isinstance(value, Tensor | Sparse):
            found.append(place)
        place += 0 if value is values else len(tensors_in(value))
    return found


def replaced(value: Any, tensors: list[Tensor], bare: bool = False) -> Any:
    """The value with its tensors replaced in order, taken off the front of ``tensors``.

    Args:
        value: what has tensors in it.
        tensors: those to put in, one for each.
        bare: whether such a tensor takes the place of a sparse tensor too, instead of the place of its values.
    """
    if isinstance(value, Tensor):
        return tensors.pop(0)
    given = tensors.copy()
    try:
        return _replaced_in_tree(value, tensors, bare)
    except (IndexError, RecursionError):  # no tensor is left, or Python's stack has run out
        tensors[:] = given
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


def _replaced_in_circles(value: Any, tensors: list[Tensor], bare: bool, made: dict[int, Any]) -> Any:
    """The same where what is inside itself is so in what is made too: ``made`` has that by the id of what it is for."""
    if id(value) in made:
        return made[id(value)]
    if not isinstance(value, dict | tuple | list):
        return _replaced_in_tree(value, tensors, bare)
    new: Any = type(value)() if type(value) in (dict, list) else value
    made[id(value)] = new
    if isinstance(value, dict):
        parts: Any = [(key, _replaced_in_circles(part, tensors, bare, made)) for key, part in value.items()]
    else:
        parts = [_replaced_in_circles(part, tensors, bare, made) for part in value]
    if new is value:
        new = type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    elif isinstance(new, dict):
        new.update(parts)
    else:
        new.extend(parts)
    del made[id(value)]  # it may stand there again, beside itself, with tensors of its own
    return new


def gradients_like(value: Any, gradients: list[Tensor]) -> Any:
    """Gradients in the structure of the value that they belong to; of a sparse tensor it is a tensor."""
    return replaced(value, gradients, bare=True)
