"""The variables of a frame that stands still: how they are now, and giving one of them another value.

Before Python 3.13 ``frame.f_locals`` is a copy (PEP 667), which Python writes back once for each time that it is read.
So it is read anew for every look and every change, and each change is written back at once.
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
    """A variable that was set.

    Attributes:
        name: its name, without the place.
        value: all that is under the name now.
        undo: what takes it back; None where it ends with the call of its function.
    """

    name: str
    value: object
    undo: Callable[[], None] | None


def variables(frame: FrameType) -> dict[str, object]:
    """The local variables by name, as a dictionary of its own."""
    return {name: value for name, value in frame.f_locals.items() if name.isidentifier()}


def assign(frame: FrameType, name: str, value: object) -> Change:
    """Give a variable of the frame, or with ``NAME[PLACE]`` one place of it, another value.

    Raises:
        NameError: the frame has no such variable, or not yet one with places.
        TypeError, IndexError: it has no such place.
    """
    plain, place = target(name)
    code = frame.f_code
    optimized = bool(code.co_flags & inspect.CO_OPTIMIZED)
    if optimized:
        _check_variable(code, plain)
    elif not plain.isidentifier() or keyword.iskeyword(plain):
        raise NameError(f"'{plain}' is no name that can be set")
    before = frame.f_locals.get(plain, _UNSET)
    if place is not None:
        if before is _UNSET:
            raise NameError(f"'{plain}' has no value yet")
        value = with_place(before, place, value, plain)
        if isinstance(before, list) and isinstance(value, list):  # whoever else holds it sees it, as in Python
            undo = partial(before.__setitem__, place, before[place])
            before[place] = value[place]
            return Change(plain, before, undo)
    if not optimized:
        return Change(plain, value, _put_into_namespace(frame, plain, value))
    _put(frame, plain, value)
    shared = plain in code.co_cellvars or plain in code.co_freevars
    return Change(plain, value, partial(_put, frame, plain, before) if shared and before is not _UNSET else None)


def _check_variable(code: CodeType, name: str) -> None:
    known = [one for one in (*code.co_varnames, *code.co_cellvars, *code.co_freevars) if one.isidentifier()]
    if name not in known:
        raise NameError(f"'{name}' is no local variable of {code.co_name}; it has {', '.join(known) or 'none'}")
    # From Python 3.12 on a comprehension runs as lines of its function, and its variable is one of the function's.
    arguments = inspect.getargs(code)
    own = [*arguments.args, arguments.varargs, arguments.varkw]
    twice = name in code.co_varnames and name not in own and name in (*code.co_cellvars, *code.co_freevars)
    if twice or any(
        one.argval == name for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    ):
        raise NameError(f"'{name}' cannot be set: in {code.co_name} a comprehension has a variable of that name too")


def _put(frame: FrameType, name: str, value: object) -> None:
    frame.f_locals[name] = value
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


def _put_into_namespace(frame: FrameType, name: str, value: object) -> Callable[[], None]:
    """Set a name of a module or of the body of a class; returns what takes it back."""
    names: MutableMapping[str, Any] = frame.f_locals
    if names is not frame.f_locals:  # a copy for each look: the line is inside a comprehension
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
