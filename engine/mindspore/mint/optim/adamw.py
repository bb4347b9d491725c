"""AdamW of ``mint``: that of ``experimental`` with less state; FusedAdamW is another name of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....tensors.dtype import float32
from ....tensors.parameter import Parameter
from ....tensors.tensor import Tensor
from ...experimental.optim import adamw
from ...experimental.optim._moments import Betas

__all__ = ["AdamW", "FusedAdamW"]


class AdamW(adamw.AdamW):
    """Adam with decoupled weight decay: p * (1 - lr * weight_decay) - lr * m_hat / (sqrt(v_hat) + eps).

    Loshchilov and Hutter 2019; both moments are corrected.

    Args:
        params: the Parameters to train, or a list of dictionaries, one per parameter group, with ``params`` and that
            group's settings.
        lr: the learning rate, from 0 on: a number or a Tensor of one.
        betas: the decay rates of the moments ``m`` and ``v``, each in [0, 1).
        eps: added to the divisor.
        weight_decay: the decoupled decay of a Parameter in a step, times ``lr``, from 0 on.
        amsgrad: whether to divide by the largest ``v`` so far (Reddi et al. 2018).
        maximize: whether to ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` are not Parameters, or a setting is not a number.
        ValueError: no Parameters, a Parameter in two groups, or a setting out of range.
    """

    _state = ("exp_avg", "exp_avg_sq", "state_step")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
        if any(group["amsgrad"] for group in self.param_groups):
            self._keep("max_exp_avg_sq")

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group whose state begins at zero and whose steps are counted from now on.

        Args:
            param_group: a dictionary with ``params`` and the group's settings; it is completed in place.

        Raises:
            TypeError: not a dictionary, or ``params`` are not Parameters.
            ValueError: a Parameter of another group, or a negative learning rate or weight decay.
        """
        super().add_param_group(param_group)
        if self._states and param_group["amsgrad"] and "max_exp_avg_sq" not in self._states:
            self._keep("max_exp_avg_sq")

    def _counter(self, name: str) -> Parameter:
        return Parameter(Tensor([0.0], float32), name)


class FusedAdamW(AdamW):
    """An alias of ``AdamW``, of which there is one implementation here.

    Args:
        params: the Parameters to train, or a list of dictionaries, one per parameter group, with ``params`` and that
            group's settings.
        lr: the learning rate, from 0 on: a number or a Tensor of one.
        betas: the decay rates of the moments ``m`` and ``v``, each in [0, 1).
        eps: added to the divisor.
        weight_decay: the decoupled decay of a Parameter in a step, times ``lr``, from 0 on.
        amsgrad: whether to divide by the largest ``v`` so far (Reddi et al. 2018).
        maximize: whether to ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` are not Parameters, or a setting is not a number.
        ValueError: no Parameters, a Parameter in two groups, or a setting out of range.
    """
