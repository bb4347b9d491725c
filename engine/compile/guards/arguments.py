"""Keys of plans from the arguments of a call: structure, plain values, and the tensors' shapes, dtypes and layouts.

The layout decides whether a tensor is a view of another one, and code can query it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tensors.tensor import Tensor
from ..sizes import LEAST
from ..traced_array import layout_of, type_of

__all__ = ["containers_in", "is_bare", "key_of", "parts_of", "sharing_with"]

_PLAIN = (str, int, bool, bytes)
_OF_ANY_TENSOR = frozenset(("const_arg", "_view", "_views", "_layout"))


def key_of(value: Any, tensors: list[Tensor], lists: list[Any], symbolic_axes: Any = None, axes: Any = None) -> Any:
    """Return the key of a call's plans: structure and plain values, and the tensors' shapes, dtypes and layouts.

    Args:
        value: an argument, or a structure of them.
        tensors: list to which the tensors in it are appended.
        lists: list to which the lists and dictionaries in it are appended.
        symbolic_axes: symbolic axes of a tensor, None if there are none; for a structure the same structure of these.
        axes: list to which the symbolic axes of each tensor are appended, except axes of length 0 and 1, which affect
            broadcasting.
    """
    kind = type(value)
    if kind is Tensor:
        for index, other in enumerate(tensors):
            if other is value or other._array is value._array:
                tensors.append(value)
                if axes is not None:
                    axes.append(())
                return index, other is value
        tensors.append(value)
        array = value._array
        shape: Any = array.shape
        array_type, layout = type_of(array), layout_of(array)
        if axes is not None:
            # On a GPU and for strided arrays, plans have fixed shapes. Symbolic axes declared for another structure are
            # ignored.
            candidates = (
                symbolic_axes
                if isinstance(symbolic_axes, tuple) and array_type is np.ndarray and layout is True
                else ()
            )
            axes.append(tuple([n for n in candidates if type(n) is int and n < len(shape) and shape[n] >= LEAST]))
            shape = tuple([None if axis in axes[-1] else n for axis, n in enumerate(shape)])
        return kind, shape, array.dtype, array_type, layout, None if is_bare(value) else _Identity(value)
    if kind is float or kind is complex:
        return kind, repr(value)
    if kind in _PLAIN or value is None:
        return kind, value
    if kind is list or kind is dict:
        for index, other in enumerate(lists):
            if other is value:
                return kind, index
        lists.append(value)
    if kind is tuple or kind is list or _is_named_tuple(value):
        parts = (
            symbolic_axes
            if isinstance(symbolic_axes, tuple | list) and len(symbolic_axes) == len(value)
            else (None,) * len(value)
        )
        return kind, tuple(
            [key_of(part, tensors, lists, axes_of_part, axes) for part, axes_of_part in zip(value, parts, strict=True)]
        )
    if kind is dict:
        axes_by_key = symbolic_axes if isinstance(symbolic_axes, dict) else {}
        return kind, tuple(
            [
                (key_of(key, tensors, lists, None, axes), key_of(part, tensors, lists, axes_by_key.get(key), axes))
                for key, part in value.items()
            ]
        )
    if kind is frozenset:  # in its order, which may differ between equal sets
        return kind, tuple([key_of(part, tensors, lists, None, axes) for part in value])
    if kind is slice or kind is range:
        return kind, tuple([key_of(part, tensors, lists, None, axes) for part in (value.start, value.stop, value.step)])
    if isinstance(value, np.generic):
        return kind, value.dtype, value.tobytes()
    return kind, _Identity(value)


def _is_named_tuple(value: Any) -> bool:
    """Return whether a value is a named tuple that is determined by its items."""
    return isinstance(value, tuple) and hasattr(value, "_fields") and not hasattr(value, "__dict__")


class _Identity:
    """Key for an object by identity; it references the object, so that the identity is not reused."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is _Identity and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def containers_in(value: Any) -> frozenset[int]:
    """Return the identities of the lists and dictionaries in the arguments.

    Args:
        value: an argument, or a structure of them.
    """
    if isinstance(value, tuple | list):
        parts: Any = value
    elif isinstance(value, dict):
        parts = value.values()
    else:
        return frozenset()
    identities = () if isinstance(value, tuple) else (id(value),)
    return frozenset(identities).union(*map(containers_in, parts))


def parts_of(value: Any) -> list[Any]:
    """Return the parts of the arguments that the key does not determine: all but containers and bare tensors.

    Args:
        value: an argument, or a structure of them.
    """
    kind = type(value)
    if kind is tuple or kind is list:
        return [leaf for part in value for leaf in parts_of(part)]
    if _is_named_tuple(value):  # its class may have methods
        return [kind, *[leaf for part in value for leaf in parts_of(part)]]
    if kind is dict:
        return [leaf for item in value.items() for part in item for leaf in parts_of(part)]
    return [] if kind is Tensor and is_bare(value) else [value]


def is_bare(tensor: Tensor) -> bool:
    """Return whether a tensor has neither hooks nor attributes set by a user."""
    attributes = tensor.__dict__
    return not attributes or attributes.keys() <= _OF_ANY_TENSOR


def sharing_with(tensor: Tensor) -> list[Tensor]:
    """Return a tensor and those that share its elements: the root of its view, and the views of that; else nothing."""
    root = tensor if tensor._view is None else tensor._view.root
    if root is None:
        return [tensor]
    views = [view() for view in root._views or ()]
    return [tensor, root, *[view for view in views if view is not None]] if views or root is not tensor else []


def has_views(tensor: Tensor) -> bool:
    """Return whether a tensor is a view or has views."""
    return tensor._view is not None or any(view() is not None for view in tensor._views or ())
