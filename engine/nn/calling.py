"""Call of a cell that is more than ``construct``: hooks, taps, a custom ``bprop``, recompute, precision.

The order is MindSpore's: forward-pre hooks, mark on the inputs, construct, forward hooks, mark on the outputs. Taps see
arguments after the forward-pre hooks and the output after the forward hooks, and gradients outside the marks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..autograd.marks import Gradients, Mark, checked_gradients
from ..autograd.saved_tensors import saved_tensors_hooks
from ..base.recursion_limit import CALLS, adjust_recursion_limit
from ..tape import taps
from ..tape.hooks import HookEntry, bprop_forward_hooks, explain_hook_error, hooks_enabled, wrong_return
from ..tape.tape import Recording, Region, state
from ..tensors import precision
from ..tensors.nested import Sparse, direct_positions, replaced, tensors_in
from ..tensors.tensor import Tensor
from .bprop import call_with_bprop, described
from .recompute import is_recomputing, run_to_recompute

if TYPE_CHECKING:
    from .cell import Cell

__all__ = ["call_hook", "call_observed"]


class _Local(threading.local):
    depth = 0  # of nested observed calls


_local = _Local()


def call_observed(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a cell for the first time, or one that needs more than ``construct``, or with attached taps.

    Args:
        cell: the cell.
        args: the positional inputs.
        kwargs: the keyword inputs.

    Returns:
        The result of the call.
    """
    if not cell._names_checked:
        cell.check_names_and_refresh_name()
        for _, checked in cell.cells_and_names():  # unique names in the cell are unique in each part
            checked.__dict__["_names_checked"] = True
            checked._refresh()
    if cell.mixed_precision_type is not None and precision.current() != cell.mixed_precision_type:
        with precision.scope(cell.mixed_precision_type):
            return call_observed(cell, args, kwargs)
    depth, is_raised = _local.depth, 0
    try:
        _local.depth = depth + 1
        if depth and not depth % CALLS:
            is_raised = adjust_recursion_limit(depth)
        runs_hooks = hooks_enabled()
        if runs_hooks and cell._hooks["forward_pre"]:
            args, kwargs = _run_forward_pre(cell, args, kwargs)
        call = taps.begin_call(cell, args, kwargs) if taps.cell_taps else None
        run = _run if cell._offload is None or not state.recordings else _run_and_offload
        if call is None:
            return run(cell, args, kwargs, runs_hooks)
        args, kwargs = call.args, call.kwargs
        regions: list[tuple[Recording, Region]] = []
        for recording in state.recordings:
            region = Region(call, _arrays_in(args), len(recording.nodes))
            recording.marks.append((len(recording.nodes), region, False))
            region.outer_regions = tuple(regions)
            regions.append((recording, region))
        try:
            output = run(cell, args, kwargs, runs_hooks, call)
        except BaseException as error:
            taps.fail_call(call, error)
            raise
        for recording, region in regions:
            region.outputs = _arrays_in(output)
            region.end = len(recording.nodes)
            recording.marks.append((region.end, region, True))
        return output
    finally:
        _local.depth = depth
        if is_raised:
            adjust_recursion_limit(depth, -1)


def _arrays_in(value: Any) -> list[Any]:
    """Return the arrays in arguments or output that taps observe, for the observation of their gradients."""
    try:
        return [t._array for t in tensors_in(value)]
    except Exception as error:  # a list that contains itself, a user's dictionary: inspected only for taps
        if not taps.report_fault("looking for tensors", error):
            raise
        return []


def _run_and_offload(cell: Cell, *run_args: Any) -> Any:
    from ..autograd.offloading import Offloading

    if state.tracer is not None:
        state.tracer.leak("a plan holds all its arrays, but this cell offloads them")
    with Offloading(cell._offload or 0):
        return _run(cell, *run_args)


def _run(
    cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any], runs_hooks: bool, call: taps.CellCall | None = None
) -> Any:
    has_backward_hooks = runs_hooks and state.recordings and (cell._hooks["backward"] or cell._hooks["backward_pre"])
    marks = _BackwardMarks(cell) if has_backward_hooks else None
    if marks is not None and cell._hooks["backward"]:  # as in MindSpore, backward-pre hooks alone follow no input
        args = marks.mark_inputs(args)
    with_hooks = runs_hooks and cell._hooks["forward"] and (not cell.has_custom_bprop or bprop_forward_hooks())
    try:
        output = _construct(cell, args, kwargs)
    except Exception:  # any error of user code; it propagates after the hooks with always_call
        for entry in tuple(cell._hooks["forward"].values()) if with_hooks else ():
            if entry.always_call:
                _run_forward(cell, entry, args, kwargs, None)
        raise
    for entry in tuple(cell._hooks["forward"].values()) if with_hooks else ():
        output = _run_forward(cell, entry, args, kwargs, output)
    if call is not None:  # at the position of the last forward hook, so that a tap's replacement is as a hook's
        output = taps.end_call(call, output)
    return output if marks is None else marks.mark_outputs(output)


