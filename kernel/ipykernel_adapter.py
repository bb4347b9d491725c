"""Adapter for the internals of Jupyter's packages: ipykernel, IPython, ipywidgets, jupyter_client and pydevd.

Hookscope pauses in the middle of a cell, for which ipykernel has no public interface. Every member that is private, or
that a release may change without notice, is used in this file and nowhere else in `kernel/` and `widgets/`, which
`tests/kernel/test_private_members.py` checks. Functions take the kernel or the shell; classes whose names end in
"Hooks" precede ipykernel's and IPython's classes in the method resolution order and call our methods from those
overrides.

The supported versions are ipykernel 7.1 to 7.4. Where versions differ, a docstring names them; otherwise the members
are the same in all four. `tests/kernel/test_ipykernel_adapter.py` states the assumptions, and `python
tests/kernel/ipykernel_versions.py` runs it, and the tests of the kernel, with each version.

Nothing of Jupyter is imported with this module, since a terminal's IPython and a rank use it too without ipykernel.

Threads: only ipykernel's shell-channel thread uses the shell socket. It passes each request, as raw frames, through a
bounded in-process queue to the main thread, or to the thread of a subshell. The control channel and IOPub have their
own threads. So a function that uses a socket names the threads that may call it.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ipykernel.debugger import Debugger as _Debugger
    from ipykernel.ipkernel import IPythonKernel as _Kernel
    from IPython.core.interactiveshell import InteractiveShell as _Shell
else:
    _Debugger = _Kernel = _Shell = object

Frames = list[Any]
"""One message as received from the socket: a list of zmq frames."""

Message = dict[str, Any]

SignalHandler = Callable[[int, FrameType | None], Any]

Namespaces = list[tuple[str, Mapping[str, object]]]
"""Namespaces that IPython searches for a name, in order: the title and the names of each."""


# Messages


def peek(kernel: Any, frames: Frames) -> Message:
    """Return a request with its content still packed, without consuming its signature. Any thread may call it.

    `Session.deserialize` rejects a signature that it has recorded, but records it only with ``content=True``
    (jupyter_client 8). So the same frames can be read again, by `unpack` or by ipykernel.
    """
    session = kernel.session
    _, parts = session.feed_identities(frames, copy=False)
    peeked: Message = session.deserialize(parts, content=False, copy=False)
    return peeked


def packed_content(kernel: Any, peeked: Message) -> Message:
    """Return the content of a request returned by `peek`."""
    content: Message = kernel.session.unpack(peeked["content"])
    return content


def unpack(kernel: Any, frames: Frames) -> tuple[list[bytes], Message]:
    """Return a request's routing identities and the request, consuming its signature: further copies are rejected.

    Raises:
        ValueError: the message is repeated or forged.
    """
    session = kernel.session
    identities, parts = session.feed_identities(frames, copy=False)
    return identities, session.deserialize(parts, content=True, copy=False)


def send_reply(kernel: Any, parts: list[Any]) -> None:
    """Send a reply's frames from the shell-channel thread. Any thread may call it.

    They are sent through the `ZMQStream` of the shell socket. ipykernel 7.4 sends its own replies through the same
    stream; 7.1 to 7.3 send them on the bare socket, in the same thread.
    """
    call_in_shell_channel_thread(kernel, kernel.shell_stream.send_multipart, [bytes(part) for part in parts])


def call_in_shell_channel_thread(kernel: Any, function: Callable[..., object], *args: Any) -> None:
    """Schedule a function call in the shell-channel thread. Any thread may call it."""
    kernel.shell_channel_thread.io_loop.add_callback(function, *args)


def send_to_main_thread(kernel: Any, frame: bytes) -> None:
    """Queue one frame after the requests for the main thread. Only the shell-channel thread may call it.

    `KernelHooks.wake_up` receives it. The queue is bounded: its two sockets hold about 2,000 frames, and a blocked
    sender stops the kernel. ipykernel itself sends a frame b"stop aborting" the same way.
    """
    manager = kernel.shell_channel_thread.manager
    manager.get_shell_channel_to_subshell_socket(None).send(frame, copy=False)


# The current request


def current_request(kernel: Any) -> tuple[Any, Message]:
    """Return the identities and the request to which the calling thread's output belongs.

    They are context variables; a thread without its own value reads those that were set last.
    """
    return kernel._get_shell_context_var(kernel._shell_parent_ident), kernel.get_parent("shell")


def set_current_request(kernel: Any, identities: Any, request: Message) -> None:
    """Assign the calling context's output to a request; IPython's display objects and streams follow."""
    kernel.set_parent(identities, request, channel="shell")


def handle_request(kernel: Any, replies: Any, identities: list[bytes], request: Message) -> bool:
    """Run ipykernel's handler of a request without an event loop; return whether it completed.

    Handlers are `async def`, and those of comms and queries never suspend: the first step of the coroutine is its last.
    A handler that suspends is closed. They call `do_complete` and similar methods, which are plain functions in
    `IPythonKernel`, though `async def` in its base class since ipykernel 7.3.

    Args:
        kernel: the kernel.
        replies: replaces the shell socket; its `send_multipart` receives the reply's frames.
        identities: the routing identities of the reply.
        request: the request.
    """
    coroutine = kernel.shell_handlers[request["header"]["msg_type"]](replies, identities, request)
    if not inspect.isawaitable(coroutine):
        return True
    step = cast(Any, coroutine)
    try:
        step.send(None)
    except StopIteration:
        return True
    step.close()
    return False


# Messages to front ends


def publish(kernel: Any, kind: str, content: Message, request: Message | None, topic: str = "") -> None:
    """Publish a message on IOPub as output of a request. Any thread may call it.

    Args:
        kernel: the kernel.
        kind: the message's type.
        content: the message's content.
        request: the request that it belongs to.
        topic: the last part of its IOPub topic; the type by default.
    """
    identity = kernel._topic(topic or kind)
    kernel.session.send(kernel.iopub_socket, kind, content, parent=request, ident=identity)


def publish_status(kernel: Any, state: str, request: Message) -> None:
    """Publish that the kernel is "busy" or "idle" with a request. Any thread may call it."""
    kernel._publish_status(state, "shell", parent=request)


def takes_input(kernel: Any) -> bool:
    """Return whether the front end that runs the current cell accepts input requests: `allow_stdin` of its request.

    False for a kernel without this flag, and without a kernel.
    """
    return bool(getattr(kernel, "_allow_stdin", False))


def error_reply(shell: Any, error: BaseException) -> Message:
    """Show an error raised by IPython itself, and return the content of the reply that `do_execute` must send.

    Its fields are those of ipykernel's own error reply. The traceback is the one that was shown, in ipykernel's
    `_last_traceback`; the execution count was incremented before the error.
    """
    shell.showtraceback()
    return {
        "status": "error",
        "ename": type(error).__name__,
        "evalue": str(error),
        "traceback": shell._last_traceback or [],
        "execution_count": shell.execution_count - 1,
        "user_expressions": {},
        "payload": [],
    }


# Interrupts


_KERNEL_COROUTINES = frozenset({"", "shell_main", "run_cell_async"})


def runs_in_task_of_user() -> bool:
    """Return whether the calling code runs in an asyncio task that the user's code started.

    The kernel's own tasks are recognized by their coroutines: ipykernel makes one of `Kernel.shell_main` for each
    message (`utils._async_in_context`), and one of `InteractiveShell.run_cell_async` for an async cell.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop in this thread
        return False
    return task is not None and getattr(task.get_coro(), "__name__", "") not in _KERNEL_COROUTINES


