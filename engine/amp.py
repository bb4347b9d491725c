"""``mindspore.amp``: computation in half precision, and loss scaling to preserve small gradients.

The cells that compute in half precision are chosen once, when a network is prepared; its structure and the names of its
parameters stay. A cell is prepared by ``to_float``, and its output is cast back by a wrapper around its ``construct``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, TypeVar, cast

import numpy as np

from . import nn, ops
from .base.argument_checks import check_bool, check_number, check_positive_int, check_type
from .base.module_names import name_methods
from .cpu.optim.updates import is_on_gpu
from .nn.cell import Cell
from .ops import primitives
from .tensors import precision
from .tensors.dtype import DType, bfloat16, float16, float32, int32
from .tensors.overflow import flag_of, overflowed, rescaled_in_single
from .tensors.parameter import Parameter
from .tensors.tensor import Tensor
from .train.loss_scale import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager

__all__ = [
    "DynamicLossScaleManager",
    "DynamicLossScaler",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaler",
    "StaticLossScaler",
    "all_finite",
    "auto_mixed_precision",
    "build_train_network",
    "custom_mixed_precision",
    "get_black_list",
    "get_white_list",
]

_WHITE = (
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "Conv1dTranspose",
    "Conv2dTranspose",
    "Conv3dTranspose",
    "Dense",
    "LSTMCell",
    "RNNCell",
    "GRUCell",
)
_WHITE_OPERATORS = (
    "Conv2D",
    "Conv3D",
    "Conv2DTranspose",
    "Conv3DTranspose",
    "Conv2DBackpropInput",
    "MatMul",
    "BatchMatMul",
    "PReLU",
    "ReLU",
    "Ger",
)
# The layers of an operator class in a white list, besides the layer of its name.
_LAYERS_OF = {
    "Conv2D": ("Conv1d", "Conv2d"),
    "Conv3D": ("Conv3d",),
    "Conv2DTranspose": ("Conv1dTranspose", "Conv2dTranspose"),
    "Conv3DTranspose": ("Conv3dTranspose",),
    "MatMul": ("Dense",),
    "BatchNorm": ("BatchNorm1d", "BatchNorm2d"),
}
_BLACK = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm")
# Further cells that "auto" keeps in float32.
_AUTO_BLACK = (*_BLACK, "GroupNorm", "Softmax", "LogSoftmax", "Softplus")
# Operators that "auto" computes in half precision, and in float32, in a function: names in the operator table.
_AUTO_LOWER = frozenset(("conv2d", "conv2d_bias", "conv3d", "einsum", "linear", "matmul"))
_AUTO_FULL = frozenset(
    (
        "acos",
        "asin",
        "batch_norm",
        "cosh",
        "cumprod",
        "cumsum",
        "erfinv",
        "exp",
        "expm1",
        "layer_norm",
        "log",
        "log10",
        "log1p",
        "log2",
        "log_softmax",
        "pow",
        "prod",
        "reciprocal",
        "rsqrt",
        "sinh",
        "softmax",
        "sparse_softmax_cross_entropy",
        "tan",
    )
)
_LEVELS = ("O0", "O1", "O2", "O3", "auto")


C = TypeVar("C", bound=Cell)
N = TypeVar("N")
Nested = Tensor | Sequence[Any]
"""A tensor, or tensors in tuples and lists."""


def get_white_list() -> list[type]:
    """Return the classes of cells and of operators that level O1 computes in half precision, as a new list."""
    return [getattr(nn, name) for name in _WHITE] + [getattr(primitives, name) for name in _WHITE_OPERATORS]


def get_black_list() -> list[type]:
    """Return the classes of cells that level O2 leaves in float32, as a new list."""
    return [getattr(nn, name) for name in _BLACK]


def auto_mixed_precision(network: N, amp_level: str = "O0", dtype: DType = float16) -> N:
    """Make a network compute in half precision.

    Args:
        network: a cell, which is modified. With "auto" also a function, which stays unchanged.
        amp_level: "O0" nothing; "O1" the white list, with its outputs cast back; "O2" all but the black list;
            "O3" all; "auto" convolutions and products in half precision, normalization and softmax in float32.
        dtype: float16 or bfloat16.

    Returns:
        the network; with "O2" and "O3" its output is cast back to float32. For a function a new one, in which products
        and convolutions compute in half precision, and powers, logarithms, normalization and softmax in float32.

    Raises:
        TypeError: ``network`` is neither a cell nor, with "auto", a function.
        ValueError: an unknown level or dtype.
    """
    if not isinstance(network, Cell):
        if not callable(network) or amp_level != "auto":
            expected = "a Cell or a function" if amp_level == "auto" else "a Cell"
            raise TypeError(
                f"For 'auto_mixed_precision', 'network' must be {expected}, but got {type(network).__name__}"
            )
        _check_dtype("auto_mixed_precision", dtype)
        return cast(N, _in_mixed_precision(network, dtype))
    _check_dtype("auto_mixed_precision", dtype)
    if amp_level not in _LEVELS:
        raise ValueError(f"For 'auto_mixed_precision', 'amp_level' must be one of {_LEVELS}, but got {amp_level!r}")
    if amp_level == "O0":
        return network
    if amp_level == "O1":
        _lower_white(network, get_white_list(), dtype)
    elif amp_level == "O2":
        _lower_all_but(network, tuple(get_black_list()), dtype)
        _cast_output(network, float32)
    elif amp_level == "O3":
        network.to_float(dtype)
        _cast_output(network, float32)
    else:
        white = tuple(getattr(nn, name) for name in _WHITE)
        _lower_white(network, {type(cell) for _, cell in network.cells_and_names() if isinstance(cell, white)}, dtype)
        _raise_black(network, tuple(getattr(nn, name) for name in _AUTO_BLACK if hasattr(nn, name)))
    network.__dict__["_amp_level"] = amp_level
    return network


def custom_mixed_precision(
    network: C, *, white_list: list[type] | None = None, black_list: list[type] | None = None, dtype: DType = float16
) -> C:
    """Make the cells of a white list compute in half precision, or all but those of a black list.

    Args:
        network: a cell, which is modified.
        white_list: classes of cells and operators that compute in half precision, and whose outputs are cast back to
            float32. The class of an operator, such as ``ops.MatMul``, stands for its objects and the layers that use
            it, ``nn.Dense``, not for functions; no class includes its subclasses.
        black_list: classes of cells that stay in float32; the output of the network is cast back to float32.
        dtype: float16 or bfloat16.

    Returns:
        the network.

    Raises:
        TypeError: ``network`` is not a cell, or a list holds something other than classes of cells; operators are only
            allowed in the white list.
        ValueError: both lists or none, or the wrong dtype.
    """
    check_type(network, Cell, "custom_mixed_precision", "network")
    if (white_list is None) == (black_list is None):
        raise ValueError("For 'custom_mixed_precision', give 'white_list' or 'black_list', and not both")
    _check_dtype("custom_mixed_precision", dtype)
    name, classes = ("white_list", white_list) if white_list is not None else ("black_list", black_list)
    entries: list[type] = check_type(classes, list, "custom_mixed_precision", name)
    for cls in entries:
        if not isinstance(cls, type) or not (issubclass(cls, Cell) or (name == "white_list" and _is_primitive(cls))):
            raise TypeError(f"For 'custom_mixed_precision', '{name}' must hold classes of cells, but got {cls!r}")
    if white_list is not None:
        _lower_white(network, entries, dtype)
    else:
        _lower_all_but(network, tuple(entries), dtype)
        _cast_output(network, float32)
    return network


def _in_mixed_precision(function: Callable[..., Any], dtype: DType) -> Callable[..., Any]:
    classes = precision.OperatorDtypes(frozenset(), dtype, _AUTO_LOWER, _AUTO_FULL)

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with precision.scope(precision.current(), classes):
            return function(*args, **kwargs)

    return run


def _is_primitive(kind: type) -> bool:
    return issubclass(kind, primitives.Primitive)


def _check_dtype(caller: str, dtype: DType) -> None:
    if dtype not in (float16, bfloat16):
        raise ValueError(f"For '{caller}', 'dtype' must be float16 or bfloat16, but got {dtype}")


def _lower_white(network: Cell, classes: Collection[type], dtype: DType) -> None:
    operators = frozenset(cls for cls in classes if _is_primitive(cls))
    layers = [name for cls in operators for name in (cls.__name__, *_LAYERS_OF.get(cls.__name__, ()))]
    cells = {*classes, *(getattr(nn, name, None) for name in layers)}
    for cell in [cell for _, cell in network.cells_and_names() if type(cell) in cells]:
        if cell.mixed_precision_type is None:  # else its user has chosen a type
            cell.to_float(dtype)
            _cast_output(cell, float32)
    if operators:
        construct = network.construct

        @functools.wraps(construct)
        def construct_by_list(*args: Any, **kwargs: Any) -> Any:
            with precision.scope(precision.current(), precision.OperatorDtypes(operators, dtype)):
                return construct(*args, **kwargs)

        network.construct = construct_by_list  # type: ignore[method-assign]  # MindSpore's cells allow it too


def _lower_all_but(network: Cell, classes: tuple[type, ...], dtype: DType) -> None:
    network.to_float(dtype)
    for cell in [cell for _, cell in network.cells_and_names() if isinstance(cell, classes) and cell is not network]:
        cell.to_float(float32)
        _cast_output(cell, dtype)


def _raise_black(network: Cell, classes: tuple[type, ...]) -> None:
    for cell in [cell for _, cell in network.cells_and_names() if isinstance(cell, classes)]:
        cell.to_float(float32)


def _cast_output(cell: Cell, dtype: DType) -> None:
    construct = cell.construct

    @functools.wraps(construct)
    def construct_and_cast(*args: Any, **kwargs: Any) -> Tensor:
        return precision.cast_floats(construct(*args, **kwargs), dtype)

    cell.construct = construct_and_cast  # type: ignore[method-assign]  # as above


# Training networks

_OF_LEVEL: dict[str, tuple[bool, DType, Callable[[], Any]]] = {
    "O0": (False, float32, lambda: None),
    "O1": (False, float32, lambda: None),
    "O2": (True, float16, DynamicLossScaleManager),
    "O3": (False, float16, lambda: None),
    "auto": (False, float32, lambda: None),
}


def build_train_network(
    network: Cell,
    optimizer: nn.Optimizer,
    loss_fn: Cell | Literal[False] | None = None,
    level: str = "O0",
    boost_level: str = "O0",
    **kwargs: Any,
) -> Cell:
    """Return a cell that does one training step.

    Args:
        network: the network.
        optimizer: the optimizer.
        loss_fn: the loss, a cell of (output, label), or None or False if the network returns it.
        level: as for ``auto_mixed_precision``; "O2" comes with a dynamic loss scale.
        boost_level: "O0" to "O2", accepted for compatibility.
        **kwargs: ``cast_model_type``, ``keep_batchnorm_fp32`` and ``loss_scale_manager`` instead of the level's.

    Returns:
        ``nn.TrainOneStepCell``, or ``nn.TrainOneStepWithLossScaleCell`` if the loss scale may change.

    Raises:
        TypeError: an argument of the wrong kind.
        ValueError: an unknown level or argument.
    """
    if not isinstance(optimizer, nn.Optimizer | nn.LARS):
        raise TypeError(f"For 'build_train_network', 'optimizer' must be an Optimizer, got {type(optimizer).__name__}")
    check_type(level, str, "build_train_network", "level")
    for name, value, allowed in (("level", level, _LEVELS), ("boost_level", boost_level, ("O0", "O1", "O2"))):
        if value not in allowed:
            raise ValueError(f"For 'build_train_network', '{name}' must be one of {allowed}, but got {value!r}")
    if unknown := set(kwargs) - {"cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager"}:
        raise ValueError(f"For 'build_train_network', there is no argument {sorted(unknown)[0]!r}")
    keep_batchnorm, model_type, manager_of = _OF_LEVEL[level]
    keep_batchnorm = kwargs.get("keep_batchnorm_fp32", keep_batchnorm)
    model_type = kwargs.get("cast_model_type", model_type)
    manager = kwargs["loss_scale_manager"] if "loss_scale_manager" in kwargs else manager_of()
    check_bool(keep_batchnorm, "build_train_network", "keep_batchnorm_fp32", show=repr)
    if manager is not None and not isinstance(manager, LossScaleManager):
        raise TypeError(f"For 'build_train_network', 'loss_scale_manager' cannot be a {type(manager).__name__}")
    is_half = model_type == float16
    if is_half and keep_batchnorm:
        _lower_all_but(network, tuple(get_black_list()), float16)
    elif is_half or (level == "O2" and not keep_batchnorm):
        network.to_float(float16)
    elif level not in ("O2", "O3"):
        auto_mixed_precision(network, level)
    if loss_fn is not None and loss_fn is not False:
        network = _with_loss(network, loss_fn, is_half or getattr(network, "__dict__", {}).get("_amp_level") == "auto")
    if manager is not None:
        update = manager.get_update_cell()
        if update is not None:
            return nn.TrainOneStepWithLossScaleCell(network, optimizer, scale_sense=update).set_train()
        return nn.TrainOneStepCell(network, optimizer, manager.get_loss_scale()).set_train()
    return nn.TrainOneStepCell(network, optimizer).set_train()


def _with_loss(network: Cell, loss_fn: Cell, to_float32: bool) -> Cell:
    check_type(loss_fn, Cell, "build_train_network", "loss_fn")
    with_loss = nn.WithLossCell(network, loss_fn)
    if to_float32:

        def construct(data: Tensor, label: Tensor) -> Tensor:
            return loss_fn(precision.cast_floats(network(data), float32), precision.cast_floats(label, float32))

        with_loss.construct = construct  # type: ignore[method-assign]  # as above
    return with_loss


# Loss scaling for users' training functions


def all_finite(inputs: Nested) -> Tensor:
    """Return whether all numbers in the tensors are finite.

    Args:
        inputs: a tensor, or tensors in tuples and lists.

    Returns:
        a tensor of one bool. On a GPU it is not synchronized: ``if`` waits for it, ``scaler.adjust`` does not.

    Raises:
        TypeError: an input that is not a tensor.
    """
    tensors = _tensors(inputs)
    if any(is_on_gpu(tensor._array) for tensor in tensors):
        return Tensor._wrap(~overflowed([tensor._array for tensor in tensors]))
    return Tensor(np.bool_(all(_is_finite(tensor) for tensor in tensors)))


def _tensors(inputs: Any) -> list[Tensor]:
    if isinstance(inputs, Tensor):
        return [inputs]
    if isinstance(inputs, tuple | list):
        return [tensor for item in inputs for tensor in _tensors(item)]
    raise TypeError(f"For 'all_finite', 'inputs' must be tensors, but got {type(inputs).__name__}")


def _is_finite(tensor: Tensor) -> bool:
    # One pass without an array of bools: a finite sum implies finite numbers; otherwise the numbers are checked.
    array = tensor._array
    if array.dtype.kind not in "fcV":
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(array.sum())) or bool(ops.isfinite(tensor).asnumpy().all())


def _map(function: Callable[[Tensor], Any], inputs: Any) -> Any:
    if isinstance(inputs, tuple | list):
        values = [_map(function, item) for item in inputs]
        return values if isinstance(inputs, list) else tuple(values)
    return function(inputs)


# Loss scalers of programs call these two by MindSpore's names.


def _grad_scale_map(scale_value: Tensor, inputs: Nested) -> Any:
    """Multiply tensors in tuples and lists by the scale, each in its dtype."""
    return _map(lambda x: x * scale_value.astype(x.dtype), inputs)


def _grad_unscale_map(scale_value: Tensor, inputs: Nested) -> Any:
    """Divide tensors in tuples and lists by the scale, each in its dtype."""
    return _map(lambda x: x * (1 / scale_value).astype(x.dtype), inputs)


class LossScaler:
    """Base of the scalers: ``scale`` the loss, ``unscale`` the gradients, ``adjust`` after a step.

    Args:
        scale_value: the initial scale, at least 1; it is stored as a float32 Parameter of this name.

    Raises:
        TypeError: not a number.
        ValueError: a number below 1.
    """

    def __init__(self, scale_value: float) -> None:
        caller = type(self).__name__
        check_number(scale_value, caller, "scale_value")
        if scale_value < 1:
            raise ValueError(f"For '{caller}', 'scale_value' must be at least 1, but got {scale_value}")
        self.scale_value = Parameter(Tensor(scale_value, float32), name="scale_value")

    def scale(self, inputs: Nested) -> Any:
        """Return the loss times the scale.

        Args:
            inputs: a tensor, or tensors in tuples and lists; each keeps its dtype.

        Returns:
            a tensor, or tuples of them.
        """
        return _grad_scale_map(self.scale_value.value(), inputs)

    def unscale(self, inputs: Nested) -> Any:
        """Return gradients divided by the scale.

        Args:
            inputs: a tensor, or tensors in tuples and lists; each keeps its dtype.

        Returns:
            a tensor, or tuples of them.
        """
        return _grad_unscale_map(self.scale_value.value(), inputs)

    def adjust(self, grads_finite: Tensor | bool) -> bool:
        """Change the scale after a step; a subclass defines it.

        Args:
            grads_finite: the result of ``all_finite`` for the gradients.

        Returns:
            whether the scale may change.
        """
        raise NotImplementedError(f"{type(self).__name__} must define 'adjust'")


class StaticLossScaler(LossScaler):
    """A constant scale.

    Args:
        scale_value: the scale, at least 1.

    Raises:
        TypeError: not a number.
        ValueError: a number below 1.
    """

    def adjust(self, grads_finite: Tensor | bool) -> bool:
        return False


class DynamicLossScaler(LossScaler):
    """A scale that falls after an overflow and rises after ``scale_window`` finite steps in a row.

    Args:
        scale_value: the initial scale, at least 1; it never falls below 1.
        scale_factor: the divisor and multiplier of the scale, an int above 0.
        scale_window: the number of finite steps before an increase, an int above 0.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: an argument out of range.
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__(scale_value)
        for name, value in (("scale_window", scale_window), ("scale_factor", scale_factor)):
            check_positive_int(value, "DynamicLossScaler", name, show=repr)
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.counter = Parameter(Tensor(0, int32), name="counter")

    def adjust(self, grads_finite: Tensor | bool) -> bool:
        """Change the scale after a step.

        Args:
            grads_finite: the result of ``all_finite`` for the gradients.

        Returns:
            True.
        """
        if is_on_gpu(self.scale_value._array) and is_on_gpu(self.counter._array):
            flag = flag_of(grads_finite, self.counter._array)
            state = self.scale_value._array, self.counter._array
            new, count_ = rescaled_in_single(*state, flag, self.scale_factor, self.scale_window)
            self.scale_value._rebind(new)
            self.counter._rebind(count_)
            return True
        scale, counter = np.float32(self.scale_value.item()), int(self.counter.item())
        finite = bool(grads_finite)
        if not finite:
            scale = max(np.float32(1), scale / np.float32(self.scale_factor))
        elif counter == self.scale_window - 1:
            with np.errstate(over="ignore"):
                larger = scale * np.float32(self.scale_factor)
            scale = larger if np.isfinite(larger) else scale
        self.scale_value.set_data(Tensor(np.float32(scale)))
        self.counter.set_data(Tensor(np.int32((counter + 1) % self.scale_window if finite else 0)))
        return True


name_methods(globals())
