"""Answers in a running cell: which messages, and at which of the engine's safe points.

The messages are those of the debugger's live panels. Their handlers never wait and are made to run in the middle of the
user's code, as they do at a pause; the callbacks of the user's own widgets are not, and wait until the cell is done.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from wrapt import register_post_import_hook

if TYPE_CHECKING:
    from .pump import Pump


def is_panels(comm_id: str) -> bool:
    """Whether a comm is that of a live panel. Does not import the panels to find out."""
    module = sys.modules.get("hookscope.widgets.progress_view")
    return module is not None and comm_id in module.LIVE_COMMS


def answer_at_safe_points(pump: Pump) -> None:
    """Let the pump answer at the engine's safe points, once the engine is imported."""

    def begin(progress: ModuleType) -> None:
        from hookscope.engine.core import taps

        inbox = pump.inbox

        def answer() -> None:
            if inbox.urgent:  # a running cell looks here often
                with taps.muted():  # what a handler runs is no part of the user's run
                    pump.answer()

        progress.answer_with(answer)

    register_post_import_hook(begin, "hookscope.engine.core.progress")
