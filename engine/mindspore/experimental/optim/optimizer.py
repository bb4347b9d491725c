"""The base of the experimental optimizers: groups of parameters, each with its settings and its learning rate."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from ....base.argument_checks import check_not_negative, check_number, check_type
from ....base.types import Array
from ....cpu.array_module import array_module
from ....cpu.optim.updates import is_on_gpu
from ....nn.optim._sharing import Sharing
from ....nn.optim.optimizer import Gradients, Params
from ....nn.optim.parameter_updates import New, Unprepared, count_of, number_of, take_all
from ....tape.tape import no_recording, state
from ....tensors.dtype import float32, int32
from ....tensors.parameter import Parameter, ParameterTuple
from ....tensors.tensor import Tensor

__all__ = ["Optimizer"]

Rate: TypeAlias = float | Tensor
"""A learning rate: a number, or a Tensor of one."""
Group: TypeAlias = dict[str, Any]
"""A group of parameters with its settings."""


class Optimizer(Sharing):
    """Base of the experimental optimizers: called with the gradients, an optimizer updates its parameters.

    A subclass defines ``updated``; or, as in MindSpore, its own ``construct(self, gradients)`` by means of
    ``param_groups`` and ``group_start_id``.

    Args:
        params: the parameters to change; or groups of them: dictionaries with ``params`` and settings of their own.
        defaults: default settings of the groups; ``lr`` is stored as a Parameter.

    Raises:
        TypeError: values other than parameters, or a setting of the wrong kind.
        ValueError: no parameters, a negative setting, or a parameter in two groups.
    """

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        self._error_prefix = f"For '{type(self).__name__}'"
        if params is None:
            raise ValueError(f"{self._error_prefix}, 'params' must be a list of Parameters, but got None")
        if isinstance(params, Tensor) or not isinstance(params, Iterable):
            raise TypeError(
                f"{self._error_prefix}, 'params' must be a list of Parameters, but got {type(params).__name__}"
            )
        entries = list(params)
        if not entries:
            raise ValueError(f"{self._error_prefix}, 'params' is empty: there is nothing to train")
        self.defaults = defaults
        self.state: dict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self.lrs: list[Parameter] = []
        self.group_start_id = [0]
        # Initial states of a parameter, by name.
        self._states: dict[str, tuple[str | float, bool]] = {}
        # A plain attribute: it grows while the first groups are added.
        self.__dict__.update(parameters=(), _gathering=True)
        groups: list[Any] = entries if isinstance(entries[0], dict) else [{"params": entries}]
        for group in groups:
            self.add_param_group(group)
        del self.__dict__["parameters"], self.__dict__["_gathering"]
        self.parameters = ParameterTuple(p for group in self.param_groups for p in group["params"])

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            for key in sorted(group):
                if key != "params":
                    value = group[key]
                    lines.append(f"    {key}: {value.value() if isinstance(value, Parameter) else value}")
        return "\n".join(lines) + "\n)"

    def add_param_group(self, param_group: Group) -> None:
        """Add a group, whose parameters get their state and count their steps from now on.

        Args:
            param_group: a dictionary with ``params``, a Parameter or a list of them, and settings; ``defaults`` has
                the others.

        Raises:
            TypeError: not a dictionary, or ``params`` are not parameters.
            ValueError: a parameter of another group, or a negative learning rate or weight decay.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"{self._error_prefix}, a group must be a dictionary, but got {type(param_group).__name__}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                f"{self._error_prefix}, the 'params' of a group must have an order, such as a list, but got a set"
            )
        group = param_group
        group["params"] = [params] if isinstance(params, Parameter) else list(params)
        ids = {id(p) for p in self.parameters}
        for parameter in group["params"]:
            if not isinstance(parameter, Parameter):
                raise TypeError(
                    f"{self._error_prefix}, 'params' must hold Parameters, but got {type(parameter).__name__}"
                )
            if id(parameter) in ids:
                raise ValueError(f"{self._error_prefix}, the parameter '{parameter.name}' is in more than one group")
        for key, default in self.defaults.items():
            group.setdefault(key, default)
        group["lr"] = self._rate(group.get("lr"), f"learning_rate_group_{len(self.param_groups)}")
        group["weight_decay"] = self._decay(group.get("weight_decay", 0.0))
        new = ParameterTuple(group["params"])
        all_parameters = (*self.parameters, *new)
        self._share(all_parameters, Optimizer.construct)
        if "_gathering" in self.__dict__:
            self.__dict__["parameters"] = all_parameters
        else:
            self.parameters = ParameterTuple(all_parameters)
            for name in self._states:
                before = getattr(self, name)
                self._take_states(name, (*before, *self._state_of(name, new)))
        if self._steps is not None and self.param_groups:
            name = _steps_before(len(self.param_groups))
            setattr(self, name, Parameter(Tensor(int(getattr(self, self._steps, 0)), int32), name))
        self.lrs.append(group["lr"])
        self.param_groups.append(group)
        self.group_start_id.append(self.group_start_id[-1] + len(new))

    def _rate(self, value: Any, name: str) -> Parameter:
        if isinstance(value, Tensor):
            if value.ndim:
                raise ValueError(
                    f"{self._error_prefix}, 'lr' must be a number or a Tensor of one, but got {value.shape}"
                )
            return Parameter(value.astype(float32), name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{self._error_prefix}, 'lr' must be a number or a Tensor, but got {type(value).__name__}")
        check_not_negative(value, type(self).__name__, "lr")
        return Parameter(Tensor(value, float32), name)

    def _decay(self, value: Any) -> float:
        check_type(value, int | float, type(self).__name__, "weight_decay", "a number")
        check_not_negative(value, type(self).__name__, "weight_decay")
        return float(value)

    # For subclasses

    def _check(self, name: str, value: Any, above: bool = False, below: float | None = None, least: float = 0) -> None:
        """Return a number from ``least``, or above it, to below ``below``."""
        if isinstance(value, Tensor):
            value = float(value)
        check_number(value, type(self).__name__, name)
        if value < least or (above and value == least) or (below is not None and value >= below):
            allowed = f"{'above' if above else 'at least'} {least}" + (f" and below {below}" if below else "")
            raise ValueError(f"For '{type(self).__name__}', '{name}' must be {allowed}, but got {value}")

    def _keep(self, name: str, init: str | float = "zeros", scalar: bool = False) -> None:
        """Create a state of the shape and dtype of each parameter, or a number for each; also for parameters added
        later."""
        self._states[name] = (init, scalar)
        setattr(self, name, self._state_of(name, self.parameters))

    def _state_of(self, name: str, parameters: ParameterTuple) -> ParameterTuple:
        init, scalar = self._states[name]
        if scalar:
            return ParameterTuple(Parameter(Tensor(init), f"{name}_{p.name}") for p in parameters)
        return parameters.clone(name, init)

    def _counter(self, name: str) -> Parameter:
        return Parameter(Tensor(0, int32), name)

    def construct(self, gradients: Gradients) -> bool:
        """Update the parameters from their gradients.

        Args:
            gradients: a tensor for each parameter, in the order and shapes of the groups; a single one may be passed
                directly.

        Returns:
            True.

        Raises:
            RuntimeError: the wrong number of gradients.
            ValueError: a gradient of the wrong shape; nothing is changed.
        """
        if state.tracer is not None:
            if self._shares is not None:
                state.tracer.leak("ranks exchange values, which plans do not")
            tensors = [*self.get_parameters(), *self.parameters, *self.lrs]
            return bool(state.tracer.eager_call(self._step, tensors, gradients))
        return self._step(gradients)

    def _step(self, gradients: Gradients) -> bool:
        tensors = (gradients,) if isinstance(gradients, Tensor) else tuple(gradients)
        if len(tensors) != len(self.parameters):
            raise RuntimeError(
                f"{self._error_prefix}, there must be {len(self.parameters)} gradients, but got {len(tensors)}"
            )
        for parameter, gradient in zip(self.parameters, tensors, strict=True):
            if gradient.shape != parameter.shape:
                raise ValueError(
                    f"{self._error_prefix}, the gradient of '{parameter.name}' must have the shape {parameter.shape}, "
                    f"but got {gradient.shape}"
                )
        with no_recording(), np.errstate(all="ignore"):
            stays = self._keeps_numbers and is_on_gpu(self.parameters[0]._array)
            step = self.before_step()
            owned = {*self._local_indices()}
            changed: list[Parameter] = []
            arrays: list[New] = []
            for number, group in enumerate(self.param_groups):
                rate = number_of(group["lr"], stays)
                before = getattr(self, _steps_before(number), None)
                parameter_step = step if before is None else step - count_of(before, stays)
                for index, parameter in enumerate(group["params"], self.group_start_id[number]):
                    if index not in owned:
                        continue
                    changed.append(parameter)
                    slope = self._slope(parameter._array, tensors[index]._array, group)
                    arrays.append(self.updated(index, parameter._array, slope, rate, parameter_step, group))
                    del (
                        slope
                    )  # and with it the parameter's array, so that it is modified in place if nothing else holds it
            take_all(changed, arrays)
            self._receive_parameters()
            self.after_step()
        return True

    def _slope(self, value: Array, gradient: Array, group: Group) -> Any:
        """Return a gradient with its group's sign and weight decay; on a GPU prepared by a kernel if possible."""
        decay = 0.0 if self._has_decoupled_decay else group["weight_decay"]
        sign = -1.0 if group.get("maximize") else 1.0
        if self._prepares_late and is_on_gpu(value):
            return Unprepared(
                gradient, (decay * sign, sign), functools.partial(_prepared, value, gradient, decay, sign)
            )
        return _prepared(value, gradient, decay, sign)

    _keeps_numbers = False
    """Whether ``updated`` takes the rate and the step as arrays of one element on a GPU."""
    _prepares_late = False
    """Whether ``updated`` passes its gradient only to ``updated_by``, which takes an unprepared one."""
    _has_decoupled_decay = False
    _steps: str | None = None

    def before_step(self) -> Any:
        """Count the step and return its number, from 1: an int, or on a GPU an array of one element."""
        if self._steps is None:
            return 0
        counter: Parameter = getattr(self, self._steps)
        counter._rebind(array_module(counter._array).asarray(counter._array + counter._array.dtype.type(1)))
        return count_of(counter, self._keeps_numbers and is_on_gpu(self.parameters[0]._array))

    def after_step(self) -> None:
        """Run once after the parameters are updated."""

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        """Return the parameter's new array; each optimizer defines it.

        Args:
            index: the parameter's index among ``parameters``.
            value: its array.
            gradient: the gradient's array, of its shape and dtype, with the group's weight decay and sign.
            rate: its learning rate.
            step: the number of its step, from 1; unused by an optimizer that does not count steps.
            group: the settings of its group.

        Returns:
            an array of the shape of ``value``, which is cast to the parameter's dtype; or the result of ``updated_by``.
        """
        raise NotImplementedError(f"{type(self).__name__} defines neither 'updated' nor 'construct'")


def _prepared(value: Array, gradient: Array, decay: float, sign: float) -> Array:
    """Return a gradient in its parameter's dtype, with the group's sign and weight decay."""
    slope: Array = gradient.astype(value.dtype, copy=False)
    if sign < 0:
        slope = -slope
    return slope + value * decay if decay else slope


def _steps_before(number: int) -> str:
    """Return the name of the parameter that holds the steps before a group was added; the first group has none."""
    return f"steps_before_group_{number}"
