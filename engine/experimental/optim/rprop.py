"""Rprop with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from ...cpu.array_module import array_module
from .optimizer import Optimizer

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Riedmiller and Braun 1993: each element's step grows while its gradient keeps its sign, and shrinks if not."""

    _steps = "step_t"

    def __init__(
        self, params: Any, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr, above=True)
        self._check("etas[1]", etas[1], above=True, least=1)
        self._check("etas[0]", etas[0], above=True, below=1)
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})
        self._keep("prev")
        self._keep("step_size")
        self.step_t = self._counter("step_t")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        before, size = self.prev[place], self.step_size[place]
        lengths = array_module(value).full_like(value, rate) if step == 1 else size._array
        new, used, lengths = updates.rprop(value, before._array, lengths, gradient, group["etas"], group["step_sizes"])
        before._rebind(used)
        size._rebind(lengths)
        return new
