"""Relay of comms between another process's widgets and the notebook's pages.

The notebook's kernel keeps the state of each such widget for reloaded pages.
"""

from __future__ import annotations

from typing import Any

import comm
import ipywidgets  # noqa: F401  # here, not in the thread that receives the first message

from hookscope.engine.debug.remote import Remote

from ..ipykernel_adapter import WidgetStandIn

__all__ = ["Relay"]


class Relay:
    """The widgets of one other process.

    Attributes:
        remote: the process; set before the first message arrives.
    """

    def __init__(self) -> None:
        self.remote: Remote | None = None
        self._mirrors: dict[str, _Mirror] = {}

    def receive(self, message: dict[str, Any], buffers: list[memoryview]) -> None:
        """Handle a message from the process for one of the comms."""
        name, kind = message["comm_id"], message["kind"]
        data, metadata = message["data"], message["metadata"]
        raw = [bytes(buffer) for buffer in buffers]
        if kind == "comm_open":
            self._mirrors[name] = _Mirror(self, name, message["target"], data, metadata, raw)
        elif (mirror := self._mirrors.get(name)) is None:
            return
        elif kind == "comm_close":
            del self._mirrors[name]
            mirror.close()
        else:
            mirror.follow(data, raw)
            mirror.comm.send(data, metadata, raw)

    def send(self, name: str, kind: str, data: dict[str, Any], buffers: list[Any]) -> None:
        """Send a page's message to one of the widgets."""
        if self.remote is not None and not self.remote.gone:
            self.remote.tell("comm", buffers, kind=kind, comm_id=name, data=data)

    def close(self) -> None:
        """Remove the widgets from the pages, after their process has ended or was detached."""
        while self._mirrors:
            self._mirrors.popitem()[1].close()


class _Mirror(WidgetStandIn):
    """A widget of the other process, as known to this kernel's pages."""

    def __init__(
        self, relay: Relay, name: str, target: str, data: dict[str, Any], metadata: dict[str, Any], raw: list[bytes]
    ) -> None:
        super().__init__(name, data, raw)
        self.comm = comm.create_comm(target_name=target, comm_id=name, data=data, metadata=metadata, buffers=raw)  # type: ignore[no-untyped-call, unused-ignore]
        self.comm.on_msg(lambda msg: relay.send(name, "comm_msg", msg["content"]["data"], msg.get("buffers") or []))
        self.list_among_widgets()

    def close(self) -> None:
        """Remove the widget from the pages."""
        self.unlist()
        self.comm.close()
