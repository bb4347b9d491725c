"""AdamW of ``mint``: that of ``experimental`` with less state; FusedAdamW is another name of it."""

from __future__ import annotations

from typing import Any

from ...core.dtype import float32
from ...core.parameter import Parameter
from ...core.tensor import Tensor
from ...experimental.optim import adamw
from ...experimental.optim._moments import Betas

__all__ = ["AdamW", "FusedAdamW"]


class AdamW(adamw.AdamW):
    """Adam with decay apart from the gradient (Loshchilov and Hutter 2019)."""

    _state = ("exp_avg", "exp_avg_sq", "state_step")

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
        amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
        if any(group["amsgrad"] for group in self.param_groups):
            self._keep("max_exp_avg_sq")

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Take one more group, whose state begins at zero and whose steps are counted from here on.

        Args:
            param_group: a dictionary with ``params`` and settings of the group's own; it is completed in place.

        Raises:
            TypeError: no dictionary, or something else than Parameters in it.
            ValueError: a Parameter that another group has, or a negative learning rate or weight decay.
        """
        super().add_param_group(param_group)
        if self._kept and param_group["amsgrad"] and "max_exp_avg_sq" not in self._kept:
            self._keep("max_exp_avg_sq")

    def _counter(self, name: str) -> Parameter:
        return Parameter(Tensor([0.0], float32), name)


class FusedAdamW(AdamW):
    """The same as AdamW; there is one kind of it here."""
