"""Check of whether any of the requested parameters gets a gradient, be it in a cell of the session or not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hookscope.engine.tape import taps

from ....record.numbers import number_in
from ...conditions.parameters import NetworkGradientObservation
from ..owners import Owners
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["GradientWatch"]

_SUBJECT = "the network"


class GradientWatch(Watcher):
    """Check of all gradients of a gradient call together, until one of them is not zero."""

    shows = (NetworkGradientObservation,)

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._owners = Owners(parts.paths)
        self._calls: dict[int, int] = {}  # without any gradient, by the weights; 0 from the first gradient on

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Count a gradient call without any gradient."""
        if taps.outer_recordings():
            return
        key = hash(tuple(id(parameter) for parameter, _ in pairs))
        calls = self._calls.get(key)
        if calls == 0 or not self._attachment.visits.is_own([parameter for parameter, _ in pairs]):
            return
        trainable = [(parameter, gradient) for parameter, gradient in pairs if parameter.requires_grad]
        gradients = [gradient._array for _, gradient in trainable if gradient is not None]
        if not trainable:
            return
        loss = number_in(values[0]._array) if values and values[0]._array.size == 1 else math.nan
        if any(bool((array != 0).any()) for array in gradients):
            self._calls[key] = 0
            if calls:
                self._observe(NetworkGradientObservation(calls, True, len(trainable), loss, is_over=True))
            return
        self._calls[key] = calls = (calls or 0) + 1
        # Parameters of the session's cells on which the loss does not depend are reported one by one.
        if gradients or all(self._owners.of(parameter) is None for parameter, _ in trainable):
            self._observe(NetworkGradientObservation(calls, bool(gradients), len(trainable), loss))

    def _observe(self, observation: NetworkGradientObservation) -> None:
        self._examiner.observe(observation, "", _SUBJECT, self._counts.steps)
