"""Taps: observers of cell calls, gradients and operators that do not affect the computation.

A tap is notified of cell calls, of the gradients that arrive at and leave them, and on request of every operator. It
puts no node on the tape and copies nothing, so that *watching never changes a bit*. Without taps, the cost is a check
of a global in ``Cell.__call__`` and in the operator call. Taps and recordings are off while a tap's method runs.

A tap may also replace values, at the four moments at which a hook may: the run then continues as if a hook of that
kind, the last one of its cell, had returned the replacement. Operators that are to be differentiated, as in a hook, run
inside ``recorded``.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .tape import GradientComputation, Recording, active_observers, state

if TYPE_CHECKING:
    from ..nn.cell import Cell
    from ..tensors.parameter import Parameter
    from ..tensors.tensor import Tensor

__all__ = ["CallLog", "CellCall", "Tap", "attach", "detach", "is_attached", "mute", "open_recordings"]


class CellCall:
    """A call of a cell while a tap is attached.

    Attributes:
        cell: the cell.
        args: its positional arguments, after the forward-pre hooks; a tap may replace them in ``cell_enter``.
        kwargs: its keyword arguments, likewise.
        output: its result, after the forward hooks; None until ``cell_exit``, where a tap may replace it.
        depth: 0 for a root call, 1 for a cell called by it, and so on.
        index: running number of calls in this process.
        context: the origin of a call that user code did not make directly: "recomputed", "sample 1" of a ``vmap``;
            otherwise "".
        continues: whether the user sees it as one run with an earlier call: a repetition, or another sample.
        notes: the data of each tap about the call; released with it, when no gradient can reach it any more.
        repeats: ``notes`` of the call that this one repeats; None if it is not a repetition, or there were no taps
            then.
        order: the order of the observed gradients: 1 for those of the first backward pass through this call, 2 for
            those of a recording around it (second derivatives), and so on.
        pass_number: the number of backward passes through this call in that order, including the current one.
        refusal_reason: during the observation of gradients, returns the reason why they cannot be replaced, or "".
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
        "pass_number",
        "refusal_reason",
        "repeats",
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
        self.pass_number = 1
        self.refusal_reason: Callable[[], str] = str


Gradients = tuple["Tensor | None", ...]


