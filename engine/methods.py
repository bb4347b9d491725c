"""Binding of Tensor's methods at import: declared ones (``surfaces``), and Python's operators.

MindSpore's methods accept two sets of argument names, its own (axis, keepdims) and PyTorch's (dim, keepdim);
``_method`` makes a function accept both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from inspect import unwrap
from types import FunctionType
from typing import Any

from . import ops
from .base.module_names import copy_with_name
from .base.surfaces import IN_PLACE, METHODS
from .base.types import TensorLike
from .ops.shapes.conversion import tensor_of
from .ops.shapes.subscripts import assigned
from .tensors.dtype import bool_
from .tensors.operator import Operator
from .tensors.tensor import Tensor

__all__ = ["bind"]

Method = Callable[..., Any]

_SYNONYMS = (
    ("axis", "dim", "dims"),
    ("keepdims", "keepdim", "keep_dims"),
    ("ddof", "correction"),
    ("dims", "reps", "axis"),
    ("axis0", "dim0"),
    ("axis1", "dim1"),
    ("axis2", "dim2"),
    ("other", "y", "x2", "tensor2", "value", "divisor"),
    ("indices", "index", "input_indices"),
    ("split_size_or_sections", "split_size"),
    ("exponent", "other"),
    ("offset", "diagonal"),
)


def _parameters(function: Method) -> tuple[str, ...] | None:
    """Return the names of the arguments after the tensor."""
    code = getattr(unwrap(function), "__code__", None)
    return None if code is None else code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]


def _method(function: Method) -> Method:
    """Return a function of ``ops`` as a method that accepts aliases of its arguments."""
    names = _parameters(function)
    if names is None or not {name for group in _SYNONYMS for name in group}.intersection(names):
        return function
    accepted = frozenset(names)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if kwargs and not accepted.issuperset(kwargs):
            kwargs = {key if key in accepted else _renamed(key, accepted): value for key, value in kwargs.items()}
        return function(self, *args, **kwargs)

    return update_wrapper(method, function)


def _renamed(key: str, own_names: frozenset[str]) -> str:
    for group in _SYNONYMS:
        if key in group:
            for name in group:
                if name in own_names:
                    return name
    return key


def _in_place(name: str, function: Method) -> Method:
    """Return a method that sets the tensor to ``function``'s result, in its own shape and dtype."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return _assign(self, function(self, *args, **kwargs), name)

    update_wrapper(method, function)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"In place: {function.__doc__}"
    return method


def _assign(self: Tensor, result: Tensor, name: str) -> Tensor:
    """Rebind the tensor: the shared array stays unchanged, and gradients pass through the new one."""
    if result.shape != self.shape:
        raise ValueError(f"For 'Tensor.{name}', the result must keep the shape {self.shape}, but has {result.shape}")
    cast = ops.cast(result, self.dtype)
    self._rebind((ops.identity(cast) if cast._array is self._array else cast)._array, by_user=True)
    return self


def _reflected(function: Method) -> Method:
    return lambda self, other: function(other, self)


def _beside_lists(function: Method) -> Method:
    """Return the reflected operator, which also accepts a list or tuple."""
    return lambda self, other: function(tensor_of(other) if isinstance(other, list | tuple) else other, self)


def _set_item(self: Tensor, index: Any, value: TensorLike) -> None:
    """Assign ``self[index] = value``."""
    self._rebind(assigned(self, index, value), by_user=True)


def _invert(self: Tensor) -> Tensor:
    """Return ``~self``: "not" for bools, every bit for integers."""
    return (ops.logical_not if self.dtype is bool_ else ops.bitwise_not)(self)


def _round(self: Tensor, digits: int = 0) -> Tensor:
    """Return ``round(self, digits)``."""
    return ops.round(self, decimals=digits)


def _only_settings(name: str, instead: str) -> Method:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"Tensor.{name} is not covered by hookscope: {instead}")

    return method


_OPERATORS: dict[str, Any] = {
    "H": property(lambda self: ops.adjoint(self)),
    "T": property(lambda self: ops.transpose(self, None)),
    "mH": property(lambda self: ops.adjoint(self)),
    "mT": property(lambda self: ops.swapaxes(self, -1, -2)),
    "__abs__": ops.abs,
    "__add__": ops.add,
    "__and__": ops.bitwise_and,
    "__eq__": ops.eq,
    "__floordiv__": ops.floor_divide,
    "__ge__": ops.ge,
    "__getitem__": ops.getitem,
    "__gt__": ops.gt,
    "__invert__": _invert,
    "__le__": ops.le,
    "__lt__": ops.lt,
    "__matmul__": ops.matmul,
    "__mod__": ops.remainder,
    "__mul__": ops.mul,
    "__ne__": ops.ne,
    "__neg__": ops.neg,
    "__or__": ops.bitwise_or,
    "__pos__": ops.identity,
    "__pow__": ops.pow,
    "__radd__": _beside_lists(ops.add),
    "__rand__": _reflected(ops.bitwise_and),
    "__rfloordiv__": _beside_lists(ops.floor_divide),
    "__rmatmul__": _reflected(ops.matmul),
    "__rmod__": _reflected(ops.remainder),
    "__rmul__": _reflected(ops.mul),
    "__round__": _round,
    "__ror__": _reflected(ops.bitwise_or),
    "__rpow__": _beside_lists(ops.pow),
    "__rsub__": _beside_lists(ops.sub),
    "__rtruediv__": _reflected(ops.div),
    "__rxor__": _reflected(ops.bitwise_xor),
    "__setitem__": _set_item,
    "__sub__": ops.sub,
    "__truediv__": ops.div,
    "__xor__": ops.bitwise_xor,
}

ABSENT = {
    "offload": "arrays stay where they are; use Tensor.move_to",
    "pin_memory": "arrays are ordinary memory; use the tensor as it is",
}


def _with_the_name(name: str, function: Method) -> Method:
    """Set a function's name to the one that users call, for its errors."""
    if not isinstance(function, FunctionType) or function.__name__ == function.__qualname__ == name:
        return function
    return copy_with_name(function, name)


def bind() -> None:
    """Define the methods on Tensor."""
    for name, function in _OPERATORS.items():
        # Python passes no argument names
        setattr(Tensor, name, function.as_method() if isinstance(function, Operator) else function)
    for name, function in METHODS.items():
        setattr(Tensor, name, _method(_with_the_name(name, function)))
    for name, function in IN_PLACE.items():
        setattr(Tensor, name, _in_place(name, _method(_with_the_name(name, function))))
    for name, alternative in ABSENT.items():
        setattr(Tensor, name, _only_settings(name, alternative))
