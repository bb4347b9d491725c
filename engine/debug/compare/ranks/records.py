"""What goes from a rank to who looks: plain data, as JSON has it; and the check of what came.

A *step* is a gradient call with weights, counted from 1: all ranks have it by the same number, also where one of them
alone evaluates in between. Digests are texts of 16 hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict, get_args

__all__ = ["Detail", "Ended", "Failed", "Kind", "Record", "Row", "StepRecord", "checked_detail", "checked_record"]

Kind = Literal["cells", "parameters", "gradients", "draws"]
"""What there are details about."""


class StepRecord(TypedDict):
    """One step of one rank; its size does not depend on the network.

    Attributes:
        record: "step".
        step: its number.
        session_step: ``DebugSession.step`` then.
        epoch: the number, in its process, of the pass over a data set that gave a row last; 0 without.
        inputs: digest of the shapes of the network's inputs.
        cells: digest of path, call, slot and shape of all outputs, in their order.
        dtypes: digest of the set of their dtypes, by path and slot.
        parameters: digest of the parameters' bits before the step.
        statistics: the same of the moving statistics of batch norms.
        gradients: digest of what the optimizers were given; "" where none was called.
        draws: digests of the random numbers that cells took, of 32 cells at most.
        rows: digests of the rows of the inputs, see ``row_digests``.
    """

    record: Literal["step"]
    step: int
    session_step: int
    epoch: int
    inputs: str
    cells: str
    dtypes: str
    parameters: str
    statistics: str
    gradients: str
    draws: list[str]
    rows: list[str]


class Ended(TypedDict):
    """A rank makes no more steps: ``record`` is "ended", ``step`` the number of its last one, or 0."""

    record: Literal["ended"]
    step: int


class Failed(TypedDict):
    """A cell of a rank raised.

    Attributes:
        record: "failed".
        step: in which step.
        path: the innermost cell's path, or its class where it is none of the session's.
        error: the class and the text of what was raised, 2,000 characters at most.
    """

    record: Literal["failed"]
    step: int
    path: str
    error: str


Record = StepRecord | Ended | Failed


class Row(TypedDict, total=False):
    """One thing of a step: a tensor that a cell gave, a parameter, a gradient, or what a cell drew.

    Attributes:
        path: the cell's.
        name: "output[1]" of a value, the name of a parameter, "" of what was drawn.
        call: the number of the cell's call in the step, from 0; of values and of what was drawn.
        shape, dtype: of a tensor.
        digest: of its bits, or of what was drawn.
        norm: of a parameter or a gradient; None where it is not finite.
        statistic: whether a parameter is a moving statistic of a batch norm.
    """

    path: str
    name: str
    call: int
    shape: list[int]
    dtype: str
    digest: str
    norm: float | None
    statistic: bool


class Detail(TypedDict):
    """The rows of a step, of one ``kind``; ``rows`` is None where they are no longer kept, or the step is not known."""

    step: int
    kind: Kind
    rows: list[Row] | None


_TEXTS = ("inputs", "cells", "dtypes", "parameters", "statistics", "gradients")
_FIELDS: dict[str, dict[str, type]] = {
    "step": {"session_step": int, "epoch": int, **dict.fromkeys(_TEXTS, str), "draws": list, "rows": list},
    "ended": {},
    "failed": {"path": str, "error": str},
}
_ROW: dict[str, Any] = {
    "path": str,
    "name": str,
    "call": int,
    "shape": list,
    "dtype": str,
    "digest": str,
    "norm": float | int | None,
    "statistic": bool,
}


def checked_record(given: object) -> Record:
    """A record as it came from a rank.

    Raises:
        ValueError: it is none; the text says what is wrong with it.
    """
    kind = given.get("record") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or not isinstance(kind, str) or kind not in _FIELDS:
        raise ValueError(f"a record must be a dict with 'record' in {list(_FIELDS)}, but got {_cut(given)}")
    _check_fields(f"a record '{kind}'", given, {"step": int, **_FIELDS[kind]})
    if kind == "step" and not all(isinstance(one, str) for one in (*given["draws"], *given["rows"])):
        raise ValueError("in a record 'step', 'draws' and 'rows' must be lists of str")
    return given  # type: ignore[return-value]  # as was just seen


def checked_detail(given: object) -> Detail:
    """A detail as it came from a rank.

    Raises:
        ValueError: it is none; the text says what is wrong with it.
    """
    if not isinstance(given, Mapping) or given.get("kind") not in get_args(Kind):
        raise ValueError(f"a detail must be a dict with 'kind' in {list(get_args(Kind))}, but got {_cut(given)}")
    _check_fields("a detail", given, {"step": int, "rows": list | None})
    for row in given["rows"] or ():
        if not isinstance(row, Mapping):
            raise ValueError(f"a row of a detail must be a dict, but got {_cut(row)}")
        wanted = {"path", "name"} if given["kind"] == "cells" else {"path", "name", "digest"}
        _check_fields("a row of a detail", row, {name: _ROW[name] for name in _ROW if name in wanted or name in row})
        if not all(isinstance(length, int) for length in row.get("shape", ())):
            raise ValueError(f"in a row of a detail, 'shape' must be a list of int, but got {_cut(row['shape'])}")
    return given  # type: ignore[return-value]  # likewise


def _check_fields(what: str, given: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    for name, kind in fields.items():
        value = given.get(name, _cut)  # which is of none of the kinds
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            came = "nothing" if value is _cut else _cut(value)
            raise ValueError(f"in {what}, '{name}' must be {getattr(kind, '__name__', kind)}, but got {came}")
        if name == "step" and not 0 <= value < 2**53:
            raise ValueError(f"in {what}, 'step' must be from 0 to 2**53 - 1, but got {value}")


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