def call_after_cancellation(kernel: Any, function: Callable[[], None]) -> None:
    """Call a function in the main loop, after ipykernel has cancelled an async cell because of the current signal.

    ipykernel does so two steps of the loop after the signal: the first sets the result of a future, whose callback
    cancels the cell's task in the second.
    """
    loop = kernel.io_loop
    loop.add_callback(loop.add_callback, function)


class KernelHooks(_Kernel):
    """ipykernel's hooks under descriptive names. Precedes `IPythonKernel` among the bases."""

    # Overridden by the kernel

    def accept(self, frames: Frames) -> bool:
        """Return whether a shell-channel message is taken over from ipykernel; called in the shell-channel thread."""
        return False

    def wake_up(self, frames: Frames) -> Callable[[], None] | None:
        """Return the action for a frame from `send_to_main_thread`, None for a request; called in the main thread.

        The action is called under ipykernel's lock of the main shell, held for this frame or by an async cell.
        """
        return None

    def interrupt_handler(self) -> SignalHandler:
        """Return the SIGINT handler for the time that the main thread processes a request."""
        return signal.default_int_handler

    def request_begins(self) -> None:
        """Prepare for a request, in the main thread and under the SIGINT handler."""

    def async_cell_interrupted(self) -> None:
        """Handle an interrupt of an async cell, in the SIGINT handler, after ipykernel began to cancel the cell."""

    def around_cell(self, request: Message) -> AbstractContextManager[None]:
        """Return a context for a request to run a cell: its busy time, code and reply."""
        return nullcontext()

    def front_end_connected(self, request: Message) -> None:
        """Handle a front end's request for the kernel's description, its first request on each connection."""

    # ipykernel's methods, which call those above

    async def shell_channel_thread_main(self, msg: Frames) -> None:
        """Receive each message of the shell socket, in its thread; ipykernel passes it to main or to a subshell.

        ipykernel 7.4 passes a comm message to the subshell that published on that comm last; 7.1 to 7.3 to the one that
        its header names. 7.4 replies to a request to a missing subshell; the others log an error.
        """
        if not self.accept(msg):
            await super().shell_channel_thread_main(msg)  # type: ignore[no-untyped-call]

    async def shell_main(self, subshell_id: str | None, msg: Frames) -> None:
        """Process each message of the main thread or of a subshell, one at a time under a lock.

        While an async cell holds the lock, a comm message waits for it in ipykernel 7.1 to 7.3, but not in 7.4. The
        action of `wake_up` never waits then.
        """
        act = self.wake_up(msg) if subshell_id is None else None
        if act is None:
            await super().shell_main(subshell_id, msg)
        elif self._main_asyncio_lock.locked():  # an async cell is awaiting, perhaps these messages
            act()
        else:
            async with self._main_asyncio_lock:
                act()

    def pre_handler_hook(self) -> None:
        """Set the SIGINT handler before each request; ipykernel calls it in the main thread and in subshells.

        In a subshell's thread `signal.signal` raises ValueError, which ipykernel logs, so that nothing else happens.
        """
        self.saved_sigint_handler = signal.signal(signal.SIGINT, self.interrupt_handler())
        self.request_begins()

    def post_handler_hook(self) -> None:
        """Restore the SIGINT handler after the request."""
        signal.signal(signal.SIGINT, self.saved_sigint_handler)

    @contextmanager
    def _cancel_on_sigint(self, future: asyncio.Future[Any]) -> Iterator[None]:
        """Cancel an async cell at its await when the user interrupts, and notify the kernel.

        ipykernel sets a handler of its own here and then restores the previous one.
        """
        with super()._cancel_on_sigint(future):
            cancel = cast(SignalHandler, signal.getsignal(signal.SIGINT))

            def cancel_and_tell(signum: int, frame: FrameType | None) -> None:
                cancel(signum, frame)
                self.async_cell_interrupted()

            signal.signal(signal.SIGINT, cancel_and_tell)
            yield

    async def execute_request(self, stream: Any, ident: Any, parent: Message) -> None:
        """Handle a request to run a cell."""
        with self.around_cell(parent):
            await super().execute_request(stream, ident, parent)  # type: ignore[no-untyped-call]

    async def kernel_info_request(self, stream: Any, ident: Any, parent: Message) -> None:
        """Handle a request for the kernel's description."""
        await super().kernel_info_request(stream, ident, parent)  # type: ignore[no-untyped-call]
        self.front_end_connected(parent)


