"""Base of the optimizers: parameters and their groups, learning rates, weight decay, the step.

An update creates new arrays and rebinds the parameters to them, so that captured values do not change.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ...base.argument_checks import check_bool, check_type
from ...base.module_names import set_method_names
from ...base.types import Array
from ...cpu.array_module import array_module
from ...cpu.optim.updates import Number, is_on_gpu, is_zero
from ...ops import HyperMap, Map
from ...tape.tape import no_recording, state
from ...tensors.initializer import Initializer, initializer
from ...tensors.parameter import Parameter, ParameterTuple
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import compute
from ..cell import Cell
from ..learning_rate_schedule import LearningRateSchedule
from ._existing import add_optimizer
from ._sharing import Sharing
from .parameter_updates import New, Unprepared, as_operand, count_of, float_of, number_of, sum_as_dtype, take_all

__all__ = ["Optimizer", "opt_init_args_register"]

Params: TypeAlias = Iterable[Parameter | dict[str, Any]]

"""Parameters for an optimizer, or groups of them."""

Rate: TypeAlias = float | Tensor | Iterable[float | Tensor] | Cell

"""A learning rate: one, one for each step, or a LearningRateSchedule."""

Decay: TypeAlias = float | Tensor | Cell

"""A weight decay: a number, or a cell of the step."""

Gradients: TypeAlias = Tensor | Sequence[Tensor]

"""Argument of an optimizer's call."""

_GROUP_KEYS = ("params", "lr", "weight_decay", "grad_centralization", "order_params")


