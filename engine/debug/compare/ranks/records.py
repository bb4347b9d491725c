"""Records of a rank for the observer, as plain data for JSON; and the validation of received records.

A *step* is a gradient call with weights, counted from 1: all ranks have the same number for it, even if one of them
evaluates in between. Digests are texts of 16 hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict, get_args

__all__ = ["Detail", "Ended", "Failed", "Kind", "Record", "Row", "StepRecord", "checked_detail", "checked_record"]

Kind = Literal["cells", "parameters", "gradients", "draws"]
"""The kinds of details."""


class StepRecord(TypedDict):
    """One step of one rank; its size does not depend on the network.

    Attributes:
        record: "step".
        step: the number of the step.
        session_step: the value of ``DebugSession.step`` then.
        epoch: the number of the pass over a data set that last returned a row, counted in the rank's process; 0 if
            there was none.
        inputs: digest of the shapes of the network's inputs.
        cells: digest of path, call, slot and shape of all outputs, in their order.
        dtypes: digest of the set of their dtypes, by path and slot.
        parameters: digest of the parameters' bits before the step.
        statistics: digest of the moving statistics of batch norms before the step.
        gradients: digest of the optimizers' gradients; "" if no optimizer was called.
        draws: digests of the random numbers that cells drew, of 32 cells at most.
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
    """The end of a rank: ``record`` is "ended", ``step`` the number of its last step, or 0."""

    record: Literal["ended"]
    step: int


class Failed(TypedDict):
    """An exception of a cell of a rank.

    Attributes:
        record: "failed".
        step: the number of the step.
        path: the innermost cell's path, or its class if it does not belong to the session.
        error: the class and the message of the exception, 2,000 characters at most.
    """

    record: Literal["failed"]
    step: int
    path: str
    error: str


Record = StepRecord | Ended | Failed


class Row(TypedDict, total=False):
    """One row of a step: an output of a cell, a parameter, a gradient, or the random numbers of a cell.

    Attributes:
        path: the cell's path.
        name: "output[1]" for a value, the name of a parameter, "" for random numbers.
        call: the number of the cell's call in the step, from 0; for values and random numbers.
        shape, dtype: the shape and dtype of a tensor.
        digest: digest of its bits, or of the random numbers.
        norm: the norm of a parameter or a gradient; None if it is not finite.
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
    """Rows of a step, of one ``kind``; ``rows`` is None if they are no longer kept, or the step is not known."""

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


def checked_record(record: object) -> Record:
    """Return a record received from a rank.

    Raises:
        ValueError: it is not a record; the message describes the error.
    """
    kind = record.get("record") if isinstance(record, Mapping) else None
    if not isinstance(record, Mapping) or not isinstance(kind, str) or kind not in _FIELDS:
        raise ValueError(f"a record must be a dict with 'record' in {list(_FIELDS)}, but got {_cut(record)}")
    _check_fields(f"a record '{kind}'", record, {"step": int, **_FIELDS[kind]})
    if kind == "step" and not all(isinstance(item, str) for item in (*record["draws"], *record["rows"])):
        raise ValueError("in a record 'step', 'draws' and 'rows' must be lists of str")
    return record  # type: ignore[return-value]  # just checked


def checked_detail(detail: object) -> Detail:
    """Return a detail received from a rank.

    Raises:
        ValueError: it is not a detail; the message describes the error.
    """
    if not isinstance(detail, Mapping) or detail.get("kind") not in get_args(Kind):
        raise ValueError(f"a detail must be a dict with 'kind' in {list(get_args(Kind))}, but got {_cut(detail)}")
    _check_fields("a detail", detail, {"step": int, "rows": list | None})
    for row in detail["rows"] or ():
        if not isinstance(row, Mapping):
            raise ValueError(f"a row of a detail must be a dict, but got {_cut(row)}")
        required = {"path", "name"} if detail["kind"] == "cells" else {"path", "name", "digest"}
        _check_fields("a row of a detail", row, {name: _ROW[name] for name in _ROW if name in required or name in row})
        if not all(isinstance(length, int) for length in row.get("shape", ())):
            raise ValueError(f"in a row of a detail, 'shape' must be a list of int, but got {_cut(row['shape'])}")
    return detail  # type: ignore[return-value]  # just checked


def _check_fields(what: str, mapping: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    for name, kind in fields.items():
        value = mapping.get(name, _cut)  # which is an instance of none of the kinds
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            received = "nothing" if value is _cut else _cut(value)
            raise ValueError(f"in {what}, '{name}' must be {getattr(kind, '__name__', kind)}, but got {received}")
        if name == "step" and not 0 <= value < 2**53:
            raise ValueError(f"in {what}, 'step' must be from 0 to 2**53 - 1, but got {value}")


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
