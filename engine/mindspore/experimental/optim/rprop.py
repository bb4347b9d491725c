"""Rprop with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ....base.types import Array
from ....cpu.optim import updates
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New
from .optimizer import Group, Optimizer, Rate

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993): steps by the sign of the gradient, of adapted lengths.

    Each element has its own step length, initially ``lr``. It grows while the gradient keeps its sign; if the sign
    changed, it shrinks, and that step is skipped.

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the initial length, a number or a Tensor of one, above 0.
        etas: (shrinking, growing): the factors of a length, the first between 0 and 1, the second above 1.
        step_sizes: (least, most): the bounds of the lengths.
        maximize: ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` is empty, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is out of range.
    """

    _steps = "step_t"
    _keeps_numbers = True

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None:
        self._check("lr", lr, above=True)
        self._check("etas[1]", etas[1], above=True, least=1)
        self._check("etas[0]", etas[0], above=True, below=1)
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})
        self._keep("prev")
        self._keep("step_size")
        self.step_t = self._counter("step_t")

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        before, size = self.prev[index], self.step_size[index]
        lengths = updates.first_lengths(value, rate, size._array, step)
        new, applied, lengths = updates.rprop(
            value, before._array, lengths, gradient, group["etas"], group["step_sizes"]
        )
        before._rebind(applied)
        size._rebind(lengths)
        return new
