"""Contracts of the adapter: the private members of ipykernel and its neighbors exist, and work as expected.

`python tests/kernel/ipykernel_versions.py tests/kernel/test_ipykernel_adapter.py` runs this with each version.
"""

from __future__ import annotations

import asyncio
import inspect
import types
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import ipykernel
import pytest
import zmq
from ipykernel.debugger import Debugger
from ipykernel.ipkernel import IPythonKernel
from ipykernel.zmqshell import ZMQInteractiveShell
from ipykernel_versions import allowed, newest_releases
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets import IntSlider, Widget
from jupyter_client.session import Session
from kernel_driver import Kernel
from packaging.specifiers import SpecifierSet

from hookscope.kernel import ipykernel_adapter as adapter
from hookscope.kernel.debugger import HookscopeDebugger
from hookscope.kernel.kernel import HookscopeKernel, HookscopeShell
from hookscope.kernel.pauses.message_filter import COMMS, QUERIES
from hookscope.kernel.remote.host import _Shell as RankShell


def test_this_version_of_ipykernel_is_one_that_is_allowed() -> None:
    assert ipykernel.__version__ in SpecifierSet(allowed())


def test_the_newest_release_of_each_allowed_version_is_tried() -> None:
    available = ["8.0.0", "7.3.0rc1", "7.2.0", "7.10.0", "7.2.0a1", "7.1.1", "7.1.0", "7.0.1"]
    assert newest_releases(available, allowed()) == {"7.1": "7.1.1", "7.2": "7.2.0", "7.10": "7.10.0"}


# Members that exist


@pytest.mark.parametrize(
    ("kind", "method", "parameters"),
    [
        (IPythonKernel, "shell_channel_thread_main", ["self", "msg"]),
        (IPythonKernel, "shell_main", ["self", "subshell_id", "msg"]),
        (IPythonKernel, "pre_handler_hook", ["self"]),
        (IPythonKernel, "post_handler_hook", ["self"]),
        (IPythonKernel, "_cancel_on_sigint", ["self", "future"]),
        (IPythonKernel, "execute_request", ["self", "stream", "ident", "parent"]),
        (IPythonKernel, "kernel_info_request", ["self", "stream", "ident", "parent"]),
        (IPythonKernel, "set_parent", ["self", "ident", "parent", "channel"]),
        (IPythonKernel, "get_parent", ["self", "channel"]),
        (IPythonKernel, "_get_shell_context_var", ["self", "var"]),
        (IPythonKernel, "_publish_status", ["self", "status", "channel", "parent"]),
        (IPythonKernel, "_topic", ["self", "topic"]),
        (Debugger, "process_request", ["self", "message"]),
        (Debugger, "richInspectVariables", ["self", "message"]),
        (Debugger, "_forward_message", ["self", "msg"]),
        (ZMQInteractiveShell, "_get_exc_info", ["self", "exc_tuple"]),
        (ZMQInteractiveShell, "_ofind", ["self", "oname", "namespaces"]),
        (ZMQInteractiveShell, "init_events", ["self"]),
        (InteractiveShell, "_showtraceback", ["self", "etype", "evalue", "stb"]),
    ],
)
def test_a_method_has_the_parameters_that_it_is_called_with(kind: type, method: str, parameters: list[str]) -> None:
    assert list(inspect.signature(getattr(kind, method)).parameters) == parameters


@pytest.mark.parametrize(
    ("kind", "hooks", "base"),
    [
        (HookscopeKernel, adapter.KernelHooks, IPythonKernel),
        (HookscopeDebugger, adapter.DebuggerHooks, Debugger),
        (HookscopeShell, adapter.ShellHooks, ZMQInteractiveShell),
        (HookscopeShell, adapter.TracebackHooks, ZMQInteractiveShell),
        (RankShell, adapter.SentTracebackHooks, InteractiveShell),
    ],
)
def test_hooks_stand_before_the_class_whose_methods_they_override(kind: type, hooks: type, base: type) -> None:
    assert kind.mro().index(hooks) < kind.mro().index(base)
    overridden = [name for name in vars(hooks) if hasattr(base, name) and not name.startswith("__")]
    assert overridden
    assert all(inspect.getattr_static(kind, name) is vars(hooks)[name] for name in overridden)


@pytest.mark.parametrize("method", ["do_complete", "do_inspect", "do_shutdown"])
def test_what_the_kernel_wraps_has_done_its_work_when_it_returns(method: str) -> None:
    assert not inspect.iscoroutinefunction(getattr(IPythonKernel, method))


# Messages