class Tap:
    """Base of every tap; each method does nothing here.

    Attributes:
        owner: returns the object that the tap works for, which is kept alive while a method of the tap runs; None when
            it is freed; then the tap is no longer notified.
    """

    observes_operators = False
    observes_bprop = False
    observes_losses = False
    observes_readings = False
    owner: Callable[[], object | None] = object  # a tap without an owner: never None

    def report_fault(self, method: str, error: Exception) -> bool:
        """Report an error of a method of this tap; return whether the run continues as if there were none."""
        return False

    def wait_for_trace(self) -> bool:
        """Wait until another thread's trace (``engine.compile``) has ended; called before a gradient is computed.

        Returns:
            whether it has.
        """
        return True

    def cell_enter(self, call: CellCall) -> None:
        """Observe the start of a cell's computation (its forward-pre hooks have run)."""

    def cell_exit(self, call: CellCall) -> None:
        """Observe the end of a cell's computation and forward hooks; ``call.output`` is set."""

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """Observe an error of a cell."""

    def forward_pre_hook_error(self, cell: Cell, args: tuple[Any, ...], depth: int, error: BaseException) -> None:
        """Observe an error of a forward-pre hook, before the call of its cell begins."""

    def gradient_call_error(self, weights: Sequence[Parameter], error: BaseException) -> None:
        """Observe an error that leaves a gradient call: of its function, or of its backward pass (no weights)."""

    def backward_enter(self, call: CellCall, grad_output: Gradients) -> Gradients | None:
        """Observe the gradients that arrive at a cell: one for each tensor in its output, None where none arrived.

        A cell that returns its own input has no separate value: the gradient is the complete one of that value,
        including other users' contributions. Separating them would take a new tensor, and so change the computation.

        Returns:
            None, or the gradients to continue with, of the same number, shapes and dtypes.
        """

    def backward_exit(self, call: CellCall, grad_input: Gradients) -> Gradients | None:
        """Observe the gradients that leave a cell: one for each tensor among its arguments.

        Returns:
            None, or the gradients to continue with, of the same number, shapes and dtypes.
        """

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Observe an operator's forward call (only if ``observes_operators``)."""

    def operator_backward(
        self,
        name: str,
        gradient: Any,
        gradients: list[Any],
        attrs: dict[str, Any],
        inputs: tuple[Any, ...],
        output: Any,
    ) -> None:
        """Observe a call of an operator's vjp rule (only if ``observes_operators``).

        Args:
            name: the operator's name.
            gradient: the gradient of its output: an array, or a tensor if a recording is open around the backward pass.
            gradients: the gradients of its inputs, in the same form.
            attrs: the attributes of the forward call.
            inputs: the arrays of the forward call, and operands that are not tensors. None for an array that the tape
                released before this tap was attached.
            output: its output array, or a tuple of them, with None likewise.
        """

    def loss(self, name: str, prediction: Tensor, target: Tensor, attrs: dict[str, Any]) -> None:
        """Observe a call of a loss function (only if ``observes_losses``).

        Args:
            name: the function in ``ops``; loss cells call these.
            prediction: the network's output, in the function's form: logits, probabilities, ...
            target: the expected output.
            attrs: the other arguments.
        """

    def reading(self, tensor: Tensor) -> None:
        """Observe that code takes a tensor's values as NumPy or Python numbers while gradients are recorded.

        Only if ``observes_readings``.
        """

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a custom bprop (only if ``observes_bprop``); an override returns the result of ``function``."""
        return function(*args)

    def differentiating(
        self, computation: GradientComputation, function: Callable[..., Any], weights: Sequence[Parameter]
    ) -> None:
        """Observe the start of a gradient call for weights, with the function that it will run.

        ``computation`` is in ``active_observers`` until the function ends.
        """

    def parameter_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """Observe the gradients of the weights at the end of a gradient call."""

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Observe the values that a gradient call with weights differentiated, and each weight's gradient or None."""


class _Listener(NamedTuple):
    """A method of an attached tap, bound once: each operator of a watched run calls a dozen of them.

    Attributes:
        owner: the owner of the tap.
        call: the method.
        tap: the tap.
    """

    owner: Callable[[], object | None]
    call: Callable[..., Any]
    tap: Tap


cell_taps: list[Tap] = []
operator_taps: list[Tap] = []
bprop_taps: list[Tap] = []
loss_taps: list[_Listener] = []
reading_taps: list[_Listener] = []
operator_backward_taps: list[_Listener] = []
_operator_listeners: list[_Listener] = []
"""The operator taps that override ``operator``, as a tracer does not."""
_listeners: dict[str, list[_Listener]] = {
    method: []
    for method in (
        "cell_enter",
        "cell_exit",
        "cell_error",
        "forward_pre_hook_error",
        "gradient_call_error",
        "backward_enter",
        "backward_exit",
        "differentiating",
        "parameter_gradients",
        "differentiated",
    )
}
"""Attached taps by the name of each method that they override: others are not called."""


