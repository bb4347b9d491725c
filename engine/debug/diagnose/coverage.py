"""Coverage of a session without findings: what was judged, and by name what was not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Coverage"]


@dataclass(frozen=True)
class Coverage:
    """Record of what a session has seen since its selection of conditions last changed.

    Attributes:
        steps: the number of steps.
        captures: the number of captures.
        conditions: the names of the conditions.
        unjudged: of these, the ones that had nothing to judge, such as a condition on BatchNorm without one.
        unchecked: checks that were not made, each with the reason: "samples_leak in net: ...".
        trained: whether a gradient was computed for weights of the network.
    """

    steps: int
    captures: int
    conditions: Sequence[str] = ()
    unjudged: Sequence[str] = ()
    unchecked: Sequence[str] = ()
    trained: bool = True

    def text(self, muted: int = 0) -> str:
        """Return sentences for a run without findings; "" if nothing has run.

        Args:
            muted: the number of muted findings.
        """
        return " ".join(part for part in (self.verdict(muted), self.limits()) if part)

    def verdict(self, muted: int = 0) -> str:
        """Return the first of these sentences: what was seen, and that nothing is wrong."""
        if not (self.steps or self.captures):
            return ""
        parts = ((self.steps, "step"), (self.captures, "capture"), (len(self.conditions), "condition"))
        counts = ", ".join(f"{number:,} {name}{'' if number == 1 else 's'}" for number, name in parts)
        if not self.steps:
            return (
                f"{counts}: no step was seen, so nothing can be said. The captured cells ran outside a call of the "
                "network, and outside a gradient call for its parameters."
            )
        untrained = "" if self.trained else " No gradient was computed for its weights: it was not trained here."
        return f"{counts}: nothing wrong{f' apart from muted findings ({muted})' if muted else ''}.{untrained}"

    def limits(self) -> str:
        """Return the sentences on what was not judged; "" if everything was, or no step was seen."""
        if not self.steps:
            return ""
        sentences = [f"Nothing to judge for: {', '.join(self.unjudged)}."] if self.unjudged else []
        if self.unchecked:
            sentences.append(f"Not checked: {'; '.join(self.unchecked)}.")
        return " ".join(sentences)
