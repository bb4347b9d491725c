"""Owners of parameters: the first cell of the session that has a parameter, and its name there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["Owner", "Owners", "owners_in"]


class Owner(NamedTuple):
    """A parameter, its cell, and the paths of both."""

    path: str
    name: str
    cell: Cell
    parameter: Parameter


def owners_in(cells: Iterable[tuple[str, Cell]]) -> Iterator[Owner]:
    """Yield the owner of each parameter, in the order of the cells."""
    visited: set[int] = set()
    for path, cell in cells:
        for name, parameter in cell._params.items():
            if parameter is not None and id(parameter) not in visited:
                visited.add(id(parameter))
                yield Owner(path, f"{path}.{name}" if path else name, cell, parameter)


class Owners:
    """Owners of all parameters that the cells of a session have or had.

    Args:
        cells: the paths and cells of the session.
    """

    def __init__(self, cells: Iterable[tuple[str, Cell]]) -> None:
        self._cells = cells
        self._known: dict[int, Owner] = {}  # by the parameter's id, which the owner keeps valid

    def of(self, parameter: Parameter) -> Owner | None:
        """Return the owner of a parameter; None if no cell of the session has it."""
        owner = self._known.get(id(parameter))
        if owner is None or owner.parameter is not parameter:
            owner = self.all().get(id(parameter))
        return owner

    def all(self) -> dict[int, Owner]:
        """Return every owner, by the parameter's id, as a copy: another thread may add more meanwhile."""
        for owner in owners_in(self._cells):
            self._known.setdefault(id(owner.parameter), owner)
        return self._known.copy()

    def gradients(self, pairs: list[tuple[Parameter, Tensor | None]]) -> Iterator[tuple[str, str, Tensor]]:
        """Yield the gradients of the session's parameters, with the path of the cell and of the parameter."""
        for parameter, gradient in pairs:
            owner = None if gradient is None else self.of(parameter)
            if owner is not None and gradient is not None:
                yield owner.path, owner.name, gradient
