"""Lines about a pause in the outputs of cells, which go away when the pause is over.

They are displays and not streams, since a display can be replaced by an empty one. Stepping ends and begins pauses in
quick succession; a line stays until no pause has begun for a moment, so that nothing jumps on the page.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import uuid4

from ..ipykernel_adapter import publish

STAY_SECONDS = 0.5
"""Seconds that the lines stay after a pause."""

PAGE_CLASS = "hs-pause-line"
"""A page with a panel hides lines of this class while nothing is paused (widgets/static/pauses.css)."""

Publish = Callable[[str, dict[str, Any], dict[str, Any]], None]


class PauseLines:
    """The lines about the pauses of one session.

    Args:
        kernel: the kernel.
    """

    def __init__(self, kernel: Any) -> None:
        self._publish: Publish = partial(publish, kernel)
        self._displays: dict[str, tuple[str, dict[str, Any], str]] = {}  # by request: display id, request, text
        self._visible: set[str] = set()
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def show(self, text: str, request: dict[str, Any]) -> None:
        """Show a line in the output of a request's cell, in place of an earlier one there."""
        identifier = _identifier(request)
        with self._lock:
            before = self._displays.get(identifier)
            if before is not None and before[2] == text and identifier in self._visible:
                return
            display_id = uuid4().hex if before is None else before[0]
            self._displays[identifier] = display_id, request, text
            self._visible.add(identifier)
        self._send("display_data" if before is None else "update_display_data", display_id, text, request)

    def begin(self, waiting: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Begin a pause; return the requests that still wait and had a line at an earlier pause."""
        self._stop_timer()
        identifiers = set(map(_identifier, waiting))
        with self._lock:
            self._displays = {k: entry for k, entry in self._displays.items() if k in identifiers or k in self._visible}
            return [request for request in waiting if _identifier(request) in self._displays]

    def end(self) -> None:
        """End a pause: the lines go away unless another pause begins soon."""
        with self._lock:
            if not self._visible:
                return
        self._stop_timer()
        self._timer = threading.Timer(STAY_SECONDS, self.clear)
        self._timer.daemon = True
        self._timer.start()

    def clear(self) -> None:
        """Remove the lines now."""
        with self._lock:
            entries = [self._displays[identifier] for identifier in self._visible]
            self._visible.clear()
        with suppress(Exception):  # the kernel may have ended meanwhile
            for display_id, request, _ in entries:
                self._send("update_display_data", display_id, "", request)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _send(self, kind: str, display_id: str, text: str, request: dict[str, Any]) -> None:
        from hookscope.widgets.static_html import markup

        html = f'<div class="{PAGE_CLASS}">{markup.text(text)}</div>' if text else ""
        data = {"text/plain": text, "text/html": html}
        content = {"data": data, "metadata": {}, "transient": {"display_id": display_id}}
        self._publish(kind, content, request)


def _identifier(request: dict[str, Any]) -> str:
    return str((request.get("header") or {}).get("msg_id", ""))
