"""Stepper: the stop of the run, and commands to resume, set breakpoints, go back, evaluate, edit and check a gradient.

After an uncaught error it shows the failure in the same form, which can be inspected but not resumed.

A handler may run in the paused thread itself, so handlers never wait for the run to resume.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from hookscope.engine.debug.stop.pause import COMMANDS
from hookscope.engine.tape.progress import Stopped
from hookscope.widgets import progress_view, texts
from hookscope.widgets.messages import Action, MessageError, check_choice
from hookscope.widgets.view import Message, Section, Static, View, state
from hookscope.widgets.views.stepper.local_values import (
    LocalCapture,
    LocalPlot,
    open_local,
    publish_local,
    select_local,
)
from hookscope.widgets.views.stepper.static_html import gradients_html, static_parts, stop_section
from hookscope.widgets.views.stepper.stop import Gradient, Stop, gradient_view, stop_view
from hookscope.widgets.views.stepper.stop_breakpoints import remove_breakpoint_at, set_breakpoint_at
from hookscope.widgets.views.stepper.watch_expressions import (
    Evaluation,
    Peek,
    peek,
    publish_watch_values,
    unwatch_expression,
    watch_expression,
)

if TYPE_CHECKING:
    from hookscope.widgets.panel import DebuggerPanel

_HERE = Path(__file__).parent
# Time limit of a gradient check, which blocks a paused run and the user.
_CHECK_SECONDS = 1.0
_MAX_EVALUATIONS = 20


class SteppingOptions(TypedDict):
    """The options of stepping."""

    just_my_code: bool


class GradientCheck(Gradient):
    """The state of a gradient check; while it runs, only the cell's path is present."""

    state: Literal["checking", "done", "failed"]
    path: str


def publish(panel: DebuggerPanel, budget: float = 0.0) -> None:
    """Publish the session's stop, or the last skipped pause after a run in which no front end could reply."""
    session = panel.session
    point = session.shown
    if point is None and panel.stop.get("kind") == "failure":
        panel.stop = {}  # the failure was released
    skipped = point is None and panel.state == "finished" and bool(session.skipped_pauses)
    if skipped:
        point = session.skipped_pauses[-1]
    if point is not None:
        panel.stop = stop_view(point, skipped, session.paused, session.breakpoints)
    panel.stepping = {"just_my_code": session.just_my_code}
    publish_watch_values(panel)
    publish_local(panel)


def resume(panel: DebuggerPanel, command: str) -> None:
    """Resume the run until its next stop."""
    check_choice("command", command, COMMANDS)
    if panel.session.paused is None:
        raise MessageError(f"cannot do {command!r}: the run is not paused")
    # The state changes first, since the run may reach its next stop before resume() returns.
    panel.goes_on()
    try:
        panel.session.resume(command)
    except Exception:  # the run is still paused; the reply to the message reports the error
        panel.state = "paused"
        raise


def run_to_line(panel: DebuggerPanel, line: int) -> None:
    """Resume the run up to a line of the function that is shown."""
    if panel.session.paused is None:
        raise MessageError("cannot run to a line: the run is not paused")
    panel.goes_on()
    try:
        panel.session.run_to_line(line)
    except Exception:  # the run is still paused; the reply to the message reports the error
        panel.state = "paused"
        raise


def step_back(panel: DebuggerPanel) -> None:
    """Show the stop before the one that is shown."""
    panel.session.step_back()
    publish(panel)


def step_forward(panel: DebuggerPanel) -> None:
    """Show the stop after the one that is shown."""
    panel.session.step_forward()
    publish(panel)


def show_operator(panel: DebuggerPanel, index: int) -> None:
    """Show an executed operator with its values."""
    panel.session.show_operator(index)
    publish(panel)


def show_frame(panel: DebuggerPanel, index: int) -> None:
    """Show another function of the stack."""
    panel.session.show_frame(index)
    publish(panel)


def post_mortem(panel: DebuggerPanel) -> None:
    """Show the failure of the newest run."""
    panel.session.post_mortem()
    panel.view = VIEW.name
    publish(panel)