class SessionAlone:
    """A kernel that has only a session, and the frames of one message to it."""

    def __init__(self) -> None:
        self.session = Session(key=b"key")
        parts = self.session.serialize(self.session.msg("comm_msg", {"comm_id": "c", "data": 1}), ident=[b"page"])
        self.frames = [zmq.Frame(part) for part in parts]


def test_a_message_that_was_peeked_at_can_be_read_once() -> None:
    kernel = SessionAlone()
    for _ in range(2):
        peeked = adapter.peek(kernel, kernel.frames)
        assert peeked["header"]["msg_type"] == "comm_msg"
        assert adapter.packed_content(kernel, peeked) == {"comm_id": "c", "data": 1}
    identities, request = adapter.unpack(kernel, kernel.frames)
    assert [bytes(identity) for identity in identities] == [b"page"]
    assert request["content"] == {"comm_id": "c", "data": 1}
    with pytest.raises(ValueError, match="Duplicate Signature"):
        adapter.unpack(kernel, kernel.frames)


def test_a_forged_message_is_refused() -> None:
    kernel = SessionAlone()
    kernel.frames[-1] = zmq.Frame(b'{"comm_id": "d"}')
    with pytest.raises(ValueError, match="Invalid Signature"):
        adapter.peek(kernel, kernel.frames)


# In a kernel

SET_UP = """
import asyncio, signal, sys, threading
from IPython import get_ipython
from hookscope.kernel import ipykernel_adapter as adapter
shell = get_ipython()
kernel = shell.kernel
"""


@pytest.fixture(scope="module", autouse=True)
def set_up(shared_kernel: Kernel) -> None:
    assert shared_kernel.run(SET_UP).status == "ok"


def printed(kernel: Kernel, code: str, **options: Any) -> str:
    """Run a cell, which must not fail, and return its output."""
    result = kernel.run(code, **options)
    assert result.status == "ok", result.reply["content"]
    return result.text.strip()


def test_the_kernel_has_the_members_that_are_used(kernel: Kernel) -> None:
    members = (
        "shell_channel_thread.manager shell_channel_thread.io_loop shell_stream io_loop iopub_socket shell_handlers "
    )
    code = f"""
from operator import attrgetter
for name in {(members + "_main_asyncio_lock _shell_parent_ident _allow_stdin").split()}:
    assert attrgetter(name)(kernel) is not None, name
"""
    assert printed(kernel, code) == ""


def test_a_function_is_called_in_the_thread_that_owns_the_shell_socket(kernel: Kernel) -> None:
    code = """
called = threading.Event()
seen = []
def call(*arguments):
    thread = kernel.shell_channel_thread
    seen.append((arguments, threading.current_thread() is thread, kernel.shell_stream.io_loop is thread.io_loop))
    called.set()
adapter.call_in_shell_channel_thread(kernel, call, 1, 2)
assert called.wait(60)
print(seen)
"""
    assert printed(kernel, code) == "[((1, 2), True, True)]"


def test_a_frame_reaches_the_main_thread_behind_the_requests_before_it(kernel: Kernel) -> None:
    code = """
seen = []
def wake_up(frames):
    text = bytes(frames[0].buffer) if len(frames) == 1 else b""
    if text != b"a frame of ours":
        return type(kernel).wake_up(kernel, frames)
    return lambda: seen.append((threading.current_thread().name, kernel._main_asyncio_lock.locked()))
kernel.wake_up = wake_up
adapter.call_in_shell_channel_thread(kernel, adapter.send_to_main_thread, kernel, b"a frame of ours")
"""
    assert printed(kernel, code) == ""
    assert printed(kernel, "print(seen); del kernel.wake_up") == "[('MainThread', True)]"


def test_a_frame_does_not_wait_for_an_async_cell(kernel: Kernel) -> None:
    code = """
came = asyncio.Event()
def wake_up(frames):
    return came.set if len(frames) == 1 else None
kernel.wake_up = wake_up
adapter.call_in_shell_channel_thread(kernel, adapter.send_to_main_thread, kernel, b"a frame of ours")
await asyncio.wait_for(came.wait(), 60)
del kernel.wake_up
print("came")
"""
    assert printed(kernel, code) == "came"


