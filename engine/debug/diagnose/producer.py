"""A producer: the operator that made a NaN or an infinity, and the sentence that says so."""

from __future__ import annotations

from dataclasses import dataclass

from ...base.file_labels import file_label
from ..record.capture import cell_name
from ..record.statistics import Statistics

__all__ = ["OUTSIDE", "Producer"]

_MOST_INPUTS = 3  # that a sentence tells of

OUTSIDE = "(no cell)"
"""The path of what ran in no cell."""


@dataclass(frozen=True, eq=False, repr=False)
class Producer:
    """An operator that made a NaN or an infinity of finite inputs; ``str()`` of it is one sentence.

    Attributes:
        operator: its name in the table; "bprop" if the ``bprop`` of a cell did it by other means.
        direction: "forward", or "backward" for its gradient rule or what a ``bprop`` runs.
        path: the innermost cell that was running, the class name of one that the session does not know, or ``OUTSIDE``.
        call: which call of that cell in the step, from 0.
        step: the step.
        filename, line, source: the nearest line of the user's code; backward, that of the forward call. Empty and 0
            where there is none.
        inputs: the figures of its inputs; backward, of the gradient that arrived and then of the forward inputs.
        output: the figures of what it gave.
        what: "nan" or "inf".
        faults: of each input how many of its elements are not finite, and where; "" where all are.
    """

    operator: str
    direction: str
    path: str
    call: int
    step: int
    filename: str
    line: int
    source: str
    inputs: list[Statistics]
    output: Statistics
    what: str
    faults: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = "outside the cells" if self.path == OUTSIDE else f"in {cell_name(self.path)}#{self.call}"
        if self.operator == "bprop":
            did = f"the bprop {where} returned"
        elif self.direction == "backward":
            did = f"the gradient of {self.operator} {where} made"
        else:
            did = f"{self.operator} {where} made"
        return f"{did} {_bad_elements(self.output)}{self._of_what()}{self._line()}"

    def __repr__(self) -> str:
        return f"<Producer: {self}>"

    def _of_what(self) -> str:
        if not self.inputs:
            return ""
        given = ["its input" if len(self.inputs) == 1 else f"input {place}" for place in range(len(self.inputs))]
        if self.direction == "backward" and self.operator != "bprop":
            given = ["the gradient that arrived", *(["its input"] if len(self.inputs) == 2 else given[:-1])]
        faults = [*self.faults, *[""] * len(given)]
        told = [
            (f"{name} had {_range(figures)}{f' and {fault}' if fault else ''}", bool(fault))
            for name, figures, fault in zip(given, self.inputs, faults, strict=False)
        ]
        # An infinity among the inputs is the reason; the figures beside it are of the finite elements.
        most = max(0, _MOST_INPUTS - sum(faulty for _, faulty in told))
        plain = [text for text, faulty in told if not faulty][:most]
        return ": " + ", ".join(text for text, faulty in told if faulty or text in plain)

    def _line(self) -> str:
        if not self.line:
            return ""
        return f" ({file_label(self.filename)}, line {self.line}{': ' if self.source else ''}{self.source})"


def _bad_elements(figures: Statistics) -> str:
    infinities = figures.positive_inf + figures.negative_inf
    told = [f"{number} {name}" for number, name in ((figures.nan, "NaN"), (infinities, "Inf")) if number]
    return f"{' and '.join(told)} of {figures.count} element{'s' if figures.count > 1 else ''}"


def _range(figures: Statistics) -> str:
    if not figures.finite:
        return "no finite element"
    if figures.minimum == figures.maximum:
        return f"the one value {figures.minimum:.4g}" if figures.finite > 1 else f"the value {figures.minimum:.4g}"
    zeros = f" and {figures.zeros} zero{'s' if figures.zeros > 1 else ''}" if figures.zeros else ""
    return f"minimum {figures.minimum:.4g}, maximum {figures.maximum:.4g}{zeros}"
