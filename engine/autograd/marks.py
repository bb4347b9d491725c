"""Marks: identities on the tape that let hooks see and change the gradients that pass.

A cell with backward hooks gets two marks: one on its inputs, one on its outputs. The mark on the outputs sees the
gradient that arrives, the mark on the inputs the gradient that leaves. MindSpore's order around a cell is forward-pre
hooks, input mark, construct, forward hooks, output mark: operators that a forward hook adds are inside what a backward
hook sees, those of a forward-pre hook outside. ``HookBackward`` is one mark by itself.
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
    """One identity on the tape.

    Args:
        name: shown in errors and in the debugger.
        at_gradients: gets the gradients that arrive, one for each tensor, None where none came; returns those to go
            on with. Not called where none came at all.
    """

    __slots__ = ("at_gradients", "name")

    def __init__(self, name: str, at_gradients: Callable[[Gradients], Gradients]) -> None:
        self.name = name
        self.at_gradients = at_gradients

    def put_on(self, tensors: list[Tensor]) -> list[Tensor]:
        """The same values under new identities, which the open recordings follow as this mark's outputs."""
        inputs = tuple([t._array for t in tensors])
        outputs = tuple([array.view() for array in inputs])
        for recording in state.recordings:
            if not any(id(x) in recording.tracked for x in inputs):
                for x, output in zip(inputs, outputs, strict=True):
                    recording.pass_by((x,), output)
                continue
            # As in MindSpore: beside a value whose gradient is asked for, the hooks are shown those of the function's
            # other arguments, of what is computed from them and of parameters, too. They end here.
            followed = [
                id(output)
                for tensor, x, output in zip(tensors, inputs, outputs, strict=True)
                if id(x) in recording.tracked
                or (x.dtype.kind in "fcV" and (recording.is_beside(x) or _is_trained(tensor)))
            ]
            recording.nodes.append((self, inputs, outputs, {}))
            recording.tracked.update(followed)
            recording.renamings.append(self)
        return aliases_of(tensors, outputs)

    def changed(self, gradients: tuple[Any, ...], wraps: bool) -> tuple[Any, ...]:
        """Let the hooks see and change the gradients."""
        found = self.at_gradients(tuple([None if g is None else as_tensor(g) for g in gradients]))
        return tuple([g if g is None or wraps else g._array for g in found])


def _is_trained(tensor: Tensor) -> bool:
    return isinstance(tensor, Parameter) and tensor.requires_grad


def checked_gradients(returned: Tensor | tuple[Tensor | None, ...] | None, current: Gradients, what: str) -> Gradients:
    """What a hook returned, made into one gradient for each of ``current``.

    None keeps them. A bare tensor stands for the only one.

    Raises:
        TypeError: a list, another number of gradients, or an entry that is no tensor.
        ValueError: a gradient of another shape or dtype.
    """
    if returned is None:
        return current
    given = (returned,) if isinstance(returned, Tensor) else returned
    if not isinstance(given, tuple):
        raise TypeError(wrong_return(what, "None, a tensor or a tuple of tensors", type(given).__name__))
    if len(given) != len(current):
        raise TypeError(wrong_return(what, f"{len(current)} gradients", str(len(given))))
    for place, (new, old) in enumerate(zip(given, current, strict=True)):
        if not isinstance(new, Tensor) and (new is not None or old is not None):
            raise TypeError(wrong_return(what, "tensors", f"{type(new).__name__} as entry {place}"))
        if new is not None and old is not None and (new.shape, new.dtype) != (old.shape, old.dtype):
            came = f"gradients of the shapes and dtypes that came, {old.shape} {old.dtype} for entry {place}"
            raise ValueError(wrong_return(what, came, f"{new.shape} {new.dtype}"))
    return given
