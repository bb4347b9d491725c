"""Variables of a stopped frame: their current values, and assignment.

Before Python 3.13, ``frame.f_locals`` is a copy (PEP 667), which Python writes back once for each read. So it is read
again for every query and every change, and each change is written back at once.
"""

from __future__ import annotations

import ctypes
import dis
import inspect
import keyword
import sys
from collections.abc import Callable, MutableMapping
from functools import partial
from types import CodeType, FrameType
from typing import Any, NamedTuple

from ..editing import target, with_place

__all__ = ["Change", "assign", "variables"]

_UNSET = object()


class Change(NamedTuple):
    """A variable that was assigned.

    Attributes:
        name: its name, without the index.
        value: its new value.
        undo: restores the previous value; None if the variable ends with the call of its function.
    """

    name: str
    value: object
    undo: Callable[[], None] | None


def variables(frame: FrameType) -> dict[str, object]:
    """Return the local variables by name, as a new dictionary."""
    return {name: value for name, value in frame.f_locals.items() if name.isidentifier()}


def assign(frame: FrameType, name: str, value: object) -> Change:
    """Assign a variable of the frame, or with ``NAME[INDEX]`` one item of it.

    Raises:
        NameError: the frame has no such variable, or it has no items yet.
        TypeError, IndexError: it has no such index.
    """
    base_name, index = target(name)
    code = frame.f_code
    optimized = bool(code.co_flags & inspect.CO_OPTIMIZED)
    if optimized:
        _check_variable(code, base_name)
    elif not base_name.isidentifier() or keyword.iskeyword(base_name):
        raise NameError(f"'{base_name}' is not a name that can be set")
    previous = frame.f_locals.get(base_name, _UNSET)
    if index is not None:
        if previous is _UNSET:
            raise NameError(f"'{base_name}' has no value yet")
        value = with_place(previous, index, value, base_name)
        # Other references to a list see the change, as in Python.
        if isinstance(previous, list) and isinstance(value, list):
            undo = partial(previous.__setitem__, index, previous[index])
            previous[index] = value[index]
            return Change(base_name, previous, undo)
    if not optimized:
        return Change(base_name, value, _put_into_namespace(frame, base_name, value))
    _put(frame, base_name, value)
    outlives_call = base_name in code.co_cellvars or base_name in code.co_freevars
    return Change(
        base_name,
        value,
        partial(_put, frame, base_name, previous) if outlives_call and previous is not _UNSET else None,
    )


def _check_variable(code: CodeType, name: str) -> None:
    variable_names = [
        instruction
        for instruction in (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        if instruction.isidentifier()
    ]
    if name not in variable_names:
        raise NameError(
            f"'{name}' is not a local variable of {code.co_name}; it has {', '.join(variable_names) or 'none'}"
        )
    # From Python 3.12 on a comprehension runs as lines of its function, and its variable belongs to the function.
    arguments = inspect.getargs(code)
    argument_list = [*arguments.args, arguments.varargs, arguments.varkw]
    is_ambiguous = (
        name in code.co_varnames and name not in argument_list and name in (*code.co_cellvars, *code.co_freevars)
    )
    if is_ambiguous or any(
        instruction.argval == name
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    ):
        raise NameError(f"'{name}' cannot be set: in {code.co_name} a comprehension has a variable of that name too")


def _put(frame: FrameType, name: str, value: object) -> None:
    frame.f_locals[name] = value
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


def _put_into_namespace(frame: FrameType, name: str, value: object) -> Callable[[], None]:
    """Set a name of a module or of the body of a class; return the undo function."""
    names: MutableMapping[str, Any] = frame.f_locals
    if names is not frame.f_locals:  # a copy for each read: the line is inside a comprehension
        names = frame.f_globals
    undo = partial(_put_back, names, name, names.get(name, _UNSET))
    names[name] = value
    if frame.f_locals.get(name, _UNSET) is not value:
        undo()
        raise NameError(f"'{name}' cannot be set inside a comprehension of {frame.f_code.co_name}")
    return undo


def _put_back(names: MutableMapping[str, Any], name: str, before: object) -> None:
    if before is _UNSET:
        names.pop(name, None)
    else:
        names[name] = before
