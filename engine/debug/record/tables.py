"""Tables of the debugger, as text and as HTML, through tabulate."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["html_table", "text_table"]


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Collection[str] = ()) -> str:
    """Return rows under their columns as text, the ``numeric`` ones right-aligned. Cells are one line each."""
    from tabulate import tabulate

    one_line = [[" ".join(cell.splitlines()) for cell in row] for row in rows]
    # As a row of its own: a header takes two characters more than its text.
    text = tabulate(
        [list(columns), *one_line], tablefmt="plain", disable_numparse=True, colalign=_alignment(columns, numeric)
    )
    return "\n".join(line.rstrip() for line in text.splitlines())


def html_table(columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Collection[str] = ()) -> str:
    """Return the rows as an HTML table; the contents of cells are escaped."""
    from tabulate import tabulate

    # Without rows, tabulate has no columns to align.
    alignment = _alignment(columns, numeric) if rows else None
    return str(tabulate(rows, headers=columns, tablefmt="html", disable_numparse=True, colalign=alignment))


def _alignment(columns: Sequence[str], numeric: Collection[str]) -> list[str]:
    return ["right" if column in numeric else "left" for column in columns]
