"""``saved_tensors_hooks``: what the recording keeps for a gradient goes through two functions of the user's.

Inside the block each value that an operator keeps, its inputs and its outputs, is given to ``pack_hook``; when the
gradient comes by, what that returned is given to ``unpack_hook``, and the operator's rule computes with what comes
out. The arrays themselves stay where they are, because they are what the recording tells values apart by: this shows
and changes what is kept, it does not save memory (``Cell.recompute`` does).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from . import backend
from .hooks import wrong_return
from .recording import Differentiable, Recording, state
from .tensor import Tensor
from .types import Array

__all__ = ["register_saved_tensors_hooks", "saved_tensors_hooks"]


class saved_tensors_hooks:  # noqa: N801  # MindSpore's name
    """A context in which what operators keep for a gradient goes through two functions of the user's.

    Args:
        pack_hook: called with each Tensor that an operator keeps, its inputs and outputs; what it returns is kept.
        unpack_hook: called with that when the gradient comes by; returns the Tensor that the gradient is computed with.

    Raises:
        TypeError: a hook is not callable.
        RuntimeError: in the backward pass: ``unpack_hook`` returns no Tensor.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"For 'saved_tensors_hooks', '{name}' must be callable, but got {type(hook).__name__}")
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._around: list[tuple[Recording, ...]] = []

    def __enter__(self) -> None:
        self._around.append(state.recordings)
        state.recordings = tuple([_Packing(recording, self) for recording in state.recordings])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        state.recordings = self._around.pop()


def register_saved_tensors_hooks(
    pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function runs inside ``saved_tensors_hooks(pack_hook, unpack_hook)``.

    Args:
        pack_hook: called with each Tensor that an operator keeps; what it returns is kept.
        unpack_hook: called with that when the gradient comes by; returns a Tensor.

    Returns:
        the decorator.

    Raises:
        TypeError: when the function is called: a hook is not callable.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def hooked(*args: Any, **kwargs: Any) -> Any:
            with saved_tensors_hooks(pack_hook, unpack_hook):
                return function(*args, **kwargs)

        return hooked

    return decorated


class _Packing(Recording):
    """Stands for a recording inside the block and puts packed nodes on it."""

    __slots__ = ("hooks",)

    def __init__(self, recording: Recording, hooks: saved_tensors_hooks) -> None:
        self.leaves, self.nodes, self.tracked = recording.leaves, recording.nodes, recording.tracked
        self.hooked, self.marks, self.renamings = recording.hooked, recording.marks, recording.renamings
        self.hooks = hooks

    def follow(self, operator: Differentiable, inputs: tuple[Any, ...], output: Any, attrs: dict[str, Any]) -> None:
        """Append the node with its values packed."""
        super().follow(_Packed(operator, self.hooks, inputs, output), inputs, output, attrs)


class _Packed:
    """An operator whose values went through the hooks."""

    def __init__(
        self, operator: Differentiable, hooks: saved_tensors_hooks, inputs: tuple[Any, ...], output: Any
    ) -> None:
        self.operator = operator
        self.name = getattr(operator, "name", "")
        self.runs_without_gradient = operator.runs_without_gradient
        self.unpack = hooks.unpack_hook
        outputs = output if type(output) is tuple else (output,)
        arrays = {id(x): x for x in (*inputs, *outputs) if backend.is_array(x)}
        before, state.recordings = state.recordings, ()
        try:
            self.kept = {key: hooks.pack_hook(Tensor._wrap(array)) for key, array in arrays.items()}
        finally:
            state.recordings = before

    def backward(
        self, functions: Any, tracked: set[int], gradient: Any, output: Any, inputs: tuple[Any, ...],
        attrs: dict[str, Any],
    ) -> Iterable[tuple[Array, Any]]:  # fmt: skip
        """The operator's gradients, computed with what comes out of the hooks."""
        values: dict[int, Array] = {}
        for key, kept in self.kept.items():
            tensor = self.unpack(kept)
            if not isinstance(tensor, Tensor):
                who = "For 'saved_tensors_hooks', 'unpack_hook'"
                raise RuntimeError(wrong_return(who, "a Tensor", type(tensor).__name__))
            values[key] = tensor._array
        own = {id(values[id(x)]): x for x in inputs if id(x) in values}
        replaced_inputs = tuple([values.get(id(x), x) for x in inputs])
        if type(output) is tuple:
            output = tuple([values.get(id(x), x) for x in output])
        else:
            output = values.get(id(output), output)
        followed = {key for key, x in own.items() if id(x) in tracked}
        found = self.operator.backward(functions, followed, gradient, output, replaced_inputs, attrs)
        return [(own[id(x)], g) for x, g in found]
