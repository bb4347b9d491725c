"""Cells around a network: with a loss, with an optimizer, with a scaled loss, with gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from .. import ops
from ..autograd.grad import grad as _grad
from ..autograd.grad import value_and_grad
from ..base.argument_checks import check_above_zero, check_type
from ..base.module_names import on_first_use
from ..base.types import Array
from ..cpu.array_module import array_module
from ..cpu.optim.updates import is_on_gpu
from ..distributed import settings
from ..distributed.world import check_met, world
from ..tape.tape import no_recording
from ..tensors.dtype import DType, float16, float32
from ..tensors.overflow import flag_of, overflowed, rescaled
from ..tensors.parameter import Parameter, ParameterTuple
from ..tensors.tensor import Tensor
from .cell import Cell
from .data_parallel import DistributedGradReducer, take_first_ranks_parameters
from .layers.linear import Identity
from .optim._gpu_steps import step_unless

__all__ = [
    "DynamicLossScaleUpdateCell",
    "FixedLossScaleUpdateCell",
    "ForwardValueAndGrad",
    "GetNextSingleOp",
    "GradAccumulationCell",
    "MicroBatchInterleaved",
    "ParameterUpdate",
    "PipelineCell",
    "PipelineGradReducer",
    "TimeDistributed",
    "TrainOneStepCell",
    "TrainOneStepWithLossScaleCell",
    "VirtualDatasetCellTriple",
    "WithEvalCell",
    "WithGradCell",
    "WithLossCell",
]


class WithLossCell(Cell):
    """The network and its loss: loss_fn(backbone(data), label).

    Takes ``data`` and ``label``, anything that the two accept, and returns the result of ``loss_fn``.

    Args:
        backbone: the network, called with the data.
        loss_fn: called with the network's output and the label.

    Raises:
        TypeError: ``backbone`` is not a Cell.
    """

    def __init__(self, backbone: Cell, loss_fn: Cell | Callable[..., Any]) -> None:
        super().__init__(auto_prefix=False)
        check_type(backbone, Cell, "WithLossCell", "backbone")
        self._backbone = backbone
        self._get_attr_from_cell(backbone)
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Tensor:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone


class WithGradCell(Cell):
    """The gradients of the loss by the network's trainable parameters.

    Takes the network's inputs, and last the label if there is a ``loss_fn``; returns a tuple of Tensors, one for
    each trainable parameter.

    Args:
        network: the network; without ``loss_fn`` its output is the loss.
        loss_fn: called with the network's output and the label; None for none.
        sens: a factor on the gradients, a number or a Tensor; None for 1.
    """

    def __init__(
        self, network: Cell, loss_fn: Cell | Callable[..., Any] | None = None, sens: float | Tensor | None = None
    ) -> None:
        super().__init__(auto_prefix=False)
        self.network = check_type(network, Cell, "WithGradCell", "network")
        self._get_attr_from_cell(network)
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.sens = sens

    def construct(self, *inputs: Any) -> tuple[Tensor, Tensor]:
        def forward(*data: Any) -> Tensor:
            if self.loss_fn is None:
                return self.network(*data)
            return self.loss_fn(self.network(*data[:-1]), data[-1])

        gradients = _grad(forward, None, self.weights)(*inputs)
        return gradients if self.sens is None else tuple(g * self.sens for g in gradients)


class ForwardValueAndGrad(Cell):
    """The output of a network and its gradients.

    Takes the network's inputs, with ``sens_param`` and last the gradient of the output; returns the pair (output,
    gradients). The gradients are one Tensor for the first input; a tuple for all inputs with ``get_all``; a tuple for
    ``weights`` with ``get_by_list``; a pair of both tuples with both.

    Args:
        network: the network, a cell or a function.
        weights: the parameters of the gradients for ``get_by_list``: a ParameterTuple, tuple or list.
        get_all: whether to return the gradients of all inputs, not only of the first.
        get_by_list: whether to return the gradients of ``weights``, and those of inputs only with ``get_all``.
        sens_param: whether the last input of a call is the gradient that arrives at the output, a Tensor or number.

    Raises:
        TypeError: ``network`` cannot be called, a switch is not a bool, or ``weights`` is not a tuple or list.
    """

    def __init__(
        self,
        network: Callable[..., Any],
        weights: Sequence[Parameter] | None = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not callable(network):
            raise TypeError(f"For 'ForwardValueAndGrad', 'network' must be callable, but got {type(network).__name__}")
        for argument, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'ForwardValueAndGrad', '{argument}' must be a bool, got {type(value).__name__}")
        if get_by_list and not isinstance(weights, ParameterTuple | tuple | list):
            raise TypeError(
                f"For 'ForwardValueAndGrad', 'weights' must be a ParameterTuple, but got {type(weights).__name__}"
            )
        self.network = network
        self._get_attr_from_cell(network)
        if isinstance(network, Cell):
            self.network = network.set_grad()
        self.weights = weights
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def construct(self, *inputs: Any) -> Any:
        sens: Any = None
        if self.sens_param:
            *data, sens = inputs
        else:
            data = list(inputs)

        positions = tuple(range(len(data))) if self.get_all else None if self.get_by_list else 0
        weights = list(self.weights or ()) if self.get_by_list else None

        def forward(*values: Any) -> Any:
            out = self.network(*values)
            if sens is None:
                return out
            return (ops.mul(out, sens) if isinstance(sens, Tensor) else out * sens), out

        value, gradients = value_and_grad(forward, positions, weights, has_aux=sens is not None)(*data)
        if self.get_all and len(data) == 1:  # as in MindSpore, a tuple even for one
            gradients = ((gradients[0],), gradients[1]) if self.get_by_list else (gradients,)
        return (value[1] if sens is not None else value), gradients


class TrainOneStepCell(Cell):
    """A training step: the loss of the inputs, its gradients, the optimizer's update.

    Takes the network's inputs; returns the loss, or with ``return_grad`` the pair (loss, {parameter's name:
    gradient}).

    Args:
        network: a network whose output is the loss.
        optimizer: an optimizer; its parameters are trained.
        sens: a factor on the gradients, a number or a Tensor; None for 1.
        return_grad: whether the gradients are returned too.

    Raises:
        ValueError: ``sens`` is 0.
    """

    def __init__(
        self, network: Cell, optimizer: Cell, sens: float | Tensor | None = None, return_grad: bool = False
    ) -> None:
        super().__init__(auto_prefix=False)
        self.network = check_type(network, Cell, "TrainOneStepCell", "network")
        self._get_attr_from_cell(network)
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        if sens == 0:
            raise ValueError("For 'TrainOneStepCell', 'sens' must not be 0")
        self.sense_flag = sens is not None
        self.sens = 1.0 if sens is None else sens
        self.return_grad = return_grad
        if return_grad:
            self.weights_name = [p.name for p in self.weights]
        # For subclasses with their own ``construct``, as in most large programs for MindSpore.
        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = ops.GradOperation(get_by_list=True)
        # With several ranks that train in data parallel, gradients are reduced among them.
        if settings.is_data_parallel():
            check_met(type(self).__name__)
        self.reducer_flag = settings.is_data_parallel() and world().everybody.size > 1
        self.grad_reducer: Cell = DistributedGradReducer(self.weights) if self.reducer_flag else Identity()
        self.__dict__["_begins"] = self.reducer_flag

    def construct(self, *inputs: Any) -> Any:
        scales = self.sense_flag and self.sens != 1.0
        loss, gradients = self._reduced_gradients(self.network, inputs, (lambda g: g * self.sens) if scales else None)
        self.optimizer(gradients)
        if self.return_grad:
            return loss, dict(zip(self.weights_name, gradients, strict=True))
        return loss

    def _begin(self) -> None:
        """Set all ranks' parameters to the first one's before the first step, unless that was switched off."""
        if self.__dict__["_begins"]:
            self.__dict__["_begins"] = False
            if settings.broadcasts_parameters():
                take_first_ranks_parameters(self.network)

    def _reduced_gradients(
        self,
        forward: Callable[..., Any],
        inputs: Sequence[Any],
        prepared: Callable[[Tensor], Tensor] | None = None,
        has_aux: bool = False,
    ) -> tuple[Any, Any]:
        """Return the output of ``forward``, and the gradients, transformed by ``prepared`` and reduced over all ranks.

        They are sent to the other ranks during the backward pass.
        """
        self._begin()
        once = None if prepared is None else _Once(prepared)
        reducer = self.grad_reducer
        sending = reducer.during_backward(once) if isinstance(reducer, DistributedGradReducer) else nullcontext()
        with sending:
            output, gradients = value_and_grad(forward, None, self.weights, has_aux=has_aux)(*inputs)
        if once is not None:
            gradients = tuple(map(once, gradients))
        del once, sending  # which hold the unreduced gradients
        return output, self._reduced(gradients)

    def _reduced(self, gradients: Any) -> Any:
        """Return the gradients after a user's reducer; Identity is not called, since a debugger would show it."""
        return gradients if type(self.grad_reducer) is Identity else self.grad_reducer(gradients)


