"""AdamWeightDecay: Adam with decoupled weight decay."""

from __future__ import annotations

from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from .optimizer import Decay, Optimizer, Params, Rate
from .parameter_updates import New, updated_by

__all__ = ["AdamWeightDecay"]


class AdamWeightDecay(Optimizer):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019); as in MindSpore without bias correction.

    m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g * g;
    p = p - learning_rate * (m / (sqrt(v) + eps) + weight_decay * p).

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

    _prefix = "adam"
    _keeps_numbers = _prepares_late = True

    def __init__(
        self,
        params: Params,
        learning_rate: Rate = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Decay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self._check_adam(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments1 = self.state_like_parameters(f"{self._prefix}_m")
        self.moments2 = self.state_like_parameters(f"{self._prefix}_v")

    def _prepared(self, index: int, value: Array, g: Array, decay: Number) -> Array:
        return g.astype(value.dtype, copy=False)

    def _before(self, index: int, decay: Number) -> tuple[float, float] | None:
        return 0.0, 1.0

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        states, decay = (self.moments1[index], self.moments2[index]), self._decay(index)
        rule = updates.adam_weight_decay
        return updated_by(rule, value, states, gradient, rate, self.beta1, self.beta2, self.eps, decay)
