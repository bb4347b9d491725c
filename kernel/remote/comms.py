"""Comms of widgets in a process that is not a kernel: a notebook attached to it relays them."""

from __future__ import annotations

from typing import Any

import comm
from comm.base_comm import BaseComm, CommManager
from jupyter_client.jsonutil import json_default

from hookscope.engine.debug.remote import RequestService

__all__ = ["serve_comms"]


def serve_comms(served: RequestService) -> CommManager:
    """Connect widgets created from now on to attached clients.

    Args:
        served: the server of this process.

    Returns:
        The manager of the open comms.
    """
    manager = CommManager()

    def create(*args: Any, **kwargs: Any) -> BaseComm:
        return _TunnelComm(served, *args, **kwargs)

    def receive(client: bytes, message: dict[str, Any], buffers: list[memoryview]) -> None:
        content = {"comm_id": message["comm_id"], "data": message["data"]}
        comm_message = {"content": content, "metadata": {}, "header": {}, "parent_header": {}, "buffers": buffers}
        if message["comm_id"] not in manager.comms:  # it has been closed meanwhile
            return
        with served.interruptible():
            if message["kind"] == "comm_close":
                manager.comm_close(None, "", comm_message)  # type: ignore[arg-type]  # neither is used
            else:
                manager.comm_msg(None, "", comm_message)  # type: ignore[arg-type]

    comm.create_comm = create
    comm.get_comm_manager = lambda: manager
    served.on("comm", receive)
    return manager


class _TunnelComm(BaseComm):
    def __init__(self, served: RequestService, *args: Any, **kwargs: Any) -> None:
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
        # Unlike BaseComm, without IPython's events, which would signal the end of the cell to a paused cell's figures.
        if self._callback is not None:
            self._callback(msg)
