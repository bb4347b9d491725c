"""Pure functions written in C: those that return the same result for the same arguments, without side effects."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from ..traced_array import TRACED

__all__ = ["is_pure"]

_PURE = frozenset(
    (
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "callable",
        "chr",
        "delattr",
        "dir",
        "divmod",
        "format",
        "getattr",
        "hasattr",
        "hash",
        "hex",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "max",
        "min",
        "next",
        "oct",
        "ord",
        "pow",
        "repr",
        "round",
        "setattr",
        "sorted",
        "sum",
        "__build_class__",
    )
)
_PURE_MODULES = (
    "math",
    "cmath",
    "_operator",
    "operator",
    "itertools",
    "_functools",
    "functools",
    "_collections",
    "_abc",
    "_typing",
    "_struct",
)
_PLAIN: tuple[type, ...] = (
    str,
    bytes,
    int,
    float,
    complex,
    bool,
    list,
    tuple,
    dict,
    set,
    frozenset,
    range,
    slice,
    np.ndarray,
    np.generic,
    np.dtype,
    type(iter([])),
    type(iter(())),
    type({}.values()),
    type({}.keys()),
    type({}.items()),
    types.MappingProxyType,
)


def is_pure(function: Any) -> bool:
    """Return whether a C function returns the same result for the same arguments, without side effects.

    Args:
        function: the function, or a method.
    """
    owner = getattr(function, "__self__", None)
    if owner is None:
        owner = getattr(function, "__objclass__", None)
        return owner is None or issubclass(owner, _PLAIN) or owner in (object, type)
    if isinstance(owner, types.ModuleType):
        name = owner.__name__
        if name == "builtins":
            return function.__name__ in _PURE
        return name in _PURE_MODULES or (name.startswith("numpy") and "random" not in name)
    if type(owner) in TRACED:
        return True  # it reports reads itself
    if isinstance(owner, type):
        return issubclass(owner, _PLAIN) or owner in (object, type)
    return isinstance(owner, _PLAIN) or (type(owner).__module__ == "builtins" and _is_iterator(owner))


def _is_iterator(owner: Any) -> bool:
    return hasattr(type(owner), "__next__") and not isinstance(owner, types.GeneratorType)
