"""Roles of cells: whether a run trains them, or only passes values through them, as through a teacher or a critic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter

    from ..watch.paths import CellPaths

__all__ = ["Roles"]


class Roles:
    """Tracker of the weights that gradient calls ask for.

    Args:
        paths: the cells of the session.
    """

    def __init__(self, paths: CellPaths) -> None:
        self._paths = paths
        self._requested: frozenset[int] | None = None  # ids, in the current gradient call; None outside of one
        self._ever_requested: frozenset[int] = frozenset()
        self._trained_by: dict[frozenset[int], dict[str, bool]] = {}
        self._trained: dict[str, bool] = {}  # of the current run; hashing the set for each value would be quadratic
        self._cells: dict[str, Cell] = {}
        self._count = 0

    def run_began(self) -> None:
        """Begin a run, which is outside a gradient call for weights unless ``differentiating`` follows."""
        self._requested = None
        self._select()

    def differentiating(self, weights: Sequence[Parameter]) -> None:
        """Begin a gradient call for weights."""
        self._requested = frozenset(map(id, weights))
        if not self._requested <= self._ever_requested:
            self._ever_requested |= self._requested
            self._trained_by.clear()
        self._select()

    def _select(self) -> None:
        requested = self._ever_requested if self._requested is None else self._requested
        self._trained = self._trained_by.setdefault(requested, {})

    def trains(self, path: str) -> bool:
        """Return whether the current run trains the cell at a path.

        It does if its gradient call asks for a parameter in the cell or, of a cell without parameters, in the nearest
        cell around it. Outside a gradient call, those that were ever asked for count; before the first call, all.
        """
        requested = self._ever_requested if self._requested is None else self._requested
        if not requested:
            return True
        trained = self._trained.get(path)
        if trained is None:
            trained = self._trained[path] = self._has_any(path, requested)
        return trained

    def _has_any(self, path: str, ids: frozenset[int]) -> bool:
        if self._count != self._paths.count:
            self._cells, self._count = dict(self._paths), self._paths.count
        while True:
            cell = self._cells.get(path)
            parameters = [] if cell is None else [id(parameter) for parameter in cell.get_parameters()]
            if parameters or not path:
                return not parameters or not ids.isdisjoint(parameters)
            path = path.rpartition(".")[0]
