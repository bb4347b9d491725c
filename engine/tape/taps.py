"""Taps: how a debugger watches values pass without taking part.

A tap is told of cell calls, of the gradients that arrive at and leave them, and if it asks, of every operator. It puts
no node on the tape and copies nothing, so that *watching never changes a bit*. While nobody watches, the cost is one
look at a global in ``Cell.__call__`` and in the operator call. While a tap's method runs, taps and recordings are off.

A tap may also put something else in the place of what it is shown, at the four moments at which a hook may: the run
then goes on as if a hook of that kind, the last one of its cell, had returned it. For operators that are to be part of
the gradient, as they are in a hook, there is ``recorded``.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .tape import Recording, attention, state

if TYPE_CHECKING:
    from ..nn.cell import Cell
    from ..tensors.parameter import Parameter
    from ..tensors.tensor import Tensor

__all__ = ["CallLog", "CellCall", "Tap", "attach", "attached", "detach", "muted", "recorded"]


class CellCall:
    """One call of one cell while a tap is attached.

    Attributes:
        cell: the cell.
        args: its positional arguments, after the forward-pre hooks; a tap may replace them in ``cell_enter``.
        kwargs: its keyword arguments, likewise.
        output: what it returned, after the forward hooks; None until ``cell_exit``, where a tap may replace it.
        depth: 0 for a root call, 1 for a cell called by it, and so on.
        index: running number of calls in this process.
        context: how the call came about where the user's code did not make it just so: "recomputed", "sample 1" of a
            ``vmap``; otherwise "".
        continues: it belongs to what the user counts as one run with an earlier call: a repetition, or another sample.
        notes: what each tap keeps of the call; let go with it, when no gradient can come to it any more.
        repeats: ``notes`` of the call that this one makes again; None if it is no repetition, or nobody watched then.
        order: of the gradients that are told: 1 for those of the first backward pass through this call, 2 for those of
            a recording around it (second derivatives), and so on.
        walk: how often gradients went back through this call in that order, this time included.
        why_not: while gradients are told, says why they cannot be replaced, or "".
    """

    __slots__ = (
        "args",
        "cell",
        "context",
        "continues",
        "depth",
        "index",
        "kwargs",
        "notes",
        "order",
        "orders",
        "output",
        "repeats",
        "walk",
        "why_not",
    )

    def __init__(self, cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any], depth: int, index: int) -> None:
        self.cell = cell
        self.args = args
        self.kwargs = kwargs
        self.output: Any = None
        self.depth = depth
        self.index = index
        self.context = ""
        self.continues = False
        self.notes: dict[Tap, Any] = {}
        self.repeats: dict[Tap, Any] | None = None
        self.order = 1
        self.orders = 0
        self.walk = 1
        self.why_not: Callable[[], str] = str


Gradients = tuple["Tensor | None", ...]


class Tap:
    """Base of every tap; each method does nothing here.

    Attributes:
        owner: gives the object on whose behalf it watches, which is kept alive while a method of the tap runs; None
            when that is gone, and then the tap is told nothing more.
    """

    observes_operators = False
    observes_bprop = False
    observes_losses = False
    owner: Callable[[], object | None] = object  # nobody's tap: what is given is never None

    def forgives(self, method: str, error: Exception) -> bool:
        """Report what a method of this tap raised; return whether the run goes on as if it had not."""
        return False

    def give_way(self) -> bool:
        """A gradient is about to be asked for: wait until another thread's trace (``engine.graph``) is over.

        Returns:
            whether it is.
        """
        return True

    def cell_enter(self, call: CellCall) -> None:
        """A cell is about to compute (its forward-pre hooks have run)."""

    def cell_exit(self, call: CellCall) -> None:
        """A cell has computed and its forward hooks have run; ``call.output`` is set."""

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """A cell raised."""

    def backward_enter(self, call: CellCall, grad_output: Gradients) -> Gradients | None:
        """The gradients that arrive at a cell: one for each tensor in its output, None where none came.

        A cell that returns its very input has no value of its own: what is shown is the whole gradient of that value,
        also from others who use it. Telling them apart would take a new tensor, and so change what runs.

        Returns:
            None, or the gradients to go on with, of the same number, shapes and dtypes.
        """

    def backward_exit(self, call: CellCall, grad_input: Gradients) -> Gradients | None:
        """The gradients that leave a cell: one for each tensor among its arguments.

        Returns:
            None, or the gradients to go on with, of the same number, shapes and dtypes.
        """

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """An operator ran forward (only if ``observes_operators``)."""

    def operator_backward(
        self,
        name: str,
        gradient: Any,
        gradients: list[Any],
        attrs: dict[str, Any],
        inputs: tuple[Any, ...],
        output: Any,
    ) -> None:
        """An operator's vjp rule ran (only if ``observes_operators``).

        Args:
            name: of the operator.
            gradient: what arrived at its output: an array, or a tensor if a recording is open around the backward pass.
            gradients: what it sends to its inputs, in the same form.
            attrs: the attributes of the forward call.
            inputs: the arrays of the forward call, and what was no tensor among its operands. None in the place of an
                array that the tape let go of before this tap was attached.
            output: the array that it made, or a tuple of them, with None likewise.
        """

    def loss(self, name: str, prediction: Tensor, target: Tensor, attrs: dict[str, Any]) -> None:
        """A loss function was called (only if ``observes_losses``).

        Args:
            name: of the function in ``ops``; the cells of losses call these.
            prediction: what the network gave, as the function takes it: logits, probabilities, ...
            target: what it should have given.
            attrs: what else it was given.
        """

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a custom bprop (only if ``observes_bprop``); whoever overrides it returns what ``function`` returns."""
        return function(*args)

    def parameter_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """The gradients of the weights at the end of a gradient call."""

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """What a gradient call with weights differentiated, and each weight's gradient: None where none came."""


