"""How far a run is and how its loss goes: what stands in the line above every view."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from hookscope.widgets.series import drawable

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession


class Heading(TypedDict):
    """The step that runs or ran last, 0 before the first; the newest loss as text, "" for none; and the losses by step.

    A loss that is not finite has no height: None.
    """

    step: int
    loss: str
    losses: list[tuple[int, float | None]]


def heading(session: DebugSession) -> Heading:
    """Return it for a session; of many losses some at equal distances, the newest always."""
    losses = list(session.history.losses)
    newest = f"{losses[-1][1]:.4g}" if losses else ""
    return {"step": session.step, "loss": newest, "losses": drawable(losses)}