class CallLog:
    """The calls that a function made, so that the calls of its next run are identified as their repetitions."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.calls: list[tuple[dict[Tap, Any] | None, int]] = []  # notes, id of the cell


class _Local(threading.local):
    is_muted = False
    depth = 0
    outer_recordings: tuple[Recording, ...] = ()  # the recordings that were open when the muting began
    context = ""
    continues = False
    logs: tuple[CallLog, ...] = ()
    on_muted_call: Callable[[Cell], None] | None = None
    repeated_calls: Iterator[tuple[dict[Tap, Any] | None, int]] | None = None
    eager_call: tuple[str, str] | None = None


_local = _Local()
_calls = 0
hooking: set[int] = set()
"""Ids of hooks that sessions attached: cells with one run eagerly, as for taps, so that a person can see it run."""


def attach(tap: Tap) -> None:
    """Attach a tap; do nothing if it is already attached."""
    if tap in cell_taps:
        return
    cell_taps.append(tap)
    for method, listeners in _listeners.items():
        _listen(listeners, tap, method)
    if tap.observes_operators:
        operator_taps.append(tap)
        active_observers.append(tap)
        _listen(_operator_listeners, tap, "operator")
        _listen(operator_backward_taps, tap, "operator_backward")
    if tap.observes_bprop:
        bprop_taps.append(tap)
    if tap.observes_losses:
        _listen(loss_taps, tap, "loss")
    if tap.observes_readings:
        _listen(reading_taps, tap, "reading")


def _listen(listeners: list[_Listener], tap: Tap, method: str) -> None:
    """Add a tap's method to those that are called, if the tap overrides it."""
    if getattr(type(tap), method) is not getattr(Tap, method) or method in vars(tap):
        listeners.append(_Listener(tap.owner, getattr(tap, method), tap))


def detach(tap: Tap) -> None:
    """Detach a tap; do nothing if it is not attached."""
    taps: tuple[list[Any], ...] = (cell_taps, operator_taps, bprop_taps, active_observers)
    for attached in taps:
        if tap in attached:
            attached.remove(tap)
    for listeners in (loss_taps, reading_taps, operator_backward_taps, _operator_listeners, *_listeners.values()):
        for listener in tuple(listeners):
            if listener.tap is tap:
                listeners.remove(listener)


def is_attached(tap: Tap) -> bool:
    """Return whether a tap is attached."""
    return tap in cell_taps


def report_fault(what: str, error: Exception) -> bool:
    """Report an error raised only because of attached taps; return whether the run continues as if there were none."""
    return any(tap.report_fault(what, error) for tap in tuple(cell_taps) if tap.owner() is not None)


@contextmanager
def mute() -> Iterator[None]:
    """Turn taps and recordings off inside the block."""
    previous = _local.is_muted, _local.outer_recordings, state.recordings
    _local.is_muted, _local.outer_recordings, state.recordings = True, state.recordings or _local.outer_recordings, ()
    try:
        yield
    finally:
        _local.is_muted, _local.outer_recordings, state.recordings = previous


@contextmanager
def mute_taps() -> Iterator[None]:
    """Turn taps, but not recordings, off inside the block."""
    previous = _local.is_muted
    _local.is_muted = True
    try:
        yield
    finally:
        _local.is_muted = previous


def is_muted() -> bool:
    """Return whether this thread runs code of the debugger, in which taps are off."""
    return _local.is_muted


def outer_recordings() -> tuple[Recording, ...]:
    """Return the recordings that were open when the muting of this thread began."""
    return _local.outer_recordings


@contextmanager
def on_muted_call(callback: Callable[[Cell], None]) -> Iterator[None]:
    """Call ``callback`` with each cell that is called inside the block while this thread is muted."""
    previous, _local.on_muted_call = _local.on_muted_call, callback
    try:
        yield
    finally:
        _local.on_muted_call = previous


@contextmanager
def open_recordings(recordings: tuple[Recording, ...]) -> Iterator[None]:
    """Open these recordings and turn taps off inside the block: its operators count as part of the run."""
    previous = _local.is_muted, state.recordings
    _local.is_muted, state.recordings = True, recordings
    try:
        yield
    finally:
        _local.is_muted, state.recordings = previous


def _notify(listeners: list[_Listener], method: str, *arguments: Any) -> None:
    local = _local
    if local.is_muted or not listeners:
        return
    # ``mute`` written out: each call of a watched cell comes here four times.
    local.is_muted, local.outer_recordings, state.recordings = True, state.recordings, ()
    try:
        for owner, call, tap in tuple(listeners):
            if (_owner := owner()) is not None:  # held until the call returns
                try:
                    call(*arguments)
                except Exception as error:
                    if not tap.report_fault(method, error):
                        raise
    finally:
        local.is_muted, state.recordings, local.outer_recordings = False, local.outer_recordings, ()


