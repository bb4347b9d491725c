"""Marks: identity nodes on the tape, through which hooks observe and replace gradients.

A cell with backward hooks gets two marks: one on its inputs, one on its outputs. The mark on the outputs gets the
gradient that arrives, the mark on the inputs the gradient that leaves. MindSpore's order around a cell is forward-pre
hooks, input mark, construct, forward hooks, output mark: a backward hook covers the operators that a forward hook adds,
but not those of a forward-pre hook. ``HookBackward`` is a single mark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tape.hooks import wrong_return
from ..tape.tape import Renaming, state
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor, as_tensor
from ..tensors.views import aliases_of

__all__ = ["Mark", "checked_gradients"]

Gradients = tuple[Tensor | None, ...]


class Mark(Renaming):
    """An identity node on the tape.

    Args:
        name: shown in errors and in the debugger.
        at_gradients: gets the gradients that arrive, one for each tensor, None where none arrived; returns the
            gradients to continue with. Not called if no gradient arrived at all.
    """

    __slots__ = ("at_gradients", "name")

    def __init__(self, name: str, at_gradients: Callable[[Gradients], Gradients]) -> None:
        self.name = name
        self.at_gradients = at_gradients

    def apply(self, tensors: list[Tensor]) -> list[Tensor]:
        """Return the same values under new identities, which the open recordings follow as this mark's outputs."""
        inputs = tuple([t._array for t in tensors])
        outputs = tuple([array.view() for array in inputs])
        for recording in state.recordings:
            if not any(id(x) in recording.tracked for x in inputs):
                for x, output in zip(inputs, outputs, strict=True):
                    recording.track_other_arguments((x,), output)
                continue
            # As in MindSpore, hooks also get the gradients of the function's other arguments, of values computed from
            # them, and of parameters, beside a value whose gradient is requested. Those gradients end here.
            followed = [
                id(output)
                for tensor, x, output in zip(tensors, inputs, outputs, strict=True)
                if id(x) in recording.tracked
                or (x.dtype.kind in "fcV" and (recording.is_other_argument(x) or _is_trained(tensor)))
            ]
            recording.nodes.append((self, inputs, outputs, {}))
            recording.tracked.update(followed)
            recording.renamings.append(self)
        return aliases_of(tensors, outputs)

    def run_hooks(self, gradients: tuple[Any, ...], wraps: bool) -> tuple[Any, ...]:
        """Run the hooks on the gradients; return the gradients to continue with."""
        results = self.at_gradients(tuple([None if g is None else as_tensor(g) for g in gradients]))
        return tuple([g if g is None or wraps else g._array for g in results])


def _is_trained(tensor: Tensor) -> bool:
    return isinstance(tensor, Parameter) and tensor.requires_grad


def checked_gradients(returned: Tensor | tuple[Tensor | None, ...] | None, current: Gradients, what: str) -> Gradients:
    """Return a hook's result as one gradient for each of ``current``.

    None keeps them. A bare tensor replaces the only one.

    Raises:
        TypeError: a list, the wrong number of gradients, or an entry that is not a tensor.
        ValueError: a gradient of the wrong shape or dtype.
    """
    if returned is None:
        return current
    results = (returned,) if isinstance(returned, Tensor) else returned
    if not isinstance(results, tuple):
        raise TypeError(wrong_return(what, "None, a tensor or a tuple of tensors", type(results).__name__))
    if len(results) != len(current):
        raise TypeError(wrong_return(what, f"{len(current)} gradients", str(len(results))))
    for index, (new, old) in enumerate(zip(results, current, strict=True)):
        if not isinstance(new, Tensor) and (new is not None or old is not None):
            raise TypeError(wrong_return(what, "tensors", f"{type(new).__name__} as entry {index}"))
        if new is not None and old is not None and (new.shape, new.dtype) != (old.shape, old.dtype):
            expected = f"gradients of the shapes and dtypes that came, {old.shape} {old.dtype} for entry {index}"
            raise ValueError(wrong_return(what, expected, f"{new.shape} {new.dtype}"))
    return results
