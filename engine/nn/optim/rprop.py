"""Rprop: steps by the sign of the gradient, of adapted lengths."""

from __future__ import annotations

from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993): steps by the sign of the gradient, of adapted lengths.

    Each element has its own length, initially the learning rate. It is multiplied by the second of ``etas``
    while the gradient keeps its sign; if the sign changed, by the first, and that step is skipped.

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: the initial length: a number, one for each step, or a LearningRateSchedule.
        etas: (shrinking, growing): two floats, the first between 0 and 1, the second above 1.
        step_sizes: (lower, upper): two floats, the limits of the lengths.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.

    Raises:
        TypeError: ``params`` holds no parameters, or ``etas`` or ``step_sizes`` is not a tuple of floats.
        ValueError: ``params`` is empty, or a number is outside its range.
    """

    _one_success = _keeps_numbers = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        learning_rate: Rate = 0.1,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        weight_decay: Decay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for argument, pair in (("etas", etas), ("step_sizes", step_sizes)):
            if not isinstance(pair, tuple):
                raise TypeError(f"For 'Rprop', '{argument}' must be a tuple, but got {type(pair).__name__}")
            if len(pair) != 2:
                raise ValueError(f"For 'Rprop', '{argument}' must have 2 entries, but got {pair}")
            if not all(isinstance(n, float) for n in pair):
                raise TypeError(f"For 'Rprop', '{argument}' must be two floats, but got {pair}")
        if step_sizes[0] > step_sizes[1]:
            raise ValueError(f"For 'Rprop', 'step_sizes' must be (least, most), but got {step_sizes}")
        if not 0.0 < etas[0] < 1.0 or etas[1] <= 1.0:
            raise ValueError(f"For 'Rprop', 'etas' must be (between 0 and 1, above 1), but got {etas}")
        self.etaminus, self.etaplus = etas
        self.step_size_min, self.step_size_max = step_sizes
        self.prev = self.state_like_parameters("prev")
        self.step_size = self.state_like_parameters("step_size")

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        previous, lengths = self.prev[index], self.step_size[index]
        sizes = updates.first_lengths(value, rate, lengths._array, step)
        etas, limits = (self.etaminus, self.etaplus), (self.step_size_min, self.step_size_max)
        new, used, sizes = updates.rprop(value, previous._array, sizes, gradient, etas, limits)
        previous._rebind(used)
        lengths._rebind(sizes)
        return new
