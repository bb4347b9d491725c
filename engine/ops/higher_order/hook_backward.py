"""``ops.HookBackward``: a hook on the gradient at any point of a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...autograd.marks import Gradients, Mark, checked_gradients
from ...tape.hooks import check_arity
from ...tape.tape import state
from ...tensors.tensor import Tensor
from ..shapes.creation import zeros_like

__all__ = ["HookBackward"]


class HookBackward:
    """Identity whose backward pass calls ``hook_fn`` with the tuple of the gradients of its inputs.

    Args:
        hook_fn: called with one argument, the tuple of the gradients, one for each input. Its result (a tensor, or a
            tuple of as many) replaces the gradients; None keeps them.
        cell_id: a name that is stored as an attribute, for code that reads it; it has no effect.

    Raises:
        TypeError: ``hook_fn`` cannot be called with one argument, or ``cell_id`` is not a str.
    """

    def __init__(self, hook_fn: Callable[[tuple[Tensor, ...]], Any], cell_id: str = "") -> None:
        check_arity(hook_fn, 1, "HookBackward", "hook_fn(grad_out)")
        if not isinstance(cell_id, str):
            raise TypeError(f"For 'HookBackward', 'cell_id' must be a str, but got {type(cell_id).__name__}")
        self.hook_fn = hook_fn
        self.cell_id = cell_id

    def __repr__(self) -> str:
        return "Prim[HookBackward]"

    def __call__(self, *inputs: Tensor) -> Any:
        """Return the inputs: one as it is, several as a tuple.

        Args:
            *inputs: tensors.

        Returns:
            The tensor, or a tuple of them.

        Raises:
            TypeError: an input is not a Tensor.
        """
        for index, x in enumerate(inputs):
            if not isinstance(x, Tensor):
                raise TypeError(f"For 'HookBackward', input {index} must be a Tensor, but got {type(x).__name__}")
        outputs = list(inputs)
        if state.recordings:

            def at_gradients(gradients: Gradients) -> Gradients:
                # An input that was not used afterwards has a gradient of zeros, which does not propagate by itself.
                complete = tuple([zeros_like(x) if g is None else g for g, x in zip(gradients, inputs, strict=True)])
                result = checked_gradients(self.hook_fn(complete), complete, "the hook function of HookBackward")
                return gradients if result is complete else result

            outputs = Mark("HookBackward", at_gradients).apply(outputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)
