"""Undo of an abort: the flags, hooks and parameters that changed while the run was paused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ..watch.hooks import SessionHooks

__all__ = ["NetworkState", "TrainingModes", "Undo", "changes_since"]

Undo = Callable[[], None]


class TrainingModes:
    """Training modes of a network's cells."""

    def __init__(self, roots: Iterable[Cell]) -> None:
        self._before = [(cell, cell.training) for root in roots for _, cell in root.cells_and_names()]

    def restore(self) -> None:
        """Restore the modes."""
        for cell, training in self._before:
            if cell.training != training:
                cell.training = training


class NetworkState:
    """State of networks at one moment, as far as the user may change it at a pause."""

    def __init__(self, roots: Iterable[Cell]) -> None:
        cells = {id(cell): cell for root in roots for _, cell in root.cells_and_names()}.values()
        parameters = {
            id(parameter): parameter for cell in cells for parameter in cell.get_parameters(expand=False)
        }.values()
        self._modes = [(cell, cell.training) for cell in cells]
        self._parameters = [(parameter, parameter._array, parameter.requires_grad) for parameter in parameters]
        self._hooks = [(hooks, dict(hooks)) for cell in cells for hooks in cell._hooks.values()]

    def undo(self) -> list[Undo]:
        """Return the undo function of each change since then."""
        undos: list[Undo] = []
        for cell, mode in self._modes:
            if cell.training != mode:
                undos.append(partial(setattr, cell, "training", mode))
        for parameter, array, requires_grad in self._parameters:
            if parameter._array is not array:
                undos.append(partial(parameter._rebind, array))
            if parameter.requires_grad != requires_grad:
                undos.append(partial(setattr, parameter, "requires_grad", requires_grad))
        for hooks, entries in self._hooks:
            if hooks != entries:
                undos.append(partial(_refill, hooks, entries))
        return undos


def _refill(hooks: dict[int, Any], entries: dict[int, Any]) -> None:
    hooks.clear()
    hooks.update(entries)


def changes_since(roots: Iterable[Cell], hooks: SessionHooks) -> Callable[[], list[Undo]]:
    """Return a function that returns the undo functions of later changes to networks and to the session's hooks."""
    state, attached = NetworkState(roots), hooks.state()

    def undo() -> list[Undo]:
        hook_undo = [] if hooks.state() == attached else [partial(hooks.go_back_to, attached)]
        return [*state.undo(), *hook_undo]

    return undo
