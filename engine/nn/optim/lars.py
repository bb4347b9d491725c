"""LARS: another optimizer's gradients, scaled layer by layer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...base.argument_checks import check_bool, check_callable, check_type
from ...cpu.optim import updates
from ...tape.tape import no_recording
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ..cell import Cell
from .optimizer import Gradients, Optimizer

__all__ = ["LARS"]


class LARS(Cell):
    """Layer-wise adaptive rates (You et al. 2017) around another optimizer.

    The gradient of each layer, with its weight decay, is scaled by
    coefficient * norm(p) / (norm(g) + weight_decay * norm(p) + epsilon); the optimizer makes the step with it.

    Args:
        optimizer: the optimizer that makes the steps; its weight decay is applied here, and no longer by itself.
        epsilon: added to the denominator, a float.
        coefficient: the trust coefficient, a float.
        use_clip: divide that factor by the learning rate, and limit it to 1.
        lars_filter: a function of a parameter: whether it is scaled. By default all are except those named "LayerNorm"
            or "bias".

    Raises:
        TypeError: ``optimizer`` is not an Optimizer, or an argument is of the wrong type.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        epsilon: float = 1e-5,
        coefficient: float = 0.001,
        use_clip: bool = False,
        lars_filter: Callable[[Parameter], bool] = lambda x: "LayerNorm" not in x.name and "bias" not in x.name,
    ) -> None:
        super().__init__(auto_prefix=False)
        check_type(optimizer, Optimizer, "LARS", "optimizer")
        for name, number in (("epsilon", epsilon), ("coefficient", coefficient)):
            check_type(number, float, "LARS", name)
        check_bool(use_clip, "LARS", "use_clip")
        check_callable(lars_filter, "LARS", "lars_filter")
        self.opt = optimizer
        self.parameters = optimizer.parameters
        self.epsilon, self.coefficient, self.use_clip = epsilon, coefficient, use_clip
        self.lars_flag = tuple(bool(lars_filter(p)) for p in self.parameters)
        self._weight_decays = optimizer._decays
        optimizer._decays = (0.0,) * len(optimizer._decays)
        optimizer.exec_weight_decay = False
        self.global_step = optimizer.global_step

    def get_lr(self) -> Tensor | tuple[Tensor, ...]:
        """Return the learning rate of this step, see ``Optimizer.get_lr``."""
        return self.opt.get_lr()

    def construct(self, gradients: Gradients) -> bool | tuple[bool, ...]:
        """Scale the gradients, then make the step.

        Args:
            gradients: a tensor for each parameter, in their order and of their shapes.

        Returns:
            the result of the inner optimizer.

        Raises:
            ValueError: the wrong number of gradients, or one of the wrong shape.
        """
        fitted = self.opt._fitting(gradients)
        rates, _ = self.opt._numbers()
        scaled = []
        with no_recording(), np.errstate(all="ignore"):
            for index, (parameter, gradient) in enumerate(zip(self.parameters, fitted, strict=True)):
                decay = self._weight_decays[index]
                decay = self.opt._number(decay(self.global_step)) if isinstance(decay, Cell) else float(decay)
                value, g = parameter._array, gradient._array
                if self.lars_flag[index]:
                    limit = rates[index] if self.use_clip else None
                    g = updates.lars(value, g, decay, self.coefficient, self.epsilon, limit)
                scaled.append(Tensor._wrap(g.astype(value.dtype, copy=False)))
        return self.opt(tuple(scaled))