def _construct(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if cell.has_custom_bprop:
        return call_with_bprop(cell, args, kwargs)
    if cell._recompute is not None and not (cell._recompute.is_parents and is_recomputing()):
        return run_to_recompute(cell.construct, cell, cell._recompute, args, kwargs)
    if cell._saved_tensors_hooks is not None:
        with saved_tensors_hooks(*cell._saved_tensors_hooks):
            return cell.construct(*args, **kwargs)
    return cell.construct(*args, **kwargs)


def _run_forward(cell: Cell, entry: HookEntry, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Tensor:
    arguments = (args, kwargs, output) if entry.with_kwargs else (args, output)
    returned = call_hook(cell, "forward", entry.function, *arguments)
    return output if returned is None else returned


def _run_forward_pre(
    cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    for entry in tuple(cell._hooks["forward_pre"].values()):
        if not entry.with_kwargs:
            returned = call_hook(cell, "forward_pre", entry.function, args)
            if returned is not None:
                args = returned if isinstance(returned, tuple) else (returned,)
            continue
        returned = call_hook(cell, "forward_pre", entry.function, args, kwargs)
        if returned is None:
            continue
        if not (isinstance(returned, tuple) and len(returned) == 2):
            subject = f"the forward_pre hook of {described(cell)} was registered with_kwargs and"
            raise RuntimeError(wrong_return(subject, "None or a pair (args, kwargs)", repr(returned)))
        args, kwargs = returned
        if not isinstance(kwargs, dict):
            subject = f"the forward_pre hook of {described(cell)}"
            raise TypeError(wrong_return(subject, "a dict as kwargs", type(kwargs).__name__))
        args = tuple(args) if isinstance(args, list | tuple) else (args,)
    return args, kwargs


def call_hook(cell: Cell, kind: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a hook; add the cell and the hook to an error.

    Args:
        cell: the cell.
        kind: the kind of the hook.
        function: the hook.
        arguments: its arguments after the cell.

    Returns:
        The hook's result.
    """
    try:
        return function(cell, *arguments)
    except Exception as error:
        explain_hook_error(error, kind, function, described(cell))
        if kind == "forward_pre":  # the call has not begun
            taps.fail_forward_pre_hook(cell, arguments[0], error)
        raise


class _BackwardMarks:
    """The two marks of one call, and the gradient that arrived, which backward hooks also get."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.kinds = [kind for kind in ("backward_pre", "backward") if cell._hooks[kind]]
        """Kinds of hooks that exist at the call; others of these kinds may be registered after it."""
        self.grad_output: Gradients | None = None

    def _hooks(self, kind: str) -> tuple[Any, ...]:
        return tuple(self.cell._hooks[kind].values()) if kind in self.kinds else ()

    def mark_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Mark the tensors among the positional arguments."""
        tensors = [t for a in args if isinstance(a, Tensor | Sparse) for t in tensors_in(a)]
        new_tensors = Mark("backward_hook", self._run_backward_hooks).apply(tensors)
        return tuple([replaced(a, new_tensors) if isinstance(a, Tensor | Sparse) else a for a in args])

    def mark_outputs(self, output: Any) -> Any:
        """Mark the tensors of the output: as in MindSpore not nested ones, unless there are no others."""
        tensors = tensors_in(output)
        parts = tuple(output.values()) if isinstance(output, dict) else output
        indices = direct_positions(parts if isinstance(parts, tuple | list) else (parts,)) or range(len(tensors))
        mark = Mark("backward_pre_hook", self._run_backward_pre_hooks)
        new_tensors = mark.apply([tensors[index] for index in indices])
        for index, tensor in zip(indices, new_tensors, strict=True):
            tensors[index] = tensor
        return replaced(output, tensors)

    def _run_backward_pre_hooks(self, gradients: Gradients) -> Gradients:
        for entry in self._hooks("backward_pre"):
            returned = call_hook(self.cell, "backward_pre", entry.function, gradients)
            gradients = self._checked(returned, gradients, "backward_pre", entry.function)
        self.grad_output = gradients
        if state.deferred_callbacks is not None:
            state.deferred_callbacks.append(self._run_remaining_hooks)
        return gradients

    def _run_backward_hooks(self, gradients: Gradients) -> Gradients:
        if self.grad_output is None:
            return gradients
        for entry in self._hooks("backward"):
            returned = call_hook(self.cell, "backward", entry.function, gradients, self.grad_output)
            gradients = self._checked(returned, gradients, "backward", entry.function)
        self.grad_output = None
        return gradients

    def _run_remaining_hooks(self) -> None:
        """Run the hooks with ``(None,)`` at the end of the backward pass if no input had one, as in MindSpore."""
        self._run_backward_hooks((None,))

    def _checked(self, returned: Any, current: Gradients, kind: str, function: Callable[..., Any]) -> Gradients:
        name = getattr(function, "__qualname__", type(function).__name__)
        return checked_gradients(returned, current, f"the {kind} hook '{name}' of {described(self.cell)}")
