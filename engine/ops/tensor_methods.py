"""Methods of Tensor about the tensor as a whole: its copies, its dtype, its device, one element of it, its flags.

Methods that compute are declared beside the functions of ``ops``, and what the array itself answers is in the class.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import DType, bfloat16, bool_, float16, float32, float64, int8, int16, int32, int64, uint8
from ..core.surfaces import declare
from ..core.tensor import Tensor
from .shape import cast, identity, move_operator

__all__: list[str] = []


# Copies


@declare(method=("clone", "copy"))
def _copy(input: Tensor) -> Tensor:
    """The same values, a new tensor."""
    return identity(input)


@declare(method="value")
def _itself(input: Tensor) -> Tensor:
    """The tensor itself."""
    return input


@declare(method=True)
def _itemset(input: Tensor, *args: Any) -> Tensor:
    """A tensor with one element replaced: ``itemset(value)`` or ``itemset(place, value)``."""
    place = np.unravel_index(args[0], input.shape) if len(args) == 2 and isinstance(args[0], int) else args[0]
    changed = _copy(input)
    changed[place if len(args) == 2 else (0,) * input.ndim] = args[-1]
    return changed


@declare(method=True)
def _to_dlpack(input: Tensor) -> Any:
    """The values as a DLPack capsule."""
    return input._array.__dlpack__()


# Another dtype


@declare(method=True)
def _astype(input: Tensor, dtype: Any, copy: builtins.bool = True) -> Tensor:
    """The elements as another dtype; without ``copy`` the tensor itself where it has that already."""
    found = cast(input, dtype)
    return _copy(found) if copy and found is input else found


@declare(method=True)
def _type(input: Tensor, dtype: Any = None) -> Any:
    """The name of the dtype, or the values as another one."""
    return f"{input.dtype}" if dtype is None else cast(input, dtype)


@declare(method=True)
def _set_dtype(input: Tensor, dtype: Any) -> DType:
    """Change the dtype of this tensor; the new one."""
    input._rebind(cast(input, dtype)._array)
    return input.dtype


def _cast_to(name: str, dtype: DType) -> Callable[[Tensor], Tensor]:
    def converted(input: Tensor) -> Tensor:
        return cast(input, dtype)

    converted.__name__ = converted.__qualname__ = name
    converted.__doc__ = f"The elements as {dtype}."
    return converted


for _name, _dtype in {
    "bfloat16": bfloat16, "bool": bool_, "byte": uint8, "char": int8, "double": float64, "float": float32,
    "half": float16, "int": int32, "long": int64, "short": int16,
}.items():  # fmt: skip
    declare(method=_name)(_cast_to(_name, _dtype))


# Another device


@declare(method=True)
def _move_to(input: Tensor, to: str, blocking: builtins.bool = True) -> Tensor:
    """The same values on "CPU" or "GPU".

    Raises:
        ValueError: another place.
    """
    wanted = str(to).upper()
    if wanted not in ("CPU", "GPU"):
        raise ValueError(f"For 'Tensor.move_to', 'to' must be 'CPU' or 'GPU', but got {to!r}")
    return move_operator(input, to=wanted)


@declare(method=True)
def _to(input: Tensor, *args: Any, **named: Any) -> Tensor:
    """The values as another dtype, on another device, or as those of another tensor."""
    found = input
    for wanted in (*args, *named.values()):
        if isinstance(wanted, Tensor):
            found = cast(found, wanted.dtype)
        elif isinstance(wanted, str):
            found = _move_to(found, wanted.partition(":")[0])
        elif wanted is not None and not isinstance(wanted, builtins.bool):
            found = cast(found, wanted)
    return found


# Flags


@declare(method=True)
def _requires_grad_(input: Tensor, requires_grad: builtins.bool = True) -> Tensor:
    """Set ``requires_grad``. Of a Parameter it says whether it is trained; of a tensor it is kept for readers, since
    gradients are asked for by ``grad``."""
    input.requires_grad = requires_grad  # type: ignore[attr-defined]
    return input


@declare(method=True)
def _set_const_arg(input: Tensor, const_arg: builtins.bool = True) -> Tensor:
    """Keep the flag ``const_arg``."""
    input.const_arg = const_arg
    return input


@declare(method=True)
def _init_data(input: Tensor, slice_index: Any = None, shape: Any = None, opt_shard_group: Any = None) -> Tensor:
    """The tensor itself: ``init`` fills a tensor when it is made, so nothing is left to be done.

    Raises:
        TypeError: the tensor was made without ``init``.
    """
    if not input.has_init:
        raise TypeError("For 'Tensor.init_data', the tensor must have been made with 'init'")
    return input


@declare(method=True)
def _flush_from_cache(input: Tensor) -> None:
    """Nothing: there is no cache."""
