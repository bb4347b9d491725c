"""Heading above every view: the run's step and its losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from hookscope.widgets.series import drawable

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession


class Heading(TypedDict):
    """The running or last step (0 before the first), the newest loss as text ("" for none), and the losses by step.

    A loss that is not finite is None.
    """

    step: int
    loss: str
    losses: list[tuple[int, float | None]]


def heading(session: DebugSession) -> Heading:
    """Return the heading of a session. Many losses are subsampled evenly; the newest is always included."""
    losses = list(session.history.losses)
    newest = f"{losses[-1][1]:.4g}" if losses else ""
    return {"step": session.step, "loss": newest, "losses": drawable(losses)}