# IPython's shell


class TracebackHooks(_Shell):
    """IPython's hook for the traceback of an error that is shown. Precedes a shell among the bases."""

    def shown_traceback(self, traceback: TracebackType | None) -> TracebackType | None:
        """Return the traceback that is shown instead of this one."""
        return traceback

    def _get_exc_info(self, exc_tuple: Any = None) -> tuple[Any, Any, Any]:
        """Return type, value and traceback of the error to show; IPython 9."""
        kind, value, traceback = super()._get_exc_info(exc_tuple)  # type: ignore[no-untyped-call]
        return kind, value, self.shown_traceback(traceback)


class SentTracebackHooks(TracebackHooks):
    """The same hook for a shell whose tracebacks are sent to another process, not printed."""

    def send_traceback(self, kind: type[BaseException], value: BaseException, lines: list[str]) -> None:
        """Send an error and its formatted traceback to the process that runs the cell."""
        raise NotImplementedError

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        """Show a formatted traceback, which each shell of IPython overrides; IPython 9."""
        self.send_traceback(etype, evalue, stb)


class ShellHooks(TracebackHooks):
    """IPython's hooks in a kernel's shell: tracebacks, events, and the namespaces of inspection and completion."""

    def is_muted(self, event: str) -> bool:
        """Return whether an event, such as "post_execute", is currently withheld from its callbacks."""
        return False

    def searched_namespaces(self) -> Namespaces | None:
        """Return the namespaces that inspection searches, None for IPython's own."""
        return None

    def init_events(self) -> None:
        """Create the shell's `events`, which check `is_muted`.

        IPython calls it once, early, and registers its own callback there.
        """
        super().init_events()  # type: ignore[no-untyped-call]
        from IPython.core.events import EventManager

        class Events(EventManager):
            def trigger(self, event: str, *args: Any, **kwargs: Any) -> None:
                if not cast(ShellHooks, self.shell).is_muted(event):
                    super().trigger(event, *args, **kwargs)

        events = Events(self, self.events.callbacks)
        events.callbacks.update(self.events.callbacks)
        self.events = events

    def _ofind(self, oname: str, namespaces: Any = None) -> Any:
        """Find an object by its dotted name for inspection; IPython 9."""
        return super()._ofind(oname, self.searched_namespaces() if namespaces is None else namespaces)

    @contextmanager
    def completed_among(self, names: Any, names_behind: Any) -> Iterator[None]:
        """Make IPython 9's `Completer` complete from `names`, and from `names_behind` if `names` have no match."""
        completer = self.Completer
        previous = completer.namespace, completer.global_namespace
        try:
            completer.namespace, completer.global_namespace = names, names_behind
            yield
        finally:
            completer.namespace, completer.global_namespace = previous