def test_every_request_that_a_pause_answers_is_answered_without_an_event_loop(kernel: Kernel) -> None:
    contents = {
        "comm_info_request": {},
        "complete_request": {"code": "pri", "cursor_pos": 3},
        "connect_request": {},
        "history_request": {"hist_access_type": "tail", "output": False, "raw": True, "n": 1},
        "inspect_request": {"code": "print", "cursor_pos": 5, "detail_level": 0},
        "is_complete_request": {"code": "1"},
        "kernel_info_request": {},
        "comm_open": {"comm_id": "nobody", "target_name": "nothing", "data": {}},
        "comm_msg": {"comm_id": "nobody", "data": {}},
        "comm_close": {"comm_id": "nobody", "data": {}},
    }
    assert contents.keys() == QUERIES | COMMS
    code = f"""
class Replies:
    def send_multipart(self, parts, flags=0, copy=True, track=False):
        _, frames = kernel.session.feed_identities(parts, copy=True)
        sent.append(kernel.session.unpack(bytes(frames[1]))["msg_type"])
sent = []
for kind, content in {contents!r}.items():
    request = kernel.session.msg(kind, content)
    assert adapter.handle_request(kernel, Replies(), [b"page"], request), kind
print(sorted(sent))
"""
    assert printed(kernel, code) == str(sorted(kind.replace("request", "reply") for kind in QUERIES))


def test_a_handler_that_waits_is_dropped() -> None:
    @types.coroutine
    def waits(*arguments: Any) -> Iterator[None]:
        yield

    kernel = SimpleNamespace(shell_handlers={"waits": waits, "plain": lambda *arguments: None})
    assert not adapter.handle_request(kernel, None, [], {"header": {"msg_type": "waits"}})
    assert adapter.handle_request(kernel, None, [], {"header": {"msg_type": "plain"}})


def test_a_request_is_current_in_its_own_context_only(kernel: Kernel) -> None:
    code = """
import contextvars
identities, request = adapter.current_request(kernel)
other = kernel.session.msg("comm_msg", {})
def inside():
    adapter.set_current_request(kernel, [b"page"], other)
    return adapter.current_request(kernel) == ([b"page"], other)
assert contextvars.copy_context().run(inside)
assert adapter.current_request(kernel) == (identities, request)
adapter.set_current_request(kernel, identities, request)
print(request["content"]["code"].splitlines()[1], len(identities))
"""
    assert printed(kernel, code) == "import contextvars 1"


def test_a_thread_without_a_request_has_the_newest(kernel: Kernel) -> None:
    code = """
newest = []
thread = threading.Thread(target=lambda: newest.append(adapter.current_request(kernel)))
thread.start()
thread.join()
assert newest == [adapter.current_request(kernel)]
"""
    assert printed(kernel, code) == ""


def test_what_is_published_belongs_to_its_request(kernel: Kernel) -> None:
    cell = kernel.execute("earlier = kernel.get_parent('shell')")
    kernel.result(cell)
    code = """
adapter.publish_status(kernel, "busy", earlier)
adapter.publish(kernel, "stream", {"name": "stdout", "text": "late"}, earlier, topic="stream.stdout")
adapter.publish(kernel, "display_data", {"data": {}, "metadata": {}, "transient": {}}, earlier)
adapter.publish_status(kernel, "idle", earlier)
print(kernel._topic("status").decode() == f"kernel.{kernel.ident}.status")
"""
    assert printed(kernel, code) == "True"
    assert kernel.printed(cell) == "late"
    assert [m["msg_type"] for m in kernel.children(cell)][-4:] == ["status", "stream", "display_data", "status"]
    assert kernel.states(cell) == ["busy", "idle", "busy", "idle"]


@pytest.mark.parametrize("answers", [True, False])
def test_a_cell_knows_whether_its_front_end_takes_input(kernel: Kernel, answers: bool) -> None:
    assert printed(kernel, "print(adapter.takes_input(kernel))", allow_stdin=answers) == str(answers)


def test_without_a_kernel_nobody_takes_input() -> None:
    assert not adapter.takes_input(None)
    assert not adapter.takes_input(object())


def test_an_error_reply_is_like_that_of_ipykernel(kernel: Kernel) -> None:
    usual = kernel.run("raise ValueError('usual')").reply["content"]
    code = """
try:
    raise ValueError("ours")
except ValueError as error:
    content = adapter.error_reply(shell, error)
print(sorted(content), content["evalue"], content["traceback"][-1])
print(content["execution_count"] == shell.execution_count - 1)
"""
    result = kernel.run(code)
    assert usual["status"] == "error"
    assert result.error_names == ["ValueError"]
    assert str(sorted(usual.keys() - {"engine_info"})) in result.text
    assert "ours" in result.text and "True" in result.text


# Interrupts


