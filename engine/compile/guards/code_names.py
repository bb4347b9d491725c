"""Names that code uses: of globals, attributes and modules, and the lines at which they are.

An attribute that is read by ``getattr`` or the like may be any string constant of the code.
"""

from __future__ import annotations

import dis
import functools
import itertools
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

__all__ = [
    "REFLECTION",
    "TEXT_ATTRIBUTES",
    "_FORMATTING",
    "bound_attributes",
    "cached_while_alive",
    "codes_in",
    "line_of_name",
    "names_in",
    "passed_names",
]
K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")
REFLECTION = frozenset(
    (
        "getattr",
        "setattr",
        "delattr",
        "hasattr",
        "vars",
        "dir",
        "__dict__",
        "attrgetter",
        "methodcaller",
        "format",
        "format_map",
        "asdict",
        "astuple",
        "getmembers",
        "getattr_static",
        "__getattribute__",
        "__getattr__",
        "__setattr__",
        "__delattr__",
        "__match_args__",
    )
)
"""Names of functions and attributes that read attributes whose names are not in the code."""
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME")
_FORMATTING = frozenset(
    (
        "repr",
        "str",
        "ascii",
        "format",
        "print",
        "format_map",
        "mod",
        "substitute",
        "safe_substitute",
        "__repr__",
        "__str__",
        "__format__",
        "__mod__",
    )
)
"""Functions that convert objects to text."""
TEXT_ATTRIBUTES = frozenset(("__name__", "__qualname__", "__module__", "__repr__", "__str__"))
"""Attributes in the default text of an object, a class or a function, and the methods that replace that text."""


def cached_while_alive(function: Callable[Concatenate[K, P], V]) -> Callable[Concatenate[K, P], V]:
    """Cache like ``functools.cache``, but only while the first argument lives, since notebooks redefine classes.

    Args:
        function: a function of hashable arguments, the first of which may be referenced weakly.
    """
    cache: weakref.WeakKeyDictionary[K, dict[Any, V]] = weakref.WeakKeyDictionary()

    @functools.wraps(function)
    def cached_function(first: K, /, *others: P.args, **keywords: P.kwargs) -> V:
        results = cache.setdefault(first, {})
        if others not in results:
            results[others] = function(first, *others, **keywords)
        return results[others]

    return cached_function


@cached_while_alive
def names_in(code: types.CodeType) -> tuple[frozenset[str], frozenset[str], frozenset[tuple[str, bool]]]:
    """Return the names of globals, attributes and modules that code and its inner code use.

    If attributes are read by ``getattr`` or similar, the code's string constants may be their names.
    """
    globals_, attributes, modules = set[str](), set[str](_matched_attributes(code)), set[tuple[str, bool]]()
    calls_super = False
    for step in dis.get_instructions(code):
        name = step.argval
        if step.opname in _GLOBALS:
            globals_.add(name)
        elif step.opname == "IMPORT_NAME":
            modules |= {(name, False), (name, True)}
        elif name == "__init__" and (calls_super or "SUPER" in step.opname):
            pass  # of an object under construction
        elif isinstance(name, str) and any(part in step.opname for part in ("IMPORT_FROM", "ATTR", "METHOD")):
            attributes.add(name)
        elif step.opname == "MATCH_CLASS" and step.arg:
            attributes.add("__match_args__")
        calls_super = name == "super" or (calls_super and "CALL" in step.opname)
    if REFLECTION & (globals_ | attributes):
        attributes |= {text for text in code.co_consts if isinstance(text, str) and text.isidentifier()}
    if _FORMATTING & (globals_ | attributes) or any(map(_makes_text, dis.get_instructions(code))):
        attributes |= TEXT_ATTRIBUTES
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = names_in(constant)
            globals_ |= inner[0]
            attributes |= inner[1]
            modules |= inner[2]
    return frozenset(globals_), frozenset(attributes), frozenset(modules)


def _makes_text(step: dis.Instruction) -> bool:
    """Return whether an instruction may convert an object to text: part of an f-string, or the operator ``%``."""
    if step.opname == "BINARY_OP":
        return step.argrepr in ("%", "%=")
    return step.opname.startswith("FORMAT_") or step.opname == "CONVERT_VALUE"


@cached_while_alive
def passed_names(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of globals and of attributes that code loads without calling them."""
    globals_, attributes = set[str](), set[str]()
    for inner in codes_in(code):
        steps = list(dis.get_instructions(inner))
        for previous, step, next_step in zip([None, *steps], steps, [*steps[1:], None], strict=False):
            if "PUSH_NULL" in [neighbor.opname for neighbor in (previous, next_step) if neighbor is not None]:
                continue
            if step.opname == "LOAD_GLOBAL" and not (step.arg or 0) & 1:
                globals_.add(step.argval)
            elif step.opname == "LOAD_ATTR" and (sys.version_info < (3, 12) or not (step.arg or 0) & 1):
                attributes.add(step.argval)
    return frozenset(globals_), frozenset(attributes)


def _matched_attributes(code: types.CodeType) -> list[str]:
    """Return the attribute names in patterns like ``case Point(x=0)``, held by a constant before the instruction."""
    pairs = itertools.pairwise(dis.get_instructions(code))
    return [name for previous, step in pairs if step.opname == "MATCH_CLASS" for name in previous.argval]


@cached_while_alive
def bound_attributes(code: types.CodeType) -> frozenset[str]:
    """Return the attribute names that code and its inner code bind, or match in patterns, which tolerate absence."""
    codes = codes_in(code)
    bound_names = [
        step.argval for inner in codes for step in dis.get_instructions(inner) if step.opname == "STORE_ATTR"
    ]
    return frozenset((*bound_names, *[name for inner in codes for name in _matched_attributes(inner)]))


def codes_in(code: types.CodeType) -> set[types.CodeType]:
    """Return the code and the code of functions defined in it."""
    codes = {code}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            codes |= codes_in(constant)
    return codes


def line_of_name(codes: Iterable[types.CodeType], name: str, stored: bool = False) -> str:
    """Return the first line of code that contains a name, as ``file:line``, or "".

    Args:
        codes: the code objects.
        name: the name.
        stored: whether to prefer a line that binds the name.
    """
    ordered = sorted(codes, key=lambda code: (code.co_filename, code.co_firstlineno))
    steps = [(code, step) for code in ordered for step in dis.get_instructions(code) if step.argval == name]
    steps = [(code, step) for code, step in steps if not step.opname.endswith("CONST")] or steps
    if stored:
        steps = [(code, step) for code, step in steps if "STORE" in step.opname or "DELETE" in step.opname] or steps
    lines = [(code.co_filename, step.positions.lineno) for code, step in steps if step.positions is not None]
    return next((f"{file}:{line}" for file, line in lines if line is not None), "")
