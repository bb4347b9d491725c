"""Kinds of objects: which do not change, which belong to the engine or a library, what the engine reads from a cell."""

from __future__ import annotations

import abc
import gc
import inspect
import sys
import types
from collections import OrderedDict, defaultdict, deque
from typing import Any, Generic, Protocol

import numpy as np

from ...base.code_origin import is_engine, is_library
from ...nn.optim.optimizer import Optimizer
from ...tensors.dtype import DType
from .code_names import REFLECTION, cached_while_alive, names_in

__all__ = [
    "LEAVES",
    "READ_BY_CALLS",
    "dictionary_of",
    "engine_methods",
    "has_foreign_base",
    "is_engine_class",
    "is_engine_function",
    "is_engine_optimizer",
    "is_foreign_class",
    "is_leaf",
    "is_opaque_class",
    "is_small_constant",
    "is_static_class",
    "is_user_function",
    "names_read_by_engine",
    "slots_of",
]
_PACKAGE = __name__.rpartition(".compile.")[0]
LEAVES = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(...),
    type(NotImplemented),
    DType,
    np.dtype,
    np.generic,
    range,
    types.CodeType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    np.ufunc,
    type(np.sum),
    type(sys.flags),
    type(inspect.FullArgSpec.args),  # a named tuple's field
)
"""Types whose objects do not change, or reach nothing that affects a function's result."""
_NUMBERS = (int, float, complex, str, bytes, range)
READ_BY_CALLS = frozenset(
    (
        "construct",
        "bprop",
        "_hooks",
        "_recompute",
        "_offload",
        "_saved_tensors_hooks",
        "mixed_precision_type",
        "internal_params",
        "bprop_debug",
    )
)
"""Names that the engine reads from a cell without the function's code using them, unless the cell is plain."""
_WITHOUT_A_NAME = frozenset(("__iter__", "__len__", "__getitem__", "__contains__", "__bool__", "__reversed__"))
_TRANSPARENT = (
    object,
    list,
    tuple,
    dict,
    set,
    frozenset,
    deque,
    int,
    float,
    complex,
    str,
    bytes,
    slice,
    OrderedDict,
    defaultdict,
    types.MappingProxyType,
    types.SimpleNamespace,
    abc.ABC,
    Generic,
    Protocol,
)
"""Classes whose objects hold only what is inspected here."""


def is_leaf(value: Any) -> bool:
    """Return whether a value does not change and reaches nothing that affects a function's result."""
    if isinstance(value, _NUMBERS):
        return type(value) in _NUMBERS or type(value) is bool or isinstance(value, np.generic)
    return isinstance(value, LEAVES) and not isinstance(value, np.void)


def is_engine_optimizer(value: Any) -> bool:
    """Return whether a value is an optimizer with the engine's step."""
    experimental = sys.modules.get(f"{_PACKAGE}.mindspore.experimental.optim.optimizer")
    kinds = [Optimizer, *([] if experimental is None else [experimental.Optimizer])]
    return any(isinstance(value, kind) and type(value).construct is kind.construct for kind in kinds)