def test_tasks_of_the_kernel_are_distinguished_from_those_of_the_user(kernel: Kernel) -> None:
    assert printed(kernel, "print(adapter.runs_in_task_of_user())") == "False"
    code = """
async def work():
    return adapter.runs_in_task_of_user()
print(adapter.runs_in_task_of_user(), await work(), await asyncio.create_task(work()))
"""
    assert printed(kernel, code) == "False False True"
    code = """
answers = []
thread = threading.Thread(target=lambda: answers.append(adapter.runs_in_task_of_user()))
thread.start()
thread.join()
print(answers)
"""
    assert printed(kernel, code) == "[False]"


def test_a_request_is_processed_under_the_kernels_handler_of_interrupts(kernel: Kernel) -> None:
    assert printed(kernel, "print(signal.getsignal(signal.SIGINT) == kernel.pump.on_interrupt)") == "True"
    assert printed(kernel, "print(kernel.saved_sigint_handler == kernel.pump.on_idle_interrupt)") == "True"


def test_an_async_cell_was_asked_to_end_before_the_function_is_called_and_not_sooner(kernel: Kernel) -> None:
    code = """
order = []
task = asyncio.current_task()
def note():
    order.append(("function", task.cancelling()))
def interrupted():
    order.append(("interrupt", task.cancelling()))
    adapter.call_after_cancellation(kernel, note)
kernel.async_cell_interrupted = interrupted
signal.raise_signal(signal.SIGINT)
try:
    await asyncio.sleep(60)
except asyncio.CancelledError:
    order.append(("canceled", task.cancelling()))
del kernel.async_cell_interrupted
await asyncio.sleep(0.01)
print(order)
"""
    assert printed(kernel, code) == "[('interrupt', 0), ('function', 1), ('canceled', 1)]"


# The shell


def test_a_muted_event_reaches_no_callback(kernel: Kernel) -> None:
    code = """
heard = []
def hear(*arguments):
    heard.append("heard")
shell.events.register("post_execute", hear)
shell.is_muted = lambda event: event == "post_execute"
shell.events.trigger("post_execute")
del shell.is_muted
assert not heard
shell.events.trigger("post_execute")
shell.events.unregister("post_execute", hear)
names = [callback.__name__ for callback in shell.events.callbacks["pre_execute"]]
print(heard, "_clear_warning_registry" in names)
"""
    assert printed(kernel, code) == "['heard'] True"


def test_inspection_and_completion_look_where_they_are_sent(kernel: Kernel) -> None:
    code = """
places = {"only_here": 12345}
assert not shell.object_inspect("only_here")["found"]
shell.searched_namespaces = lambda: [("Here", places)]
info = shell.object_inspect("only_here")
del shell.searched_namespaces
with shell.completed_among(places, {"and_behind": 1}):
    inside = kernel.do_complete("only_h", 6)["matches"], kernel.do_complete("and_b", 5)["matches"]
print(info["found"], info["namespace"], inside, kernel.do_complete("only_h", 6)["matches"])
"""
    assert printed(kernel, code) == "True Here (['only_here'], ['and_behind']) []"


def test_the_shown_traceback_is_the_hooks(kernel: Kernel) -> None:
    code = """
shell.shown_traceback = lambda traceback: traceback.tb_next.tb_next.tb_next
def outer():
    inner()
def inner():
    raise ValueError
outer()
"""
    result = kernel.run(code)
    kernel.run("del shell.shown_traceback")
    text = "\n".join(result.reply["content"]["traceback"])
    assert "inner" in text and "outer" not in text


def test_a_rank_sends_its_tracebacks() -> None:
    sent: list[tuple[str, str, bool]] = []

    class Printing:
        def _get_exc_info(self, exc_tuple: Any = None) -> Any:
            return exc_tuple

    class Sending(adapter.SentTracebackHooks, Printing):  # type: ignore[misc]
        def send_traceback(self, kind: type[BaseException], value: BaseException, lines: list[str]) -> None:
            sent.append((kind.__name__, str(value), lines == ["line"]))

    Sending()._showtraceback(ValueError, ValueError("bad"), ["line"])
    assert sent == [("ValueError", "bad", True)]
    assert "_showtraceback(" in inspect.getsource(InteractiveShell.showtraceback)


@pytest.mark.parametrize(("code", "silent"), [("1;", True), ("1", False), ("'a;'", False), ("1;  # why", True)])
def test_a_semicolon_at_the_end_is_known(code: str, silent: bool) -> None:
    assert adapter.ends_with_semicolon(code) == silent


