"""The arguments of a call as plans are kept under them: structure, plain values, the tensors' shapes, dtypes, layouts.

By the layout it is decided whether a tensor is a view of another one, and code can ask for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensors.tensor import Tensor
from .sizes import LEAST
from .traced_array import layout_of, type_of

__all__ = ["containers_in", "is_bare", "key_of", "parts_of", "sharing_with"]

_PLAIN = (str, int, bool, bytes)
_OF_ANY_TENSOR = frozenset(("const_arg", "_view", "_views", "_layout"))


def key_of(value: Any, tensors: list[Tensor], lists: list[Any], told: Any = None, axes: Any = None) -> Any:
    """What plans are kept under: structure and plain values of the arguments, the tensors' shapes, dtypes and layouts.

    Args:
        value: an argument, or a structure of them.
        tensors: gets the tensors in it.
        lists: gets the lists and dictionaries in it.
        told: of a tensor its axes whose lengths are left open, None where none are; of a structure one that is alike.
        axes: gets of each tensor the axes whose lengths are open; 0 and 1 are not, by which shapes broadcast.
    """
    kind = type(value)
    if kind is Tensor:
        for place, other in enumerate(tensors):
            if other is value or other._array is value._array:
                tensors.append(value)
                if axes is not None:
                    axes.append(())
                return place, other is value
        tensors.append(value)
        array = value._array
        shape: Any = array.shape
        of_arrays, layout = type_of(array), layout_of(array)
        if axes is not None:
            # On a GPU a plan is for its shapes, and one for strides is for these; what was told of another structure
            # says nothing.
            may = told if isinstance(told, tuple) and of_arrays is np.ndarray and layout is True else ()
            axes.append(tuple([n for n in may if type(n) is int and n < len(shape) and shape[n] >= LEAST]))
            shape = tuple([None if axis in axes[-1] else n for axis, n in enumerate(shape)])
        return kind, shape, array.dtype, of_arrays, layout, None if is_bare(value) else _Itself(value)
    if kind is float or kind is complex:
        return kind, repr(value)
    if kind in _PLAIN or value is None:
        return kind, value
    if kind is list or kind is dict:
        for place, other in enumerate(lists):
            if other is value:
                return kind, place
        lists.append(value)
    if kind is tuple or kind is list or _is_named(value):
        parts = told if isinstance(told, tuple | list) and len(told) == len(value) else (None,) * len(value)
        return kind, tuple([key_of(part, tensors, lists, of, axes) for part, of in zip(value, parts, strict=True)])
    if kind is dict:
        of_keys = told if isinstance(told, dict) else {}
        return kind, tuple(
            [
                (key_of(key, tensors, lists, None, axes), key_of(part, tensors, lists, of_keys.get(key), axes))
                for key, part in value.items()
            ]
        )
    if kind is frozenset:  # in its order, which equal ones need not share
        return kind, tuple([key_of(part, tensors, lists, None, axes) for part in value])
    if kind is slice or kind is range:
        return kind, tuple([key_of(part, tensors, lists, None, axes) for part in (value.start, value.stop, value.step)])
    if isinstance(value, np.generic):
        return kind, value.dtype, value.tobytes()
    return kind, _Itself(value)


def _is_named(value: Any) -> bool:
    """Whether it is a named tuple, of which nothing but its items is told apart."""
    return isinstance(value, tuple) and hasattr(value, "_fields") and not hasattr(value, "__dict__")


class _Itself:
    """Equal to what stands for the same object, which it holds: no other one comes to have its identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is _Itself and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def containers_in(value: Any) -> frozenset[int]:
    """The identities of the lists and dictionaries in the arguments.

    Args:
        value: an argument, or a structure of them.
    """
    if isinstance(value, tuple | list):
        parts: Any = value
    elif isinstance(value, dict):
        parts = value.values()
    else:
        return frozenset()
    own = () if isinstance(value, tuple) else (id(value),)
    return frozenset(own).union(*map(containers_in, parts))


def parts_of(value: Any) -> list[Any]:
    """What is in the arguments, but for what is part of what plans are kept under: containers and bare tensors.

    Args:
        value: an argument, or a structure of them.
    """
    kind = type(value)
    if kind is tuple or kind is list:
        return [one for part in value for one in parts_of(part)]
    if _is_named(value):  # whose class may have methods
        return [kind, *[one for part in value for one in parts_of(part)]]
    if kind is dict:
        return [one for item in value.items() for part in item for one in parts_of(part)]
    return [] if kind is Tensor and is_bare(value) else [value]


def is_bare(tensor: Tensor) -> bool:
    """Whether a tensor is like any other of its shape and dtype: no hook, no attribute that a user gave it."""
    held = tensor.__dict__
    return not held or held.keys() <= _OF_ANY_TENSOR


def sharing_with(tensor: Tensor) -> list[Tensor]:
    """A tensor and those that share elements with it: the one that it is a view of, and the views of that; or none."""
    root = tensor if tensor._view is None else tensor._view.root
    if root is None:
        return [tensor]
    views = [one() for one in root._views or ()]
    return [tensor, root, *[one for one in views if one is not None]] if views or root is not tensor else []


def has_views(tensor: Tensor) -> bool:
    """Whether a tensor is a view, or others are views of it."""
    return tensor._view is not None or any(one() is not None for one in tensor._views or ())
