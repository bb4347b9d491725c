"""What an abort undoes: the flags, hooks and parameters that changed while the run was paused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ..watch.hooks import SessionHooks

__all__ = ["NetworkState", "TrainingModes", "changes_since"]

Undo = Callable[[], None]


class TrainingModes:
    """Which of a network's cells were in training."""

    def __init__(self, roots: Iterable[Cell]) -> None:
        self._before = [(cell, cell.training) for root in roots for _, cell in root.cells_and_names()]

    def restore(self) -> None:
        """Make it so again."""
        for cell, training in self._before:
            if cell.training != training:
                cell.training = training


class NetworkState:
    """How networks were at one moment, as far as a person may change them while the run is paused."""

    def __init__(self, roots: Iterable[Cell]) -> None:
        cells = {id(cell): cell for root in roots for _, cell in root.cells_and_names()}.values()
        parameters = {id(p): p for cell in cells for p in cell.get_parameters(expand=False)}.values()
        self._modes = [(cell, cell.training) for cell in cells]
        self._parameters = [(p, p._array, p.requires_grad) for p in parameters]
        self._hooks = [(hooks, dict(hooks)) for cell in cells for hooks in cell._hooks.values()]

    def undo(self) -> list[Undo]:
        """What undoes each change since then."""
        found: list[Undo] = []
        for cell, mode in self._modes:
            if cell.training != mode:
                found.append(partial(setattr, cell, "training", mode))
        for parameter, array, wanted in self._parameters:
            if parameter._array is not array:
                found.append(partial(parameter._rebind, array))
            if parameter.requires_grad != wanted:
                found.append(partial(setattr, parameter, "requires_grad", wanted))
        for hooks, entries in self._hooks:
            if hooks != entries:
                found.append(partial(_refill, hooks, entries))
        return found


def _refill(hooks: dict[int, Any], entries: dict[int, Any]) -> None:
    hooks.clear()
    hooks.update(entries)


def changes_since(roots: Iterable[Cell], hooks: SessionHooks) -> Callable[[], list[Undo]]:
    """What gives what undoes the changes to the networks, and to what the session knows of its hooks, from now on."""
    state, attached = NetworkState(roots), hooks.state()

    def undo() -> list[Undo]:
        known = [] if hooks.state() == attached else [partial(hooks.go_back_to, attached)]
        return [*state.undo(), *known]

    return undo
