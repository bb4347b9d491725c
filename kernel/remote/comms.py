"""Widgets of a process that is no kernel: their comms go to a notebook that looks at it, which passes them on."""

from __future__ import annotations

from typing import Any

import comm
from comm.base_comm import BaseComm, CommManager
from jupyter_client.jsonutil import json_default

from hookscope.engine.debug.remote import Served

__all__ = ["serve_comms"]


def serve_comms(served: Served) -> CommManager:
    """Give widgets that are made from now on comms to whoever looks.

    Args:
        served: what this process offers.

    Returns:
        What knows the comms that are open.
    """
    manager = CommManager()

    def create(*args: Any, **kwargs: Any) -> BaseComm:
        return _TunnelComm(served, *args, **kwargs)

    def receive(client: bytes, message: dict[str, Any], buffers: list[memoryview]) -> None:
        content = {"comm_id": message["comm_id"], "data": message["data"]}
        heard = {"content": content, "metadata": {}, "header": {}, "parent_header": {}, "buffers": buffers}
        if message["comm_id"] not in manager.comms:  # it has been closed meanwhile
            return
        with served.interruptible():
            if message["kind"] == "comm_close":
                manager.comm_close(None, "", heard)  # type: ignore[arg-type]  # neither is used
            else:
                manager.comm_msg(None, "", heard)  # type: ignore[arg-type]

    comm.create_comm = create
    comm.get_comm_manager = lambda: manager
    served.on("comm", receive)
    return manager


class _TunnelComm(BaseComm):
    def __init__(self, served: Served, *args: Any, **kwargs: Any) -> None:
        self._served = served
        self._callback: Any = None
        super().__init__(*args, **kwargs)

    def publish_msg(
        self,
        msg_type: str,
        data: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        buffers: list[bytes] | None = None,
        **keys: Any,
    ) -> None:
        message = {
            "type": "comm",
            "kind": msg_type,
            "comm_id": self.comm_id,
            "data": data or {},
            "metadata": metadata or {},
            "target": keys.get("target_name", ""),
        }
        self._served.tell(message, buffers or (), default=json_default)

    def on_msg(self, callback: Any) -> None:
        self._callback = callback

    def handle_msg(self, msg: dict[str, Any]) -> None:
        # Not as BaseComm does: IPython's events would tell a paused cell's figures that the cell is over.
        if self._callback is not None:
            self._callback(msg)
