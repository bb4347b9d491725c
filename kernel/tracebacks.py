"""Tracebacks that show the user's own frames.

Between a call of a network and a failing hook there are a dozen frames of Hookscope, repeated for each nested cell.
They are omitted; if the engine itself raised, the raising frame is kept.
"""

from __future__ import annotations

from types import TracebackType

_INTERNAL_MODULES = ("hookscope.kernel.", "hookscope.engine.debug.")
_ENGINE = "hookscope.engine."


def user_traceback(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback of the same call without Hookscope's frames; unchanged if it has no other frames."""
    frames: list[TracebackType] = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    user_frames = [frame for frame in frames if not _is_internal(frame)]
    shortened: TracebackType | None = None
    for frame in reversed(user_frames or frames):
        shortened = TracebackType(shortened, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shortened


def _is_internal(frame: TracebackType) -> bool:
    module = str(frame.tb_frame.f_globals.get("__name__", ""))
    if module.startswith(_INTERNAL_MODULES):
        return True
    return module.startswith(_ENGINE) and frame.tb_next is not None
