"""Graph mode for cells: whose calls run by plans, and what ``Cell.compile`` and its relatives do."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

from ..base import modes
from ..nn.cell import Cell
from ..tape import taps
from ..tensors.placeholder import Placeholder
from .function import Compiled, attended, watched
from .inputs import bound, check_declared, check_inputs, opens_of

__all__ = [
    "call_compiled",
    "call_gradient",
    "check_declared",
    "compile_cell",
    "compiled_function",
    "compiled_of",
    "has_plan",
    "plans_of",
    "run_cell",
    "switch",
]

_eager_call: Callable[..., Any] = Cell.__call__


class _Local(threading.local):
    inside = False


_local = _Local()


IS_OFF = os.environ.get("MS_JIT") == "0"
"""Whether the environment says that nothing is compiled."""


def switch(on: bool) -> None:
    """Let cells that are called run by plans, or eagerly as at first.

    Args:
        on: whether by plans.
    """
    Cell.__call__ = _call if on else _eager_call  # type: ignore[method-assign]


def _call(cell: Cell, /, *args: Any, **kwargs: Any) -> Any:
    if _local.inside or IS_OFF:
        return _eager_call(cell, *args, **kwargs)
    if attended():
        return _eagerly(type(cell).__name__, _level_of(cell), _eager_call, (cell, *args), kwargs)
    check_inputs(cell, args, kwargs)
    return called(compiled_of(cell), args, kwargs)


def called(compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function by its plans; what it calls itself is part of it."""
    _local.inside = True
    try:
        return compiled(*args, **kwargs)
    finally:
        _local.inside = False