def evaluate(panel: DebuggerPanel, expression: str) -> None:
    """Evaluate an expression at the pause and publish the result."""
    if panel.session.shown is None:
        raise MessageError("cannot evaluate: the run is not paused")
    try:
        text, failed = texts.value_text(panel.session.evaluate(expression), 4000), False
    except Exception as error:  # the user's expression may raise anything; the error is the reply
        text, failed = texts.error_line(error), True
    _answer(panel, expression, text, failed)


def _answer(panel: DebuggerPanel, expression: str, text: str, failed: bool) -> None:
    answer = {"expression": expression, "text": text, "failed": failed}
    panel.evaluations = [*panel.evaluations, answer][-_MAX_EVALUATIONS:]


def edit(panel: DebuggerPanel, name: str, expression: str) -> None:
    """Replace a value at the pause by that of an expression, and publish the result like an evaluation."""
    try:
        text, failed = texts.value_text(panel.session.edit(name, expression), 4000), False
    except Exception as error:  # the user's expression may raise anything; the error is the reply
        text, failed = texts.error_line(error), True
    _answer(panel, f"{name} = {expression}", text, failed)
    publish(panel)


def set_just_my_code(panel: DebuggerPanel, on: bool) -> None:
    """Step through the user's code alone, or through layers and installed packages too."""
    panel.session.just_my_code = on


def check_gradient(panel: DebuggerPanel) -> None:
    """Check the gradient of the cell whose bprop is paused, and publish the progress and result."""
    point = panel.session.paused
    path = "" if point is None else point.path
    with progress_view.started_by_button(panel, "gradient check"):
        panel.gradient = {"state": "checking", "path": path}
        result: dict[str, Any] = {}  # the result after an interrupt
        try:
            result = {"state": "done", "path": path, **gradient_view(panel.session.check_gradient(_CHECK_SECONDS))}
        except Exception as error:  # construct and bprop are the user's, and may raise anything
            message = str(error) if isinstance(error, Stopped) else texts.error_line(error)
            result = {"state": "failed", "path": path, "summary": message, "ok": False, "rows": []}
        finally:
            panel.gradient = result


VIEW = View(
    name="stepper",
    title="Stepper",
    position=40,
    script=_HERE / "stepper.js",
    style=_HERE / "stepper.css",
    at_pause=True,
    traits={
        "stop": state(Stop),
        "stepping": state(SteppingOptions),
        "evaluations": state(list[Evaluation]),
        "gradient": state(GradientCheck),
        "watches": state(list[Evaluation]),
        "local_plot": state(LocalPlot),
        "local_numbers": state(bytes),
    },
    messages={"peek": Message(Peek), "local_capture": Message(LocalCapture)},
    actions={
        "resume": Action({"command": str}, resume),
        "run_to_line": Action({"line": int}, run_to_line),
        "step_back": Action({}, step_back),
        "step_forward": Action({}, step_forward),
        "show_operator": Action({"index": int}, show_operator),
        "show_frame": Action({"index": int}, show_frame),
        "post_mortem": Action({}, post_mortem),
        "evaluate": Action({"expression": str}, evaluate),
        "edit": Action({"name": str, "expression": str}, edit),
        "check_gradient": Action({}, check_gradient),
        "set_breakpoint_at": Action({"line": int, "condition": str, "log": str}, set_breakpoint_at, chooses=True),
        "set_just_my_code": Action({"on": bool}, set_just_my_code, chooses=True),
        "remove_breakpoint_at": Action({"line": int}, remove_breakpoint_at, chooses=True),
        "watch_expression": Action({"expression": str}, watch_expression, chooses=True),
        "unwatch_expression": Action({"expression": str}, unwatch_expression, chooses=True),
        "peek": Action({"expression": str}, peek, background=True),
        "select_local": Action({"name": str, "part": str}, select_local),
        "open_local": Action({"name": str, "part": str}, open_local),
    },
    constants={"COMMANDS": COMMANDS},
    publish=publish,
    static=Static(10, static_parts),
    sections=(Section(10, "Stop", stop_section), Section(30, "Gradients", gradients_html)),
)
