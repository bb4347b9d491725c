"""Which messages are answered while a cell is paused, and which while it runs, at the engine's safe points.

A paused cell answers every comm message and what a front end asks without running code. A running one answers only the
messages of the debugger's live panels. Their handlers never wait and are made to run in the middle of the
user's code, as they do at a pause; the callbacks of the user's own widgets are not, and wait until the cell is done.
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
    """Whether a message of this kind is. A comm belongs to the kernel; a query to a subshell, that subshell answers."""
    return kind in COMMS or (kind in QUERIES and subshell is None)


def is_panels(comm_id: str) -> bool:
    """Whether a comm is that of a live panel. Does not import the panels to find out."""
    module = sys.modules.get("hookscope.widgets.progress_view")
    return module is not None and comm_id in module.LIVE_COMMS


def answer_at_safe_points(pump: Pump) -> None:
    """Let the pump answer at the engine's safe points, once the engine is imported."""

    def begin(progress: ModuleType) -> None:
        from hookscope.engine.tape import taps

        inbox = pump.inbox

        def answer() -> None:
            if inbox.urgent:  # a running cell looks here often
                try:
                    with taps.muted():  # what a handler runs is no part of the user's run
                        pump.answer()
                except Exception as error:
                    from hookscope.engine.debug.faults import kernel_faults

                    if not kernel_faults().forgives("answering a page in a run", error):
                        raise

        progress.answer_with(answer)

    register_post_import_hook(begin, "hookscope.engine.tape.progress")
