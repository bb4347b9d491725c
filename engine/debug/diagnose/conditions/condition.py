"""A condition as a row of data, and what it is when one holds: a hit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ...record.capture import Capture
    from ..producer import Producer

__all__ = ["NO_THRESHOLD", "Condition", "Hit"]

NO_THRESHOLD = math.nan


@dataclass(frozen=True)
class Condition:
    """One row.

    Attributes:
        name: what ``conditions`` and ``stop_on`` call it.
        about: the class of what is seen, or several, see the module of the row.
        formula: what is seen and the threshold, to a few words on what is wrong, or None.
        threshold: the default; NaN where the formula needs none.
        unit: what the threshold is measured in.
        meaning: what holds, in words.
        advice: what to look at first, one sentence.
        source: where the default comes from.
        direction: "forward" or "backward": which way what it looks at goes; "both" of values that go either way.
        place: "data", "loss" or "optimizer" if what it tells of is in none of the cells, where no path is given.
        cures: names of what the debugger can do about it, see ``cures``.
        symptom: whether it is most often the sign of something else, and so is told after what is wrong by itself.
        slots: of values: how the slots begin that it looks at.
        cells: of values: the cell classes that it looks at; empty for all.
        spreads: of values: it travels from where it began (NaN, Inf, overflow), so it is told, and pauses, only where
            it is first seen in a step and direction.
        inside: of values: it is a fault only where a cell with parameters comes later in the step. The output of a
            network may well be at the ends of a Sigmoid.
        nonfinite: of values: it holds only where an element is not finite, which its formula sees in the figures alone.
            So it is looked for in the loss, in gradients and in updates too, and told with the operator that made it.
        masks_are_meant: of values: an infinity that a mask was made of is none.
        against_first: of gradients: its formula needs the figures of the first one in the backward pass.
        in_a_row: in how many steps in a row it must hold before it counts: what happens once is no fault.
    """

    name: str
    about: type[Any] | tuple[type[Any], ...]
    formula: Callable[[Any, float], str | None]
    threshold: float
    unit: str
    meaning: str
    advice: str
    source: str
    direction: str = "both"
    slots: tuple[str, ...] = ("output", "grad_input")
    cells: tuple[str, ...] = ()
    spreads: bool = False
    inside: bool = False
    nonfinite: bool = False
    masks_are_meant: bool = False
    against_first: bool = False
    in_a_row: int = 1
    place: str = ""
    symptom: bool = False
    cures: tuple[str, ...] = ("pause_here",)

    @property
    def seen(self) -> tuple[type[Any], ...]:
        """The classes of what it looks at."""
        return self.about if isinstance(self.about, tuple) else (self.about,)

    @property
    def group(self) -> str:
        """What it is about, in a word: "values", "parameters", "network", ..."""
        return str(self.seen[0].group)

    def looks_at(self, capture: Capture) -> bool:
        """Whether the value of this capture is one to look at."""
        return (
            self.group == "values"
            and self.direction in ("both", capture.direction)
            and (not self.cells or capture.cell_type in self.cells)
            and capture.slot.startswith(self.slots)
        )


class Hit(NamedTuple):
    """A condition that held.

    Attributes:
        condition: which.
        path: the cell's path ("" for the root).
        subject: the capture's key, or the name of a parameter, or "loss".
        step: in which step.
        message: what was seen, one sentence.
        capture: the value, if the condition is about values.
        producer: what made a NaN or an infinity, where that is known.
    """

    condition: Condition
    path: str
    subject: str
    step: int
    message: str
    capture: Capture | None = None
    producer: Producer | None = None
