"""The same values as another tensor: identities, copies in memory order, moves between devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.surfaces import declare, prim
from ...base.types import Value
from ...tensors.backend import moved
from ...tensors.nested import Sparse, replaced
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.views import stop_gradient_operator
from ..arguments import check_tensor

__all__ = ["identity", "move_to", "stop_gradient"]

identity = Operator("identity", lambda x: x.view(), (lambda F, g, out, x: g,), keeps_dtype=True).declare(
    "The same values, a new tensor."
)


@declare(primitive=(prim("Identity"), prim("Reusing")))
def _identity(input_x: Tensor) -> Tensor:
    """Return the same values in a new tensor.

    Args:
        input_x: a tensor.
    """
    result: Tensor = identity(input_x)
    return result


def apart(result: Tensor, source: Tensor) -> Tensor:
    """Return a function's result so that it does not share elements with the tensor that it was made from.

    Args:
        result: a new tensor, or ``source``.
        source: the tensor that it was made from.

    Returns:
        A tensor that writes to ``source`` do not change, nor the other way around.
    """
    if result is source:
        return identity(source)
    result._view = None
    return result


_contiguous = Operator("contiguous", lambda x: x.copy(order="C"), (lambda F, g, out, x: g,), keeps_dtype=True).declare(
    "The same values, laid out row by row."
)


def _device_of(x: Value) -> str:
    return "CPU" if isinstance(x._array if isinstance(x, Tensor) else x, np.ndarray) else "GPU"


move_operator = Operator(
    "move_to",
    lambda x, to: moved(x, to, "move_to"),
    (lambda F, g, out, x, to: F.move_to(g, to=_device_of(x)),),
    keeps_dtype=True,
).declare('The same values on another device, "CPU" or "GPU".')


@declare(method="contiguous")
def _contiguous_of_tensor(input: Tensor) -> Tensor:
    """Return the same values in row-major order in memory.

    Args:
        input: a tensor of any shape.

    Returns:
        ``input`` itself if it is contiguous, else a copy of its shape and dtype.
    """
    return input if input.is_contiguous() else _contiguous(input)


def move_to(input: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
    """Return the same values on another device.

    Args:
        input: a tensor of any shape.
        to: "CPU" or "GPU".
        blocking: whether to wait for the copy.

    Returns:
        A tensor of the same shape and dtype, through which gradients pass back to the device of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``to`` is an unknown name, or the device is not available.
    """
    return check_tensor(input, "move_to").move_to(to, blocking)


@declare(primitive=prim("IdentityN"))
def _identities(x: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return the same tensors.

    Args:
        x: a tuple or list of tensors.

    Returns:
        A tuple of them.
    """
    return tuple(x)


@declare(primitive=prim("StopGradient"))
def stop_gradient(value: Any) -> Any:
    """Return the same values, through which no gradient passes.

    Args:
        value: a tensor, a sparse one too, or a tuple or list of them, nested ones too; anything else is returned as it
            is.

    Returns:
        The same structure with new tensors that share the values.
    """
    if isinstance(value, tuple | list):
        return type(value)([stop_gradient(v) for v in value])
    if isinstance(value, Sparse):
        return replaced(value, [stop_gradient(value.values)])
    return stop_gradient_operator(value) if isinstance(value, Tensor) else value
