"""``mindspore.boost``: gradient accumulation, its one method that does not need Ascend devices."""

from __future__ import annotations

from collections.abc import Sequence

from .. import ops
from ..base.argument_checks import check_positive_int, check_type
from ..base.module_names import on_first_use
from ..nn.cell import Cell
from ..nn.optim import Optimizer
from ..tensors.dtype import int32
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor

__all__ = ["GradientAccumulation", "gradient_accumulation_op", "gradient_clear_op"]

gradient_accumulation_op = ops.MultitypeFuncGraph("gradient_accumulation_op")
"""A function of the number of steps, a sum and a gradient: adds the gradient, divided by the number, to the sum."""
gradient_clear_op = ops.MultitypeFuncGraph("gradient_clear_op")
"""A function of a sum: sets it to zeros."""


@gradient_accumulation_op.register("Int64", "Tensor", "Tensor")
def accumulated(steps: int, total: Parameter, gradient: Tensor) -> Tensor:
    return ops.assign_add(total, gradient / steps)


@gradient_clear_op.register("Tensor")
def cleared(total: Parameter) -> Tensor:
    return ops.assign(total, ops.zeros_like(total))


# Python's argument errors mention the names that users call.
accumulated.__qualname__, cleared.__qualname__ = gradient_accumulation_op.name, gradient_clear_op.name


class GradientAccumulation(Cell):
    """Accumulates the gradients of several steps and calls the optimizer with their mean.

    Called as ``accumulate(loss, grads)`` in each step, with the gradients of the optimizer's parameters in their order;
    returns ``loss``.

    Args:
        max_accumulation_step: the number of steps between calls of the optimizer, at least 1.
        optimizer: an optimizer of ``mindspore.nn``.

    Raises:
        TypeError: ``max_accumulation_step`` is not an int, or ``optimizer`` is not an optimizer.
        ValueError: ``max_accumulation_step`` is less than 1.
    """

    def __init__(self, max_accumulation_step: int, optimizer: Optimizer) -> None:
        super().__init__()
        caller = "GradientAccumulation"
        self._max_accumulation_step = check_positive_int(max_accumulation_step, caller, "max_accumulation_step")
        self.optimizer = check_type(optimizer, Optimizer, caller, "optimizer", "an optimizer")
        self.weights = optimizer.parameters
        self.hyper_map = ops.HyperMap()
        self._grad_accumulation = self.weights.clone(prefix="grad_accumulation", init="zeros")
        self._accumulation_step = Parameter(Tensor(0, int32), name="accumulation_step")

    def construct(self, loss: Tensor, grads: Sequence[Tensor]) -> Tensor:
        self.hyper_map(
            ops.partial(gradient_accumulation_op, self._max_accumulation_step), self._grad_accumulation, tuple(grads)
        )
        ops.assign_add(self._accumulation_step, 1)
        if int(self._accumulation_step) >= self._max_accumulation_step:
            self.optimizer(self._grad_accumulation)
            ops.assign(self._accumulation_step, 0)
            self.hyper_map(gradient_clear_op, self._grad_accumulation)
        return loss


__getattr__ = on_first_use(__name__)
