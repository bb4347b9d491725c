"""``ops.HookBackward``: a hook on the gradient at any place of a network."""

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
    """Passes its inputs on unchanged; on the way back calls ``hook_fn`` with the tuple of their gradients.

    Args:
        hook_fn: called with one argument, the tuple of the gradients, one for each input. What it returns (a tensor, or
            a tuple of as many) replaces the gradients; None keeps them.
        cell_id: a name that is kept as an attribute, for code that reads it; it changes nothing.

    Raises:
        TypeError: ``hook_fn`` cannot be called with one argument, or ``cell_id`` is no str.
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
        """The inputs: one as it is, several as a tuple.

        Args:
            *inputs: tensors.

        Returns:
            The tensor, or a tuple of them.

        Raises:
            TypeError: an input is no Tensor.
        """
        for place, x in enumerate(inputs):
            if not isinstance(x, Tensor):
                raise TypeError(f"For 'HookBackward', input {place} must be a Tensor, but got {type(x).__name__}")
        passed = list(inputs)
        if state.recordings:

            def at_gradients(gradients: Gradients) -> Gradients:
                # An input that did not take part further on has a gradient of zeros, which goes no further by itself.
                whole = tuple([zeros_like(x) if g is None else g for g, x in zip(gradients, inputs, strict=True)])
                found = checked_gradients(self.hook_fn(whole), whole, "the hook function of HookBackward")
                return gradients if found is whole else found

            passed = Mark("HookBackward", at_gradients).put_on(passed)
        return passed[0] if len(passed) == 1 else tuple(passed)
