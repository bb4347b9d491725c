"""Table of several ranks: their rows joined by position, with differences marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from hookscope.widgets.ranks.declaration import RankCell, RanksTableRow
from hookscope.widgets.static_html.markup import number
from hookscope.widgets.texts import shape_text

Row = Mapping[str, Any]
Position = list[Any]

PER_PAGE = 50
BUSY: RankCell = {"text": "busy", "mark": "busy", "note": "this rank has not answered yet"}


class Page(NamedTuple):
    """Rows of a table, the position of the last one, and whether more rows follow it."""

    rows: list[RanksTableRow]
    last: Position | None
    more: bool


def joined_page(
    pages: Mapping[int, Mapping[str, Any] | None], figure: str, name: str, pending: Collection[int] = ()
) -> Page:
    """Join the pages of ranks into one table.

    Args:
        pages: by rank, the rows after the same position; None for a rank that has not replied.
        figure: the statistic that is shown of each value.
        name: the field that holds a row's name.
        pending: ranks that are still within the shown step, so that missing values may still arrive.
    """
    by_position: dict[tuple[Any, ...], dict[int, Row]] = {}
    for rank, page in pages.items():
        for row in () if page is None else page["rows"]:
            by_position.setdefault(tuple(row["place"]), {})[rank] = row
    ordered = sorted(by_position)
    positions = ordered[:PER_PAGE]
    rows = [_merged_row(by_position[position], pages, figure, name, pending) for position in positions]
    full = any(page is not None and len(page["rows"]) >= PER_PAGE for page in pages.values())
    return Page(rows, list(positions[-1]) if positions else None, len(ordered) > PER_PAGE or full)


def _merged_row(
    rows_by_rank: Mapping[int, Row], pages: Mapping[int, Any], figure: str, name: str, pending: Collection[int]
) -> RanksTableRow:
    what = most_frequent(_shape_and_dtype(row) for row in rows_by_rank.values())
    nonfinite = {rank for rank, row in rows_by_rank.items() if _nonfinite(row)}
    answered = [rank for rank, page in pages.items() if page is not None]
    bits = {row.get("bits") for row in rows_by_rank.values()}
    bits_differ = len(bits) > 1 and None not in bits
    usual_bits = most_frequent(row.get("bits") for row in rows_by_rank.values()) if bits_differ else None
    cells: list[RankCell] = []
    for rank in pages:
        row = rows_by_rank.get(rank)
        if row is not None:
            is_partial = rank in nonfinite and len(nonfinite) < len(answered)
            other_bits = name == "name" and bits_differ and row.get("bits") != usual_bits
            cells.append(_cell(row, what, figure, is_partial, other_bits))
        elif rank in answered and rank in pending:
            cells.append({"text": "", "mark": "", "note": "not there yet: this rank is in the midst of the step"})
        elif rank in answered:
            cells.append({"text": "\N{EM DASH}", "mark": "missing", "note": "not there on this rank"})
        else:
            cells.append(BUSY)
    first = next(iter(rows_by_rank.values()))
    return {
        "name": str(first[name]),
        "detail": _shape_text(first) if figure != "shape" else "",
        "same": len(rows_by_rank) == len(pages) > 1 and len(bits) == 1 and None not in bits,
        "marked": any(cell["mark"] not in ("", "busy") for cell in cells) or (name == "name" and bits_differ),
        "cells": cells,
    }


def _cell(row: Row, what: Hashable, figure: str, is_partial: bool, other_bits: bool) -> RankCell:
    notes = []
    mark: Literal["", "differs", "nan"] = ""
    text = _shape_text(row) if figure == "shape" else figure_text(row.get(figure))
    if other_bits:
        mark = "differs"
        notes.append("its bits differ between the ranks")
    if _shape_and_dtype(row) != what:
        mark = "differs"
        notes.append(f"{_shape_text(row)} here")
        text = _shape_text(row)
    if _nonfinite(row):
        notes.append(_nonfinite_text(row))
        if figure not in ("nan", "shape"):
            text = f"{text} ({_nonfinite_text(row)})"
        if is_partial:
            mark = "nan"
    return {"text": text, "mark": mark, "note": ", ".join(notes)}


def most_frequent(values: Iterable[Hashable]) -> Hashable:
    """Return the most frequent value; None if there is a tie."""
    ranking = Counter(values)
    (winner, count), *others = ranking.most_common(2) or [(None, 0)]
    return winner if not others or count > others[0][1] else None


def figure_text(value: object) -> str:
    """Format a statistic as a rank sent it; values that are not finite arrive as text."""
    if value is None:
        return "\N{EM DASH}"
    statistic = float(str(value))
    return str(int(statistic)) if statistic.is_integer() and abs(statistic) < 1e6 else number(statistic)


def _shape_and_dtype(row: Row) -> Hashable:
    return tuple(row["shape"]), row["dtype"]


def _shape_text(row: Row) -> str:
    return f"{shape_text(row['shape'])} {row['dtype']}"


def _counts(row: Row) -> Sequence[tuple[str, int]]:
    kinds = (("NaN", "nan"), ("inf", "positive_inf"), ("-inf", "negative_inf"))
    return [(word, int(float(row.get(kind) or 0))) for word, kind in kinds]


def _nonfinite(row: Row) -> bool:
    return any(count for _, count in _counts(row))


def _nonfinite_text(row: Row) -> str:
    return ", ".join(f"{count} {word}" for word, count in _counts(row) if count)
