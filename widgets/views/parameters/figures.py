"""What a panel knows of its page's parameters: rows, figures for what is looked at, the history, and the value editor.

A network may have ten thousand parameters, and each step changes all of them. So names and shapes go once, and figures
follow: those of the rows in view first, the others as the time that an update may take allows. Figures of an array
that is still the same are not computed again: arrays never change.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict
from weakref import ref

import numpy as np

from hookscope.engine.debug import statistics
from hookscope.engine.debug.parameter_edits import INITIALIZERS
from hookscope.engine.tensors.tensor import Tensor
from hookscope.widgets import texts
from hookscope.widgets.columns import columns_to_bytes
from hookscope.widgets.series import thinned
from hookscope.widgets.views.parameters.roles import is_running_statistic, shared_text
from hookscope.widgets.views.parameters.unusual import unusual_update

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, ParameterRow
    from hookscope.engine.debug.parameter_edits import ParameterEdit

PARAMETER_NUMBERS = ("requires_grad", "size", "running")
FIGURES = ("position", "mean", "std", "minimum", "maximum", "norm", "gradient_norm", "update_ratio", "nan", "inf")
SERIES = ("gradient_norm", "update_ratio")

# Rows that are taken for those in view until the page says which these are.
_FIRST = 40
_KEPT_SAMPLES = 200
# Seconds for the figures of one answer.
_ANSWER = 0.2

_RATIO = FIGURES.index("update_ratio")
_NAN = float("nan")


def parameter_texts(rows: Sequence[ParameterRow]) -> ParameterTexts:
    """The text columns of parameters, which change only when the network does."""
    return {
        "name": [row.name for row in rows],
        "shape": [texts.shape_text(row.shape) for row in rows],
        "dtype": [texts.dtype_text(row.dtype) for row in rows],
        "shared": {str(k): told for k, told in enumerate(map(shared_text, rows)) if told},
        "initializers": list(INITIALIZERS),
    }


def parameter_numbers(rows: Sequence[ParameterRow]) -> bytes:
    """The columns PARAMETER_NUMBERS."""
    numbers = [(row.requires_grad, row.size, is_running_statistic(row)) for row in rows]
    return columns_to_bytes(numbers, len(PARAMETER_NUMBERS))


def figures(row: ParameterRow, position: int) -> list[float]:
    """One row of FIGURES; what there is not is NaN."""
    found = row.statistics
    gradient, ratio = (_NAN if x is None else x for x in (row.gradient_norm, row.update_ratio))
    spread = (found.mean, found.std, found.minimum, found.maximum, found.norm)
    return [float(position), *spread, gradient, ratio, float(found.nan), float(found.positive_inf + found.negative_inf)]


class ParameterTexts(TypedDict):
    """The text columns of parameters, by position who shares one, and the names of initializers."""

    name: list[str]
    shape: list[str]
    dtype: list[str]
    shared: dict[str, str]
    initializers: list[str]


class ParameterFigures(TypedDict):
    """Rows of FIGURES and the history of the first of them; how many rows nobody has looked at yet.

    `unusual` says by position what is unusual about an update.
    """

    type: Literal["parameter_figures"]
    rest: int
    series: str
    with_history: int
    unusual: dict[str, str]


class SelectedParameter(TypedDict):
    """Everything about one parameter; its figures are text, since JSON has no NaN and no infinity."""

    type: Literal["parameter"]
    name: str
    shape: str
    dtype: str
    value: str
    figures: dict[str, str]


class EditAnswer(TypedDict):
    """What an edit would do, or did; `number` is that of the question, `undo` names what can be taken back."""

    type: Literal["edit_answer"]
    number: int
    text: str
    failed: bool
    ready: bool
    undo: str


class _Known(NamedTuple):
    """The figures of a row, and the arrays that they are of; these may go."""

    array: Callable[[], object]
    gradient: Callable[[], object]
    figures: list[float]
    unusual: str

    def is_of(self, row: ParameterRow) -> bool:
        """Whether the row still has these arrays."""
        return self.array() is row.array and self.gradient() is _gradient_array(row)


class ParametersView:
    """What one panel knows of its page's Parameters view.

    Args:
        session: the session whose parameters are shown.
        send: sends a message with buffers to the page.
    """

    def __init__(self, session: DebugSession, send: Callable[..., None]) -> None:
        self._session = session
        self._send = send
        self._names: list[str] = []
        self._known: dict[int, _Known] = {}  # by position
        self._sent: set[int] = set()  # positions of which the page has what is known
        self._in_view: list[int] = list(range(_FIRST))
        self._next = 0  # where to go on with rows that are not in view
        self._series = SERIES[0]
        self._samples: dict[tuple[str, str], deque[tuple[int, float]]] = {}  # by series and name
        self._selected = ""
        self._edit: tuple[int, ParameterEdit] | None = None

    # What the panel tells

    def restart(self) -> None:
        """The page was loaded anew and knows nothing."""
        self._sent.clear()
        self._edit = None
        if self._selected:
            self._send_selected(self._selected)
        self._answer(0, "", False)

    def rows(self) -> list[ParameterRow]:
        """The parameters as they are now; other names than before begin everything again."""
        rows = self._session.parameters()
        names = [row.name for row in rows]
        if names != self._names:
            self._known.clear()
            self._sent.clear()
            self._names = names
        return rows

    def publish(self, rows: list[ParameterRow], budget: float) -> None:
        """Send the figures that changed: of the rows in view, and of as many others as ``budget`` seconds allow."""
        self._send_figures(rows, budget, everything=True)

    # What the page asks

    def look_at(self, rows: list[Any], series: str) -> None:
        """These positions are in view, with the history of this series."""
        if series not in SERIES:
            raise ValueError(f"unknown series {series!r}; it is one of {', '.join(SERIES)}")
        if not all(type(row) is int for row in rows):
            raise TypeError("message 'look_at_parameters': rows must be a list of int")
        self._series = series
        self._in_view = rows[:200]
        self._sent.difference_update(self._in_view)

    def answer(self, others: bool) -> None:
        """Send the figures of what is in view, and with ``others`` those of the rest too."""
        self._send_figures(self.rows(), _ANSWER, everything=others)

    def select_parameter(self, name: str) -> None:
        """Show everything about one parameter."""
        self._send_selected(name)

    def preview_edit(self, number: int, name: str, action: str, values: dict[str, Any]) -> None:
        """Tell what an edit would do; ``number`` is the page's, for the answer and for ``apply_edit``."""
        self._edit = None
        try:
            given = {key: value for key, value in values.items() if isinstance(value, str)}
            edit = self._session.parameter_edits.preview(name, action, **given)
        except Exception as error:  # whatever is wrong with what was typed is the answer
            self._answer(number, texts.one_line(str(error)), True)
            return
        self._edit = (number, edit)
        self._answer(number, edit.text, False, ready=edit.changed > 0)

    def apply_edit(self, number: int) -> None:
        """Do the edit that was told last, if it is the one with this number."""
        if self._edit is None or self._edit[0] != number:
            self._answer(number, "the preview is no longer valid: change the values to see it again", True)
            return
        edit, self._edit = self._edit[1], None
        try:
            self._session.parameter_edits.apply(edit)
        except RuntimeError as error:
            self._answer(number, texts.one_line(str(error)), True)
            return
        self._finish(number, f"done, {edit.what}: {edit.text}")

    def undo_edit(self) -> None:
        """Take the last edit back."""
        try:
            edit = self._session.parameter_edits.undo()
        except RuntimeError as error:
            self._answer(0, texts.one_line(str(error)), True)
            return
        self._finish(0, f"undone: {edit.what}")

    # Answers

    def _finish(self, number: int, text: str) -> None:
        self._answer(number, text, False)
        if self._selected:
            self._send_selected(self._selected)

    def _answer(self, number: int, text: str, failed: bool, ready: bool = False) -> None:
        last = self._session.parameter_edits.last
        content: EditAnswer = {
            "type": "edit_answer",
            "number": number,
            "text": text,
            "failed": failed,
            "ready": ready,
            "undo": "" if last is None else last.what,
        }
        self._send(content)

    def _send_selected(self, name: str) -> None:
        row = next((row for row in self.rows() if row.name == name), None)
        if row is None:
            raise ValueError(f"there is no parameter {name!r}")
        self._selected = name
        found = row.statistics
        content: SelectedParameter = {
            "type": "parameter",
            "name": row.name,
            "shape": texts.shape_text(row.shape),
            "dtype": texts.dtype_text(row.dtype),
            "value": texts.value_text(Tensor._wrap(row.array)),
            "figures": {
                name: repr(float(getattr(found, name)))
                for name in (
                    "minimum",
                    "maximum",
                    "mean",
                    "std",
                    "norm",
                    "zeros",
                    "nan",
                    "positive_inf",
                    "negative_inf",
                )
            },
        }
        numbers = np.concatenate([np.asarray(found.histogram, "<f8"), np.asarray(found.edges, "<f8")])
        self._send(content, [numbers.tobytes()])

    def _send_figures(self, rows: list[ParameterRow], budget: float, everything: bool) -> None:
        end = monotonic() + budget
        in_view = [position for position in self._in_view if 0 <= position < len(rows)]
        fresh: list[int] = []
        for position in in_view:
            if self._look(rows[position], position):
                self._sample(rows[position].name, position)
            if position not in self._sent:
                self._sent.add(position)
                fresh.append(position)
            if monotonic() > end:
                break
        shown = len(fresh)
        rest = self._look_around(rows, fresh, end) if everything else len(rows) - len(self._known)
        if not fresh and not rest:
            return
        history: list[float] = []
        for at, position in enumerate(fresh):
            points = thinned(self._history(rows[position].name)) if at < shown else []
            history += [len(points), *(x for x, _ in points), *(y for _, y in points)]
        table = columns_to_bytes([self._known[position].figures for position in fresh], len(FIGURES))
        content: ParameterFigures = {
            "type": "parameter_figures",
            "rest": rest,
            "series": self._series,
            "with_history": shown,
            "unusual": {str(k): self._known[k].unusual for k in fresh if self._known[k].unusual},
        }
        self._send(content, [table, np.array(history, "<f8").tobytes()])

    def _look_around(self, rows: list[ParameterRow], fresh: list[int], end: float) -> int:
        """Go on through all rows while there is time; returns how many were not looked at."""
        for passed in range(len(rows)):
            if monotonic() > end:
                return len(rows) - passed
            position = self._next % len(rows)
            self._next = position + 1
            self._look(rows[position], position)
            if position not in self._sent:
                self._sent.add(position)
                fresh.append(position)
        return 0

    def _look(self, row: ParameterRow, position: int) -> bool:
        """Compute the figures of a row if its arrays are others than last time; returns whether they were."""
        known = self._known.get(position)
        if known is not None and known.is_of(row):
            return False
        found = figures(row, position)
        if row.update_ratio is None:  # between the gradient and the update, the last one counts
            followed = self._session.history.update_ratios.get(row.name)
            found[_RATIO] = followed[-1][1] if followed else _NAN if known is None else known.figures[_RATIO]
        conditions = self._session.checks.conditions
        told = unusual_update(row.shape, found[_RATIO], row.gradient_norm != 0, partial(_norm_before, row), conditions)
        gradient = _gradient_array(row)
        self._known[position] = _Known(ref(row.array), _nothing if gradient is None else ref(gradient), found, told)
        self._sent.discard(position)
        return True

    # History

    def _history(self, name: str) -> Iterable[tuple[int, float]]:
        """The series of one parameter: the session's where it follows parameters, else what was seen here."""
        history = self._session.history
        followed = history.gradient_norms if self._series == SERIES[0] else history.update_ratios
        return followed.get(name, ()) or self._samples.get((self._series, name), ())

    def _sample(self, name: str, position: int) -> None:
        """Remember the figures of a row that is in view."""
        step = self._session.step
        for series in SERIES:
            value = self._known[position].figures[FIGURES.index(series)]
            samples = self._samples.setdefault((series, name), deque(maxlen=_KEPT_SAMPLES))
            if not np.isnan(value) and (not samples or samples[-1][0] != step):
                samples.append((step, value))


def _gradient_array(row: ParameterRow) -> Any:
    return None if row.gradient is None else row.gradient._array


def _norm_before(row: ParameterRow) -> float:
    """The norm before the last update, or now, where it is not known any more."""
    return row.statistics.norm if row.update_ratio is None else statistics(row.before).norm


def _nothing() -> None:
    """Stand for the reference to a gradient that there is not."""
