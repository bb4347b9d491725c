"""Optimizers that exist, held weakly: a debugger looks there for who holds a parameter."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...tensors.parameter import Parameter
    from .optimizer import Optimizer

__all__ = ["add_optimizer", "existing_optimizers", "holds_any"]

_optimizers: weakref.WeakSet[Optimizer] = weakref.WeakSet()


def add_optimizer(optimizer: Optimizer) -> None:
    """Add an optimizer that was made."""
    _optimizers.add(optimizer)


def existing_optimizers() -> tuple[Optimizer, ...]:
    """Return the optimizers that exist."""
    return tuple(_optimizers)


def holds_any(parameters: Iterable[Parameter]) -> bool:
    """Return whether an optimizer that still exists holds one of these parameters."""
    ids = set(map(id, parameters))
    return any(not ids.isdisjoint(map(id, optimizer.parameters)) for optimizer in existing_optimizers())
