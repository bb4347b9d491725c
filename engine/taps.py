"""Taps: how a debugger watches values pass without taking part.

A tap is told of cell calls, of the gradients that arrive at and leave them, and if it asks, of every operator. It puts
no node on the tape and copies nothing, so that *watching never changes a bit*. While nobody watches, the cost is one
look at a global in ``Cell.__call__`` and in the operator call. While a tap's method runs, taps and recordings are off.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .recording import no_recording

if TYPE_CHECKING:
    from .nn.cell import Cell
    from .parameter import Parameter
    from .tensor import Tensor

__all__ = ["CellCall", "Tap", "attach", "attached", "detach"]


class CellCall:
    """One call of one cell while a tap is attached.

    Attributes:
        cell: the cell.
        args: its positional arguments, after the forward-pre hooks.
        kwargs: its keyword arguments.
        output: what it returned, after the forward hooks; None until ``cell_exit``.
        depth: 0 for a root call, 1 for a cell called by it, and so on.
        index: running number of calls in this process.
    """

    __slots__ = ("args", "cell", "depth", "index", "kwargs", "output")

    def __init__(self, cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any], depth: int, index: int) -> None:
        self.cell = cell
        self.args = args
        self.kwargs = kwargs
        self.output: Any = None
        self.depth = depth
        self.index = index


class Tap:
    """Base of every tap; each method does nothing here."""

    observes_operators = False
    observes_bprop = False

    def cell_enter(self, call: CellCall) -> None:
        """A cell is about to compute (its forward-pre hooks have run)."""

    def cell_exit(self, call: CellCall) -> None:
        """A cell has computed and its forward hooks have run; ``call.output`` is set."""

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """A cell raised."""

    def backward_enter(self, call: CellCall, grad_output: tuple[Tensor | None, ...]) -> None:
        """The gradients that arrive at a cell: one for each tensor in its output, None where none came.

        A cell that returns its very input has no value of its own: what is shown is the whole gradient of that value,
        also from others who use it. Telling them apart would take a new tensor, and so change what runs.
        """

    def backward_exit(self, call: CellCall, grad_input: tuple[Tensor | None, ...]) -> None:
        """The gradients that leave a cell: one for each tensor among its arguments."""

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """An operator ran forward (only if ``observes_operators``)."""

    def operator_backward(self, name: str, gradient: Any, gradients: list[Any], attrs: dict[str, Any]) -> None:
        """An operator's vjp rule ran (only if ``observes_operators``)."""

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a custom bprop (only if ``observes_bprop``); whoever overrides it returns what ``function`` returns."""
        return function(*args)

    def parameter_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """The gradients of the weights at the end of a gradient call."""


cell_taps: list[Tap] = []
operator_taps: list[Tap] = []
bprop_taps: list[Tap] = []


class _Local(threading.local):
    muted = False
    depth = 0


_local = _Local()
_calls = 0


def attach(tap: Tap) -> None:
    """Let a tap watch from now on; attaching it again changes nothing."""
    if tap in cell_taps:
        return
    cell_taps.append(tap)
    if tap.observes_operators:
        operator_taps.append(tap)
    if tap.observes_bprop:
        bprop_taps.append(tap)


def detach(tap: Tap) -> None:
    """Stop a tap from watching; one that is not attached is left alone."""
    for taps in (cell_taps, operator_taps, bprop_taps):
        if tap in taps:
            taps.remove(tap)


def attached(tap: Tap) -> bool:
    """Whether a tap watches now."""
    return tap in cell_taps


@contextmanager
def muted() -> Iterator[None]:
    """Neither taps nor recordings see what happens inside the block."""
    before = _local.muted
    _local.muted = True
    try:
        with no_recording():
            yield
    finally:
        _local.muted = before


def _tell(taps: list[Tap], method: str, *arguments: Any) -> None:
    if _local.muted or not taps:
        return
    with muted():
        for tap in tuple(taps):
            getattr(tap, method)(*arguments)


def begin_call(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CellCall | None:
    """Tell the taps that a cell begins; None while they are muted."""
    global _calls
    if _local.muted:
        return None
    _calls += 1
    call = CellCall(cell, args, kwargs, _local.depth, _calls)
    _tell(cell_taps, "cell_enter", call)
    _local.depth += 1
    return call


def end_call(call: CellCall, output: Any) -> None:
    """Tell the taps what a cell returned."""
    _local.depth -= 1
    call.output = output
    _tell(cell_taps, "cell_exit", call)


def fail_call(call: CellCall, error: BaseException) -> None:
    """Tell the taps that a cell raised."""
    _local.depth -= 1
    _tell(cell_taps, "cell_error", call, error)


def operator_ran(name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
    """Tell the taps that an operator ran forward."""
    _tell(operator_taps, "operator", name, inputs, outputs, attrs)


def operator_went_back(name: str, gradient: Any, gradients: list[Any], attrs: dict[str, Any]) -> None:
    """Tell the taps that an operator's vjp rule ran."""
    _tell(operator_taps, "operator_backward", name, gradient, gradients, attrs)


def tell_backward(method: str, call: CellCall, gradients: tuple[Any, ...]) -> None:
    """Tell the taps of gradients at a cell; ``method`` is backward_enter or backward_exit."""
    _tell(cell_taps, method, call, gradients)


def tell_parameter_gradients(pairs: list[tuple[Parameter, Tensor]]) -> None:
    """Tell the taps the gradients of the weights."""
    _tell(cell_taps, "parameter_gradients", pairs)


def run_bprop(cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Run a custom bprop through every tap that wants to run it itself, the newest outermost."""
    if not _local.muted:
        for tap in bprop_taps:
            function = _through(tap, cell, function)
    return function(*args)


def _through(tap: Tap, cell: Cell, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)  # so that a stepper finds the user's function behind it
    def run(*args: Any) -> Any:
        return tap.run_bprop(cell, function, args)

    return run