@contextmanager
def log_calls() -> Iterator[CallLog]:
    """Log the calls that are made inside the block."""
    previous, log = _local.logs, CallLog(_local.depth)
    _local.logs = (*previous, log)
    try:
        yield log
    finally:
        _local.logs = previous


@contextmanager
def repetition_of(log: CallLog, context: str) -> Iterator[None]:
    """Mark the calls inside the block as repetitions of those of ``log``."""
    previous = _local.context, _local.continues, _local.repeated_calls, _local.depth
    _local.context, _local.continues, _local.repeated_calls, _local.depth = context, True, iter(log.calls), log.depth
    try:
        yield
    finally:
        _local.context, _local.continues, _local.repeated_calls, _local.depth = previous


def in_repetition() -> bool:
    """Return whether this thread runs a repetition of earlier calls: a cell that is recomputed."""
    return _local.repeated_calls is not None


@contextmanager
def in_context(context: str) -> Iterator[None]:
    """Set the context of the calls inside the block."""
    previous = _local.context
    _local.context = f"{previous}, {context}" if previous else context
    try:
        yield
    finally:
        _local.context = previous


@contextmanager
def numbered_run(label: str, index: int) -> Iterator[None]:
    """Mark the calls inside the block as one of several runs that the user sees as one: ``sample 3``."""
    previous = _local.context, _local.continues
    _local.context = f"{previous[0]}, {label} {index}" if previous[0] else f"{label} {index}"
    _local.continues = previous[1] or index > 0
    try:
        yield
    finally:
        _local.context, _local.continues = previous


@contextmanager
def eager_call(name: str, level: str) -> Iterator[None]:
    """Mark the calls inside the block as part of a compiled function that runs eagerly because it is watched.

    Args:
        name: the name of the function.
        level: "O0" or "O1", the level of its plans.
    """
    previous, _local.eager_call = _local.eager_call, (name, level)
    try:
        yield
    finally:
        _local.eager_call = previous


def current_eager_call() -> tuple[str, str] | None:
    """Return the name and level of the compiled function that this thread runs eagerly; None outside of one."""
    return _local.eager_call


