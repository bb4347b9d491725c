"""Passes on the comms of another process's widgets between that process and the notebook's pages.

The notebook's kernel keeps of each such widget what its pages may ask for when they are loaded anew: its state.
"""

from __future__ import annotations

from typing import Any

import comm
from ipywidgets.widgets import widget

from hookscope.engine.debug.remote import Remote

__all__ = ["Relay"]


class Relay:
    """The widgets of one other process.

    Attributes:
        remote: the process; set before the first message comes.
    """

    def __init__(self) -> None:
        self.remote: Remote | None = None
        self._mirrors: dict[str, _Mirror] = {}

    def receive(self, message: dict[str, Any], buffers: list[memoryview]) -> None:
        """A message of one of the comms has come from the process."""
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
        """A page has sent a message to one of the widgets."""
        if self.remote is not None and not self.remote.gone:
            self.remote.tell("comm", buffers, kind=kind, comm_id=name, data=data)

    def close(self) -> None:
        """Take the widgets off the pages: their process has ended, or is looked at no more."""
        while self._mirrors:
            self._mirrors.popitem()[1].close()


class _Mirror:
    """A widget of the other process, as this kernel's pages know it; ipywidgets lists it among its own."""

    def __init__(
        self, relay: Relay, name: str, target: str, data: dict[str, Any], metadata: dict[str, Any], raw: list[bytes]
    ) -> None:
        self.model_id = name
        self._state: dict[str, Any] = {}
        self.follow({"method": "update", **data}, raw)
        self._model_name, self._model_module, self._model_module_version = (
            self._state.get(part, "") for part in ("_model_name", "_model_module", "_model_module_version")
        )
        self.comm = comm.create_comm(target_name=target, comm_id=name, data=data, metadata=metadata, buffers=raw)  # type: ignore[no-untyped-call, unused-ignore]
        self.comm.on_msg(lambda msg: relay.send(name, "comm_msg", msg["content"]["data"], msg.get("buffers") or []))
        widget._instances[name] = self

    def follow(self, data: dict[str, Any], raw: list[bytes]) -> None:
        """Keep what the widget says of its state."""
        if data.get("method") not in ("update", "echo_update"):
            return
        state = dict(data.get("state", {}))
        paths = data.get("buffer_paths", [])
        if paths:
            widget._put_buffers(state, paths, raw)
        self._state |= state

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """What a page that is loaded anew gets, as of a widget of ipywidgets."""
        return dict(self._state)

    def _get_embed_state(self, drop_defaults: bool = False) -> dict[str, Any]:
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

    def close(self) -> None:
        """Take it off the pages."""
        widget._instances.pop(self.model_id, None)
        self.comm.close()
