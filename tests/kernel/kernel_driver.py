"""A real kernel process, driven through jupyter_client: any message at any time, and the replies."""

from __future__ import annotations

import os
import queue
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from jupyter_client.session import Session

Message = dict[str, Any]
TIMEOUT = 120.0

HOOKSCOPE = ["-m", "hookscope.kernel", "-f", "{connection_file}"]


@dataclass
class Result:
    """The reply and the messages of one execute_request."""

    reply: Message
    messages: list[Message] = field(default_factory=list)

    @property
    def status(self) -> str:
        return str(self.reply["content"]["status"])

    def stream(self, name: str) -> str:
        return "".join(
            m["content"]["text"] for m in self.messages if m["msg_type"] == "stream" and m["content"]["name"] == name
        )

    @property
    def text(self) -> str:
        return self.stream("stdout")

    @property
    def errors(self) -> str:
        return self.stream("stderr")

    @property
    def error_names(self) -> list[str]:
        return [m["content"]["ename"] for m in self.messages if m["msg_type"] == "error"]

    def of_type(self, kind: str) -> list[Message]:
        return [m for m in self.messages if m["msg_type"] == kind]


class Kernel:
    """A kernel process and one client of it. Every wait has a time-out; none is a fixed sleep."""

    def __init__(self, argv: list[str] | None = None, env: dict[str, str] | None = None, cwd: Path | None = None):
        for _ in range(3):
            if self._is_started(argv or HOOKSCOPE, {**os.environ, **(env or {})}, cwd):
                break
        else:
            raise RuntimeError("another process took a port of the kernel, three times")
        self.iopub: list[Message] = []
        self.replies: dict[str, Message] = {}

    def _is_started(self, argv: list[str], env: dict[str, str], cwd: Path | None) -> bool:
        """Start the process; return False if another process took one of its ports first."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # a restart uses it again
        self.manager = KernelManager()
        # The spec is an argument, so that the tests do not depend on installed kernels.
        self.manager._kernel_spec = KernelSpec(argv=[sys.executable, *argv], language="python")
        self.manager.start_kernel(env=env, cwd=str(cwd) if cwd else None, stderr=self._errors)
        self.client = self.manager.client()
        self.client.start_channels()
        try:
            self.client.wait_for_ready(timeout=TIMEOUT)
        except RuntimeError as error:
            self._errors.seek(0)
            text = self._errors.read().decode(errors="replace")
            self.__exit__(None, None, None)
            if "Address already in use" in text:
                return False
            raise RuntimeError(f"{error}: {text[-2000:]}") from None
        return True

    def __enter__(self) -> Kernel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel(now=True)
        self._errors.close()

    def second_client(self) -> Kernel:
        """Return another client of the same kernel process, as a second page has; the caller closes its channels."""
        other = Kernel.__new__(Kernel)
        other.manager, other.iopub, other.replies = self.manager, [], {}
        other.client = BlockingKernelClient()
        other.client.load_connection_info(self.manager.get_connection_info())
        other.client.session = Session(key=self.client.session.key)  # with an identity of its own
        other.client.start_channels()
        other.query("kernel_info_request", {})
        return other

    # Sending

    def execute(
        self, code: str, allow_stdin: bool = True, cell: str = "", deleted: Sequence[str] = (), **options: Any
    ) -> str:
        """Send a cell without waiting; return its message id. With ``cell``, send it as a notebook's page does."""
        if not cell:
            return str(self.client.execute(code, allow_stdin=allow_stdin, **options))
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "stop_on_error": True}
        metadata = {"cellId": cell, "deletedCells": list(deleted)}
        return self.send("execute_request", {**content, "allow_stdin": allow_stdin}, metadata=metadata)

    def send(
        self,
        kind: str,
        content: Message,
        subshell: str | None = None,
        control: bool = False,
        metadata: Message | None = None,
    ) -> str:
        message = self.client.session.msg(kind, content, metadata=metadata)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        (self.client.control_channel if control else self.client.shell_channel).send(message)
        return str(message["header"]["msg_id"])

    def comm(self, comm_id: str, data: Message, subshell: str | None = None) -> str:
        return self.send("comm_msg", {"comm_id": comm_id, "data": data}, subshell)

    def click(self, comm_id: str) -> str:
        """Press an ipywidgets button."""
        return self.comm(comm_id, {"method": "custom", "content": {"event": "click"}})

    def interrupt(self, way: str) -> None:
        """Interrupt by "signal", as a local Jupyter server does, or by "message", as a remote one does."""
        if way == "signal":
            self.manager.interrupt_kernel()
        else:
            self.control_reply(self.send("interrupt_request", {}, control=True))

    def restart(self) -> None:
        """Restart as a front end does: request it, wait for the process to end, start another one."""
        self.manager.restart_kernel()
        self.collect()  # the last messages of the old process
        self.client.wait_for_ready(timeout=TIMEOUT)

    # Receiving

    def collect(self) -> None:
        """Read the messages that have arrived, waiting a moment if there are none."""
        for get, keep in (
            (self.client.get_iopub_msg, self.iopub.append),
            (self.client.get_shell_msg, self._keep_reply),
        ):
            wait = 0.02
            while True:
                try:
                    keep(get(timeout=wait))
                except queue.Empty:
                    break
                wait = 0

    def _keep_reply(self, message: Message) -> None:
        self.replies[message["parent_header"]["msg_id"]] = message

    def until(self, condition: Callable[[], Any], what: str, timeout: float = TIMEOUT) -> Any:
        """Return the value of `condition` once it is true, with messages coming in meanwhile."""
        end = time.monotonic() + timeout
        while not (value := condition()):
            if time.monotonic() > end:
                messages = [(m["msg_type"], m["content"]) for m in self.iopub[-10:]]
                raise TimeoutError(f"waited {timeout} s for {what}; the last messages were {messages}")
            self.collect()
        return value

    def result(self, message_id: str) -> Result:
        """Wait until the request is answered and its last output is here."""
        self.until(lambda: message_id in self.replies, "a reply")
        self.until(lambda: self.is_idle(message_id), "idle")
        return Result(self.replies[message_id], self.children(message_id))

    def run(self, code: str, **options: Any) -> Result:
        return self.result(self.execute(code, **options))

    def query(self, kind: str, content: Message, subshell: str | None = None) -> Message:
        message_id = self.send(kind, content, subshell)
        reply: Message = self.until(lambda: self.replies.get(message_id), f"a reply to {kind}")
        return reply

    def control_reply(self, message_id: str) -> Message:
        while True:
            reply: Message = self.client.get_control_msg(timeout=TIMEOUT)
            if reply["parent_header"]["msg_id"] == message_id:
                return reply

    def children(self, message_id: str) -> list[Message]:
        return [m for m in self.iopub if m["parent_header"].get("msg_id") == message_id]

    def states(self, message_id: str) -> list[str]:
        return [m["content"]["execution_state"] for m in self.children(message_id) if m["msg_type"] == "status"]

    def is_idle(self, message_id: str) -> bool:
        return "idle" in self.states(message_id)

    def wait_for_text(self, text: str, message_id: str | None = None) -> None:
        """Wait until the kernel has printed `text`."""
        self.until(lambda: text in self.printed(message_id), f"the output {text!r}")

    def printed(self, message_id: str | None = None) -> str:
        messages = self.iopub if message_id is None else self.children(message_id)
        return "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream")

    def comm_opened(self, message_id: str, model: str | None = None) -> str:
        """Return the id of the first comm (of a widget of class `model`) that the cell opened."""

        def find() -> str | None:
            for m in self.children(message_id):
                state = m["content"].get("data", {}).get("state", {})
                if m["msg_type"] == "comm_open" and (model is None or state.get("_model_name") == model):
                    return str(m["content"]["comm_id"])
            return None

        return str(self.until(find, f"a comm {model or ''}"))


LINK = """
import asyncio, comm, sys, threading, time
from hookscope.kernel import pause, resume
log = []
link = comm.create_comm(target_name="test")
def heard(message):
    log.append(message["content"]["data"])
link.on_msg(heard)
def told(word):
    return lambda: word in log
"""
"""A cell that opens a comm whose messages land in the kernel's `log`."""


def start(kernel: Kernel, code: str) -> str:
    """Run a cell up to where it prints "paused"."""
    cell = kernel.execute(code)
    kernel.wait_for_text("paused", cell)
    return cell