def begin_call(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CellCall | None:
    """Notify the taps of the start of a cell call; return None while they are muted."""
    global _calls
    local = _local
    if local.is_muted:
        if local.on_muted_call is not None:
            local.on_muted_call(cell)
        return None
    _calls += 1
    call = CellCall(cell, args, kwargs, local.depth, _calls)
    call.context, call.continues = local.context, local.continues
    if local.repeated_calls is not None:
        notes, cell_id = next(local.repeated_calls, (None, 0))
        if cell_id == id(cell):
            call.repeats = notes
    for log in local.logs:
        log.calls.append((call.notes if call.repeats is None else call.repeats, id(cell)))
    _notify(_listeners["cell_enter"], "cell_enter", call)
    local.depth = call.depth + 1
    return call


def end_call(call: CellCall, output: Any) -> Any:
    """Notify the taps of a cell's output; return the output to continue with."""
    _local.depth = call.depth
    call.output = output
    _notify(_listeners["cell_exit"], "cell_exit", call)
    return call.output


def fail_call(call: CellCall, error: BaseException) -> None:
    """Notify the taps of a cell's error."""
    _local.depth = call.depth
    _notify(_listeners["cell_error"], "cell_error", call, error)


def fail_forward_pre_hook(cell: Cell, args: tuple[Any, ...], error: BaseException) -> None:
    """Notify the taps of an error of a forward-pre hook."""
    _notify(_listeners["forward_pre_hook_error"], "forward_pre_hook_error", cell, args, _local.depth, error)


def fail_gradient_call(weights: Sequence[Parameter], error: BaseException) -> None:
    """Notify the taps of an error that leaves a gradient call."""
    _notify(_listeners["gradient_call_error"], "gradient_call_error", weights, error)


def notify_operator(name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
    """Notify the taps of an operator's forward call."""
    _notify(_operator_listeners, "operator", name, inputs, outputs, attrs)


def notify_loss(name: str, prediction: Tensor, target: Tensor, **attrs: Any) -> None:
    """Notify the taps of a call of a loss function."""
    _notify(loss_taps, "loss", name, prediction, target, attrs)


def notify_reading(tensor: Tensor) -> None:
    """Notify the taps that a tensor's values are taken as NumPy or Python numbers."""
    _notify(reading_taps, "reading", tensor)


def notify_operator_backward(
    name: str, gradient: Any, gradients: list[Any], attrs: dict[str, Any], inputs: tuple[Any, ...], output: Any
) -> None:
    """Notify the taps of a call of an operator's vjp rule."""
    _notify(operator_backward_taps, "operator_backward", name, gradient, gradients, attrs, inputs, output)


def notify_backward(method: str, call: CellCall, gradients: Gradients) -> Gradients:
    """Notify the taps of gradients at a cell; ``method`` is backward_enter or backward_exit.

    Returns:
        the gradients to continue with: the same tuple unless a tap replaced them.
    """
    local, listeners = _local, _listeners[method]
    if local.is_muted or not listeners:
        return gradients
    local.is_muted, local.outer_recordings, state.recordings = True, state.recordings, ()
    try:
        for owner, replace, tap in tuple(listeners):
            if (_owner := owner()) is None:
                continue
            try:
                replaced = replace(call, gradients)
            except Exception as error:
                if not tap.report_fault(method, error):
                    raise
                continue
            if replaced is not None:
                gradients = replaced
    finally:
        local.is_muted, state.recordings, local.outer_recordings = False, local.outer_recordings, ()
    return gradients


def notify_differentiating(
    computation: GradientComputation, function: Callable[..., Any], weights: Sequence[Parameter]
) -> None:
    """Notify the taps of the start of a gradient call for weights."""
    _notify(_listeners["differentiating"], "differentiating", computation, function, weights)


def notify_parameter_gradients(pairs: list[tuple[Parameter, Tensor]]) -> None:
    """Notify the taps of the gradients of the weights."""
    _notify(_listeners["parameter_gradients"], "parameter_gradients", pairs)


def notify_differentiated(values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
    """Notify the taps of the values that a gradient call with weights differentiated."""
    _notify(_listeners["differentiated"], "differentiated", values, pairs)


def run_bprop(cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Run a custom bprop through every tap that overrides ``run_bprop``, the newest outermost."""
    if not _local.is_muted:
        for tap in bprop_taps:
            function = _with_tap(tap, cell, function)
    return function(*args)


def _with_tap(tap: Tap, cell: Cell, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)  # so that a stepper finds the user's function behind it
    def run(*args: Any) -> Any:
        owner = tap.owner()  # held until the call returns
        if owner is None:
            return function(*args)
        outcome = _BpropOutcome()
        try:
            try:
                return tap.run_bprop(cell, outcome.wrap(function), args)
            except Exception as error:
                if error is outcome.error or not tap.report_fault("run_bprop", error):
                    raise
            if outcome.error is not None:
                raise outcome.error
            return outcome.returned if outcome.is_returned else function(*args)
        finally:
            outcome.error = None  # its traceback refers to this object

    return run


class _BpropOutcome:
    """Outcome of a custom bprop that a tap ran. The tap may fail before it, after it, or during the observation."""

    is_returned = False
    returned: Any = None
    error: BaseException | None = None

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a wrapper that stores its outcome here."""

        @functools.wraps(function)
        def run(*args: Any) -> Any:
            try:
                self.returned = function(*args)
            except BaseException as error:
                self.error = error
                raise
            self.is_returned = True
            return self.returned

        return run