def opt_init_args_register(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an optimizer's ``__init__`` with a wrapper that stores its arguments.

    Args:
        function: an ``__init__`` with arguments ``learning_rate`` and ``params``.

    Returns:
        the function, which also sets ``init_args`` (the other arguments by name), ``init_learning_rate`` and
        ``init_params``.
    """
    import inspect

    signature = inspect.signature(function)

    @functools.wraps(function)
    def keeping(self: Optimizer, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:  # whose message does not name the class
            raise TypeError(f"{type(self).__name__}.__init__() {error}") from None
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        arguments.pop("self", None)
        rate = arguments.pop("learning_rate", None)
        params = arguments.pop("params", None)
        function(self, *args, **kwargs)
        self.init_args = arguments
        self.init_learning_rate = rate
        self.init_params = {"params": params}

    return keeping


class _ListedRate(LearningRateSchedule):
    """A learning rate for each step; the last one holds for all later steps."""

    def __init__(self, rates: Tensor, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(rates, name)

    def construct(self, global_step: Tensor) -> Tensor:
        rates, step = self.learning_rate._array, global_step._array.reshape(-1)[:1]
        if is_on_gpu(rates) and is_on_gpu(step):
            return Tensor._wrap(rates.take(array_module(rates).minimum(step, rates.shape[0] - 1)))
        position = min(int(step[0]), rates.shape[0] - 1)
        return Tensor._wrap(rates[position : position + 1])


class _ConstantRate(LearningRateSchedule):
    """One learning rate for all steps, for groups beside those that have schedules.

    A cell, as in MindSpore: its parameter comes after the optimizer's own.
    """

    def __init__(self, rate: Parameter) -> None:
        super().__init__()
        self.learning_rate = rate

    def construct(self, global_step: Tensor) -> Tensor:
        return self.learning_rate


class Optimizer(Sharing):
    """Base of the optimizers: called with the gradients, an optimizer updates its parameters.

    A subclass defines ``updated``; or, as in MindSpore, its own ``construct(self, gradients)`` with the help of
    ``get_lr``, ``decay_weight``, ``scale_grad`` and ``gradients_centralization``.

    Args:
        learning_rate: a number, a Tensor, a number for each step (a list or a Tensor of one axis; the last one holds
            for all later steps), or a LearningRateSchedule, which is called with the step.
        parameters: the parameters to update, whose names must differ; or groups of them: dictionaries with ``params``
            and, for these only, ``lr``, ``weight_decay`` and ``grad_centralization``; ``{"order_params": [...]}`` is
            the order of the gradients.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step. Without groups it excludes parameters with "beta" or "gamma" in their names.
        loss_scale: the gradients are divided by it; above 0.

    Raises:
        TypeError: something else than parameters, or a number of the wrong kind.
        ValueError: no parameters, a number outside its range, or a name twice.
        KeyError: a group has an unknown key.
        RuntimeError: a name is in two groups.
    """

    _one_success = False
    """Whether a call returns a bare True, not one for each parameter: this differs by optimizer in MindSpore."""

    _keeps_numbers = False
    """Whether ``updated`` takes the rate, the decay and the step as arrays of one element if they are on a GPU.

    Then a step does not read values back. Otherwise they are Python numbers, which synchronizes with the GPU.
    """

    def __init__(
        self, learning_rate: Rate, parameters: Params, weight_decay: Decay = 0.0, loss_scale: float = 1.0
    ) -> None:
        super().__init__(auto_prefix=False)
        name = type(self).__name__
        parameter_list = _parameters_of(parameters, name)
        self._check_number(loss_scale, "loss_scale", 0.0, above=True)
        self.loss_scale = float(loss_scale)
        self.global_step = Parameter(Tensor(np.zeros(1, np.int32)), "global_step")
        self.dynamic_lr = self.dynamic_weight_decay = self.is_group_lr = False
        self.is_group = isinstance(parameter_list[0], dict)
        self.grad_centralization = False
        self._checked_decay(weight_decay)
        if self.is_group:
            self._take_groups(parameter_list, learning_rate, weight_decay)
        else:
            self.learning_rate = self._rate(learning_rate, "learning_rate")
            self.parameters = ParameterTuple(_with_names(parameter_list, name))
            self._centralized = (False,) * len(parameter_list)
            self.decay_flags = tuple(self.decays(p) for p in self.parameters)
            self._decays: tuple[Any, ...] = tuple(weight_decay if f else 0.0 for f in self.decay_flags)
        self._parameters = self.parameters
        self.weight_decay = weight_decay if isinstance(weight_decay, Cell) else float(weight_decay)
        self.exec_weight_decay = any(isinstance(d, Cell) or d > 0 for d in self._decays)
        self.param_length = len(self.parameters)
        self.need_scale = self.loss_scale != 1.0
        self.reciprocal_scale = Tensor(np.float32(1.0 / self.loss_scale))
        self.global_step_increase_tensor = Tensor(np.ones(1, np.int32))
        self._share(self.parameters, Optimizer.construct)
        # Users' optimizers pass this to the functions that they map over the parameters.
        local_indices = {*self._local_indices()}
        self.optim_filter = tuple(index in local_indices for index in range(self.param_length))
        self.use_parallel = self._shares is not None
        self.is_group_params_ordered = self.is_group and any("order_params" in entry for entry in parameter_list)
        add_optimizer(self)
        for parameter in self.parameters:
            parameter._has_optimizer = True

    # Settings and parameters

    @functools.cached_property
    def hyper_map(self) -> Any:
        """Maps a function over the parameters and related tuples, for a subclass with its own ``construct``."""
        return HyperMap()

    @functools.cached_property
    def map_(self) -> Any:
        """Like ``hyper_map``, without recursion into inner tuples."""
        return Map()

    @functools.cached_property
    def hyper_map_reverse(self) -> Any:
        """Like ``hyper_map``, from the last parameter to the first."""
        return HyperMap(None, True)

    @functools.cached_property
    def map_reverse(self) -> Any:
        """Like ``map_``, from the last parameter to the first."""
        return Map(None, True)

    def _check_number(self, value: Any, argument: str, least: float, above: bool = False) -> None:
        name = type(self).__name__
        if isinstance(value, bool) or not isinstance(value, int | float | Tensor):
            raise TypeError(f"For '{name}', '{argument}' must be a number, but got {type(value).__name__}")
        number = float_of(value)
        if not number >= least or (above and number == least):  # all comparisons with NaN are false
            raise ValueError(
                f"For '{name}', '{argument}' must be {'above' if above else 'at least'} {least}, but got {value}"
            )

    def _check_bool(self, value: bool, argument: str) -> None:
        check_bool(value, type(self).__name__, argument)

    def _check_adam(self, beta1: float, beta2: float, eps: float) -> None:
        for argument, beta in (("beta1", beta1), ("beta2", beta2)):
            check_type(beta, float, type(self).__name__, argument)
            if not 0 < beta < 1:
                raise ValueError(f"For '{type(self).__name__}', '{argument}' must be between 0 and 1, but got {beta}")
        self._check_number(eps, "eps", 0.0, above=True)

    def _checked_decay(self, value: Decay) -> Decay:
        if isinstance(value, Cell):
            self.dynamic_weight_decay = True
        else:
            self._check_number(value, "weight_decay", 0.0)
        return value

    def _rate(self, value: Any, name: str) -> Any:
        """Return a learning rate as a Parameter, or as a cell of the step."""
        if isinstance(value, Parameter) and value.ndim == 0:
            return value
        if isinstance(value, Cell):
            self.dynamic_lr = True
            return value
        if isinstance(value, Tensor) and value.ndim > 1:
            raise ValueError(
                f"For '{type(self).__name__}', 'learning_rate' must have at most 1 axis, but got shape {value.shape}"
            )
        if (isinstance(value, Tensor) and value.ndim == 1) or (
            isinstance(value, Iterable) and not isinstance(value, Tensor)
        ):
            self.dynamic_lr = True
            try:
                numbers = value.asnumpy() if isinstance(value, Tensor) else np.asarray([float_of(v) for v in value])
            except ValueError:
                raise ValueError(
                    f"For '{type(self).__name__}', 'learning_rate' must be a number, or a list of one for each step, "
                    f"but got {value!r}"
                ) from None
            return _ListedRate(Tensor(numbers.astype(np.float32)), name)
        self._check_number(value, "learning_rate", 0.0)
        return Parameter(Tensor(np.float32(float_of(value))), name)

    def _take_groups(self, groups: list[dict[str, Any]], learning_rate: Rate, weight_decay: Decay) -> None:
        name = type(self).__name__
        order: list[Parameter] | None = None
        rows: list[tuple[Parameter, Any, Any, bool]] = []
        default = self._rate(learning_rate, "learning_rate")
        for number, group in enumerate(groups):
            wrong = [key for key in group if key not in _GROUP_KEYS]
            if wrong:
                raise KeyError(f"For '{name}', the keys of a group must be of {list(_GROUP_KEYS)}, but got {wrong}")
            if "order_params" in group:
                if len(group) > 1:
                    raise ValueError(f"For '{name}', a group with 'order_params' has no other key, got {list(group)}")
                if not isinstance(group["order_params"], Iterable):
                    raise TypeError(
                        f"For '{name}', 'order_params' must be parameters, got {type(group['order_params']).__name__}"
                    )
                order = list(group["order_params"])
                continue
            rate = default
            if "lr" in group:
                rate = self._rate(group["lr"], f"learning_rate_group_{number}")
                self.is_group_lr = True
            decay = self._checked_decay(group.get("weight_decay", weight_decay))
            centralized = group.get("grad_centralization", False)
            check_bool(centralized, name, "grad_centralization")
            if "params" not in group:
                raise KeyError(f"For '{name}', group {number} has no 'params'")
            for parameter in _parameters_of(group["params"], name, "the 'params' of a group"):
                if any(parameter.name == row[0].name for row in rows):
                    raise RuntimeError(f"For '{name}', two parameters are named '{parameter.name}'")
                rows.append((parameter, rate, decay, centralized))
        if order is not None:
            by_name = {row[0].name: row for row in rows}
            if len(order) != len(rows) or any(p.name not in by_name for p in order):
                raise ValueError(
                    f"For '{name}', 'order_params' must hold the {len(rows)} parameters of the groups, "
                    f"but has {len(order)} entries"
                )
            rows = [by_name[p.name] for p in order]
        self._rates = [row[1] for row in rows]
        if self.is_group_lr:
            if self.dynamic_lr:
                cells = {id(r): _ConstantRate(r) if isinstance(r, Parameter) else r for r in self._rates}
                self._rates = [cells[id(r)] for r in self._rates]
            distinct = {id(rate): rate for rate in self._rates}
            for rate in distinct.values():
                if isinstance(rate, Cell):
                    self.insert_child_to_cell(f"rate_{len(self._cells)}", rate)
                elif rate.name not in self._params:
                    self._params[rate.name] = rate
            # A plain attribute, as in MindSpore: a sequence with an entry for each parameter.
            self.__dict__["learning_rate"] = tuple(self._rates)
        else:
            self.learning_rate = default
        self.parameters = ParameterTuple([row[0] for row in rows])
        self._decays = tuple(row[2] for row in rows)
        self.decay_flags = tuple(isinstance(d, Cell) or d > 0 for d in self._decays)
        self._centralized = tuple(row[3] for row in rows)

    # A step

    def construct(self, gradients: Gradients) -> bool | tuple[bool, ...]:
        """Update the parameters by their gradients, and count the step in ``global_step``.

        Args:
            gradients: a tensor for each parameter, in their order and of their shapes; a single one may be bare.

        Returns:
            True for each parameter, as a tuple; for ``ASGD`` and ``Rprop`` a bare True.

        Raises:
            ValueError: the wrong number of gradients, or one of the wrong shape.
        """
        if state.tracer is not None:
            if self._shares is not None:
                state.tracer.leak("ranks exchange values, which plans do not")
            return state.tracer.eager_call(self._step, [*self.get_parameters(), *self.parameters], gradients)
        return self._step(gradients)

    def _step(self, gradients: Gradients) -> bool | tuple[bool, ...]:
        fitting, step = self._fitting(gradients), Step(self)
        step.begin()
        indices = self._local_indices()
        step.update(indices, [fitting[index] for index in indices])
        self._receive_parameters()
        return step.end()

    def _fitting(self, gradients: Gradients) -> tuple[Tensor, ...]:
        name = type(self).__name__
        gradient_tuple = (gradients,) if isinstance(gradients, Tensor) else tuple(gradients)
        if len(gradient_tuple) != len(self.parameters):
            raise ValueError(
                f"For '{name}', there must be one gradient for each of the {len(self.parameters)} parameters, "
                f"but got {len(gradient_tuple)}"
            )
        for parameter, gradient in zip(self.parameters, gradient_tuple, strict=True):
            if gradient.shape != parameter.shape:
                raise ValueError(
                    f"For '{name}', the gradient of '{parameter.name}' must have the shape {parameter.shape}, "
                    f"but got {gradient.shape}"
                )
        return gradient_tuple

    def _numbers(self) -> tuple[list[Number], list[Number]]:
        """Return the learning rate and the weight decay of each parameter in this step."""
        count, rates = len(self.parameters), self.get_lr()
        per_parameter = [self._number(r) for r in rates] if isinstance(rates, tuple) else [self._number(rates)] * count
        return per_parameter, [self._decay(index) for index in range(count)]

    def _decay(self, index: int) -> Number:
        """Return the weight decay of a parameter in this step."""
        if not self.exec_weight_decay:
            return 0.0
        decay = self._decays[index]
        return self._number(decay(self.global_step)) if isinstance(decay, Cell) else float(decay)

    def _number(self, value: float | Tensor) -> Number:
        """Return a number of a step in the form for ``updated``: one on a GPU stays there."""
        return number_of(value, self._keeps_numbers and is_on_gpu(self.parameters[0]._array))

    def _prepared(self, index: int, value: Array, g: Array, decay: Any) -> Array:
        """Return a gradient with (unscaled) weight decay added, centralized, and divided by the loss scale."""
        if not is_zero(decay):
            g = g + value * (decay * self.loss_scale)
        if self._centralized[index] and g.ndim > 1:
            g = g - g.mean(axis=tuple(range(1, g.ndim)), keepdims=True)
        if self.loss_scale != 1.0:
            g = g / self.loss_scale
        return g.astype(value.dtype, copy=False)

    def _updated(self, index: int, gradient: Array, rate: Any, decay: Number, step: Any) -> New:
        """Return ``updated`` with a prepared gradient; on a GPU, if possible, with one that its kernel prepares."""
        value = self.parameters[index]._array
        gradient_or_deferred: Any = None
        if type(value) is not np.ndarray and self._prepares_late:
            preparation = self._before(index, decay)
            if preparation is not None:
                gradient_or_deferred = Unprepared(
                    gradient, preparation, functools.partial(self._prepared, index, value, gradient, decay)
                )
        if gradient_or_deferred is None:
            gradient_or_deferred = self._prepared(index, value, gradient, decay)
        return self.updated(index, value, gradient_or_deferred, rate, step)

    def _before(self, index: int, decay: Number) -> tuple[float, float] | None:
        """Return the factor of the value that ``_prepared`` adds to the gradient, and the divisor of the sum.

        None if it does more than that, or uses a number on a GPU.
        """
        if self._centralized[index] or not isinstance(decay, float):
            return None
        return decay * self.loss_scale, self.loss_scale

    _prepares_late = False
    """Whether ``updated`` passes its gradient only to ``updated_by``, which accepts an unprepared one."""

    def decays(self, parameter: Parameter) -> bool:
        """Return whether weight decay applies to this parameter: not to names with beta or gamma, as in MindSpore.

        Args:
            parameter: one of the parameters without groups.
        """
        return "beta" not in parameter.name and "gamma" not in parameter.name

    def before_step(self, step: int) -> None:
        """Prepare a step, once before the parameters are updated; for subclasses.

        Args:
            step: the number of the step, from 1.
        """

    def _corrected(self, rates: list[Number]) -> list[Number]:
        """Return the rates in the form for ``updated``: values derived from a rate are, if possible, computed once."""
        return rates

    def updated(self, index: int, value: Array, gradient: Array, rate: float, step: int) -> New:
        """Return the parameter's new array; each optimizer defines it.

        Args:
            index: the parameter's index among ``parameters``.
            value: its array.
            gradient: the gradient's array, of its shape and dtype, with weight decay and loss scale applied.
            rate: its learning rate in this step.
            step: the number of the step, from 1.

        Returns:
            an array of the shape of ``value``, which is cast to the parameter's dtype; or the result of ``updated_by``.
        """
        raise NotImplementedError(f"{type(self).__name__} defines neither 'updated' nor 'construct'")

    # For subclasses with their own construct, and for users

    def get_lr(self) -> Tensor | tuple[Tensor, ...]:
        """Return the learning rate of this step, a Tensor; with rates of groups, a tuple of each parameter's."""
        with no_recording():
            if self.is_group_lr:
                return tuple(self._now(rate) for rate in self._rates)
            return self._now(self.learning_rate)

    def _now(self, rate: Parameter | Cell) -> Tensor:
        if isinstance(rate, Cell):
            value = rate(self.global_step)
            return value.reshape(()) if isinstance(value, Tensor) else Tensor(np.float32(value))
        return rate

    def get_weight_decay(self) -> Tensor | tuple[Tensor, ...]:
        """Return the weight decay of this step times the loss scale, to match scaled gradients.

        Returns:
            a Tensor; with groups, a tuple with one for each parameter.
        """

        def scaled(decay: Cell | float | Tensor) -> Tensor:
            if isinstance(decay, Cell):
                return decay(self.global_step) * self.loss_scale
            return Tensor(np.float32(float_of(decay) * self.loss_scale))

        return tuple(scaled(decay) for decay in self._decays) if self.is_group else scaled(self.weight_decay)

    def get_lr_parameter(self, param: Parameter | Sequence[Parameter]) -> Any:
        """Return the learning rate of a parameter.

        Args:
            param: a Parameter of this optimizer, or a list or tuple of them.

        Returns:
            a Parameter (for a list of rates, the one that holds them all) or a LearningRateSchedule; for several
            parameters, a list of these.

        Raises:
            TypeError: ``param`` is not a Parameter, or a list or tuple of them.
            ValueError: a parameter is not in this optimizer.
        """
        if not isinstance(param, Parameter | list | tuple) or (
            not isinstance(param, Parameter) and not all(isinstance(p, Parameter) for p in param)
        ):
            raise TypeError(f"For 'get_lr_parameter', 'param' must be a Parameter or list, got {type(param).__name__}")
        rates = []
        for parameter in [param] if isinstance(param, Parameter) else param:
            positions = [i for i, p in enumerate(self.parameters) if p.name == parameter.name]
            if not positions:
                raise ValueError(f"For 'get_lr_parameter', the parameter '{parameter.name}' is not in the optimizer")
            rate = self._rates[positions[0]] if self.is_group_lr else self.learning_rate
            rates.append(rate.learning_rate if isinstance(rate, _ListedRate | _ConstantRate) else rate)
        return rates[0] if isinstance(param, Parameter) else rates

    def decay_weight(self, gradients: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the gradients with weight decay, times the loss scale, added.

        Args:
            gradients: a tensor for each parameter, in their order.
        """
        if not self.exec_weight_decay:
            return gradients
        _, decays = self._numbers()
        return tuple(
            g if is_zero(d) else g + p * as_operand(d * self.loss_scale)
            for g, p, d in zip(gradients, self.parameters, decays, strict=True)
        )

    def gradients_centralization(self, gradients: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the gradients, with ``grad_centralization`` minus the mean over all axes but the first.

        Args:
            gradients: a tensor for each parameter, in their order.
        """
        if not any(self._centralized):
            return gradients
        return tuple(
            g - g.mean(tuple(range(1, g.ndim)), True) if centralized and g.ndim > 1 else g
            for g, centralized in zip(gradients, self._centralized, strict=True)
        )

    def scale_grad(self, gradients: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the gradients divided by the loss scale.

        Args:
            gradients: tensors.
        """
        return tuple(g * self.reciprocal_scale for g in gradients) if self.need_scale else gradients

    def flatten_gradients(self, gradients: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the gradients unchanged: MindSpore flattens them for devices that this engine does not support.

        Args:
            gradients: tensors.
        """
        return gradients

    def broadcast_params(self, optim_result: Any) -> Any:
        """Set the parameters that other ranks updated to their values, for a subclass with its own ``construct``.

        Args:
            optim_result: the result of an update.

        Returns:
            ``optim_result``.
        """
        with no_recording():
            self._receive_parameters()
        return optim_result

    def assignadd(self, parameter: Parameter, value: Tensor | Array | float) -> Parameter:
        """Add to a parameter, outside every recording.

        Args:
            parameter: the parameter.
            value: a Tensor, an array or a number that broadcasts to its shape.

        Returns:
            the parameter.

        Raises:
            ValueError: ``value`` does not broadcast to the parameter's shape.
        """
        with no_recording():
            array = parameter._array
            if isinstance(value, np.ndarray):
                value = array_module(array).asarray(value)
            added = compute(
                sum_as_dtype, array, value._array if isinstance(value, Tensor) else value, dtype=array.dtype
            )
            if added.shape != parameter.shape:
                raise ValueError(
                    f"For 'assignadd', 'value' must broadcast to the shape {parameter.shape}, but got {np.shape(value)}"
                )
            parameter._rebind(added)
        return parameter

    @property
    def target(self) -> str:
        """The device of the update: that of the parameters."""
        return "CPU" if not self.parameters or isinstance(self.parameters[0]._array, np.ndarray) else "GPU"

    @target.setter
    def target(self, value: str) -> None:
        check_type(value, str, type(self).__name__, "target")
        if value not in ("CPU", "GPU", "Ascend"):
            raise ValueError(f"For '{type(self).__name__}', 'target' must be 'CPU', 'GPU' or 'Ascend', got {value!r}")

    @property
    def unique(self) -> bool:
        """Whether repeated rows of sparse gradients are summed first; stored, otherwise unused."""
        return bool(self.__dict__.get("_unique", True))

    @unique.setter
    def unique(self, value: bool) -> None:
        self.__dict__["_unique"] = check_bool(value, type(self).__name__, "unique")

    def state_like_parameters(self, prefix: str, init: str | float | Initializer = "zeros") -> ParameterTuple:
        """Return a state parameter for each parameter, of its shape and dtype, named ``prefix.name``.

        Args:
            prefix: the beginning of the names.
            init: their initial values: an initializer, its name, or a number.
        """
        return ParameterTuple(
            [
                Parameter(initializer(init, p.shape, p.dtype), f"{prefix}.{p.name}", requires_grad=p.requires_grad)
                for p in self.parameters
            ]
        )

    def scalar_state(self, name: str, value: float = 1.0, shape: tuple[int, ...] = ()) -> Parameter:
        """Return a number of the optimizer's state, as a float32 Parameter.

        Args:
            name: its name.
            value: its initial value.
            shape: its shape; a scalar by default.
        """
        return Parameter(Tensor(np.full(shape, value, np.float32)), name)


class Step:
    """A step of an optimizer in parts: ``begin``, ``update`` until each parameter was updated, ``end``.

    Args:
        optimizer: the optimizer; the step may begin again after its end.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer

    def begin(self) -> None:
        """Compute the numbers of this step."""
        optimizer = self._optimizer
        with no_recording(), np.errstate(all="ignore"):
            self._next = optimizer.global_step._array + np.int32(1)
            stays = optimizer._keeps_numbers and is_on_gpu(optimizer.parameters[0]._array)
            self._number = count_of(Tensor._wrap(self._next), stays)
            self._rates, self._decays = optimizer._numbers()
            optimizer.before_step(self._number)
            self._rates = optimizer._corrected(self._rates)

    def update(self, indices: Sequence[int], gradients: Sequence[Tensor]) -> None:
        """Update some parameters.

        Args:
            indices: the indices of the parameters.
            gradients: the gradient of each.
        """
        optimizer, parameters = self._optimizer, [self._optimizer.parameters[index] for index in indices]
        with no_recording(), np.errstate(all="ignore"):
            take_all(
                parameters,
                [
                    optimizer._updated(index, gradient._array, self._rates[index], self._decays[index], self._number)
                    for index, gradient in zip(indices, gradients, strict=True)
                ],
            )

    def end(self) -> bool | tuple[bool, ...]:
        """Count the step; return the result of a call of the optimizer."""
        optimizer = self._optimizer
        with no_recording():
            optimizer.global_step._rebind(self._next)
        return True if optimizer._one_success else (True,) * len(optimizer.parameters)

    def states(self, index: int) -> list[Parameter]:
        """Return the state of a parameter.

        Args:
            index: the index of the parameter.
        """
        attributes = vars(self._optimizer).values()
        count = len(self._optimizer.parameters)
        return [states[index] for states in attributes if isinstance(states, ParameterTuple) and len(states) == count]


def _parameters_of(parameters: Any, name: str, description: str = "the parameters") -> list[Any]:
    if isinstance(parameters, Parameter) or not isinstance(parameters, Iterable):
        raise (ValueError if parameters is None else TypeError)(  # as in MindSpore
            f"For '{name}', {description} must be a list such as net.trainable_params(), "
            f"but got {type(parameters).__name__}"
        )
    parameter_list = list(parameters)
    if not parameter_list:
        raise ValueError(f"For '{name}', the list of parameters is empty")
    groups = description == "the parameters" and isinstance(parameter_list[0], dict)
    for index, entry in enumerate(parameter_list):
        if not isinstance(entry, dict if groups else Parameter):
            kind = "a dictionary like the first" if groups else "a Parameter"
            raise TypeError(
                f"For '{name}', entry {index} of the parameters must be {kind}, but got {type(entry).__name__}"
            )
    return parameter_list


def _with_names(parameters: list[Parameter], name: str) -> list[Parameter]:
    names: set[str] = set()
    for parameter in parameters:
        if parameter.name in names:
            raise ValueError(f"For '{name}', two parameters are named '{parameter.name}'")
        names.add(parameter.name)
    return parameters


set_method_names(Sharing, "Optimizer")
