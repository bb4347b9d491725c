"""Lamb: Adam with decay, each layer's step as long as its parameter."""

from __future__ import annotations

from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from .adam_weight_decay import AdamWeightDecay
from .optimizer import Decay, Params, Rate, opt_init_args_register
from .parameter_updates import New, updated_by

__all__ = ["Lamb"]


class Lamb(AdamWeightDecay):
    """LAMB (You et al. 2020): Adam with decay, where each layer's step has the norm of its parameter.

    With corrected moments m and v the step is r = m / (sqrt(v) + eps) + weight_decay * p, and
    p = p - learning_rate * norm(p) / norm(r) * r.

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: a number, one for each step, or a LearningRateSchedule.
        beta1: the decay factor of m, a float between 0 and 1.
        beta2: the decay factor of v, a float between 0 and 1.
        eps: added to the root in the denominator, above 0.
        weight_decay: the multiple of the parameter in its step: a number, at least 0, or a cell of the step.

    Raises:
        TypeError: ``params`` holds no parameters, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is outside its range.
    """

    _prefix = "lamb"

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        learning_rate: Rate,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Decay = 0.0,
    ) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, weight_decay)

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        states, powers = (self.moments1[index], self.moments2[index]), (self.beta1**step, self.beta2**step)
        return updated_by(
            updates.lamb, value, states, gradient, rate, *powers, self.beta1, self.beta2, self.eps, self._decay(index)
        )