def _eagerly(name: str, level: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call what runs by plans as it is; who watches is told, and what it calls is part of it."""
    if _local.inside or not taps.cell_taps:
        return function(*args, **kwargs)
    _local.inside = True
    try:
        with taps.unplanned(name, level or modes.level):
            return function(*args, **kwargs)
    finally:
        _local.inside = False


def _level_of(function: Any) -> str:
    """At which level plans are made of calls, or of gradients, of a cell or a function: "" for that of the context."""
    if isinstance(function, Cell):
        told = function.jit_config_dict.get("jit_level", "")
        return "O0" if told == "O2" else str(told)
    level: str = (getattr(function, "__wrapped_by_jit__", None) or {}).get("level", "")
    return level


def compiled_of(cell: Cell) -> Compiled:
    """The plans of a cell."""
    found = cell.__dict__.get("_compiled")
    if found is None or found.function is not cell:  # a copy of a cell has the attributes of the cell
        found = Compiled(cell, type(cell).__name__, level=_level_of(cell), opens=opens_of(cell))
        cell.__dict__["_compiled"] = found
    made: Compiled = found
    return made


def compiled_function(function: Callable[..., Any], told: Any, level: str, fullgraph: bool, dynamic: int) -> Compiled:
    """The plans of a function of the user's, none as yet.

    Args:
        function: what is called.
        told: the function of the user's, of which it may have been told what its arguments are.
        level: "O0" or "O1".
        fullgraph: whether a call of which no plan can be made is an error.
        dynamic: whether lengths are left open that were seen to change.
    """
    name = getattr(function, "__qualname__", type(function).__name__)
    return Compiled(function, name, fullgraph, level, opens_of(told, dynamic))


def call_compiled(compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function by its plans, or as it is where it is part of another one's.

    Args:
        compiled: the function with its plans.
        args: the positional arguments.
        kwargs: the keyword arguments.
    """
    if _local.inside or IS_OFF:
        return compiled.function(*args, **kwargs)
    if watched():
        return _eagerly(compiled.name, compiled.level, compiled, args, kwargs)
    return called(compiled, args, kwargs)


def call_gradient(
    function: Any, asked: tuple[Any, ...], compute: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The value of a function and its gradients by plans, which are kept with the function.

    Args:
        function: what is differentiated.
        asked: by what, and how; the first entry is the name of who asks.
        compute: called with ``args`` and ``kwargs``, computes it.
        args: the arguments of ``function``.
        kwargs: its keyword arguments.
    """
    if _local.inside or IS_OFF:
        return compute(args, kwargs)
    if attended():
        return _eagerly(asked[0], _level_of(function), compute, (args, kwargs), {})
    if getattr(function, "_declared", None) is not None and not isinstance(function, Cell):
        check_declared(function, function._declared, args, kwargs, has_more=True)
    kept, method = _Kept.of(getattr(function, "__self__", function)).plans, getattr(function, "__func__", None)
    compiled = kept.get((method, asked))
    if compiled is None:
        options = getattr(function, "__wrapped_by_jit__", None) or {}
        compiled = Compiled(
            lambda *args, **kwargs: compute(args, kwargs),
            asked[0],
            bool(options.get("fullgraph")),
            _level_of(function),
            opens_of(function, options.get("dynamic", 0)),
        )
        kept[method, asked] = compiled
    return called(compiled, args, kwargs)


class _Kept:
    """The plans of gradients that are kept with what has the function, and not with copies of that.

    Args:
        owner: a cell, a function, or the object of a method.

    Attributes:
        plans: them, by the method, if it is one's, and by what was asked.
    """

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.plans: dict[Any, Compiled] = {}

    @staticmethod
    def of(owner: Any) -> _Kept:
        """That of an object; where it has no attributes, one for this call alone."""
        held = getattr(owner, "__dict__", None)
        if not isinstance(held, dict):
            return _Kept(owner)
        found = held.get("_gradients")
        if found is None or found.owner is not owner:
            found = held["_gradients"] = _Kept(owner)
        kept: _Kept = found
        return kept

    def __reduce__(self) -> Any:
        return type(None), ()


def run_cell(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a cell by a plan, whatever the mode is.

    Raises:
        RuntimeError: ``construct`` does not take these inputs.
    """
    bound(f"For '{type(cell).__name__}'", cell.construct, args, kwargs, RuntimeError)
    check_inputs(cell, args, kwargs)
    if _local.inside or IS_OFF:
        return _eager_call(cell, *args, **kwargs)
    if attended():
        return _eagerly(type(cell).__name__, _level_of(cell), _eager_call, (cell, *args), kwargs)
    return called(compiled_of(cell), args, kwargs)


def has_plan(cell: Cell) -> bool:
    """Whether there is a plan for a call of a cell."""
    found = cell.__dict__.get("_compiled")
    return found is not None and found.function is cell and any(found.plans.values())


def plans_of(function: Any) -> list[Compiled]:
    """What a function or a cell is called by, to look at: counts of calls, and the text of each plan.

    Args:
        function: a cell, a method of one, or a function, which ``jit`` or a gradient in graph mode has compiled.

    Returns:
        that of its own calls, if there were any, then one for each gradient that was asked of it.
    """
    own, method = getattr(function, "_compiled", None), getattr(function, "__func__", None)
    kept = getattr(getattr(function, "__self__", function), "_gradients", None)
    of_gradients = [] if kept is None else [one for (of, _), one in kept.plans.items() if of is method]
    return [*([own] if own is not None and any(own.counts.values()) else []), *of_gradients]


def compile_cell(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Make a plan for these inputs, without changing a parameter or drawing a number.

    Args:
        cell: the cell.
        args: its positional inputs.
        kwargs: its keyword inputs.

    Raises:
        RuntimeError: ``construct`` does not take these inputs.
    """
    bound(f"For '{type(cell).__name__}'", cell.construct, args, kwargs, RuntimeError)
    if any(isinstance(one, Placeholder) for one in (*args, *kwargs.values())):
        name = type(cell).__name__
        warnings.warn(f"'{name}' is not compiled: a plan is made of values, so the first call makes it", stacklevel=3)
        return
    if _local.inside or IS_OFF or attended():
        return
    check_inputs(cell, args, kwargs)
    _local.inside = True
    try:
        compiled_of(cell).prepare(*args, **kwargs)
    finally:
        _local.inside = False
