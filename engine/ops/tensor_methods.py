"""Methods of Tensor on the tensor as a whole: its copies, its dtype, its device, one element of it, its flags.

Methods that compute are declared with the functions of ``ops``; those that only read the array are in the class.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.surfaces import declare
from ..base.types import AnyDType, DTypeLike, Shape
from ..tensors.dtype import (
    DType,
    any_dtype,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    to_dtype,
    uint8,
)
from ..tensors.tensor import Tensor
from .shapes.conversion import cast
from .shapes.copying import identity, move_operator

__all__: list[str] = []


# Copies


@declare(method=("clone", "copy"))
def _copy(input: Tensor) -> Tensor:
    """Return the same values in a new Tensor, through which gradients pass.

    Args:
        input: the Tensor.

    Returns:
        A Tensor of its shape and dtype; changing one in place leaves the other as it is.
    """
    return identity(input)


@declare(method="value")
def _itself(input: Tensor) -> Tensor:
    """Return the Tensor itself.

    Args:
        input: the Tensor; a Parameter returns its values as a Tensor that its gradient follows.

    Returns:
        ``input``.
    """
    return input


@declare(method=True)
def _itemset(input: Tensor, *args: Any) -> Tensor:
    """Return a copy with one element replaced: ``itemset(value)`` or ``itemset(position, value)``.

    Args:
        input: the Tensor.
        *args: the value alone, for a Tensor of one element; or before it the position: an int counts the flattened
            elements, a tuple has an int for each axis.

    Returns:
        A Tensor of the shape and dtype of ``input``.

    Raises:
        IndexError: a position that is out of range, or a value that is not a number.
    """
    if not isinstance(args[-1], int | float | complex | np.generic):
        raise IndexError(f"For 'Tensor.itemset', the value must be a number, but got {type(args[-1]).__name__}")
    index = args[0]
    if len(args) == 2 and isinstance(index, int):
        if not -input.size <= index < input.size:
            raise IndexError(
                f"For 'Tensor.itemset', the index must be in [{-input.size}, {input.size}), but got {index}"
            )
        index = np.unravel_index(index % input.size, input.shape)
    result = _copy(input)
    result[index if len(args) == 2 else (0,) * input.ndim] = args[-1]
    return result


@declare(method=True)
def _to_dlpack(input: Tensor) -> object:
    """Return the values as a DLPack capsule, for other libraries to take without a copy.

    Args:
        input: the Tensor; the consumer of the capsule must not write into it.

    Returns:
        The capsule.
    """
    return input._array.__dlpack__()


# Another dtype


@declare(method=True)
def _astype(input: Tensor, dtype: AnyDType, copy: builtins.bool = True) -> Tensor:
    """Return the elements in a different dtype.

    Args:
        input: the Tensor.
        dtype: the element type: a DType, or a NumPy dtype, a Python type or the name of one.
        copy: whether the result is a new Tensor also if ``input`` has that dtype; False then returns ``input`` itself.

    Returns:
        A Tensor of the shape of ``input``. Its gradient is cast to the dtype of ``input``.

    Raises:
        TypeError: ``dtype`` is not an element type.
    """
    # As in MindSpore, Python's type float is Float64 here.
    result = cast(input, float64 if dtype is builtins.float else any_dtype(dtype))
    return _copy(result) if copy and result is input else result


@declare(method=True)
def _type(input: Tensor, dtype: AnyDType | None = None) -> Any:
    """Return the name of the dtype; or, with ``dtype``, the elements in that dtype.

    Args:
        input: the Tensor.
        dtype: the element type to convert to; None returns the name.

    Returns:
        A str such as "Float32" without ``dtype``, else a Tensor of the shape of ``input``.

    Raises:
        TypeError: ``dtype`` is not an element type.
    """
    return f"{input.dtype}" if dtype is None else cast(input, any_dtype(dtype))


@declare(method=True)
def _set_dtype(input: Tensor, dtype: AnyDType) -> DType:
    """Change the dtype of this Tensor in place; its elements are converted.

    Args:
        input: the Tensor that is changed.
        dtype: the element type.

    Returns:
        The new DType.

    Raises:
        TypeError: ``dtype`` is not an element type.
    """
    input._rebind(cast(input, any_dtype(dtype))._array)
    return input.dtype


def _cast_to(name: str, dtype: DType) -> Callable[[Tensor], Tensor]:
    def converted(input: Tensor) -> Tensor:
        return cast(input, dtype)

    converted.__name__ = converted.__qualname__ = name
    converted.__doc__ = f"""The elements as {dtype}.

    Args:
        input: the Tensor.

    Returns:
        a {dtype} Tensor of its shape; the Tensor itself where it has that dtype. Gradients come back in its own.
    """
    return converted


for _name, _dtype in {
    "bfloat16": bfloat16,
    "bool": bool_,
    "byte": uint8,
    "char": int8,
    "double": float64,
    "float": float32,
    "half": float16,
    "int": int32,
    "long": int64,
    "short": int16,
}.items():
    declare(method=_name)(_cast_to(_name, _dtype))


# Another device


@declare(method=True)
def _move_to(input: Tensor, to: str, blocking: builtins.bool = True) -> Tensor:
    """Return the same values on another device; gradients pass back to the device of the Tensor.

    Args:
        input: the Tensor.
        to: "CPU" or "GPU", in any case.
        blocking: accepted for MindSpore; a later use waits for the copy in any case.

    Returns:
        A Tensor on that device, of the same shape and dtype.

    Raises:
        ValueError: ``to`` is an unknown device.
    """
    device = str(to).upper()
    if device not in ("CPU", "GPU"):
        raise ValueError(f"For 'Tensor.move_to', 'to' must be 'CPU' or 'GPU', but got {to!r}")
    return move_operator(input, to=device)


@declare(method=True)
def _to(
    input: Tensor, *args: Tensor | DTypeLike | builtins.bool | None, **kwargs: Tensor | DTypeLike | builtins.bool | None
) -> Tensor:
    """Return the values in a different dtype, on another device, or in the dtype of another Tensor.

    Args:
        input: the Tensor.
        *args: in any order: a dtype; a device ("CPU", "GPU", also "GPU:0"); a Tensor, whose dtype is used. None and
            bools (``non_blocking``, ``copy``) change nothing.
        **kwargs: the same by any name, such as ``dtype=`` or ``device=``.

    Returns:
        A Tensor of the shape of ``input``.

    Raises:
        TypeError: an argument that is not a dtype.
        ValueError: a str that is neither "CPU" nor "GPU".
    """
    result = input
    for argument in (*args, *kwargs.values()):
        if isinstance(argument, Tensor):
            result = cast(result, argument.dtype)
        elif isinstance(argument, str):
            result = _move_to(result, argument.partition(":")[0])
        elif argument is not None and not isinstance(argument, builtins.bool):
            result = cast(result, to_dtype(argument))
    return result


# Flags


@declare(method=True)
def _requires_grad_(input: Tensor, requires_grad: builtins.bool = True) -> Tensor:
    """Set ``requires_grad``.

    Args:
        input: the Tensor. For a Parameter the flag determines whether it is trained; for another Tensor it is only
            stored, since gradients are requested with ``grad``.
        requires_grad: the new value.

    Returns:
        ``input``.

    Raises:
        TypeError: of a Parameter, ``requires_grad`` is not a bool.
    """
    input.requires_grad = requires_grad  # type: ignore[attr-defined]
    return input


@declare(method=True)
def _set_const_arg(input: Tensor, const_arg: builtins.bool = True) -> Tensor:
    """Store the flag ``const_arg``, which a graph compiler would read; it has no effect here.

    Args:
        input: the Tensor.
        const_arg: the new value.

    Returns:
        ``input``.
    """
    input.const_arg = const_arg
    return input


@declare(method=True)
def _init_data(
    input: Tensor, slice_index: int | None = None, shape: Shape | None = None, opt_shard_group: str | None = None
) -> Tensor:
    """Return the Tensor itself: ``init`` fills a Tensor when it is made, so nothing remains to be done.

    Args:
        input: a Tensor that was made with ``init``.
        slice_index: which part of a Tensor that is spread over devices; ignored, there is one device.
        shape: the shape of that part; ignored.
        opt_shard_group: the group of devices; ignored.

    Returns:
        ``input``.

    Raises:
        TypeError: the Tensor was made without ``init``.
    """
    if not input.has_init:
        raise TypeError("For 'Tensor.init_data', the tensor must have been made with 'init'")
    return input


@declare(method=True)
def _flush_from_cache(input: Tensor) -> None:
    """Do nothing: there is no parameter server, and so no cache to write back.

    Args:
        input: the Tensor.
    """
