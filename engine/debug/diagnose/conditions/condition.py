"""Condition as a row of data, and its hits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ...record.capture import Capture
    from ..producer import Producer

__all__ = ["NO_THRESHOLD", "Condition", "Detail", "Hit"]

NO_THRESHOLD = math.nan


class Detail(str):
    """Sentence on what is wrong with an observation, and what the row of the condition does not know of it.

    Attributes:
        advice: advice that fits it better than that of the row; "" if that fits.
        minor: whether it is weaker evidence than other observations of its row: it explains none of these, and comes
            after them.
    """

    advice: str
    minor: bool

    def __new__(cls, text: str, advice: str = "", minor: bool = False) -> Detail:
        instance = super().__new__(cls, text)
        instance.advice, instance.minor = advice, minor
        return instance


@dataclass(frozen=True)
class Condition:
    """One row of the table of conditions.

    Attributes:
        name: its name in ``conditions`` and ``stop_on``.
        about: the class of its observations, or several, see the module of the row.
        formula: returns a few words on what is wrong with an observation, given the threshold, or None; a ``Detail``
            if it has advice of its own.
        threshold: the default; NaN if the formula needs none.
        unit: the unit of the threshold.
        meaning: the condition in words.
        advice: the first thing to check, one sentence.
        source: the source of the default.
        direction: "forward" or "backward", the direction of its observations; "both" for values of either direction.
        place: "data", "loss" or "optimizer" if it concerns none of the cells, for findings without a path.
        cures: names of the fixes that the debugger offers, see ``cures``.
        comes_late: whether another fault often leads to it, so that it is reported after those.
        symptom: whether it only says that something is wrong, so that it is reported last, and as a symptom.
        slots: for values: prefixes of the slots that it applies to.
        cells: for values: the cell classes that it applies to; empty for all.
        spreads: for values: it spreads from its origin (NaN, Inf, overflow), so it is reported, and pauses, only at the
            first occurrence in a step and direction.
        inside: for values: it is a fault only if a cell with parameters comes later in the step. The output of a
            network may well saturate a Sigmoid.
        nonfinite: for values: it holds only if an element is not finite, which its formula reads from the statistics
            alone. So it is also checked on the loss, gradients and updates, and reported with the operator that made
            it.
        masks_are_meant: for values: an infinity from which a mask was made does not count.
        against_first: for gradients: its formula needs the statistics of the first one in the backward pass.
        certain: whether it is a fact; otherwise it is likely, or a symptom.
        is_own: whether the user wrote it: an error of its formula is the user's.
        of_training: for values: it is a fault only in cells that the run trains, see ``roles``.
        in_a_row: the number of consecutive steps in which it must hold; a single occurrence is not a fault.
        at_first_once: among as many first steps, before anything was learned, a single occurrence is one.
        every_call: for values: it must hold in every call of the cell in these steps.
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
    at_first_once: bool = False
    every_call: bool = False
    place: str = ""
    comes_late: bool = False
    symptom: bool = False
    of_training: bool = False
    certain: bool = False
    is_own: bool = False
    cures: tuple[str, ...] = ("pause_here",)

    @property
    def seen(self) -> tuple[type[Any], ...]:
        """The classes of its observations."""
        return self.about if isinstance(self.about, tuple) else (self.about,)

    @property
    def certainty(self) -> str:
        """How sure a finding is: "certain", "likely", or "symptom" for the sign of a fault that may be elsewhere."""
        return "symptom" if self.symptom else "certain" if self.certain else "likely"

    @property
    def group(self) -> str:
        """The subject in a word: "values", "parameters", "network", ..."""
        return str(self.seen[0].group)

    def looks_at(self, capture: Capture) -> bool:
        """Return whether it applies to the value of this capture."""
        return (
            self.group == "values"
            and self.direction in ("both", capture.direction)
            and (not self.cells or capture.cell_type in self.cells)
            and capture.slot.startswith(self.slots)
        )


class Hit(NamedTuple):
    """An occurrence of a condition.

    Attributes:
        condition: the condition.
        path: the cell's path ("" for the root).
        subject: the capture's key, or the name of a parameter, or "loss".
        step: the number of the step.
        message: the observation, one sentence.
        capture: the value, if the condition is about values.
        producer: the producer of a NaN or an infinity, if known.
        advice: the first thing to check, if it differs from that of the condition; else "".
        minor: whether it is weaker evidence than others of its condition, see ``Detail``.
    """

    condition: Condition
    path: str
    subject: str
    step: int
    message: str
    capture: Capture | None = None
    producer: Producer | None = None
    advice: str = ""
    minor: bool = False

    @classmethod
    def of(
        cls, condition: Condition, path: str, subject: str, step: int, detail: str, capture: Capture | None = None
    ) -> Hit:
        """Return a hit with its sentence; ``detail`` is the result of the formula."""
        message = f"{condition.name} in {subject} ({detail})"
        advice, minor = getattr(detail, "advice", ""), getattr(detail, "minor", False)
        return cls(condition, path, subject, step, message, capture, advice=advice, minor=minor)
