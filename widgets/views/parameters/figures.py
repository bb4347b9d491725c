"""State of a panel's parameters view: rows, statistics of visible rows, history, and the value editor.

A network may have ten thousand parameters, and each step changes all of them. So names and shapes are sent once, and
statistics follow: those of visible rows first, the others within the time budget of an update. Statistics of an
unchanged array object are cached, since arrays are immutable.
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
from hookscope.widgets.series import downsampled
from hookscope.widgets.views.parameters.roles import is_running_statistic, shared_text
from hookscope.widgets.views.parameters.update_check import unusual_update

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, ParameterRow
    from hookscope.engine.debug.parameter_edits import ParameterEdit

PARAMETER_NUMBERS = ("requires_grad", "size", "running")
FIGURES = ("position", "mean", "std", "minimum", "maximum", "norm", "gradient_norm", "update_ratio", "nan", "inf")
SERIES = ("gradient_norm", "update_ratio")

# Number of rows assumed visible until the page reports which ones are.
_FIRST = 40
_KEPT_SAMPLES = 200
# Seconds for the statistics of one reply.
_ANSWER = 0.2

_RATIO = FIGURES.index("update_ratio")
_NAN = float("nan")


def parameter_texts(rows: Sequence[ParameterRow]) -> ParameterTexts:
    """Return the text columns of parameters, which change only when the network does."""
    return {
        "name": [row.name for row in rows],
        "shape": [texts.shape_text(row.shape) for row in rows],
        "dtype": [texts.dtype_text(row.dtype) for row in rows],
        "shared": {str(k): note for k, note in enumerate(map(shared_text, rows)) if note},
        "initializers": list(INITIALIZERS),
    }


def parameter_numbers(rows: Sequence[ParameterRow]) -> bytes:
    """Return the columns PARAMETER_NUMBERS."""
    numbers = [(row.requires_grad, row.size, is_running_statistic(row)) for row in rows]
    return columns_to_bytes(numbers, len(PARAMETER_NUMBERS))


def figures(row: ParameterRow, position: int) -> list[float]:
    """Return one row of FIGURES; missing values are NaN."""
    summary = row.statistics
    gradient, ratio = (_NAN if x is None else x for x in (row.gradient_norm, row.update_ratio))
    spread = (summary.mean, summary.std, summary.minimum, summary.maximum, summary.norm)
    return [
        float(position),
        *spread,
        gradient,
        ratio,
        float(summary.nan),
        float(summary.positive_inf + summary.negative_inf),
    ]


class ParameterTexts(TypedDict):
    """The text columns of parameters, notes about sharing by position, and the names of initializers."""

    name: list[str]
    shape: list[str]
    dtype: list[str]
    shared: dict[str, str]
    initializers: list[str]


class ParameterFigures(TypedDict):
    """Rows of FIGURES and the history of the first of them; `rest` is the number of rows not computed yet.

    `unusual` describes, by position, unusual updates.
    """

    type: Literal["parameter_figures"]
    rest: int
    series: str
    with_history: int
    unusual: dict[str, str]


class SelectedParameter(TypedDict):
    """Everything about one parameter; its statistics are text, since JSON has neither NaN nor infinity."""

    type: Literal["parameter"]
    name: str
    shape: str
    dtype: str
    value: str
    figures: dict[str, str]


class EditAnswer(TypedDict):
    """The effect of an edit, planned or applied; `number` is the request's, `undo` names the edit to undo."""

    type: Literal["edit_answer"]
    number: int
    text: str
    failed: bool
    ready: bool
    undo: str


class _KnownRow(NamedTuple):
    """The statistics of a row, with weak references to its arrays."""

    array: Callable[[], object]
    gradient: Callable[[], object]
    figures: list[float]
    unusual: str

    def is_of(self, row: ParameterRow) -> bool:
        """Return whether the row still has these arrays."""
        return self.array() is row.array and self.gradient() is _gradient_array(row)