def is_small_constant(value: Any) -> bool:
    """Return whether a value is a small container of plain values, or an array."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    return isinstance(value, np.ndarray) or (
        isinstance(value, tuple | list | set | frozenset) and len(value) <= 64 and all(map(is_leaf, value))
    )


def is_user_function(value: Any) -> bool:
    """Return whether a value is a function that belongs neither to the engine nor to a library."""
    if not isinstance(value, types.FunctionType):
        return False
    file = value.__code__.co_filename
    return not (is_engine(file) or is_library(file))


def is_engine_function(value: Any) -> bool:
    """Return whether a class attribute is a function of the engine.

    Args:
        value: an attribute of a class.
    """
    return isinstance(value, types.FunctionType) and is_engine(value.__code__.co_filename)


def is_engine_class(kind: type) -> bool:
    """Return whether the engine defines a class.

    Args:
        kind: a class.
    """
    return is_engine(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")


@cached_while_alive
def is_foreign_class(kind: type) -> bool:
    """Return whether a class belongs to the engine or a library, so that its code is independent of this function.

    Args:
        kind: a class.
    """
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    return kind.__module__ == "builtins" or is_engine(file) or is_library(file) or is_opaque_class(kind)


@cached_while_alive
def has_foreign_base(kind: type) -> bool:
    """Return whether methods of the engine or a library may read attributes of its objects.

    Args:
        kind: the class of the objects.
    """
    return any(
        is_foreign_class(base)
        for base in kind.__mro__[:-1]
        if base not in _TRANSPARENT or base is types.SimpleNamespace
    )


@cached_while_alive
def is_opaque_class(kind: type) -> bool:
    """Return whether its objects hold state that is invisible to Python code.

    Args:
        kind: the class of the objects.
    """
    for base in kind.__mro__:
        spec = getattr(sys.modules.get(base.__module__), "__spec__", None)
        origin = getattr(spec, "origin", None) or ""
        is_python = origin not in ("built-in", "frozen") and not origin.endswith((".so", ".pyd"))
        if base.__module__ != "builtins" and is_python and not is_static_class(base):
            continue
        is_known = base.__module__ in ("abc", "enum", "types", "typing") and not is_static_class(base)
        if base not in _TRANSPARENT and not is_known:
            return True
    return False


def is_static_class(kind: Any) -> bool:
    """Return whether a value is a class with fixed attributes: no Py_TPFLAGS_HEAPTYPE, or immutable.

    Args:
        kind: a class, or another value.
    """
    return isinstance(kind, type) and (not kind.__flags__ & 1 << 9 or bool(kind.__flags__ & 1 << 8))


@cached_while_alive
def slots_of(kind: type) -> tuple[str, ...]:
    """Return the names of the slots of a class and its bases.

    Args:
        kind: a class.
    """
    return tuple(
        name for base in kind.__mro__ for name, value in vars(base).items() if inspect.ismemberdescriptor(value)
    )


def dictionary_of(kind: type) -> dict[str, Any]:
    """Return the dictionary behind ``vars(kind)``, which returns a new proxy each time."""
    (referent,) = gc.get_referents(vars(kind))
    dictionary: dict[str, Any] = referent
    return dictionary


def engine_methods(kind: type, names: frozenset[str], are_properties: bool = False) -> frozenset[str]:
    """Return those engine methods and properties of a class that are among the names or are called implicitly.

    Args:
        kind: a class.
        names: the names that a function reads.
        are_properties: whether to return properties alone.
    """
    return frozenset([name for name in _methods_of(kind, are_properties) if name in names or name in _WITHOUT_A_NAME])


@cached_while_alive
def _methods_of(kind: type, are_properties: bool) -> frozenset[str]:
    kinds = property if are_properties else (types.FunctionType, property)
    return frozenset(
        name
        for base in kind.__mro__
        if is_engine_class(base)
        for name, value in vars(base).items()
        if isinstance(value, kinds)
    )


@cached_while_alive
def names_read_by_engine(kind: type, methods: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the names that a call reads from a cell in engine code: ``construct`` and its callees on the cell.

    Args:
        kind: the class of the cell.
        methods: further methods and properties that are called on it.
    """
    names, queue = set(READ_BY_CALLS), ["construct", "bprop", *methods]
    visited = set[str]()
    while queue:
        name = queue.pop()
        value = inspect.getattr_static(kind, name, None)
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if name in visited or not isinstance(function, types.FunctionType):
            continue
        visited.add(name)
        if is_engine(function.__code__.co_filename):
            global_names, names_inside, *_ = names_in(function.__code__)
            names |= global_names & REFLECTION
            if isinstance(value, property):  # a property may read its value from __dict__
                names_inside |= {f"_{name}"} | {text for text in function.__code__.co_consts if isinstance(text, str)}
            names |= names_inside | (global_names & REFLECTION)
            queue += names_inside
    return frozenset(names)
