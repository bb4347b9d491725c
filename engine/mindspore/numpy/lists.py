"""Wrappers of functions of ``ops`` that accept lists, arrays and numbers in place of tensors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...tensors.dtype import bool_, float16, int8, uint8
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from .arrays import as_singles, as_type, asarray, floating, several

__all__ = ["taking_lists"]


# These compute in the dtype of their arguments and convert the result, as all operators do here.
_WITH_DTYPE = ("deg2rad", "heaviside", "positive", "rad2deg", "radians")
# With these a number does not change the element type of the tensor.
_NUMBERS_STAY = ("maximum", "minimum")


def _short_as_halves(x: Tensor) -> Tensor:
    """Convert a tensor of bools or of 8-bit integers to Float16."""
    return x.astype(float16) if x.dtype in (bool_, int8, uint8) else x


# Conversions of the tensors before the call, if MindSpore's element type is not that of ``ops``.
_FIRST: dict[str, Callable[[Tensor], Tensor]] = {
    "arccos": _short_as_halves,
    "arccosh": _short_as_halves,
    "arcsin": _short_as_halves,
    "arcsinh": _short_as_halves,
    "arctan": _short_as_halves,
    "arctan2": _short_as_halves,
    "arctanh": _short_as_halves,
    "cbrt": as_singles,
    "ceil": as_singles,
    "cos": _short_as_halves,
    "cosh": _short_as_halves,
    "sin": _short_as_halves,
    "sinh": _short_as_halves,
    "tan": _short_as_halves,
    "tanh": _short_as_halves,
    "trunc": floating,
}


def taking_lists(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of ``ops`` so that it accepts lists, arrays and numbers in place of tensors.

    A number combined with a tensor counts as Int32 or Float32. An operator takes ``dtype``, and so do those in
    ``_WITH_DTYPE``.

    Args:
        name: the function's name, here.
        function: the declared function.

    Returns:
        the function.
    """
    operator = isinstance(inspect.unwrap(function), Operator)
    signature = inspect.signature(function)
    kinds = {
        key: "Tensor" if operator else re.sub(r"\b(Operand|TensorLike)\b", "Tensor", str(parameter.annotation))
        for key, parameter in signature.parameters.items()
    }
    combined = list(signature.parameters)[:2] in (["x1", "x2"], ["a", "b"]) and name not in _NUMBERS_STAY
    first = _FIRST.get(name)
    takes_dtype = operator or name in _WITH_DTYPE
    if takes_dtype:
        dtype = inspect.Parameter("dtype", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        signature = signature.replace(parameters=[*signature.parameters.values(), dtype])

    def surface(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() got other arguments than {signature}: {error}") from None
        arguments = bound.arguments
        requested = arguments.pop("dtype", None) if takes_dtype else None
        for key, value in arguments.items():
            kind = kinds.get(key, "")
            if "Sequence[Tensor]" in kind:
                arguments[key] = [asarray(item) for item in several(value, f"numpy.{name}", key)]
            elif "Tensor" in kind and isinstance(value, list | tuple | np.ndarray):
                arguments[key] = asarray(value)
        if combined or not any(isinstance(value, Tensor) for value in arguments.values()):
            for key, value in arguments.items():
                if "Tensor" in kinds.get(key, "") and _is_number(value):
                    arguments[key] = asarray(value)
        if first is not None:
            for key, value in arguments.items():
                if isinstance(value, Tensor):
                    arguments[key] = first(value)
        return as_type(function(*bound.args, **bound.kwargs), requested)

    surface.__name__ = surface.__qualname__ = name
    surface.__doc__ = function.__doc__
    surface.__wrapped__ = function  # type: ignore[attr-defined]
    surface.__signature__ = signature  # type: ignore[attr-defined]
    return surface


def _is_number(value: object) -> bool:
    """Return whether a value is a number that Int32 or Float32 can hold."""
    return isinstance(value, bool | float) or (isinstance(value, int) and -(2**31) <= value < 2**31)
