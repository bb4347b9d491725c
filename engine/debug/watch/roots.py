"""Which cells a session takes for its roots where it was given none: networks, and not what trains them.

A training step or a network with its loss is no network but goes around one. What is inside it is taken, so that paths
are those of the network however it is called, and a step is one call of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = ["has_parameters", "is_loss", "may_be_taken", "networks_in"]

# They are kept alive by the session: a search may make networks by the hundred, a loop a loss in each step.
_MOST_NETWORKS, _MOST_OTHERS = 50, 10


def networks_in(cell: Cell) -> list[Cell]:
    """What to watch where this cell is called outermost: it, or the networks and losses that it goes around."""
    from hookscope.engine import nn

    if isinstance(cell, nn.Optimizer | nn.DynamicLossScaleUpdateCell | nn.FixedLossScaleUpdateCell):
        return []
    inner = list(cell.cells())
    known = isinstance(cell, nn.WithLossCell | nn.WithEvalCell | nn.WithGradCell | nn.ForwardValueAndGrad)
    with_loss = (
        any(isinstance(one, nn.LossBase) for one in inner)
        and sum(map(has_parameters, inner)) == 1
        and not any(one is not None for one in cell._params.values())
    )
    if known or with_loss or any(isinstance(one, nn.Optimizer) for one in inner):
        return [network for one in inner for network in networks_in(one)]
    return [cell]


def has_parameters(cell: Cell) -> bool:
    """Whether there are any, so that it is a network and no loss."""
    return next(iter(cell.get_parameters()), None) is not None


def is_loss(cell: Cell) -> bool:
    """Whether it is one of the library's losses, or a user's that is made like them."""
    from hookscope.engine import nn

    return isinstance(cell, nn.LossBase)


def may_be_taken(cell: Cell, roots: Iterable[Cell]) -> bool:
    """Whether there is still room for it beside these."""
    of_its_kind = sum(has_parameters(root) is has_parameters(cell) for root in roots)
    return of_its_kind < (_MOST_NETWORKS if has_parameters(cell) else _MOST_OTHERS)