def custom_matchers(shell: Any) -> list[Any]:
    """Return the functions that complete beside IPython's own; changes to the list take effect."""
    matchers: list[Any] = shell.Completer.custom_matchers
    return matchers


def ends_with_semicolon(code: str) -> bool:
    """Return whether a cell's last expression ends with a semicolon, which suppresses its value."""
    from IPython.core.displayhook import DisplayHook

    return bool(DisplayHook.semicolon_at_end_of_expression(code))  # type: ignore[no-untyped-call]


def runners_of_user_code(shell: Any, kernel: Any) -> frozenset[CodeType]:
    """Return the code objects of which one is on the stack whenever the user's code runs.

    IPython runs cells in `run_ast_nodes` and scripts in `safe_execfile`; a kernel runs code from ipyparallel in
    `do_apply`, which ipykernel 7 still has.
    """
    runners = (
        getattr(shell, "run_ast_nodes", None),
        getattr(shell, "safe_execfile", None),
        getattr(kernel, "do_apply", None),
    )
    return frozenset(runner.__code__ for runner in runners if runner is not None)


# The debugger of the notebook's page


class DebuggerHooks(_Debugger):
    """Hooks of ipykernel's debugger for requests from the page. Precedes `Debugger` among the bases."""

    _has_begun = False

    def before_first_request(self) -> None:
        """Prepare for the first request."""

    async def variable_forms(self, name: str, message: Message) -> Message:
        """Return a variable's forms by MIME type, for `richInspectVariables`; empty for ipykernel's own."""
        return {}

    @property
    def is_at_breakpoint(self) -> bool:
        """Whether a thread is stopped at a breakpoint."""
        return bool(self.stopped_threads)

    async def evaluate_in_stopped_frame(self, expression: str, message: Message) -> str | None:
        """Return the repr of an expression's value in the frame that a request names; None if it raises.

        debugpy evaluates it in the stopped thread. The context "clipboard" is the only one whose results debugpy does
        not shorten.
        """
        arguments = {"expression": expression, "frameId": message["arguments"].get("frameId"), "context": "clipboard"}
        request = {"type": "request", "command": "evaluate", "seq": message["seq"] + 1, "arguments": arguments}
        reply = await self._forward_message(request)  # type: ignore[no-untyped-call]
        return str(reply["body"]["result"]) if reply["success"] else None

    async def process_request(self, message: Message) -> Message:
        """Process a request; ipykernel calls it in the control thread."""
        if not self._has_begun:
            self._has_begun = True
            self.before_first_request()
        reply: Message = await super().process_request(message)  # type: ignore[no-untyped-call]
        return reply

    async def richInspectVariables(self, message: Message) -> Message:  # noqa: N802  # the command's name
        """Return a variable as a cell would show it."""
        forms = await self.variable_forms(message["arguments"]["variableName"], message)
        if forms:
            return {
                "type": "response",
                "request_seq": message["seq"],
                "success": True,
                "command": message["command"],
                "body": {"data": forms, "metadata": {}},
            }
        reply: Message = await super().richInspectVariables(message)  # type: ignore[no-untyped-call]
        return reply


