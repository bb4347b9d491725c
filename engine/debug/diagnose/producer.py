"""Producer: the operator that made a NaN or an infinity, with a sentence about it."""

from __future__ import annotations

from dataclasses import dataclass

from ...base.file_labels import file_label
from ..record.capture import cell_name
from ..record.statistics import Statistics

__all__ = ["OUTSIDE", "Producer"]

_MOST_INPUTS = 3  # that a sentence mentions

OUTSIDE = "(no cell)"
"""The path of operators outside all cells."""


_MASKED_ROW = "All of a row is masked: leave such rows out, or use a large negative number and set their results to 0."
_ADVICE = {
    ("div", "forward"): "Its divisor is 0: add a small number to it, or choose by where before the division.",
    ("log", "forward"): "Its argument is 0 or negative: add a small number, clip it, or compute log_softmax at once.",
    ("sqrt", "forward"): "Its argument is negative: clip it at 0.",
    ("sqrt", "backward"): "The slope of a square root at 0 is infinite: add a small number inside it.",
    ("rsqrt", "forward"): "Its argument is 0 or negative: add a small number inside it.",
    ("exp", "forward"): "Its argument is too large: subtract the largest one first, or clip it.",
    ("pow", "forward"): "A negative base with a fraction, or 0 with a negative exponent: clip the base.",
    ("pow", "backward"): "The slope of a power below 1 at 0 is infinite: add a small number to the base.",
}


@dataclass(frozen=True, eq=False, repr=False)
class Producer:
    """An operator that made a NaN or an infinity from finite inputs; its ``str()`` is one sentence.

    Attributes:
        operator: its name in the table; "bprop" if the ``bprop`` of a cell did it by other means.
        direction: "forward", or "backward" for its gradient rule and for operators inside a ``bprop``.
        path: the innermost running cell, the class name of one that the session does not know, or ``OUTSIDE``.
        call: the number of the call of that cell in the step, from 0.
        step: the number of the step.
        filename, line, source: the nearest line of the user's code; backward, that of the forward call. Empty and 0
            if there is none.
        inputs: the statistics of its inputs; backward, of the output gradient and then of the forward inputs.
        output: the statistics of its output.
        what: "nan" or "inf".
        faults: for each input, the number and positions of its non-finite elements; "" if there are none.
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
        location = "outside the cells" if self.path == OUTSIDE else f"in {cell_name(self.path)}#{self.call}"
        if self.operator == "bprop":
            action = f"the bprop {location} returned"
        elif self.direction == "backward":
            action = f"the gradient of {self.operator} {location} made"
        else:
            action = f"{self.operator} {location} made"
        return f"{action} {_bad_elements(self.output)}{self._of_what()}{self._line()}"

    @property
    def advice(self) -> str:
        """The first thing to check, one sentence; "" if there is none for this operator."""
        if "softmax" in self.operator and any("hold nothing else" in fault for fault in self.faults):
            return _MASKED_ROW
        return _ADVICE.get((self.operator, self.direction), "")

    def __repr__(self) -> str:
        return f"<Producer: {self}>"

    def _of_what(self) -> str:
        if not self.inputs:
            return ""
        names = ["its input" if len(self.inputs) == 1 else f"input {index}" for index in range(len(self.inputs))]
        if self.direction == "backward" and self.operator != "bprop":
            names = ["the gradient that arrived", *(["its input"] if len(self.inputs) == 2 else names[:-1])]
        faults = [*self.faults, *[""] * len(names)]
        texts = [
            (f"{name} had {_range(figures)}{f' and {fault}' if fault else ''}", bool(fault))
            for name, figures, fault in zip(names, self.inputs, faults, strict=False)
        ]
        # An infinity among the inputs is the reason; the statistics are those of the finite elements.
        limit = max(0, _MOST_INPUTS - sum(is_faulty for _, is_faulty in texts))
        finite_texts = [text for text, is_faulty in texts if not is_faulty][:limit]
        return ": " + ", ".join(text for text, is_faulty in texts if is_faulty or text in finite_texts)

    def _line(self) -> str:
        if not self.line:
            return ""
        return f" ({file_label(self.filename)}, line {self.line}{': ' if self.source else ''}{self.source})"


def _bad_elements(figures: Statistics) -> str:
    infinities = figures.positive_inf + figures.negative_inf
    parts = [f"{number} {name}" for number, name in ((figures.nan, "NaN"), (infinities, "Inf")) if number]
    return f"{' and '.join(parts)} of {figures.count} element{'s' if figures.count > 1 else ''}"


def _range(figures: Statistics) -> str:
    if not figures.finite:
        return "no finite element"
    if figures.minimum == figures.maximum:
        return f"the one value {figures.minimum:.4g}" if figures.finite > 1 else f"the value {figures.minimum:.4g}"
    zeros = f" and {figures.zeros} zero{'s' if figures.zeros > 1 else ''}" if figures.zeros else ""
    return f"minimum {figures.minimum:.4g}, maximum {figures.maximum:.4g}{zeros}"
