"""Output of ranks in the notebook's cell that runs them: each line is labeled with its rank's number."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ..ipykernel_adapter import publish
from ..pauses.pauser import running_kernel

__all__ = ["Outputs"]


class Outputs:
    """Output of one cell of a notebook, or of a terminal.

    Ranks send output in threads of their own; in a kernel it is published as this cell's.

    Attributes:
        errors: the ranks' exceptions, in order of arrival.
    """

    def __init__(self) -> None:
        kernel: Any = running_kernel()
        self._kernel = kernel
        self._parent = None if kernel is None else kernel.get_parent("shell")
        self.errors: list[tuple[int, Mapping[str, Any]]] = []

    def receive(self, rank: int, message: Mapping[str, Any]) -> None:
        """Handle a rank's output message."""
        kind = message["type"]
        if kind == "stream":
            self.write(rank, str(message["name"]), str(message["text"]))
        elif kind == "display":
            self._show(rank, message)
        elif kind == "error":
            self.errors.append((rank, message))

    def write(self, rank: int | str, name: str, text: str) -> None:
        """Write text of a rank, labeled line by line."""
        lines = text.splitlines()
        self._send("stream", {"name": name, "text": "".join(f"[{rank}] {line}\n" for line in lines)})

    def line(self, text: str, name: str = "stderr") -> None:
        """Write a line without a rank's label."""
        self._send("stream", {"name": name, "text": f"{text}\n"})

    def show_errors(self) -> None:
        """Show the first traceback in full, and one line for each other, since the others often follow from it."""
        for index, (rank, error) in enumerate(self.errors):
            if not index:
                self.write(rank, "stderr", "\n".join(map(str, error["traceback"])))
            else:
                self.write(rank, "stderr", f"{error['name']}: {error['text']}")

    def _show(self, rank: int, message: Mapping[str, Any]) -> None:
        data, transient = dict(message["data"]), dict(message.get("transient", {}))
        if set(data) == {"text/plain"} and not message.get("update"):
            self.write(rank, "stdout", str(data["text/plain"]))
            return
        if "display_id" in transient:
            transient["display_id"] = f"rank {rank} {transient['display_id']}"
        content = {"data": data, "metadata": message.get("metadata", {}), "transient": transient}
        if message.get("update"):
            self._send("update_display_data", content)
        else:
            self.write(rank, "stdout", "shows:")
            self._send("display_data", content)

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        kernel = self._kernel
        if kernel is not None:
            publish(kernel, kind, content, self._parent)
        elif kind == "stream":
            file = sys.stdout if content["name"] == "stdout" else sys.stderr
            file.write(content["text"])
            file.flush()
        elif kind == "display_data":
            from IPython.display import display

            display(content["data"], metadata=content["metadata"], raw=True)  # type: ignore[no-untyped-call]