cell_taps: list[Tap] = []
operator_taps: list[Tap] = []
bprop_taps: list[Tap] = []
loss_taps: list[Tap] = []
_listening: dict[str, list[Tap]] = {
    method: []
    for method in (
        "cell_enter",
        "cell_exit",
        "cell_error",
        "backward_enter",
        "backward_exit",
        "parameter_gradients",
        "differentiated",
    )
}
"""Of the attached taps those with a method of their own, by its name: the others are not asked."""


class CallLog:
    """The calls that a function made, so that those of its next run are known as their repetitions."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.calls: list[tuple[dict[Tap, Any] | None, int]] = []  # notes, id of the cell


class _Local(threading.local):
    muted = False
    depth = 0
    outside: tuple[Recording, ...] = ()  # the recordings that were open where the muting began
    context = ""
    continues = False
    logs: tuple[CallLog, ...] = ()
    unheard: Callable[[Cell], None] | None = None
    again: Iterator[tuple[dict[Tap, Any] | None, int]] | None = None
    unplanned: tuple[str, str] | None = None


_local = _Local()
_calls = 0
hooking: set[int] = set()
"""The identities of hooks that sessions attached: what has one runs eagerly, as for taps, for a person is to see it."""


def attach(tap: Tap) -> None:
    """Let a tap watch from now on; attaching it again changes nothing."""
    if tap in cell_taps:
        return
    cell_taps.append(tap)
    for method, listening in _listening.items():
        if getattr(type(tap), method) is not getattr(Tap, method) or method in vars(tap):
            listening.append(tap)
    if tap.observes_operators:
        operator_taps.append(tap)
        attention.append(tap)
    if tap.observes_bprop:
        bprop_taps.append(tap)
    if tap.observes_losses:
        loss_taps.append(tap)


def detach(tap: Tap) -> None:
    """Stop a tap from watching; one that is not attached is left alone."""
    lists: tuple[list[Any], ...] = (cell_taps, operator_taps, bprop_taps, loss_taps, attention, *_listening.values())
    for taps in lists:
        if tap in taps:
            taps.remove(tap)


def attached(tap: Tap) -> bool:
    """Whether a tap watches now."""
    return tap in cell_taps


def forgiven(what: str, error: Exception) -> bool:
    """Report what raised only because taps are attached; return whether the run goes on as if it had not."""
    return any(tap.forgives(what, error) for tap in tuple(cell_taps) if tap.owner() is not None)


@contextmanager
def muted() -> Iterator[None]:
    """Neither taps nor recordings see what happens inside the block."""
    before = _local.muted, _local.outside, state.recordings
    _local.muted, _local.outside, state.recordings = True, state.recordings or _local.outside, ()
    try:
        yield
    finally:
        _local.muted, _local.outside, state.recordings = before


@contextmanager
def unwatched() -> Iterator[None]:
    """Taps do not see what happens inside the block; recordings do."""
    before = _local.muted
    _local.muted = True
    try:
        yield
    finally:
        _local.muted = before


def recordings_outside() -> tuple[Recording, ...]:
    """The recordings that were open where the muting of this thread began."""
    return _local.outside


@contextmanager
def unheard(callback: Callable[[Cell], None]) -> Iterator[None]:
    """Tell of the cells that are called inside the block while this thread is muted."""
    before, _local.unheard = _local.unheard, callback
    try:
        yield
    finally:
        _local.unheard = before


@contextmanager
def recorded(recordings: tuple[Recording, ...]) -> Iterator[None]:
    """Inside the block these recordings are open, and taps see nothing: what runs there counts as part of the run."""
    before = _local.muted, state.recordings
    _local.muted, state.recordings = True, recordings
    try:
        yield
    finally:
        _local.muted, state.recordings = before


def _tell(taps: list[Tap], method: str, *arguments: Any) -> None:
    local = _local
    if local.muted or not taps:
        return
    # What ``muted`` does, written out: each call of a watched cell comes here four times.
    local.muted, local.outside, state.recordings = True, state.recordings, ()
    try:
        for tap in tuple(taps):
            if (_owner := tap.owner()) is not None:  # held until the call returns
                try:
                    getattr(tap, method)(*arguments)
                except Exception as error:
                    if not tap.forgives(method, error):
                        raise
    finally:
        local.muted, state.recordings, local.outside = False, local.outside, ()


@contextmanager
def logged() -> Iterator[CallLog]:
    """Log the calls that are made inside the block."""
    before, log = _local.logs, CallLog(_local.depth)
    _local.logs = (*before, log)
    try:
        yield log
    finally:
        _local.logs = before


@contextmanager
def repeating(log: CallLog, context: str) -> Iterator[None]:
    """The calls inside the block are those of ``log``, made again."""
    before = _local.context, _local.continues, _local.again, _local.depth
    _local.context, _local.continues, _local.again, _local.depth = context, True, iter(log.calls), log.depth
    try:
        yield
    finally:
        _local.context, _local.continues, _local.again, _local.depth = before


@contextmanager
def in_context(context: str) -> Iterator[None]:
    """The calls inside the block came about as ``context`` says."""
    before = _local.context
    _local.context = f"{before}, {context}" if before else context
    try:
        yield
    finally:
        _local.context = before


@contextmanager
def one_of_several(what: str, place: int) -> Iterator[None]:
    """The calls inside the block are those of one of several runs that are one to the user: ``sample 3``."""
    before = _local.context, _local.continues
    _local.context = f"{before[0]}, {what} {place}" if before[0] else f"{what} {place}"
    _local.continues = before[1] or place > 0
    try:
        yield
    finally:
        _local.context, _local.continues = before


@contextmanager
def unplanned(name: str, level: str) -> Iterator[None]:
    """The calls inside the block belong to one of a compiled function, which runs eagerly because it is watched.

    Args:
        name: the function's.
        level: "O0" or "O1", at which its plans are made.
    """
    before, _local.unplanned = _local.unplanned, (name, level)
    try:
        yield
    finally:
        _local.unplanned = before


def unplanned_call() -> tuple[str, str] | None:
    """The name and the level of the compiled function that this thread runs eagerly; None outside of one."""
    return _local.unplanned


def begin_call(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CellCall | None:
    """Tell the taps that a cell begins; None while they are muted."""
    global _calls
    local = _local
    if local.muted:
        if local.unheard is not None:
            local.unheard(cell)
        return None
    _calls += 1
    call = CellCall(cell, args, kwargs, local.depth, _calls)
    call.context, call.continues = local.context, local.continues
    if local.again is not None:
        notes, of = next(local.again, (None, 0))
        if of == id(cell):
            call.repeats = notes
    for log in local.logs:
        log.calls.append((call.notes if call.repeats is None else call.repeats, id(cell)))
    _tell(_listening["cell_enter"], "cell_enter", call)
    local.depth = call.depth + 1
    return call


def end_call(call: CellCall, output: Any) -> Any:
    """Tell the taps what a cell returned; returns what is to go on."""
    _local.depth = call.depth
    call.output = output
    _tell(_listening["cell_exit"], "cell_exit", call)
    return call.output


def fail_call(call: CellCall, error: BaseException) -> None:
    """Tell the taps that a cell raised."""
    _local.depth = call.depth
    _tell(_listening["cell_error"], "cell_error", call, error)


def operator_ran(name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
    """Tell the taps that an operator ran forward."""
    _tell(operator_taps, "operator", name, inputs, outputs, attrs)


def loss_called(name: str, prediction: Tensor, target: Tensor, **attrs: Any) -> None:
    """Tell the taps that a loss function was called."""
    _tell(loss_taps, "loss", name, prediction, target, attrs)


def operator_went_back(
    name: str, gradient: Any, gradients: list[Any], attrs: dict[str, Any], inputs: tuple[Any, ...], output: Any
) -> None:
    """Tell the taps that an operator's vjp rule ran."""
    _tell(operator_taps, "operator_backward", name, gradient, gradients, attrs, inputs, output)


