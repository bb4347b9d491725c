"""Selection of the messages that are handled while a cell is paused, and while it runs, at the engine's safe points.

A paused cell handles every comm message and every query that runs no code. A running cell handles only messages of the
debugger's live panels. Their handlers never block and are designed to run in the middle of user code, as they do at a
pause. Callbacks of the user's own widgets are not designed for that, so their messages wait until the cell has ended.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from wrapt import register_post_import_hook

if TYPE_CHECKING:
    from .pump import Pump


COMMS = frozenset({"comm_open", "comm_msg", "comm_close"})
QUERIES = frozenset(
    {
        "comm_info_request",
        "complete_request",
        "connect_request",
        "history_request",
        "inspect_request",
        "is_complete_request",
        "kernel_info_request",
    }
)


def is_answered_in_a_pause(kind: str, subshell: str | None) -> bool:
    """Return whether a message of this kind is handled during a pause; a subshell handles its own queries."""
    return kind in COMMS or (kind in QUERIES and subshell is None)


def is_panels(comm_id: str) -> bool:
    """Return whether a comm belongs to a live panel, without importing the panels."""
    module = sys.modules.get("hookscope.widgets.progress_view")
    return module is not None and comm_id in module.LIVE_COMMS


def answer_at_safe_points(pump: Pump) -> None:
    """Make the pump handle messages at the engine's safe points, once the engine is imported."""

    def begin(progress: ModuleType) -> None:
        from hookscope.engine.tape import taps

        inbox = pump.inbox

        def answer() -> None:
            if inbox.urgent:  # checked often while a cell runs
                try:
                    with taps.mute():  # a handler's operators are not part of the user's run
                        pump.answer()
                except Exception as error:
                    from hookscope.engine.debug.faults import kernel_faults

                    if not kernel_faults().report_fault("answering a page in a run", error):
                        raise

        progress.answer_with(answer)

    register_post_import_hook(begin, "hookscope.engine.tape.progress")
