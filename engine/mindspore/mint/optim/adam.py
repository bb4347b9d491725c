"""Adam of ``mint``: both moments are corrected, as in its paper."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....tensors.tensor import Tensor
from ...experimental.optim._moments import Betas
from .adamw import AdamW

__all__ = ["Adam"]


class Adam(AdamW):
    """Adam with both moments corrected: p - lr * m_hat / (sqrt(v_hat) + eps) (Kingma and Ba 2015).

    Args:
        params: the Parameters to train, or a list of dictionaries, one per parameter group, with ``params`` and that
            group's settings.
        lr: the learning rate, from 0 on: a number or a Tensor of one.
        betas: the decay rates of the moments ``m`` and ``v``, each in [0, 1).
        eps: added to the divisor.
        weight_decay: the L2 penalty: this multiple of a Parameter is added to its gradient, from 0 on.
        amsgrad: whether to divide by the largest ``v`` so far (Reddi et al. 2018).
        maximize: whether to ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` are not Parameters, or a setting is not a number.
        ValueError: no Parameters, a Parameter in two groups, or a setting out of range.
    """

    _has_decoupled_decay = False

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
