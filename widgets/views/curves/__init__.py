"""View of curves: losses, metrics and learning rates by step, with those of the run before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from hookscope.widgets.columns import columns_to_bytes
from hookscope.widgets.messages import Action, MessageError
from hookscope.widgets.view import Section, Static, View, state
from hookscope.widgets.views.curves.charts import charts
from hookscope.widgets.views.curves.static_html import export_html, static_parts

if TYPE_CHECKING:
    from hookscope.widgets.panel import DebuggerPanel

_HERE = Path(__file__).parent

POINT_NUMBERS = ("step", "value", "session_step")


class CurveRow(TypedDict):
    """One curve: its name, its number of points, and whether it is of the run before."""

    name: str
    length: int
    before: bool


class ChartRow(TypedDict):
    """One chart: its title, its summary in words, and its curves."""

    title: str
    summary: str
    curves: list[CurveRow]


def publish(panel: DebuggerPanel, budget: float) -> None:
    """Publish the charts, if there are new numbers."""
    scalars = panel.session.history.scalars
    count = (scalars.count, 0 if scalars.previous is None else scalars.previous.count)
    sent = panel.memory(_nothing_sent)
    if sent == [count]:
        return
    rows = charts(scalars)
    points = [point for chart in rows for curve in chart.curves for point in curve.points]
    with panel.hold_sync():
        panel.charts = [
            {
                "title": chart.title,
                "summary": chart.summary(),
                "curves": [
                    {"name": curve.name, "length": len(curve.points), "before": curve.before} for curve in chart.curves
                ],
            }
            for chart in rows
        ]
        panel.chart_points = columns_to_bytes(points, len(POINT_NUMBERS))
    sent[:] = [count]


def _nothing_sent(panel: DebuggerPanel) -> list[tuple[int, int]]:
    """Return the list that holds the numbers of points that were published last."""
    return []


def open_step(panel: DebuggerPanel, step: int) -> None:
    """Raise if no capture of a step is kept, which the page is about to show."""
    steps = [capture.step for capture in panel.session.captures.rows()]
    if step not in steps:
        others = f"those of steps {min(steps)} to {max(steps)} are" if steps else "there is none"
        raise MessageError(f"no capture of step {step} is kept: {others}")


VIEW = View(
    name="curves",
    title="Curves",
    position=28,
    script=_HERE / "curves.js",
    style=_HERE / "curves.css",
    traits={"charts": state(list[ChartRow], live=True), "chart_points": state(bytes, live=True)},
    actions={"open_step": Action({"step": int}, open_step)},
    constants={"POINT_NUMBERS": POINT_NUMBERS},
    publish=publish,
    static=Static(25, static_parts),
    sections=(Section(40, "Training", export_html),),
)
