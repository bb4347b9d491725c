"""Root cells of a session that was created without a network: networks, but not the cells that train them.

A training step or a network with its loss wraps a network. The inner network becomes the root, so that its paths do not
depend on the wrapper, and a step is one call of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = ["has_parameters", "is_loss", "may_be_taken", "networks_in"]

# The session keeps roots alive: a search may create hundreds of networks, a loop a loss in each step.
_MOST_NETWORKS, _MOST_OTHERS = 50, 10


def networks_in(cell: Cell) -> list[Cell]:
    """Return the cells to watch for an outermost call: the cell itself, or the networks and losses that it wraps."""
    from hookscope.engine import nn

    if isinstance(cell, nn.Optimizer | nn.DynamicLossScaleUpdateCell | nn.FixedLossScaleUpdateCell):
        return []
    inner_cells = list(cell.cells())
    is_wrapper = isinstance(cell, nn.WithLossCell | nn.WithEvalCell | nn.WithGradCell | nn.ForwardValueAndGrad)
    has_loss = (
        any(isinstance(item, nn.LossBase) for item in inner_cells)
        and sum(map(has_parameters, inner_cells)) == 1
        and not any(item is not None for item in cell._params.values())
    )
    if is_wrapper or has_loss or any(isinstance(item, nn.Optimizer) for item in inner_cells):
        return [network for item in inner_cells for network in networks_in(item)]
    return [cell]


def has_parameters(cell: Cell) -> bool:
    """Return whether a cell has parameters, so that it is a network and not a loss."""
    return next(iter(cell.get_parameters()), None) is not None


def is_loss(cell: Cell) -> bool:
    """Return whether a cell is a loss of the library or derived from ``LossBase``."""
    from hookscope.engine import nn

    return isinstance(cell, nn.LossBase)


def may_be_taken(cell: Cell, roots: Iterable[Cell]) -> bool:
    """Return whether the limit of roots allows one more cell of its kind."""
    count = sum(has_parameters(root) is has_parameters(cell) for root in roots)
    return count < (_MOST_NETWORKS if has_parameters(cell) else _MOST_OTHERS)