def tell_backward(method: str, call: CellCall, gradients: Gradients) -> Gradients:
    """Tell the taps of gradients at a cell; ``method`` is backward_enter or backward_exit.

    Returns:
        the gradients to go on with: the same tuple unless a tap replaced them.
    """
    local, listening = _local, _listening[method]
    if local.muted or not listening:
        return gradients
    local.muted, local.outside, state.recordings = True, state.recordings, ()
    try:
        for tap in tuple(listening):
            if (_owner := tap.owner()) is None:
                continue
            try:
                replaced = getattr(tap, method)(call, gradients)
            except Exception as error:
                if not tap.forgives(method, error):
                    raise
                continue
            if replaced is not None:
                gradients = replaced
    finally:
        local.muted, state.recordings, local.outside = False, local.outside, ()
    return gradients


def tell_parameter_gradients(pairs: list[tuple[Parameter, Tensor]]) -> None:
    """Tell the taps the gradients of the weights."""
    _tell(_listening["parameter_gradients"], "parameter_gradients", pairs)


def tell_differentiated(values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
    """Tell the taps what a gradient call with weights differentiated."""
    _tell(_listening["differentiated"], "differentiated", values, pairs)


def run_bprop(cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Run a custom bprop through every tap that wants to run it itself, the newest outermost."""
    if not _local.muted:
        for tap in bprop_taps:
            function = _through(tap, cell, function)
    return function(*args)


def _through(tap: Tap, cell: Cell, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)  # so that a stepper finds the user's function behind it
    def run(*args: Any) -> Any:
        owner = tap.owner()  # held until the call returns
        if owner is None:
            return function(*args)
        ran = _Ran()
        try:
            try:
                return tap.run_bprop(cell, ran.noting(function), args)
            except Exception as error:
                if error is ran.error or not tap.forgives("run_bprop", error):
                    raise
            if ran.error is not None:
                raise ran.error
            return ran.returned if ran.has_returned else function(*args)
        finally:
            ran.error = None  # whose traceback refers to it

    return run


class _Ran:
    """Outcome of a custom bprop that a tap ran. The tap may fail before it, after it, or while it is told of it."""

    has_returned = False
    returned: Any = None
    error: BaseException | None = None

    def noting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, which notes here how it ended."""

        @functools.wraps(function)
        def run(*args: Any) -> Any:
            try:
                self.returned = function(*args)
            except BaseException as error:
                self.error = error
                raise
            self.has_returned = True
            return self.returned

        return run
