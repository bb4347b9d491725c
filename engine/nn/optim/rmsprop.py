"""RMSProp: steps divided by the root of a running mean of the squared gradient."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .optimizer import Optimizer, opt_init_args_register

__all__ = ["RMSProp"]


class RMSProp(Optimizer):
    """Hinton 2012: a running mean of the squared gradient, which starts at 1 as in MindSpore.

    Args:
        centered: take the square of the running mean off (Graves 2013).
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(decay, "decay", 0.0)
        self._check_number(momentum, "momentum", 0.0)
        self._check_number(epsilon, "epsilon", 0.0, above=True)
        for argument, value in (("use_locking", use_locking), ("centered", centered)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'RMSProp', '{argument}' must be a bool, but got {type(value).__name__}")
        self.decay, self.momentum, self.epsilon, self.centered = decay, momentum, epsilon, centered
        if centered:
            self.mg = self.state_like_parameters("mean_grad")
        self.ms = self.state_like_parameters("mean_square", "ones")
        self.moment = self.state_like_parameters("moment")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        mean, square, moment = self.mg[place] if self.centered else None, self.ms[place], self.moment[place]
        new, means, squares, moved = updates.rmsprop(
            value, mean._array if mean is not None else None, square._array, moment._array, gradient,
            rate, self.decay, self.momentum, self.epsilon,
        )  # fmt: skip
        if mean is not None:
            mean._rebind(means)
        square._rebind(squares)
        moment._rebind(moved)
        return new
