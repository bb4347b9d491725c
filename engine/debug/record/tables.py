"""Tables of the debugger, as text and as HTML, through tabulate."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["html_table", "text_table"]


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Collection[str] = ()) -> str:
    """Rows under their columns; the ``numeric`` ones to the right. Cells are one line each."""
    from tabulate import tabulate

    one_line = [[" ".join(cell.splitlines()) for cell in row] for row in rows]
    # As a row of its own: a header takes two places more than its text.
    text = tabulate(
        [list(columns), *one_line], tablefmt="plain", disable_numparse=True, colalign=_alignment(columns, numeric)
    )
    return "\n".join(line.rstrip() for line in text.splitlines())


def html_table(columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Collection[str] = ()) -> str:
    """The same as an HTML table; what cells hold is escaped."""
    from tabulate import tabulate

    # Without rows tabulate knows of no columns to align.
    alignment = _alignment(columns, numeric) if rows else None
    return str(tabulate(rows, headers=columns, tablefmt="html", disable_numparse=True, colalign=alignment))


def _alignment(columns: Sequence[str], numeric: Collection[str]) -> list[str]:
    return ["right" if column in numeric else "left" for column in columns]
