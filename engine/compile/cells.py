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
from .declared_inputs import bind_arguments, check_declared, check_inputs, symbolic_axes_of
from .function import CompiledFunction, is_observed, is_watched

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
    is_inside = False


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
    if _local.is_inside or IS_OFF:
        return _eager_call(cell, *args, **kwargs)
    if is_observed():
        return _eagerly(type(cell).__name__, _level_of(cell), _eager_call, (cell, *args), kwargs)
    check_inputs(cell, args, kwargs)
    return run_planned(compiled_of(cell), args, kwargs)


def run_planned(compiled: CompiledFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function from its plans; inner calls are part of its trace."""
    _local.is_inside = True
    try:
        return compiled(*args, **kwargs)
    finally:
        _local.is_inside = False


def _eagerly(name: str, level: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a planned function eagerly and notify observers; inner calls are part of it."""
    if _local.is_inside or not taps.cell_taps:
        return function(*args, **kwargs)
    _local.is_inside = True
    try:
        with taps.eager_call(name, level or modes.level):
            return function(*args, **kwargs)
    finally:
        _local.is_inside = False


def _level_of(function: Any) -> str:
    """Return the optimization level for plans of a cell or a function; "" means the level of the context."""
    if isinstance(function, Cell):
        declared = function.jit_config_dict.get("jit_level", "")
        return "O0" if declared == "O2" else str(declared)
    level: str = (getattr(function, "__wrapped_by_jit__", None) or {}).get("level", "")
    return level


def compiled_of(cell: Cell) -> CompiledFunction:
    """Return the plans of a cell."""
    entry = cell.__dict__.get("_compiled")
    if entry is None or entry.function is not cell:  # a copy of a cell has the attributes of the cell
        entry = CompiledFunction(cell, type(cell).__name__, level=_level_of(cell), symbolic_axes=symbolic_axes_of(cell))
        cell.__dict__["_compiled"] = entry
    compiled: CompiledFunction = entry
    return compiled


def compiled_function(
    function: Callable[..., Any], declared_function: Any, level: str, fullgraph: bool, dynamic: int
) -> CompiledFunction:
    """Return a user's function with an empty set of plans.

    Args:
        function: the function that is called.
        declared_function: the user's function, whose inputs may be declared.
        level: "O0" or "O1".
        fullgraph: whether a call for which no plan can be made is an error.
        dynamic: whether dimensions that change between calls become symbolic.
    """
    name = getattr(function, "__qualname__", type(function).__name__)
    return CompiledFunction(function, name, fullgraph, level, symbolic_axes_of(declared_function, dynamic))


def call_compiled(compiled: CompiledFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function from its plans, or directly if it is part of another function's trace.

    Args:
        compiled: the function with its plans.
        args: the positional arguments.
        kwargs: the keyword arguments.
    """
    if _local.is_inside or IS_OFF:
        return compiled.function(*args, **kwargs)
    if is_watched():
        return _eagerly(compiled.name, compiled.level, compiled, args, kwargs)
    return run_planned(compiled, args, kwargs)


def call_gradient(
    function: Any, request: tuple[Any, ...], compute: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return the value of a function and its gradients from plans, which are kept with the function.

    Args:
        function: the function to differentiate.
        request: the request: its first entry is the name of the caller, the others its options.
        compute: computes the result from ``args`` and ``kwargs``.
        args: the arguments of ``function``.
        kwargs: its keyword arguments.
    """
    if _local.is_inside or IS_OFF:
        return compute(args, kwargs)
    if is_observed():
        return _eagerly(request[0], _level_of(function), compute, (args, kwargs), {})
    if getattr(function, "_declared", None) is not None and not isinstance(function, Cell):
        check_declared(function, function._declared, args, kwargs, has_more=True)
    plans, method = (
        _GradientPlans.of(getattr(function, "__self__", function)).plans,
        getattr(function, "__func__", None),
    )
    compiled = plans.get((method, request))
    if compiled is None:
        options = getattr(function, "__wrapped_by_jit__", None) or {}
        compiled = CompiledFunction(
            lambda *args, **kwargs: compute(args, kwargs),
            request[0],
            bool(options.get("fullgraph")),
            _level_of(function),
            symbolic_axes_of(function, options.get("dynamic", 0)),
        )
        plans[method, request] = compiled
    return run_planned(compiled, args, kwargs)


class _GradientPlans:
    """Plans of gradients, kept with the owner of the function, but not with copies of it.

    Args:
        owner: a cell, a function, or the object of a method.

    Attributes:
        plans: the plans by method, if any, and by request.
    """

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.plans: dict[Any, CompiledFunction] = {}

    @staticmethod
    def of(owner: Any) -> _GradientPlans:
        """Return the entry of an object; without attributes, a temporary one for this call."""
        attributes = getattr(owner, "__dict__", None)
        if not isinstance(attributes, dict):
            return _GradientPlans(owner)
        entry: _GradientPlans | None = attributes.get("_gradients")
        if entry is None or entry.owner is not owner:
            entry = attributes["_gradients"] = _GradientPlans(owner)
        return entry

    def __reduce__(self) -> Any:
        return type(None), ()


def run_cell(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a cell from a plan, independent of the mode.

    Raises:
        RuntimeError: ``construct`` does not accept these inputs.
    """
    bind_arguments(f"For '{type(cell).__name__}'", cell.construct, args, kwargs, RuntimeError)
    check_inputs(cell, args, kwargs)
    if _local.is_inside or IS_OFF:
        return _eager_call(cell, *args, **kwargs)
    if is_observed():
        return _eagerly(type(cell).__name__, _level_of(cell), _eager_call, (cell, *args), kwargs)
    return run_planned(compiled_of(cell), args, kwargs)


def has_plan(cell: Cell) -> bool:
    """Return whether there is a plan for a call of a cell."""
    compiled = cell.__dict__.get("_compiled")
    return compiled is not None and compiled.function is cell and any(compiled.plans.values())


def plans_of(function: Any) -> list[CompiledFunction]:
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
    bind_arguments(f"For '{type(cell).__name__}'", cell.construct, args, kwargs, RuntimeError)
    if any(isinstance(value, Placeholder) for value in (*args, *kwargs.values())):
        name = type(cell).__name__
        warnings.warn(f"'{name}' is not compiled yet: a plan needs values, so the first call makes it", stacklevel=3)
        return
    if _local.is_inside or IS_OFF or is_observed():
        return
    check_inputs(cell, args, kwargs)
    _local.is_inside = True
    try:
        compiled_of(cell).prepare(*args, **kwargs)
    finally:
        _local.is_inside = False