def add_string_provider(provider: object) -> None:
    """Register a provider of value texts with pydevd, which lists variables in an idle kernel and at a breakpoint.

    A provider has the methods of pydevd's `StrPresentationProvider`: `can_provide` and `get_str`. debugpy contains
    pydevd and puts it on the path when it is imported, which ipykernel's debugger has done by then.
    """
    from _pydevd_bundle.pydevd_extension_api import StrPresentationProvider  # type: ignore[import-not-found]
    from _pydevd_bundle.pydevd_extension_utils import extensions_of_type  # type: ignore[import-not-found]

    extensions_of_type(StrPresentationProvider).append(provider)


# ipywidgets


class WidgetStandIn:
    """State of a widget in another process, registered with ipywidgets like this process's own widgets.

    It has the members of a `Widget` that ipywidgets 8.1 reads to describe all widgets to a page or for a saved
    notebook.
    """

    def __init__(self, model_id: str, data: Message, buffers: list[bytes]) -> None:
        self.model_id = model_id
        self._state: dict[str, Any] = {}
        self.follow({"method": "update", **data}, buffers)
        self._model_name, self._model_module, self._model_module_version = (
            self._state.get(part, "") for part in ("_model_name", "_model_module", "_model_module_version")
        )

    def follow(self, data: Message, buffers: list[bytes]) -> None:
        """Update the state from a message of the widget's comm."""
        if data.get("method") not in ("update", "echo_update"):
            return
        state = dict(data.get("state", {}))
        paths = data.get("buffer_paths", [])
        if paths:
            from ipywidgets.widgets import widget

            widget._put_buffers(state, paths, buffers)
        self._state |= state

    def list_among_widgets(self) -> None:
        """Register the stand-in with ipywidgets."""
        from ipywidgets.widgets import widget

        widget._instances[self.model_id] = self

    def unlist(self) -> None:
        """Unregister the stand-in from ipywidgets."""
        from ipywidgets.widgets import widget

        widget._instances.pop(self.model_id, None)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the state for a reloaded page, as a widget of ipywidgets does."""
        return dict(self._state)

    def _get_embed_state(self, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the state for a saved notebook or page, as a widget of ipywidgets does."""
        from ipywidgets.widgets import widget

        state, paths, raw = widget._remove_buffers(self.get_state())
        state = {
            "model_name": self._model_name,
            "model_module": self._model_module,
            "model_module_version": self._model_module_version,
            "state": state,
        }
        if raw:
            from base64 import standard_b64encode

            state["buffers"] = [
                {"encoding": "base64", "path": path, "data": standard_b64encode(part).decode()}
                for path, part in zip(paths, raw, strict=True)
            ]
        return state
