"""Tracebacks that show the user's own frames.

Between a call of a network and the hook that fails lie a dozen frames of Hookscope, and they come again for each cell
inside. They are left out; where the engine itself raised, the frame that did is kept.
"""

from __future__ import annotations

from types import TracebackType

_ALWAYS_LEFT_OUT = ("hookscope.kernel.", "hookscope.engine.debug.")
_ENGINE = "hookscope.engine."


def without_plumbing(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback of the same call without Hookscope's frames; the same one if no other frames are in it."""
    frames: list[TracebackType] = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    kept = [frame for frame in frames if not _left_out(frame)]
    shortened: TracebackType | None = None
    for frame in reversed(kept or frames):
        shortened = TracebackType(shortened, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shortened


def _left_out(frame: TracebackType) -> bool:
    module = str(frame.tb_frame.f_globals.get("__name__", ""))
    if module.startswith(_ALWAYS_LEFT_OUT):
        return True
    return module.startswith(_ENGINE) and frame.tb_next is not None
