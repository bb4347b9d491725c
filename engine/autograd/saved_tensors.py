"""``saved_tensors_hooks``: a recording's saved values pass through two user-defined functions.

Inside the block each input and output of an operator that its gradient rule reads is given to ``pack_hook``. In the
backward pass the result is given to ``unpack_hook``, and the rule computes with the Tensor that this returns. Rules do
not declare which values they read, so this is found by trial: whether the gradient changes with the value. The arrays
themselves stay alive, because a recording identifies values by them: the hooks observe and replace saved values; they
do not save memory (``Cell.recompute`` does).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

import numpy as np

from ..base.types import Array
from ..cpu.array_module import array_module
from ..tape import taps
from ..tape.hooks import wrong_return
from ..tape.tape import Differentiable, Recording, state
from ..tensors import backend
from ..tensors.operator import ARRAY_FUNCTIONS, Operator
from ..tensors.tensor import Tensor

__all__ = ["register_saved_tensors_hooks", "saved_tensors_hooks"]


def _check_callable(pack_hook: object, unpack_hook: object) -> None:
    for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
        if not callable(hook):
            raise TypeError(f"For 'saved_tensors_hooks', '{name}' must be callable, but got {type(hook).__name__}")


class saved_tensors_hooks:  # noqa: N801  # MindSpore's name
    """A context in which the values that operators save for a gradient pass through two user-defined functions.

    Args:
        pack_hook: called with each Tensor that an operator saves: those of its inputs and outputs that its gradient is
            computed from; its result is kept.
        unpack_hook: called with that result in the backward pass; returns the Tensor to compute the gradient with.

    Raises:
        TypeError: a hook is not callable.
        RuntimeError: in the backward pass: ``unpack_hook`` does not return a Tensor.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        _check_callable(pack_hook, unpack_hook)
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._outer_recordings: list[tuple[Recording, ...]] = []

    def __enter__(self) -> None:
        self._outer_recordings.append(state.recordings)
        state.recordings = tuple([_Packing(recording, self) for recording in state.recordings])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        state.recordings = self._outer_recordings.pop()


def register_saved_tensors_hooks(
    pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that runs a function inside ``saved_tensors_hooks(pack_hook, unpack_hook)``.

    Args:
        pack_hook: called with each Tensor that an operator saves; its result is kept.
        unpack_hook: called with that result in the backward pass; returns a Tensor.

    Returns:
        the decorator.

    Raises:
        TypeError: a hook is not callable.
    """
    _check_callable(pack_hook, unpack_hook)

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def hooked(*args: Any, **kwargs: Any) -> Any:
            with saved_tensors_hooks(pack_hook, unpack_hook):
                return function(*args, **kwargs)

        return hooked

    return decorated


class _Packing(Recording):
    """Replaces a recording inside the block and appends packed nodes to it."""

    __slots__ = ("saved_hooks",)

    def __init__(self, recording: Recording, hooks: saved_tensors_hooks) -> None:
        self.leaves, self.nodes, self.tracked = recording.leaves, recording.nodes, recording.tracked
        self.hooks, self.marks, self.renamings = recording.hooks, recording.marks, recording.renamings
        self.other_arguments, self.uses_placeholders = recording.other_arguments, False
        self.placeholders, self.has_placeholders = {}, False
        self.saved_hooks = hooks

    def add_node(self, operator: Differentiable, inputs: tuple[Any, ...], output: Any, attrs: dict[str, Any]) -> None:
        """Append the node with its values packed."""
        # As in MindSpore, the values for the gradients of other arguments are kept, too.
        tracked_ids = {id(x) for x in inputs if id(x) in self.tracked or self.is_other_argument(x)}
        packed = _Packed(operator, self.saved_hooks, tracked_ids, inputs, output, attrs)
        super().add_node(packed, inputs, output, attrs)


_NOT_PACKED = object()


class _Packed(Differentiable):
    """An operator whose saved values passed through the hooks."""

    def __init__(
        self,
        operator: Differentiable,
        hooks: saved_tensors_hooks,
        tracked_ids: set[int],
        inputs: tuple[Any, ...],
        output: Any,
        attrs: dict[str, Any],
    ) -> None:
        self.operator = operator
        self.name = getattr(operator, "name", "")
        self.runs_without_gradient = operator.runs_without_gradient
        self.unpack = hooks.unpack_hook
        values = (*inputs, *(output if type(output) is tuple else (output,)))
        recordings, state.recordings = state.recordings, ()
        try:
            with taps.mute_taps():
                read = _read(operator, tracked_ids, values, len(inputs), type(output) is tuple, attrs)
            self.packed = [
                hooks.pack_hook(Tensor._wrap(value)) if is_read else _NOT_PACKED
                for value, is_read in zip(values, read, strict=True)
            ]
        finally:
            state.recordings = recordings

    def backward(
        self,
        functions: Any,
        tracked: set[int],
        gradient: Any,
        output: Any,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
    ) -> Iterable[tuple[Array, Any]]:
        """Return the operator's gradients, computed with the unpacked values."""
        values = [*inputs, *(output if type(output) is tuple else (output,))]
        for index, packed in enumerate(self.packed):
            if packed is _NOT_PACKED:
                continue
            tensor = self.unpack(packed)
            if not isinstance(tensor, Tensor):
                subject = "For 'saved_tensors_hooks', 'unpack_hook'"
                raise RuntimeError(wrong_return(subject, "a Tensor", type(tensor).__name__))
            values[index] = tensor._array
        count = len(inputs)
        original = {id(new): x for new, x in zip(values, inputs, strict=False) if backend.is_array(x)}
        tracked_ids = {key for key, x in original.items() if id(x) in tracked}
        outputs = tuple(values[count:]) if type(output) is tuple else values[count]
        pairs = self.operator.backward(functions, tracked_ids, gradient, outputs, tuple(values[:count]), attrs)
        return [(original[id(x)], g) for x, g in pairs]


def _read(
    operator: Differentiable,
    tracked: set[int],
    values: tuple[Any, ...],
    count: int,
    several: bool,
    attrs: dict[str, Any],
) -> list[bool]:
    """Return for each input (the first ``count`` values) and output whether the gradient depends on it."""
    arrays = [backend.is_array(value) for value in values]
    if not isinstance(operator, Operator):
        return arrays
    grad_outputs = [array_module(x).ones_like(x) if x.dtype.kind in "fcV" else None for x in values[count:]]

    if not several and grad_outputs[0] is None:
        return arrays

    def gradients(new_values: list[Any]) -> list[Array]:
        tracked_ids = {id(new) for new, x in zip(new_values, values[:count], strict=False) if id(x) in tracked}
        outputs = tuple(new_values[count:]) if several else new_values[count]
        g = tuple(grad_outputs) if several else grad_outputs[0]
        pairs = operator.gradients(ARRAY_FUNCTIONS, tracked_ids, g, outputs, tuple(new_values[:count]), attrs)
        return [gradient for _, gradient in pairs]

    def depends(index: int) -> bool:
        value = values[index]
        if value.dtype.kind not in "fcV":
            return True
        for number in (math.nan, 3.0, -3.0):
            changed_values = list(values)
            changed_values[index] = array_module(value).full_like(value, number)
            for gradient, unchanged in zip(gradients(changed_values), plain, strict=True):
                if not bool((gradient == unchanged).all()):
                    return True
        return False

    try:
        with np.errstate(all="ignore"):
            plain = gradients(list(values))
            return [is_array_value and depends(index) for index, is_array_value in enumerate(arrays)]
    except (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError):
        return arrays  # a rule that rejects numbers of other kinds
