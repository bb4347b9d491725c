"""Graph mode for cells: calls from plans, ``Cell.compile`` and related functions."""

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
"""True if the environment disables compilation."""


def switch(on: bool) -> None:
    """Make calls of cells run from plans, or eagerly as initially.

    Args:
        on: whether to use plans.
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
    """Call a function from its plans; inner calls are part of its trace."""
    _local.inside = True
    try:
        return compiled(*args, **kwargs)
    finally:
        _local.inside = False


def _eagerly(name: str, level: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a planned function eagerly and notify observers; inner calls are part of it."""
    if _local.inside or not taps.cell_taps:
        return function(*args, **kwargs)
    _local.inside = True
    try:
        with taps.unplanned(name, level or modes.level):
            return function(*args, **kwargs)
    finally:
        _local.inside = False


def _level_of(function: Any) -> str:
    """Return the optimization level for plans of a cell or a function; "" means the level of the context."""
    if isinstance(function, Cell):
        declared = function.jit_config_dict.get("jit_level", "")
        return "O0" if declared == "O2" else str(declared)
    level: str = (getattr(function, "__wrapped_by_jit__", None) or {}).get("level", "")
    return level


def compiled_of(cell: Cell) -> Compiled:
    """Return the plans of a cell."""
    cached = cell.__dict__.get("_compiled")
    if cached is None or cached.function is not cell:  # a copy of a cell has the attributes of the cell
        cached = Compiled(cell, type(cell).__name__, level=_level_of(cell), opens=opens_of(cell))
        cell.__dict__["_compiled"] = cached
    compiled: Compiled = cached
    return compiled


def compiled_function(function: Callable[..., Any], told: Any, level: str, fullgraph: bool, dynamic: int) -> Compiled:
    """Return a user's function with an empty set of plans.

    Args:
        function: the function that is called.
        told: the user's function, whose inputs may be declared.
        level: "O0" or "O1".
        fullgraph: whether a call for which no plan can be made is an error.
        dynamic: whether dimensions that change between calls become symbolic.
    """
    name = getattr(function, "__qualname__", type(function).__name__)
    return Compiled(function, name, fullgraph, level, opens_of(told, dynamic))


def call_compiled(compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function from its plans, or directly if it is part of another function's trace.

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
    """Return the value of a function and its gradients from plans, which are kept with the function.

    Args:
        function: the function to differentiate.
        asked: the request: its first entry is the name of the caller, the others its options.
        compute: computes the result from ``args`` and ``kwargs``.
        args: the arguments of ``function``.
        kwargs: its keyword arguments.
    """
    if _local.inside or IS_OFF:
        return compute(args, kwargs)
    if attended():
        return _eagerly(asked[0], _level_of(function), compute, (args, kwargs), {})
    if getattr(function, "_declared", None) is not None and not isinstance(function, Cell):
        check_declared(function, function._declared, args, kwargs, has_more=True)
    plans, method = _Kept.of(getattr(function, "__self__", function)).plans, getattr(function, "__func__", None)
    compiled = plans.get((method, asked))
    if compiled is None:
        options = getattr(function, "__wrapped_by_jit__", None) or {}
        compiled = Compiled(
            lambda *args, **kwargs: compute(args, kwargs),
            asked[0],
            bool(options.get("fullgraph")),
            _level_of(function),
            opens_of(function, options.get("dynamic", 0)),
        )
        plans[method, asked] = compiled
    return called(compiled, args, kwargs)


class _Kept:
    """Plans of gradients, kept with the owner of the function, but not with copies of it.

    Args:
        owner: a cell, a function, or the object of a method.

    Attributes:
        plans: the plans by method, if any, and by request.
    """

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.plans: dict[Any, Compiled] = {}

    @staticmethod
    def of(owner: Any) -> _Kept:
        """Return the entry of an object; without attributes, a temporary one for this call."""
        attributes = getattr(owner, "__dict__", None)
        if not isinstance(attributes, dict):
            return _Kept(owner)
        cached = attributes.get("_gradients")
        if cached is None or cached.owner is not owner:
            cached = attributes["_gradients"] = _Kept(owner)
        entry: _Kept = cached
        return entry

    def __reduce__(self) -> Any:
        return type(None), ()


def run_cell(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a cell from a plan, independent of the mode.

    Raises:
        RuntimeError: ``construct`` does not accept these inputs.
    """
    bound(f"For '{type(cell).__name__}'", cell.construct, args, kwargs, RuntimeError)
    check_inputs(cell, args, kwargs)
    if _local.inside or IS_OFF:
        return _eager_call(cell, *args, **kwargs)
    if attended():
        return _eagerly(type(cell).__name__, _level_of(cell), _eager_call, (cell, *args), kwargs)
    return called(compiled_of(cell), args, kwargs)


def has_plan(cell: Cell) -> bool:
    """Return whether there is a plan for a call of a cell."""
    compiled = cell.__dict__.get("_compiled")
    return compiled is not None and compiled.function is cell and any(compiled.plans.values())


def plans_of(function: Any) -> list[Compiled]:
    """Return the compiled forms of a function or a cell, for inspection: call counts and the source of each plan.

    Args:
        function: a cell, a method of one, or a function, which ``jit`` or a gradient in graph mode has compiled.

    Returns:
        the form of its own calls, if there were any, then one for each requested gradient.
    """
    compiled, method = getattr(function, "_compiled", None), getattr(function, "__func__", None)
    entry = getattr(getattr(function, "__self__", function), "_gradients", None)
    gradient_plans = [] if entry is None else [plan for (key, _), plan in entry.plans.items() if key is method]
    return [*([compiled] if compiled is not None and any(compiled.counts.values()) else []), *gradient_plans]


def compile_cell(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Make a plan for these inputs, without changing a parameter or drawing a number.

    Args:
        cell: the cell.
        args: its positional inputs.
        kwargs: its keyword inputs.

    Raises:
        RuntimeError: ``construct`` does not accept these inputs.
    """
    bound(f"For '{type(cell).__name__}'", cell.construct, args, kwargs, RuntimeError)
    if any(isinstance(value, Placeholder) for value in (*args, *kwargs.values())):
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
