"""New values of parameters in a step: numbers that may be on a device, rules with their arguments, assignment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...base.types import Array
from ...cpu.array_module import array_module
from ...cpu.optim import stepping
from ...cpu.optim.updates import Number, is_on_gpu
from ...tensors.operator import Operator
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ...tensors.views import is_sole_holder
from . import _gpu_steps

__all__: list[str] = []


def number_of(value: float | Tensor, stays: bool) -> Number:
    """Return a number of a step in the form for a rule.

    Args:
        value: a number, or a Tensor of one.
        stays: whether a number on a GPU stays there; otherwise it is read, which synchronizes.
    """
    if not isinstance(value, Tensor):
        return float(value)
    array = value._array
    if type(array) is np.ndarray:
        return float(array.reshape(-1)[0])
    return array.reshape(()) if stays and is_on_gpu(array) else float_of(value)


def count_of(value: Tensor, stays: bool) -> Any:
    """Return ``number_of`` a whole number: an int, or an array on a GPU."""
    number = number_of(value, stays)
    return number if is_on_gpu(number) else int(number)


def sum_as_dtype(array: Array, value: Array | float, dtype: np.dtype[Any]) -> Array:
    total: Array = (array + value).astype(dtype, copy=False)
    return total


def take(parameter: Parameter, array: Array) -> None:
    """Bind a parameter to a new array, in its own dtype."""
    xp = array_module(array)
    previous = parameter._array
    parameter._rebind(xp.asarray(array, dtype=previous.dtype))


class Unprepared(NamedTuple):
    """A raw gradient on a GPU, which a kernel over many tensors prepares itself."""

    array: Array
    before: tuple[float, float]
    prepared: Callable[[], Array]


class Update:
    """A deferred new value: a rule with its arguments, in a form that updates many parameters in one call.

    Attributes:
        rule: the rule, see ``updated_by``.
        states: its states; None for one that this form of it does not use.
        arguments: its positional arguments after the states, the gradient first.
        settings: its keyword arguments.
        form: the name of the kernel and its numbers.
        before: on a GPU, how the kernel prepares the gradient: see ``Optimizer._before``.
    """

    __slots__ = ("arguments", "before", "form", "rule", "settings", "states")

    def __init__(
        self,
        rule: Callable[..., Any],
        states: list[Parameter | None],
        arguments: tuple[Any, ...],
        settings: dict[str, Any],
        form: Any,
        before: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.before = before
        self.rule = rule
        self.states = states
        self.arguments = arguments
        self.settings = settings
        self.form = form

    def compute(self, value: Array) -> Array:
        """Compute the new value by the rule itself."""
        return _new_array(self.rule, value, self.states, self.arguments, self.settings)


New: TypeAlias = Array | Update

"""A parameter's new array, or its deferred update."""


def updated_by(
    rule: Callable[..., Any], value: Array, states: Iterable[Parameter | None], *numbers: Any, **settings: Any
) -> New:
    """Return the new value by a rule of ``engine.cpu.optim.updates``, and update the states.

    Args:
        rule: called with the value, the arrays of the states and the rest; returns a new array for each.
        value: the parameter's array.
        states: the states of the rule; None for one that this form of it does not use.
        numbers: the gradient, the learning rate and further positional arguments of the rule.
        settings: its keyword arguments.

    Returns:
        the new value, or an Update if ``take_all`` may compute it together with others.
    """
    state_list, operator = list(states), getattr(rule, "__self__", None)
    if type(value) is not np.ndarray:
        gradient = numbers[0]
        late = isinstance(gradient, Unprepared)
        on_gpu = _gpu_steps.form_of(
            rule, value, state_list, gradient.array if late else gradient, *numbers[1:], **settings
        )
        if on_gpu is not None and late:
            return Update(rule, state_list, (gradient.array, *numbers[1:]), settings, on_gpu, gradient.before)
        if on_gpu is not None:
            return Update(rule, state_list, numbers, settings, on_gpu)
        return _new_array(rule, value, state_list, (gradient.prepared(), *numbers[1:]) if late else numbers, settings)
    form = stepping.FORMS.get(operator.kernel if isinstance(operator, Operator) else rule)
    if form is not None and value.dtype == np.float32:
        fused_form = form(*numbers[1:], **settings)
        if fused_form is not None:
            return Update(rule, state_list, numbers, settings, fused_form)
    return _new_array(rule, value, state_list, numbers, settings)


def _new_array(
    rule: Callable[..., Any],
    value: Array,
    states: list[Parameter | None],
    arguments: tuple[Any, ...],
    settings: dict[str, Any],
) -> Array:
    results = rule(
        value, *(None if parameter is None else parameter._array for parameter in states), *arguments, **settings
    )
    new, *arrays = results if isinstance(results, tuple) else (results,)
    for parameter, array in zip(states, arrays, strict=True):
        if parameter is not None:
            parameter._rebind(array)
    return new


def take_all(parameters: Sequence[Parameter], new_values: list[New]) -> None:
    """Bind parameters to their new arrays, computing them together if possible.

    Arrays without other references are modified in place.

    Args:
        parameters: the parameters.
        new_values: the new value of each.
    """
    by_kernel: dict[str, list[tuple[Parameter, Update]]] = {}
    for parameter, new in zip(parameters, new_values, strict=True):
        if isinstance(new, Update):
            by_kernel.setdefault(new.form[0], []).append((parameter, new))
        else:
            take(parameter, new)
    for kernel, pairs in by_kernel.items():
        if isinstance(pairs[0][1].form, _gpu_steps.Form):
            _gpu_steps.step(pairs)
            continue
        tensors = [[p, *[s for s in new.states if s is not None]] for p, new in pairs]
        gradients = [new.arguments[0] for _, new in pairs]
        if not stepping.can_step([[g, *[t._array for t in row]] for g, row in zip(gradients, tensors, strict=True)]):
            for parameter, new in pairs:
                take(parameter, new.compute(parameter._array))
            continue
        targets = [[t._array if is_sole_holder(t) else np.empty_like(t._array) for t in row] for row in tensors]
        rows = [
            (g, [(t._array, target) for t, target in zip(row, into, strict=True)])
            for g, row, into in zip(gradients, tensors, targets, strict=True)
        ]
        stepping.step(kernel, rows, [new.form[1] for _, new in pairs])
        for row, into in zip(tensors, targets, strict=True):
            for tensor, target in zip(row, into, strict=True):
                tensor._rebind(target)


def as_operand(number: Number) -> Any:
    """Return a number as operand for a tensor: one on a GPU as a tensor."""
    return Tensor._wrap(number) if is_on_gpu(number) else number  # type: ignore[arg-type]  # an array, then


def float_of(value: float | Tensor) -> float:
    return float(value.asnumpy().reshape(-1)[0]) if isinstance(value, Tensor) else float(value)
