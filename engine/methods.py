"""The methods and Python operators of Tensor that are operators of the table: rows, bound once at import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .backend import to_host
from .dtype import bool_, float16, float32, float64, int32, int64
from .ops import activation, arithmetic, indexing, linalg, reduction, shape
from .tensor import Tensor

__all__ = ["bind"]


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: function(other, self)


def _sum(self: Tensor, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    return reduction.sum(self, axis, keepdims, dtype=dtype)


def _max(self: Tensor, axis: Any = None, keepdims: bool = False, *, return_indices: bool = False) -> Any:
    return reduction.max(self, axis, keepdims) if return_indices else reduction.reduce_max(self, axis, keepdims)


def _min(self: Tensor, axis: Any = None, keepdims: bool = False, *, return_indices: bool = False) -> Any:
    return reduction.min(self, axis, keepdims) if return_indices else reduction.reduce_min(self, axis, keepdims)


def _reshape(self: Tensor, *shape_: Any) -> Tensor:
    return shape.reshape(self, shape_[0] if len(shape_) == 1 else shape_)


def _transpose(self: Tensor, *axes: Any) -> Tensor:
    if not axes:
        return shape.transpose(self)
    return shape.transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


def _copy(self: Tensor) -> Tensor:
    return shape.identity(self)  # type: ignore[no-any-return]


def _move_to(self: Tensor, to: str, blocking: bool = True) -> Tensor:
    """The same values on "CPU" or "GPU".

    Raises:
        ValueError: another place.
    """
    wanted = str(to).upper()
    if wanted == "CPU":
        return Tensor._wrap(to_host(self._array))
    if wanted == "GPU":
        import cupy

        return Tensor._wrap(cupy.asarray(self._array))
    raise ValueError(f"For 'Tensor.move_to', 'to' must be 'CPU' or 'GPU', but got {to!r}")


def _type_as(self: Tensor, other: Tensor) -> Tensor:
    return shape.cast(self, other.dtype)


def _invert(self: Tensor) -> Tensor:
    function = arithmetic.logical_not if self.dtype is bool_ else arithmetic.bitwise_not
    return function(self)  # type: ignore[no-any-return]


_METHODS: dict[str, Callable[..., Any]] = {
    "T": property(lambda self: shape.transpose(self)),  # type: ignore[dict-item]
    "__abs__": arithmetic.abs,
    "__add__": arithmetic.add,
    "__and__": arithmetic.bitwise_and,
    "__eq__": arithmetic.eq,
    "__floordiv__": arithmetic.floor_divide,
    "__ge__": arithmetic.ge,
    "__getitem__": indexing.getitem,
    "__gt__": arithmetic.gt,
    "__invert__": _invert,
    "__le__": arithmetic.le,
    "__lt__": arithmetic.lt,
    "__matmul__": linalg.matmul,
    "__mod__": arithmetic.remainder,
    "__mul__": arithmetic.mul,
    "__ne__": arithmetic.ne,
    "__neg__": arithmetic.neg,
    "__or__": arithmetic.bitwise_or,
    "__pos__": shape.identity,
    "__pow__": arithmetic.pow,
    "__radd__": _reflected(arithmetic.add),
    "__rfloordiv__": _reflected(arithmetic.floor_divide),
    "__rmatmul__": _reflected(linalg.matmul),
    "__rmod__": _reflected(arithmetic.remainder),
    "__rmul__": _reflected(arithmetic.mul),
    "__rpow__": _reflected(arithmetic.pow),
    "__rsub__": _reflected(arithmetic.sub),
    "__rtruediv__": _reflected(arithmetic.div),
    "__sub__": arithmetic.sub,
    "__truediv__": arithmetic.div,
    "__xor__": arithmetic.bitwise_xor,
    "abs": arithmetic.abs,
    "add": arithmetic.add,
    "all": reduction.all,
    "any": reduction.any,
    "argmax": reduction.argmax,
    "argmin": reduction.argmin,
    "astype": shape.cast,
    "bool": lambda self: shape.cast(self, bool_),
    "broadcast_to": shape.broadcast_to,
    "ceil": arithmetic.ceil,
    "chunk": shape.chunk,
    "clamp": arithmetic.clamp,
    "clip": arithmetic.clamp,
    "clone": _copy,
    "copy": _copy,
    "cos": arithmetic.cos,
    "cumsum": reduction.cumsum,
    "div": arithmetic.div,
    "equal": arithmetic.eq,
    "erf": arithmetic.erf,
    "exp": arithmetic.exp,
    "expand_dims": shape.expand_dims,
    "flatten": shape.flatten,
    "flip": shape.flip,
    "float": lambda self: shape.cast(self, float32),
    "floor": arithmetic.floor,
    "ge": arithmetic.ge,
    "gt": arithmetic.gt,
    "half": lambda self: shape.cast(self, float16),
    "int": lambda self: shape.cast(self, int32),
    "isfinite": arithmetic.isfinite,
    "isinf": arithmetic.isinf,
    "isnan": arithmetic.isnan,
    "le": arithmetic.le,
    "log": arithmetic.log,
    "logical_and": arithmetic.logical_and,
    "logical_not": arithmetic.logical_not,
    "logical_or": arithmetic.logical_or,
    "long": lambda self: shape.cast(self, int64),
    "lt": arithmetic.lt,
    "matmul": linalg.matmul,
    "max": _max,
    "maximum": arithmetic.maximum,
    "mean": reduction.mean,
    "min": _min,
    "minimum": arithmetic.minimum,
    "move_to": _move_to,
    "mul": arithmetic.mul,
    "ne": arithmetic.ne,
    "neg": arithmetic.neg,
    "norm": reduction.norm,
    "permute": _transpose,
    "pow": arithmetic.pow,
    "prod": reduction.prod,
    "reciprocal": arithmetic.reciprocal,
    "relu": activation.relu,
    "reshape": _reshape,
    "round": arithmetic.round,
    "rsqrt": arithmetic.rsqrt,
    "select": lambda self, condition, y: arithmetic.select(condition, self, y),
    "sigmoid": activation.sigmoid,
    "sin": arithmetic.sin,
    "softmax": activation.softmax,
    "split": shape.split,
    "sqrt": arithmetic.sqrt,
    "square": arithmetic.square,
    "squeeze": shape.squeeze,
    "std": reduction.std,
    "sub": arithmetic.sub,
    "sum": _sum,
    "swapaxes": shape.swapaxes,
    "tanh": activation.tanh,
    "tile": shape.tile,
    "to": shape.cast,
    "transpose": _transpose,
    "type_as": _type_as,
    "unsqueeze": shape.expand_dims,
    "value": lambda self: self,
    "var": reduction.var,
    "view": _reshape,
    "where": lambda self, condition, y: arithmetic.where(condition, self, y),
    "double": lambda self: shape.cast(self, float64),
}


def bind() -> None:
    """Put the methods on Tensor."""
    for name, function in _METHODS.items():
        setattr(Tensor, name, function)
