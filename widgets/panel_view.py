"""The panel's own state and messages, apart from its views: run status, long-running work, general messages."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypedDict

import traitlets

from hookscope.widgets import heading, progress_view
from hookscope.widgets.choices import of_panel
from hookscope.widgets.messages import Action
from hookscope.widgets.static_html import export
from hookscope.widgets.view import Message, View, state


class Status(TypedDict):
    """The run's status and the last error of the panel; `full` is the text without abbreviation.

    `failed` is whether the newest run ended with an error, which a post mortem can show. While it is paused, `cell` is
    the front end's identifier of the paused cell.
    """

    state: Literal["ready", "watching", "running", "paused", "finished"]
    text: str
    full: str
    failed: bool
    error: str
    watching: bool
    cell: str


class Look(TypedDict):
    """A request to report whether the panel is visible."""

    type: Literal["look"]


class Backlog(TypedDict):
    """A notice that more data is available, which the page may request later."""

    type: Literal["backlog"]


class Done(TypedDict):
    """A notice that a message has been handled."""

    type: Literal["done"]
    action: str


PANEL_VIEW = View(
    name="panel",
    title="Debugger",
    position=0,
    script=Path(__file__).parent / "static" / "panel.js",
    traits={
        "title": traitlets.Unicode().tag(sync=True, content=str),
        "views": state(list[str]),
        "view": traitlets.Unicode().tag(sync=True, content=str),
        "status": state(Status),
        "heading": state(heading.Heading, live=True),
        "progress": state(progress_view.Progress, live=True),
        "retained": state(of_panel.Retained),
    },
    messages={
        "look": Message(Look),
        "backlog": Message(Backlog),
        "done": Message(Done),
        "export": Message(export.Exported),
    },
    actions={
        "hello": Action({}, lambda panel: panel.page_drawn(), keeps_error=True),
        "sync": Action({}, lambda panel: panel.asked_again(), background=True),
        "show": Action({"view": str}, lambda panel, view: panel.look_at(view), keeps_error=True, chooses=True),
        "seen": Action({"visible": bool}, lambda panel, visible: panel.answer_seen(visible), background=True),
        "gone": Action({}, lambda panel: panel.answer_gone(), background=True),
        "watch_again": Action({}, lambda panel: panel.watch_again()),
        "forget_choices": Action({}, of_panel.forget_choices),
        **export.ACTIONS,
        **progress_view.ACTIONS,
    },
)