def test_a_running_cell_is_on_the_stack_below_one_of_the_runners(kernel: Kernel) -> None:
    code = """
def runs():
    runners, frame = adapter.runners_of_user_code(shell, kernel), sys._getframe()
    while frame is not None and frame.f_code not in runners:
        frame = frame.f_back
    return frame is not None
answers = []
thread = threading.Thread(target=lambda: answers.append(runs()))
thread.start()
thread.join()
print(runs(), answers, len(adapter.runners_of_user_code(shell, kernel)))
"""
    assert printed(kernel, code) == "True [False] 3"


def test_without_a_shell_there_are_no_runners() -> None:
    assert adapter.runners_of_user_code(None, None) == frozenset()


# The debugger


def test_a_string_provider_is_asked_by_pydevd(kernel: Kernel) -> None:
    code = """
import debugpy
class Provider:
    def can_provide(self, type_object, type_name):
        return type_object is complex
    def get_str(self, value):
        return "a complex number"
adapter.add_string_provider(Provider())
from _pydevd_bundle.pydevd_xml import get_variable_details
print("a complex number" in map(str, get_variable_details(1j)))
"""
    assert printed(kernel, code) == "True"


class _StoppedDebugger:
    """The part of ipykernel's debugger that the hooks use."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self.stopped_threads = {1}
        self.reply = reply
        self.requests: list[Any] = []

    async def _forward_message(self, message: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(message)
        return self.reply

    async def process_request(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"of": "ipykernel"}

    async def richInspectVariables(self, message: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        return {"of": "ipykernel"}


class _RequestedDebugger(adapter.DebuggerHooks, _StoppedDebugger):  # type: ignore[misc]
    begun = 0

    def before_first_request(self) -> None:
        self.begun += 1

    async def variable_forms(self, name: str, message: dict[str, Any]) -> dict[str, Any]:
        return {"text/plain": "ours"} if name == "ours" else {}


def test_the_debuggers_hooks_answer_what_is_theirs() -> None:
    debugger = _RequestedDebugger({"success": True, "body": {"result": "'text'"}})
    message = {"seq": 7, "command": "richInspectVariables", "arguments": {"variableName": "ours", "frameId": 3}}
    for _ in range(2):
        assert asyncio.run(debugger.process_request(message)) == {"of": "ipykernel"}
    assert debugger.begun == 1
    reply = asyncio.run(debugger.richInspectVariables(message))
    assert reply["success"] and reply["request_seq"] == 7
    assert reply["body"] == {"data": {"text/plain": "ours"}, "metadata": {}}
    other = {**message, "arguments": {"variableName": "other"}}
    assert asyncio.run(debugger.richInspectVariables(other)) == {"of": "ipykernel"}


@pytest.mark.parametrize(("success", "value"), [(True, "'text'"), (False, None)])
def test_an_expression_is_evaluated_in_the_stopped_frame(success: bool, value: str | None) -> None:
    debugger = _RequestedDebugger({"success": success, "body": {"result": "'text'"}})
    message = {"seq": 7, "arguments": {"frameId": 3}}
    assert debugger.is_at_breakpoint
    assert asyncio.run(debugger.evaluate_in_stopped_frame("a", message)) == value
    (request,) = debugger.requests
    assert request["command"] == "evaluate" and request["arguments"]["frameId"] == 3


# ipywidgets


def test_a_widget_of_another_process_is_kept_like_one_of_this_process() -> None:
    slider = IntSlider(value=3)
    state = {**slider.get_state(), "picture": None}
    data = {"state": state, "buffer_paths": [["picture"]]}
    stand_in = adapter.WidgetStandIn("elsewhere", data, [b"raw"])
    assert stand_in.get_state()["picture"] == b"raw"
    stand_in.list_among_widgets()
    try:
        widget_state = Widget.get_manager_state()["state"]
        assert (
            widget_state["elsewhere"]["model_name"] == widget_state[slider.model_id]["model_name"] == "IntSliderModel"
        )
        assert widget_state["elsewhere"].keys() - {"buffers"} == widget_state[slider.model_id].keys()
        assert widget_state["elsewhere"]["buffers"] == [{"encoding": "base64", "path": ["picture"], "data": "cmF3"}]
        assert widget_state["elsewhere"]["state"]["value"] == 3
    finally:
        stand_in.unlist()
        slider.close()
    assert "elsewhere" not in Widget.get_manager_state()["state"]


def test_a_stand_in_follows_the_updates_of_its_widget() -> None:
    stand_in = adapter.WidgetStandIn("elsewhere", {"state": {"value": 1}}, [])
    stand_in.follow({"method": "update", "state": {"value": 2}}, [])
    stand_in.follow({"method": "custom", "content": {"value": 3}}, [])
    assert stand_in.get_state() == {"value": 2}
