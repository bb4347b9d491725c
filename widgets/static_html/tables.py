"""Tables of `%params` and `%hooks`, which need no widget, as text and as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookscope.engine.debug.record.tables import text_table
from hookscope.widgets.static_html import markup
from hookscope.widgets.views.hooks.static_html import HOOK_COLUMNS, hook_rows
from hookscope.widgets.views.parameters.static_html import parameter_cells

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.nn import Cell


class _Table:
    """One table, with a text form and an HTML form of the same rows."""

    title: str
    columns: tuple[str, ...]
    numeric: tuple[str, ...] = ()

    def __init__(self, source: Cell | DebugSession) -> None:
        self._session = _session_of(source)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table's cells as text, one tuple a row."""
        raise NotImplementedError

    def __repr__(self) -> str:
        rows = self.rows()
        if not rows:
            return f"{self.title}: none"
        return text_table(self.columns, rows, self.numeric)

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        rows = self.rows()
        html = markup.table(f"{self.title}: {len(rows)}", self.columns, rows, self.numeric)
        return {"text/plain": repr(self), "text/html": markup.page(html)}


class ParameterTable(_Table):
    """Every parameter of a network, with statistics that show whether it is healthy."""

    title = "Parameters"
    columns = ("name", "shape", "dtype", "requires_grad", "mean", "std", "norm", "gradient norm")
    numeric = ("mean", "std", "norm", "gradient norm")

    def rows(self) -> list[tuple[str, ...]]:
        return [parameter_cells(row) for row in self._session.parameters()]


class HookTable(_Table):
    """Every hook registered on a network's cells, with its origin."""

    title = "Hooks"
    columns = HOOK_COLUMNS

    def rows(self) -> list[tuple[str, ...]]:
        return hook_rows(self._session)


def _session_of(source: Cell | DebugSession) -> DebugSession:
    """Return the session to read from; for a bare network, one that is never attached."""
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.nn import Cell

    if isinstance(source, DebugSession):
        return source
    if isinstance(source, Cell):
        return DebugSession(source)
    raise TypeError(f"expected a Cell or a DebugSession, got {type(source).__name__}")
