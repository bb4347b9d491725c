"""Static HTML of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.engine.tape.progress import progress
from hookscope.widgets import texts
from hookscope.widgets.static_html import drawings
from hookscope.widgets.static_html.markup import (
    MAX_ROWS,
    Table,
    counted_title,
    left_out,
    number,
    opened_by,
    scrolling,
    text,
)
from hookscope.widgets.views.parameters.roles import is_running_statistic, shared_text

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, ParameterRow

MAX_PARAMETERS = 500
"""Maximum number of parameters in the export."""


def static_parts(session: DebugSession) -> list[str | Table]:
    """Return the parameters as a table, and running statistics as a second table."""
    rows = session.parameters()
    weights = [row for row in rows if not is_running_statistic(row)]
    running = [row for row in rows if is_running_statistic(row)]
    figures = ("mean", "std", "norm", "gradient norm", "update ratio")
    columns = ("name", "shape", "dtype", "requires_grad", *figures)
    cells = [_weight_cells(row) for row in weights[:MAX_ROWS]]
    parts: list[str | Table] = [Table(counted_title("Parameters", len(weights)), columns, cells, numeric=figures)]
    if running:
        spread = ("mean", "std", "min", "max")
        cells = [_running_cells(row) for row in running[:MAX_ROWS]]
        title = counted_title("Running statistics", len(running))
        parts.append(Table(title, ("name", "shape", "dtype", *spread), cells, numeric=spread))
    return parts


def _weight_cells(row: ParameterRow) -> tuple[str, ...]:
    name, *rest = parameter_cells(row)
    shared = shared_text(row)
    ratio = "" if row.update_ratio is None else number(row.update_ratio)
    return f"{name} ({shared})" if shared else name, *rest, ratio


def _running_cells(row: ParameterRow) -> tuple[str, ...]:
    summary = row.statistics
    spread = (summary.mean, summary.std, summary.minimum, summary.maximum)
    return row.name, texts.shape_text(row.shape), texts.dtype_text(row.dtype), *map(number, spread)


def parameter_cells(row: ParameterRow) -> tuple[str, ...]:
    """Return one parameter as the cells of a text or HTML table."""
    figures = row.statistics
    return (
        row.name,
        texts.shape_text(row.shape),
        texts.dtype_text(row.dtype),
        "yes" if row.requires_grad else "no",
        number(figures.mean),
        number(figures.std),
        number(figures.norm),
        "" if row.gradient_norm is None else number(row.gradient_norm),
    )


def export_html(session: DebugSession) -> str:
    """Return the parameters with their statistics and curves."""
    rows = session.parameters()
    visible = rows[:MAX_PARAMETERS]
    lines = []
    with progress("parameters", len(visible), "parameters") as work:
        for row in visible:
            lines.append(_parameter(session, row))
            work.advance()
    return f"<ul>{''.join(lines)}</ul>{left_out('parameters', len(visible), len(rows))}" if rows else ""


def _parameter(session: DebugSession, row: ParameterRow) -> str:
    name, shape, dtype, grad, *_, gradient = parameter_cells(row)
    untrained = "running statistic" if is_running_statistic(row) else "requires_grad=False"
    facts = [f"{shape} {dtype}", shared_text(row), "" if grad == "yes" else untrained]
    facts.append(f"gradient norm {gradient}" if gradient else "")
    title = f"<b>{text(name)}</b> <small>{text(' · '.join(fact for fact in facts if fact))}</small>"
    return opened_by(title, scrolling(drawings.figures_html(row.statistics)) + _curves(session, row.name))


def _curves(session: DebugSession, name: str) -> str:
    series = {"gradient norm": session.history.gradient_norms, "update ratio": session.history.update_ratios}
    pictures = (
        (label, drawings.curve(f"{label} by step", list(values_by_name.get(name, ()))))
        for label, values_by_name in series.items()
    )
    return "".join(drawings.figure(picture, f"{label} by step") for label, picture in pictures if picture)