class ParametersView:
    """State of one panel's parameters view.

    Args:
        session: the session whose parameters are shown.
        send: sends a message with buffers to the page.
    """

    def __init__(self, session: DebugSession, send: Callable[..., None]) -> None:
        self._session = session
        self._send = send
        self._names: list[str] = []
        self._rows_by_position: dict[int, _KnownRow] = {}  # by position
        self._sent: set[int] = set()  # positions whose current statistics the page has
        self._in_view: list[int] = list(range(_FIRST))
        self._next = 0  # the next row outside the view to compute
        self._series = SERIES[0]
        self._samples: dict[tuple[str, str], deque[tuple[int, float]]] = {}  # by series and name
        self._selected = ""
        self._edit: tuple[int, ParameterEdit] | None = None

    # Events from the panel

    def restart(self) -> None:
        """Reset the sent state, since the page was reloaded."""
        self._sent.clear()
        self._edit = None
        if self._selected:
            self._send_selected(self._selected)
        self._answer(0, "", False)

    def rows(self) -> list[ParameterRow]:
        """Return the current parameters; different names reset the view."""
        rows = self._session.parameters()
        names = [row.name for row in rows]
        if names != self._names:
            self._rows_by_position.clear()
            self._sent.clear()
            self._names = names
        return rows

    def publish(self, rows: list[ParameterRow], budget: float) -> None:
        """Send changed statistics: of visible rows, and of as many others as ``budget`` seconds allow."""
        self._send_figures(rows, budget, all_rows=True)

    # Requests from the page

    def look_at(self, rows: list[Any], series: str) -> None:
        """Set the visible positions, and the series whose history is shown."""
        if series not in SERIES:
            raise ValueError(f"unknown series {series!r}; it is one of {', '.join(SERIES)}")
        if not all(type(row) is int for row in rows):
            raise TypeError("message 'look_at_parameters': rows must be a list of int")
        self._series = series
        self._in_view = rows[:200]
        self._sent.difference_update(self._in_view)

    def answer(self, others: bool) -> None:
        """Send the statistics of visible rows, and with ``others`` those of the rest too."""
        self._send_figures(self.rows(), _ANSWER, all_rows=others)

    def select_parameter(self, name: str) -> None:
        """Select a parameter and send everything about it."""
        self._send_selected(name)

    def preview_edit(self, number: int, name: str, action: str, values: dict[str, Any]) -> None:
        """Send the effect of an edit; ``number`` is the page's, for the reply and for ``apply_edit``."""
        self._edit = None
        try:
            texts_only = {key: value for key, value in values.items() if isinstance(value, str)}
            edit = self._session.parameter_edits.preview(name, action, **texts_only)
        except Exception as error:  # any error in the user's input is the reply
            self._answer(number, texts.one_line(str(error)), True)
            return
        self._edit = (number, edit)
        self._answer(number, edit.text, False, ready=edit.changed > 0)

    def apply_edit(self, number: int) -> None:
        """Apply the last previewed edit, if it has this number."""
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
        """Undo the last edit."""
        try:
            edit = self._session.parameter_edits.undo()
        except RuntimeError as error:
            self._answer(0, texts.one_line(str(error)), True)
            return
        self._finish(0, f"undone: {edit.what}")

    # Replies

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
        summary = row.statistics
        content: SelectedParameter = {
            "type": "parameter",
            "name": row.name,
            "shape": texts.shape_text(row.shape),
            "dtype": texts.dtype_text(row.dtype),
            "value": texts.value_text(Tensor._wrap(row.array)),
            "figures": {
                name: repr(float(getattr(summary, name)))
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
        numbers = np.concatenate([np.asarray(summary.histogram, "<f8"), np.asarray(summary.edges, "<f8")])
        self._send(content, [numbers.tobytes()])

    def _send_figures(self, rows: list[ParameterRow], budget: float, all_rows: bool) -> None:
        end = monotonic() + budget
        in_view = [position for position in self._in_view if 0 <= position < len(rows)]
        updates: list[int] = []
        for position in in_view:
            if self._look(rows[position], position):
                self._sample(rows[position].name, position)
            if position not in self._sent:
                self._sent.add(position)
                updates.append(position)
            if monotonic() > end:
                break
        visible = len(updates)
        rest = self._look_around(rows, updates, end) if all_rows else len(rows) - len(self._rows_by_position)
        if not updates and not rest:
            return
        history: list[float] = []
        for index, position in enumerate(updates):
            points = downsampled(self._history(rows[position].name)) if index < visible else []
            history += [len(points), *(x for x, _ in points), *(y for _, y in points)]
        table = columns_to_bytes([self._rows_by_position[position].figures for position in updates], len(FIGURES))
        content: ParameterFigures = {
            "type": "parameter_figures",
            "rest": rest,
            "series": self._series,
            "with_history": visible,
            "unusual": {
                str(k): self._rows_by_position[k].unusual for k in updates if self._rows_by_position[k].unusual
            },
        }
        self._send(content, [table, np.array(history, "<f8").tobytes()])

    def _look_around(self, rows: list[ParameterRow], fresh: list[int], end: float) -> int:
        """Compute further rows in turn while there is time; return the number of rows not reached."""
        for count in range(len(rows)):
            if monotonic() > end:
                return len(rows) - count
            position = self._next % len(rows)
            self._next = position + 1
            self._look(rows[position], position)
            if position not in self._sent:
                self._sent.add(position)
                fresh.append(position)
        return 0

    def _look(self, row: ParameterRow, position: int) -> bool:
        """Compute the statistics of a row if its arrays have changed; return whether they had."""
        cached = self._rows_by_position.get(position)
        if cached is not None and cached.is_of(row):
            return False
        row_figures = figures(row, position)
        if row.update_ratio is None:  # between the gradient and the update, the previous ratio counts
            ratios = self._session.history.update_ratios.get(row.name)
            row_figures[_RATIO] = ratios[-1][1] if ratios else _NAN if cached is None else cached.figures[_RATIO]
        conditions = self._session.checks.conditions
        description = unusual_update(
            row.shape, row_figures[_RATIO], row.gradient_norm != 0, partial(_norm_before, row), conditions
        )
        gradient = _gradient_array(row)
        self._rows_by_position[position] = _KnownRow(
            ref(row.array), _nothing if gradient is None else ref(gradient), row_figures, description
        )
        self._sent.discard(position)
        return True

    # History

    def _history(self, name: str) -> Iterable[tuple[int, float]]:
        """Return the series of one parameter: the session's if it follows parameters, else the samples of this view."""
        history = self._session.history
        recorded = history.gradient_norms if self._series == SERIES[0] else history.update_ratios
        return recorded.get(name, ()) or self._samples.get((self._series, name), ())

    def _sample(self, name: str, position: int) -> None:
        """Record the statistics of a visible row."""
        step = self._session.step
        for series in SERIES:
            value = self._rows_by_position[position].figures[FIGURES.index(series)]
            samples = self._samples.setdefault((series, name), deque(maxlen=_KEPT_SAMPLES))
            if not np.isnan(value) and (not samples or samples[-1][0] != step):
                samples.append((step, value))


def _gradient_array(row: ParameterRow) -> Any:
    return None if row.gradient is None else row.gradient._array


def _norm_before(row: ParameterRow) -> float:
    """Return the norm before the last update, or the current one if it is no longer known."""
    return row.statistics.norm if row.update_ratio is None else statistics(row.before).norm


def _nothing() -> None:
    """Return None; replaces the reference to a missing gradient."""
