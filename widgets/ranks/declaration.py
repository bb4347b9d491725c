"""Types, traits and messages of the ranks' page, declared as for a view of a session."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypedDict

import traitlets

from hookscope.widgets.messages import Action
from hookscope.widgets.panel_view import Done
from hookscope.widgets.view import Message, View, state

TABS = ("captures", "parameters", "rank")
FIGURES = ("mean", "minimum", "maximum", "std", "norm", "nan", "shape")
"""The statistic shown for each value; "nan" is the number of NaN elements, "shape" is shape and dtype."""

COMMANDS = ("continue", "over", "into", "out", "cell")
ENDS = ("abort", "interrupt")
"""Buttons of the heading: those that resume paused ranks, and those that end the run."""


class RanksStatus(TypedDict):
    """The status of all ranks; `why_not` holds, by button, the reason why it is disabled, "" if it is enabled."""

    state: Literal["running", "paused", "idle", "ended"]
    text: str
    error: str
    why_not: dict[str, str]


class RankRow(TypedDict):
    """The status of one rank; `share` is its step as a fraction of that of the furthest rank."""

    rank: int
    state: Literal["runs", "idle", "paused", "held", "waits", "ended", "busy"]
    text: str
    step: int
    loss: str
    share: float
    behind: int


class RanksFinding(TypedDict):
    """One problem across ranks, and the table that shows it, "" for none."""

    condition: str
    step: int
    ranks: list[int]
    name: str
    text: str
    advice: str
    view: str


class RankCell(TypedDict):
    """A value of one rank in a table; `note` describes `mark` in words."""

    text: str
    mark: Literal["", "missing", "differs", "nan", "busy"]
    note: str


class RanksTableRow(TypedDict):
    """One value on all ranks; `same` if its bits are known to be equal, `marked` if something differs."""

    name: str
    detail: str
    same: bool
    marked: bool
    cells: list[RankCell]


class RanksTable(TypedDict, total=False):
    """A page of the captures or of the parameters of all ranks."""

    ranks: list[int]
    rows: list[RanksTableRow]
    note: str
    first: int
    total: int
    more: bool
    figure: str
    filter: str
    step: int
    newest: bool
    steps: tuple[int, int]
    bits: bool


class ChosenRank(TypedDict, total=False):
    """The rank whose own panel is shown, and that panel's model; `note` gives the reason if there is none."""

    rank: int
    model: str
    note: str


class RankAnswer(TypedDict):
    """The value of an expression on one rank."""

    rank: int
    text: str
    mark: Literal["", "differs", "error", "busy"]


class RanksAnswer(TypedDict):
    """The values of an expression on the requested ranks."""

    expression: str
    answers: list[RankAnswer]


RANKS_VIEW = View(
    name="ranks",
    title="Ranks",
    position=0,
    script=Path(__file__).parent / "ranks.js",
    style=Path(__file__).parent / "ranks.css",
    traits={
        "title": traitlets.Unicode().tag(sync=True, content=str),
        "tab": traitlets.Unicode("captures").tag(sync=True, content=str),
        "status": state(RanksStatus),
        "ranks": state(list[RankRow]),
        "findings": state(list[RanksFinding]),
        "captures": state(RanksTable),
        "parameters": state(RanksTable),
        "chosen": state(ChosenRank),
        "answers": state(list[RanksAnswer]),
    },
    messages={"done": Message(Done)},
    actions={
        "hello": Action({}, lambda panel: panel.page_drawn(), keeps_error=True),
        "show": Action({"tab": str}, lambda panel, tab: panel.look_at(tab), keeps_error=True),
        "command": Action({"command": str}, lambda panel, command: panel.command(command)),
        "figure": Action({"figure": str}, lambda panel, figure: panel.choose_figure(figure)),
        "step": Action({"by": int}, lambda panel, by: panel.go_step(by)),
        "turn": Action({"tab": str, "by": int}, lambda panel, tab, by: panel.turn(tab, by)),
        "find": Action({"tab": str, "text": str}, lambda panel, tab, text: panel.find(tab, text)),
        "bits": Action({"on": bool}, lambda panel, on: panel.choose_bits(on)),
        "refresh": Action({}, lambda panel: panel.refresh()),
        "reveal": Action(
            {"tab": str, "step": int, "name": str}, lambda panel, tab, step, name: panel.reveal(tab, step, name)
        ),
        "rank": Action({"rank": int}, lambda panel, rank: panel.choose_rank(rank)),
        "evaluate": Action(
            {"expression": str, "rank": int}, lambda panel, expression, rank: panel.evaluate(expression, rank)
        ),
    },
    constants={"COMMANDS": (*COMMANDS, *ENDS), "FIGURES": FIGURES},
)
"""For `rank`, -1 means all ranks; for `by`, 0 means the newest step."""
