"""What is seen of the loss from step to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...record.numbers import number_in
from ..conditions.network import LossSeen

if TYPE_CHECKING:
    from hookscope.engine.tensors.tensor import Tensor

    from ..figures_by_step import History
    from .watcher import Looks

__all__ = ["LossCourse"]

# At least as many as there are in a mean of losses.
_FIRST_LOSSES = 100


class LossCourse:
    """Follows the losses, one course for each set of weights that gradients are asked for.

    Args:
        history: where losses are kept for whoever draws them.
        wanted: whether a condition about one of these classes is looked for.
        look: tries conditions.
    """

    def __init__(self, history: History, wanted: Callable[..., bool], look: Looks) -> None:
        self._history = history
        self._wanted = wanted
        self._look = look
        self._losses: dict[frozenset[int], list[float]] = {}
        self._newest: frozenset[int] | None = None

    def differentiated(self, values: list[Tensor], asked: frozenset[int], step: int) -> None:
        """A gradient call for these weights has ended: the loss is the one number that it differentiated."""
        if not values or values[0]._array.size != 1:
            return
        loss = number_in(values[0]._array)
        self._history.losses.append((step, loss))
        if not self._wanted(LossSeen):
            return
        alternating = asked in self._losses and self._newest != asked
        if alternating:
            self._losses = {key: [] for key in self._losses}  # several aims that work against each other
        losses = self._losses.setdefault(asked, [])
        self._newest = asked
        losses.append(loss)
        del losses[_FIRST_LOSSES:-_FIRST_LOSSES]  # the first are compared with the newest
        self._look(LossSeen(losses), "", "loss", step)