class _Once:
    """A function of a gradient, computed once for each: when it arrives, or at the end of the backward pass."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        self._function = function
        self._known: dict[int, tuple[Array, Array]] = {}

    def __call__(self, gradient: Tensor) -> Tensor:
        array = gradient._array
        if id(array) not in self._known:
            self._known[id(array)] = array, self._function(gradient)._array  # with the array, which keeps its id unique
        return Tensor._wrap(self._known[id(array)][1])


class FixedLossScaleUpdateCell(Cell):
    """The manager of a constant loss scale: a call returns ``overflow`` unchanged.

    Args:
        loss_scale_value: the scale.
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """Return the scale."""
        return self.loss_scale_value

    def construct(self, _: Any, overflow: Tensor | bool) -> Any:
        return overflow


class DynamicLossScaleUpdateCell(Cell):
    """The manager of a loss scale that falls on an overflow, and grows after ``scale_window`` steps without one.

    Args:
        loss_scale_value: the initial scale.
        scale_factor: the divisor of the scale on an overflow (down to 1), and its factor as it grows.
        scale_window: the number of steps without an overflow after which it grows.
    """

    def __init__(self, loss_scale_value: float, scale_factor: float, scale_window: int) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value
        self.scale_factor, self.scale_window = float(scale_factor), int(scale_window)
        self.cur_iter = Parameter(Tensor(np.int32(1)), "current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(np.int32(0)), "last_overflow_iterator_step")

    def get_loss_scale(self) -> float:
        """Return the initial scale."""
        return self.loss_scale_value

    def construct(self, loss_scale: Parameter, overflow: Tensor | bool) -> Any:
        """Update the scale after a step.

        Args:
            loss_scale: the scale, a Parameter with one number; it is updated in place.
            overflow: whether an overflow occurred, a bool or a Tensor with one.

        Returns:
            ``overflow``.
        """
        if is_on_gpu(loss_scale._array) and is_on_gpu(self.cur_iter._array):
            step, last_overflow = self.cur_iter._array, self.last_overflow_iter._array
            flag = flag_of(overflow, step)
            new, changed = rescaled(loss_scale._array, step, last_overflow, flag, self.scale_factor, self.scale_window)
            loss_scale._rebind(new)
            self.last_overflow_iter._rebind(changed)
            self.cur_iter._rebind(step + np.int32(1))
            return overflow
        now, last = int(self.cur_iter._array), int(self.last_overflow_iter._array)
        happened, scale = bool(overflow), float(loss_scale._array)
        grown = now - last >= self.scale_window
        if happened:
            scale = max(scale / self.scale_factor, 1.0)
        elif grown:
            scale *= self.scale_factor
        if happened or grown:
            self.last_overflow_iter.set_data(Tensor(np.int32(now)))
        loss_scale.set_data(Tensor(np.float32(scale)))
        self.cur_iter.set_data(Tensor(np.int32(now + 1)))
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """A training step with a scaled loss; a step whose gradients overflow is skipped.

    Takes the network's inputs; returns (loss, whether an overflow occurred, scale), three Tensors. The loss is not
    scaled.

    Args:
        network: a network whose output is the loss.
        optimizer: an optimizer; its parameters are trained.
        scale_sense: the scale, a Tensor with one number; or a cell that also updates it, such as
            ``DynamicLossScaleUpdateCell``.

    Raises:
        TypeError: ``scale_sense`` is neither a Tensor nor a Cell.
        ValueError: ``scale_sense`` has more than one number.
    """

    def __init__(self, network: Cell, optimizer: Cell, scale_sense: Cell | Tensor) -> None:
        super().__init__(network, optimizer)
        self.hyper_map = ops.HyperMap()
        # For a subclass with its own construct; there is one process.
        self.base, self.base0 = Tensor(np.float32(1)), Tensor(np.int32(0))
        self.equal, self.less_equal, self.logic_not = ops.Equal(), ops.LessEqual(), ops.LogicalNot()
        self.reduce_sum, self.reduce_all = ops.ReduceSum(), ops.ReduceAll()
        self.is_distributed = self.gpu_target = False
        self.loss_scaling_manager: Cell | None = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            first = np.float32(scale_sense.get_loss_scale())
            self.scale_sense = Parameter(Tensor(first), "scale_sense")
        elif isinstance(scale_sense, Tensor):
            if scale_sense.shape not in ((), (1,)):
                raise ValueError(
                    f"For 'TrainOneStepWithLossScaleCell', 'scale_sense' must be one number, got {scale_sense.shape}"
                )
            self.scale_sense = Parameter(scale_sense, "scale_sense")
        else:
            raise TypeError(
                f"For 'TrainOneStepWithLossScaleCell', 'scale_sense' must be a Cell or a Tensor, "
                f"but got {type(scale_sense).__name__}"
            )

    def construct(self, *inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
        number = self.scale_sense._array.reshape(-1)[0]
        scale = Tensor._wrap(number) if is_on_gpu(number) else float(number)

        def scaled(*data: Any) -> tuple[Tensor, Tensor]:
            loss = self.network(*data)
            return loss * _in_dtype_of(loss, scale), loss

        (_, loss), gradients = self._reduced_gradients(
            scaled, inputs, lambda g: g / _in_dtype_of(g, scale), has_aux=True
        )
        status: bool | Tensor = self.get_overflow_status(None, gradients)
        overflow = status if isinstance(status, Tensor) else Tensor(status)
        cond = self.process_loss_scale(overflow)
        if is_on_gpu(overflow._array) and all(is_on_gpu(p._array) for p in self.weights):
            step_unless(overflow._array, self.optimizer, gradients)
        elif not bool(overflow):
            self.optimizer(gradients)
        return loss, cond, self.scale_sense

    def set_sense_scale(self, sens: Tensor) -> None:
        """Set another scale.

        Args:
            sens: the new scale, a Tensor with one number.

        Raises:
            TypeError: ``sens`` is not a Tensor.
        """
        check_type(sens, Tensor, "set_sense_scale", "sens")
        self.scale_sense.set_data(sens)

    def start_overflow_check(self, pre_cond: object, compute_input: Any) -> tuple[Any, Any]:
        """Do nothing: on some devices this clears an overflow flag; this engine checks the gradients.

        Args:
            pre_cond: without effect.
            compute_input: returned unchanged.

        Returns:
            The pair (None, compute_input).
        """
        return None, compute_input

    def get_overflow_status(self, status: object, compute_output: Tensor | Sequence[Tensor]) -> Any:
        """Return whether a gradient is infinite or NaN.

        Args:
            status: the first result of ``start_overflow_check``; without effect.
            compute_output: a gradient, or a tuple or list of them.

        Returns:
            A bool; for gradients on a GPU a Tensor of one, without synchronizing.
        """
        gradients = compute_output if isinstance(compute_output, tuple | list) else (compute_output,)
        if any(is_on_gpu(g._array) for g in gradients):
            return Tensor._wrap(overflowed([g._array for g in gradients]))
        return any(not bool(array_module(g._array).isfinite(g._array).all()) for g in gradients)

    def process_loss_scale(self, overflow: Tensor) -> Tensor:
        """Let the manager update the scale.

        Args:
            overflow: whether an overflow occurred, a Tensor with one bool.

        Returns:
            ``overflow``.
        """
        if self.loss_scaling_manager is not None:
            with no_recording():
                return self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow


class WithEvalCell(Cell):
    """The network and its loss for evaluation.

    Takes ``data`` and ``label`` and returns (loss, output, label).

    Args:
        network: the network, called with the data.
        loss_fn: called with the network's output and the label.
        add_cast_fp32: whether float16 outputs and labels become float32 before the loss.

    Raises:
        TypeError: ``add_cast_fp32`` is not a bool.
    """

    def __init__(self, network: Cell, loss_fn: Cell | Callable[..., Any], add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(add_cast_fp32, bool):
            raise TypeError(f"For 'WithEvalCell', 'add_cast_fp32' must be a bool, got {type(add_cast_fp32).__name__}")
        self._network = network
        self._get_attr_from_cell(network)
        self._loss_fn = loss_fn
        self.add_cast_fp32 = add_cast_fp32

    def construct(self, data: Any, label: Any) -> tuple[Tensor, Tensor, Tensor]:
        outputs = self._network(data)
        if self.add_cast_fp32:
            label = _as(label, float32)
            outputs = _as(outputs, float32)
        return self._loss_fn(outputs, label), outputs, label


def _in_dtype_of(x: Tensor, scale: Tensor | float) -> Any:
    """Return a scale cast to the dtype of a tensor."""
    return scale.astype(x.dtype) if isinstance(scale, Tensor) else scale


def _as(value: Any, dtype: DType) -> Any:
    if isinstance(value, tuple | list):
        return type(value)([_as(v, dtype) for v in value])
    return ops.cast(value, dtype) if isinstance(value, Tensor) and value.dtype in (float16, float32) else value


class ParameterUpdate(Cell):
    """A cell whose call assigns new values to a parameter.

    Takes ``x``, a Tensor of the parameter's shape, which is cast to its dtype, and returns the new values, a separate
    Tensor. The call raises ValueError for the wrong shape.

    Args:
        param: the parameter.

    Raises:
        TypeError: ``param`` is not a Parameter.
    """

    def __init__(self, param: Parameter) -> None:
        super().__init__()
        check_type(param, Parameter, "ParameterUpdate", "param")
        self._param = param

    def construct(self, x: Tensor) -> Tensor:
        if x.shape != self._param.shape:
            raise ValueError(f"For 'ParameterUpdate', 'x' must have the shape {self._param.shape}, but got {x.shape}")
        return ops.assign(self._param, ops.cast(x, self._param.dtype))


class TimeDistributed(Cell):
    """A layer applied to each slice along the time axis.

    Takes ``inputs`` and returns a Tensor with the slices' outputs along the same axis. As in MindSpore, axes are taken
    modulo the number of axes.

    Args:
        layer: a cell or a Primitive.
        time_axis: the axis of time.
        reshape_with_axis: another axis that time is folded into, so that the layer is called once instead of once per
            slice; None for a call for each slice.

    Raises:
        TypeError: ``layer`` is not a Cell, or ``time_axis`` is not an int.
    """

    def __init__(self, layer: Cell | ops.Primitive, time_axis: int, reshape_with_axis: int | None = None) -> None:
        super().__init__()
        check_type(layer, Cell | ops.Primitive, "TimeDistributed", "layer", "a Cell")
        check_type(time_axis, int, "TimeDistributed", "time_axis")
        self.layer, self.time_axis, self.reshape_with_axis = layer, time_axis, reshape_with_axis

    def construct(self, inputs: Tensor) -> Tensor:
        axis = self.time_axis % inputs.ndim
        if self.reshape_with_axis is None:
            parts = [self.layer(ops.squeeze(part, axis)) for part in ops.split(inputs, 1, axis)]
            return ops.stack(parts, axis)
        fold_axis = self.reshape_with_axis % inputs.ndim
        if axis == fold_axis:
            raise ValueError("For 'TimeDistributed', 'time_axis' and 'reshape_with_axis' must differ")
        order = [i for i in range(inputs.ndim) if i != axis]
        position = order.index(fold_axis)
        order.insert(position, axis)
        moved = ops.transpose(inputs, tuple(order))
        shape = moved.shape
        out = self.layer(
            ops.reshape(moved, (*shape[:position], shape[position] * shape[position + 1], *shape[position + 2 :]))
        )
        out = ops.reshape(
            out, (*out.shape[:position], shape[position], shape[position + 1], *out.shape[position + 1 :])
        )
        back = [i for i in range(out.ndim) if i != position]
        back.insert(min(axis, len(back)), position)
        return ops.transpose(out, tuple(back))


class _Parts(Cell):
    """A network called on parts of the batch one after the other; the outputs are summed."""

    _count: str  # the argument with their number

    def __init__(self, network: Cell, count: int) -> None:
        super().__init__(auto_prefix=False)
        name = type(self).__name__
        check_type(network, Cell, name, "network")
        if not isinstance(count, int):
            raise TypeError(f"For '{name}', '{self._count}' must be an int, got {count!r}")
        check_above_zero(count, name, self._count)
        self.network = network
        self._get_attr_from_cell(network)
        setattr(self, self._count, count)

    def construct(self, *inputs: Any) -> Tensor:
        count = getattr(self, self._count)
        for x in inputs:
            if x.shape[0] % count:
                raise ValueError(
                    f"For '{type(self).__name__}', '{self._count}' {count} must divide the batch of an input, but got "
                    f"shape {x.shape}"
                )
        parts = [ops.chunk(x, count, 0) for x in inputs]
        total: Any = None
        for piece in zip(*parts, strict=True):
            out = self.network(*piece)
            total = out if total is None else total + out
        return total


class MicroBatchInterleaved(_Parts):
    """A network called on parts of the batch one after the other; the outputs are summed, as in MindSpore.

    Takes the network's inputs, Tensors with the batch on axis 0; the call raises ValueError if ``interleave_num``
    does not divide it.

    Args:
        network: the network.
        interleave_num: the number of parts of the batch, an int above 0.

    Raises:
        TypeError: ``network`` is not a Cell, or ``interleave_num`` is not an int.
        ValueError: ``interleave_num`` is not above 0.
    """

    _count = "interleave_num"

    def __init__(self, network: Cell, interleave_num: int = 2) -> None:
        super().__init__(network, interleave_num)


class GradAccumulationCell(_Parts):
    """A network called on parts of the batch one after the other; the outputs are summed, and so are the gradients.

    Takes the network's inputs, Tensors with the batch on axis 0; the call raises ValueError if ``micro_size`` does
    not divide it.

    Args:
        network: the network.
        micro_size: the number of parts of the batch, an int above 0.

    Raises:
        TypeError: ``network`` is not a Cell, or ``micro_size`` is not an int.
        ValueError: ``micro_size`` is not above 0.
    """

    _count = "micro_size"

    def __init__(self, network: Cell, micro_size: int) -> None:
        super().__init__(network, micro_size)


class PipelineCell(_Parts):
    """A network called on parts of the batch one after the other, on one device; the outputs are summed.

    Takes the network's inputs, Tensors with the batch on axis 0; the call raises ValueError if ``micro_size`` does
    not divide it.

    Args:
        network: the network.
        micro_size: the number of parts of the batch, an int above 0.
        stage_config: must be None: the assignment of cells to devices is for a cluster.
        segment_config: None, likewise.

    Raises:
        TypeError: ``network`` is not a Cell, or ``micro_size`` is not an int.
        ValueError: ``micro_size`` is not above 0.
        NotImplementedError: ``stage_config`` or ``segment_config``.
    """

    _count = "micro_size"

    def __init__(
        self,
        network: Cell,
        micro_size: int,
        stage_config: Mapping[str, int] | None = None,
        segment_config: Mapping[str, int] | None = None,
    ) -> None:
        for name, value in (("stage_config", stage_config), ("segment_config", segment_config)):
            if value is not None:
                raise NotImplementedError(
                    f"nn.PipelineCell with '{name}' is not covered by hookscope: there is one device; leave it out"
                )
        super().__init__(network, micro_size)


class VirtualDatasetCellTriple(Cell):
    """A network of three inputs, called directly: there is one process.

    Args:
        backbone: the network.
    """

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._get_attr_from_cell(backbone)

    def construct(self, a: Any, b: Any, c: Any) -> Any:
        return self._backbone(a, b, c)


def _refused(name: str, instead: str) -> Any:
    """Return a class without a meaning in one eager process: its constructor raises an error with the alternative."""

    def initialize(self: Cell, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"nn.{name} needs {instead}")

    return type(name, (Cell,), {"__doc__": f"Not available: needs {instead}.", "__init__": initialize})


PipelineGradReducer = _refused("PipelineGradReducer", "a cluster; the gradients of one process need no reduction")
GetNextSingleOp = _refused("GetNextSingleOp", "a device queue; iterate over the data set with create_tuple_iterator()")

__getattr__ = on_first_use(__name__)
