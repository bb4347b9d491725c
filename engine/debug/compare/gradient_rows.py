"""Result of ``check_gradient``, and its printed form."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import NamedTuple

from ..record.tables import html_table, text_table
from .difference import Difference

__all__ = ["GradientCheck", "GradientRow"]


class GradientRow(NamedTuple):
    """The gradient of one input or parameter.

    Attributes:
        name: "x", "xs[1]", or the parameter's path.
        kind: "input" or "parameter".
        shape, dtype: the shape and dtype of the value itself.
        verdict: "right", "wrong", "kink" (not differentiable at any checked element) or "skipped".
        reason: the reason of the verdict, followed by what a wrong gradient resembles; "" for a plain "right".
        automatic: the difference from the automatic gradient; None if the cell has no bprop.
        numeric: the difference from finite differences, without kinks.
        checked: the number of elements checked by finite differences, including kinks.
        kinks: the number of kinks among them.
        flat: whether the automatic gradient and all differences are zero, as for a step function.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    verdict: str
    reason: str = ""
    automatic: Difference | None = None
    numeric: Difference | None = None
    checked: int = 0
    kinks: int = 0
    flat: bool = False

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def detail(self) -> str:
        """The largest difference and its element: "x[0, 3] is 0, expected 0.52"; "" if nothing differs."""
        worst = self._worst()
        if worst is None or not worst.absolute:
            return ""
        index_text = worst.cells()[2]
        return f"{self.name}{index_text or ' in a direction'} is {worst.value:.6g}, expected {worst.other:.6g}"

    def _worst(self) -> Difference | None:
        return max(
            (difference for difference in (self.automatic, self.numeric) if difference is not None),
            key=lambda d: d.absolute,
            default=None,
        )


@dataclass(frozen=True, repr=False)
class GradientCheck:
    """Result of ``check_gradient``; it prints as a table."""

    cell: str
    dtype: str
    """The dtype with the fewest digits in the computation, which determines the tolerance."""
    rows: list[GradientRow]

    @property
    def ok(self) -> bool:
        """True if no gradient is wrong."""
        return all(row.verdict != "wrong" for row in self.rows)

    @property
    def worst(self) -> GradientRow | None:
        """The row with the largest relative difference, a wrong one if there is any; None if none was compared."""
        compared = [row for row in self.rows if row.automatic is not None or row.numeric is not None]
        return max(compared, key=lambda row: (row.verdict == "wrong", _relative(row)), default=None)

    @property
    def summary(self) -> str:
        """The verdict in one line."""
        wrong = [row.name for row in self.rows if row.verdict == "wrong"]
        verdicts = {row.verdict for row in self.rows}
        if wrong:
            verdict = f"wrong for {', '.join(wrong)}"
        elif "right" in verdicts:
            verdict = "right"
        else:
            verdict = "not differentiable here" if "kink" in verdicts else "nothing to check"
        return f"gradient of {self.cell}: {verdict}"

    def __str__(self) -> str:
        return f"{self.summary}\n{text_table(_COLUMNS, [_cells(row) for row in self.rows], _NUMERIC)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = html_table(_COLUMNS, [_cells(row) for row in self.rows], _NUMERIC)
        return f"<p>{html.escape(self.summary)}</p>\n{table}"


_COLUMNS = (
    "of",
    "shape",
    "verdict",
    "checked",
    "kinks",
    "to automatic",
    "relative",
    "at",
    "to differences",
    "relative",
    "at",
    "values there",
    "reason",
)
_NUMERIC = ("checked", "kinks", "to automatic", "to differences", "relative")


def _cells(row: GradientRow) -> list[str]:
    worst = row._worst()
    values_text = "" if worst is None else f"{worst.value:.6g}, expected {worst.other:.6g}"
    return [
        row.name,
        "x".join(map(str, row.shape)) or "()",
        row.verdict,
        "" if row.verdict == "skipped" else f"{row.checked} of {row.size}",
        str(row.kinks or ""),
        *_difference_cells(row.automatic),
        *_difference_cells(row.numeric),
        values_text,
        row.reason,
    ]


def _difference_cells(difference: Difference | None) -> list[str]:
    if difference is None:
        return ["", "", ""]
    absolute, relative, index_text = difference.cells()
    return [absolute, relative, "" if difference.absolute == 0 else index_text or "(a direction)"]


def _relative(row: GradientRow) -> float:
    return max(difference.relative for difference in (row.automatic, row.numeric) if difference is not None)
