"""Course of the loss from step to step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....record.learning_rates import common_path
from ....record.numbers import number_in
from ...conditions.network import LossObservation

if TYPE_CHECKING:
    from hookscope.engine.tensors.tensor import Tensor

    from ...examiner import Examiner
    from ...figures_by_step import History
    from ..owners import Owners

__all__ = ["LossCourse"]

# At least as many losses as a mean of losses has.
_FIRST_LOSSES = 100


class LossCourse:
    """Tracker of the losses, one course for each set of weights that gradients are computed for.

    Args:
        history: receives the losses, for display.
        examiner: checks the conditions on an observation.
        owners: the owners of the weights.
    """

    def __init__(self, history: History, examiner: Examiner, owners: Owners) -> None:
        self._history = history
        self._owners = owners
        self._examiner = examiner
        self._losses: dict[frozenset[int], list[float]] = {}
        self._newest: frozenset[int] | None = None
        self._rising: set[frozenset[int]] = set()  # the weights whose losses were last seen not to decrease

    def differentiated(self, values: list[Tensor], requested: frozenset[int], moves: bool, step: int) -> None:
        """Record the loss, the one number that a gradient call differentiated.

        Args:
            values: what was differentiated.
            requested: the ids of the weights.
            moves: whether the objective of these weights moves, so that their loss need not fall.
            step: the step.
        """
        if not values or values[0]._array.size != 1:
            return
        loss = number_in(values[0]._array)
        self._history.add_loss(step, loss, requested, lambda: self._path_of(requested))
        if not self._examiner.wants(LossObservation):
            return
        alternating = requested in self._losses and self._newest != requested
        if alternating:
            self._losses = {key: [] for key in self._losses}  # several objectives that work against each other
        losses = self._losses.setdefault(requested, [])
        self._newest = requested
        losses.append(loss)
        del losses[_FIRST_LOSSES:-_FIRST_LOSSES]  # the first are compared with the newest
        if not moves:
            others = any(key != requested for key in self._rising)
            observation = LossObservation(losses, others)
            self._examiner.observe(observation, "", "loss", step)
            course = observation.course
            if observation.decreases:
                self._rising.discard(requested)
            elif course is not None and course[1] >= course[0]:
                self._rising.add(requested)

    def _path_of(self, weights: frozenset[int]) -> str:
        """Return the common path of weights, by their ids."""
        owners = self._owners.all()
        return common_path([owners[weight].name for weight in weights if weight in owners])
