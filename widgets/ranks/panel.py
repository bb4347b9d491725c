"""Panel of ranks: one widget in a notebook whose kernel is connected to several processes.

A thread requests the ranks' status and the data that the page shows, and publishes replies as they arrive. Requests
from the page are recorded and handled in that thread too, so that neither the kernel nor the other ranks wait for a
busy rank.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import wait
from itertools import count
from time import monotonic
from typing import Any, ClassVar, cast
from uuid import uuid4

from hookscope.engine.debug.faults import kernel_faults
from hookscope.widgets import texts
from hookscope.widgets.messages import MessageError, check_choice, checked
from hookscope.widgets.page import WIDGETS, constants_module, style_of
from hookscope.widgets.page.bundle import bundle
from hookscope.widgets.ranks.declaration import (
    COMMANDS,
    ENDS,
    FIGURES,
    RANKS_VIEW,
    TABS,
    ChosenRank,
    RankAnswer,
    RankRow,
    RanksAnswer,
    RanksFinding,
    RanksStatus,
    RanksTable,
)
from hookscope.widgets.ranks.fleet import Fleet
from hookscope.widgets.ranks.requests import Answer, Requests
from hookscope.widgets.ranks.static_form import ranks_html
from hookscope.widgets.ranks.status import (
    Status,
    finding_lines,
    is_status,
    overall_status,
    rank_rows,
    with_missing_ranks,
)
from hookscope.widgets.ranks.tables import PER_PAGE, Page, joined_page, most_frequent
from hookscope.widgets.saved_widget import SavedWidget

# Seconds between two requests: for the status while a rank works, for the status otherwise, for a table during a run.
_WORKING, _RESTING, _TABLE = 0.3, 2.0, 1.0
_STATIC_SECONDS = 1.0  # that a static form may wait for the ranks
_MOST_ANSWERS = 50
_NAMES = {"captures": "key", "parameters": "name"}
_ALL = -1


def _script() -> str:
    generated = {"static/ranks.js": constants_module([RANKS_VIEW])}
    return bundle("ranks/ranks.js", lambda name: generated.get(name) or (WIDGETS / name).read_text(encoding="utf-8"))


class _View:
    """One of the two tables: its current page and the ranks' replies about it."""

    def __init__(self, tab: str) -> None:
        self.tab = tab
        self.text = ""
        self.positions: list[list[Any] | None] = [None]  # for each page up to this one, the position that it follows
        self.bits = False
        self.request_number = 0  # the number of the newest request
        self.sent_numbers: dict[int, int] = {}  # by rank, the number of the last request sent
        self.page_replies: dict[
            int, tuple[int, Mapping[str, Any] | str]
        ] = {}  # by rank: number of last reply; page or error
        self.page = Page([], None, False)

    def restart(self) -> None:
        """Return to the first page."""
        self.positions = [None]


class RanksPanel(SavedWidget):
    """Panel with the ranks of a fleet next to each other, live while they run.

    Args:
        fleet: the ranks.
        name: the name of the code that the ranks run, as the panel's heading.
    """

    title: str
    tab: str
    status: RanksStatus
    ranks: list[RankRow]
    findings: list[RanksFinding]
    captures: RanksTable
    parameters: RanksTable
    chosen: ChosenRank
    answers: list[RanksAnswer]

    _esm: ClassVar[str] = _script()
    _css: ClassVar[str] = style_of([RANKS_VIEW])

    vars().update(RANKS_VIEW.traits)  # as in DebuggerPanel

    def __init__(self, fleet: Fleet, name: str = "") -> None:
        self._fleet = fleet
        self._name = name
        self._lock = threading.RLock()
        self._wake_event = threading.Event()
        self._closed = False
        self._error = ""
        self._statuses: dict[int, Status] = {rank: {"state": "busy"} for rank in fleet.ranks}
        self._requests = Requests(fleet, self._wake_event.set)
        self._views = {tab: _View(tab) for tab in _NAMES}
        self._figure = FIGURES[0]
        self._step: int | None = None  # None for the newest one
        self._next_status = self._next_table = 0.0
        self._is_stale = True
        self._requested_state: object = None
        self._rank: int | None = None
        self._open_panel: int | None = None
        self._panel_id = uuid4().hex
        self._questions = count(1)
        self._questions_by_number: dict[int, RanksAnswer] = {}
        self.title = name or "ranks"
        self._show_status()
        super().__init__()
        self.on_msg(self._received)
        self._unsubscribe = fleet.observe(self._request_status_now)
        self._thread = threading.Thread(target=self._work, name="hookscope ranks panel", daemon=True)
        self._thread.start()

    # Forms in a saved notebook

    def __repr__(self) -> str:
        parts = [*([self._name] if self._name else []), texts.counted(len(self._statuses), "rank")]
        return f"{type(self).__name__}({', '.join(parts)})"

    def subject_name(self) -> str:
        """Return a name for the code that the ranks run."""
        return self._name or "ranks"

    def snapshot_html(self) -> str:
        """Return the panel as static HTML, as a saved notebook shows it without a kernel."""
        with self._lock:
            tables = [("Captures", self.captures), ("Parameters", self.parameters)]
            rows = rank_rows(self._statuses)
            return ranks_html(self.title, overall_status(rows, "")["text"], rows, self.findings, cast(Any, tables))

    def _static(self) -> dict[str, str]:
        self._catch_up()
        return super()._static()

    def _catch_up(self) -> None:
        """Request the current status of all ranks; a rank that does not reply in time is shown by its last status."""
        with self._lock:
            if self._closed:
                return
            self._next_status = 0.0
            self._request_status(monotonic())
            for view in self._views.values():
                self._request_table(view, is_new=True)
            pending = self._requests.futures()
        wait(pending, _STATIC_SECONDS)
        with self._lock:
            self._take()
            self._show_status()
            for view in self._views.values():
                self._show_table(view)

    # Requests from the page; each handler returns at once

    def _received(self, _widget: object, content: object, _buffers: object) -> None:
        """Handle one action; any error becomes one line in the status."""
        action = content.get("type") if isinstance(content, Mapping) else None
        requested = RANKS_VIEW.actions.get(action) if isinstance(action, str) else None
        with self._lock:
            if requested is None or not requested.keeps_error:
                self._error = ""
            try:
                act, fields = checked(content, RANKS_VIEW.actions)
                act(self, **fields)
            except Exception as error:  # an error in a comm handler would be lost in the server's log
                self._error = str(error) if isinstance(error, MessageError) else texts.error_line(error)
            self._show_status()
            self.send({"type": "done", "action": action if isinstance(action, str) else ""})
        self._wake_event.set()

    def set_state(self, sync_data: object) -> None:
        """Reject the update: only Python writes state, and a page sends messages."""
        with self._lock:
            names = sorted(map(str, sync_data)) if isinstance(sync_data, Mapping) else [type(sync_data).__name__]
            self._error = f"a page cannot set {texts.one_line(', '.join(names), 80)}"
            self._show_status()

    def page_drawn(self) -> None:
        """Handle a newly drawn page: request the data that it shows."""
        self._drawn = self._is_stale = True

    def look_at(self, tab: str) -> None:
        """Select another tab."""
        check_choice("tab", tab, TABS)
        self.tab = tab
        self._is_stale = True

    def command(self, command: str) -> None:
        """Run the command of a heading button on all ranks."""
        check_choice("command", command, (*COMMANDS, *ENDS))
        why_not = overall_status(rank_rows(self._statuses), "")["why_not"][command]
        if why_not:
            raise MessageError(f"{command}: {why_not}")
        if command == "abort":
            self._fleet.abort()
        elif command == "interrupt":
            self._fleet.interrupt()
        else:
            self._fleet.resume(command)
        self._next_status = 0.0

    def choose_figure(self, figure: str) -> None:
        """Show another statistic of each value; the ranks' replies already contain all of them."""
        check_choice("figure", figure, FIGURES)
        self._figure = figure
        for view in self._views.values():
            self._show_table(view)

    def go_step(self, by: int) -> None:
        """Select the captures of an earlier or later step; 0 selects the newest and follows it."""
        view = self._views["captures"]
        self._step = None if not by else max(1, self._shown_step() + by)
        if self._step is not None and self._step >= self._newest_step():
            self._step = None
        view.restart()
        self._is_stale = True

    def turn(self, tab: str, by: int) -> None:
        """Turn to another page of a table; each request is for one page."""
        check_choice("tab", tab, tuple(self._views))
        view = self._views[tab]
        if by > 0 and view.page.more and view.page.last is not None:
            view.positions.append(view.page.last)
        elif by < 0 and len(view.positions) > 1:
            view.positions.pop()
        self._is_stale = True

    def find(self, tab: str, text: str) -> None:
        """Show only rows whose names contain these words."""
        check_choice("tab", tab, tuple(self._views))
        self._views[tab].text = texts.one_line(text, 200)
        self._views[tab].restart()
        self._is_stale = True

    def choose_bits(self, on: bool) -> None:
        """Choose whether the ranks send digests that show whether the bits of a page's parameters are equal."""
        self._views["parameters"].bits = on
        self._is_stale = True

    def refresh(self) -> None:
        """Request the visible data again."""
        self._is_stale = True

    def reveal(self, tab: str, step: int, name: str) -> None:
        """Show the table row that a finding refers to."""
        self.find(tab, name)
        if tab == "captures":
            self._step = step if step > 0 and step != self._newest_step() else None
        self.look_at(tab)

    def choose_rank(self, rank: int) -> None:
        """Show a rank's own panel."""
        if rank not in self._statuses:
            raise MessageError(f"there is no rank {rank}; there are {len(self._statuses)}")
        self._rank = rank
        self.look_at("rank")

    def evaluate(self, expression: str, rank: int) -> None:
        """Request the value of an expression on a rank, or on all ranks."""
        expression = expression.strip()
        living = [member.rank for member in self._fleet.living]
        targets = living if rank == _ALL else [rank]
        if not expression:
            raise MessageError("there is no expression")
        if rank != _ALL and rank not in self._statuses:
            raise MessageError(f"there is no rank {rank}; there are {len(self._statuses)}")
        if not living or any(target not in living for target in targets):
            raise MessageError("all ranks have ended" if not living else f"rank {rank} has ended")
        number = next(self._questions)
        for target in targets:
            self._requests.ask(("evaluate", number), target, "evaluate", expression=expression)
        answers: list[RankAnswer] = [{"rank": target, "text": "…", "mark": "busy"} for target in targets]
        self._questions_by_number[number] = {"expression": texts.one_line(expression), "answers": answers}
        while len(self._questions_by_number) > _MOST_ANSWERS:
            del self._questions_by_number[next(iter(self._questions_by_number))]
        self._show_answers()

    # Worker thread

    def _request_status_now(self) -> None:
        self._next_status = 0.0
        self._wake_event.set()

    def _work(self) -> None:
        while not self._closed:
            self._wake_event.clear()
            try:
                with self._lock:
                    if self._closed:
                        return
                    delay = self._run_once(monotonic())
            except Exception as error:  # a fault of the panel; the page stays unchanged
                self._error, delay = f"the panel could not be updated: {texts.error_line(error)}", _RESTING
                kernel_faults().report_fault("the panel of ranks", error)
            if delay is None:
                return
            self._wake_event.wait(delay)

    def _run_once(self, now: float) -> float | None:
        """Process replies, send due requests and publish; return the seconds until the next turn, None at the end."""
        self._take()
        self._request_status(now)
        self._show_status()
        self._request_visible_data(now)
        for view in self._views.values():
            self._show_table(view)
        self._show_answers()
        if not self._fleet.living:
            return None
        busy = bool(self._requests.futures())
        due = min(self._next_status, self._next_table if self._works() else self._next_status)
        return max(0.02, min(due - now, _WORKING if busy else _RESTING))

    def _works(self) -> bool:
        return any(status.get("state") in ("runs", "waits", "busy") for status in self._statuses.values())

    def _request_status(self, now: float) -> None:
        living = {member.rank for member in self._fleet.living}
        for rank, status in self._statuses.items():
            if rank not in living and status.get("state") != "ended":
                departure = self._fleet.ranks[rank].remote.gone
                self._statuses[rank] = {**status, "state": "ended", "reason": departure.removeprefix(f"rank {rank} ")}
        if now < self._next_status:
            return
        for rank in living:
            self._requests.ask("status", rank, "status")
        self._next_status = now + (_WORKING if self._works() else _RESTING)

    def _request_visible_data(self, now: float) -> None:
        statuses = [
            (rank, status.get("state"), status.get("step"), status.get("captured"))
            for rank, status in self._statuses.items()
        ]
        changed = statuses != self._requested_state and (not self._works() or now >= self._next_table)
        if not self._drawn or not (self._is_stale or changed):
            view = self._views.get(self.tab)
            if self._drawn and view is not None:
                self._request_table(view, is_new=False)
            return
        self._requested_state, self._is_stale, self._next_table = statuses, False, now + _TABLE
        if self.tab == "rank":
            self._request_panel()
        else:
            self._request_table(self._views[self.tab], is_new=True)

    def _request_table(self, view: _View, is_new: bool) -> None:
        """Request the visible page from all ranks; a rank with a pending request gets the new one after its reply."""
        if is_new:
            view.request_number += 1
        if not view.request_number:
            return
        fields: dict[str, Any] = {"after": view.positions[-1], "count": PER_PAGE, "text": view.text}
        if view.tab == "captures":
            fields |= {"step": self._shown_step(), "bits": not self._works()}
        else:
            fields["bits"] = view.bits
        for member in self._fleet.living:
            rank = member.rank
            if view.sent_numbers.get(rank) != view.request_number and self._requests.ask(
                view.tab, rank, view.tab, **fields
            ):
                view.sent_numbers[rank] = view.request_number

    def _request_panel(self) -> None:
        living = [member.rank for member in self._fleet.living]
        if self._rank is None:
            paused = (rank for rank, status in self._statuses.items() if status.get("state") == "paused")
            self._rank = next(paused, next(iter(living), 0))
        if self._open_panel not in (None, self._rank) and self._open_panel in living:
            self._requests.ask("closing", self._open_panel, "panel", of=self._panel_id, open=False)
        if self._open_panel != self._rank:
            self._open_panel = None
            self.chosen = {"rank": self._rank, "note": "" if self._rank in living else "this rank has ended"}
            if self._rank in living and self._requests.ask("panel", self._rank, "panel", of=self._panel_id):
                self._open_panel = self._rank

    def _take(self) -> None:
        for answer in self._requests.take_answers():
            if answer.topic == "status":
                if not answer.error and not is_status(answer.value):
                    self._error = f"rank {answer.rank} replied without a status: {texts.one_line(repr(answer.value))}"
                elif not answer.error and answer.value != self._statuses[answer.rank]:
                    self._statuses[answer.rank] = answer.value
                    self.changed = True
            elif answer.topic == "panel":
                self._take_panel(answer)
            elif isinstance(answer.topic, tuple):
                self._take_evaluated(answer)
            elif (view := self._views.get(answer.topic)) is not None:
                number = view.sent_numbers.get(answer.rank, 0)
                view.page_replies[answer.rank] = number, answer.error or answer.value

    def _take_panel(self, answer: Answer) -> None:
        if answer.rank != self._rank:
            return
        if answer.error:
            self._open_panel = None
            self.chosen = {"rank": answer.rank, "note": texts.one_line(_of_error(answer.error))}
        else:
            self.chosen = {"rank": answer.rank, "model": str(answer.value["model"]), "note": ""}

    def _take_evaluated(self, answer: Answer) -> None:
        question = self._questions_by_number.get(answer.topic[1]) if isinstance(answer.topic, tuple) else None
        for entry in () if question is None else question["answers"]:
            if entry["rank"] == answer.rank:
                text = answer.error or str(answer.value.get("short") or answer.value["text"])
                entry |= {"text": texts.one_line(text), "mark": "error" if answer.error else ""}

    # Publishing; an unchanged trait is not sent

    def _show_status(self) -> None:
        requests = self._requests
        statuses = {
            rank: {**status, "state": "busy"}
            if requests.is_busy("status", rank) and status.get("state") != "ended"
            else status
            for rank, status in self._statuses.items()
        }
        rows = rank_rows(with_missing_ranks(statuses))
        self.ranks = rows
        self.status = overall_status(rows, self._error)
        self.findings = finding_lines(self._fleet.findings())

    def _show_answers(self) -> None:
        published: list[RanksAnswer] = []
        for number, question in self._questions_by_number.items():
            values = [entry["text"] for entry in question["answers"] if entry["mark"] not in ("busy", "error")]
            common_text = most_frequent(values)
            answers: list[RankAnswer] = []
            for entry in question["answers"]:
                if entry["mark"] == "busy":
                    is_late = self._requests.is_busy(("evaluate", number), entry["rank"])
                    answers.append({**entry, "text": "busy" if is_late else "…"})
                elif entry["mark"] != "error" and (
                    _nonfinite(entry["text"]) if common_text is None else entry["text"] != common_text
                ):
                    answers.append({**entry, "mark": "differs"})
                else:
                    answers.append({**entry})
            published.append({"expression": question["expression"], "answers": answers})
        self.answers = published

    def _show_table(self, view: _View) -> None:
        """Show the page once all ranks have replied, or all but busy ones."""
        living = [member.rank for member in self._fleet.living]
        if not view.request_number or not living:
            return
        current = {
            rank: reply for rank in living if (reply := view.page_replies.get(rank)) and reply[0] == view.request_number
        }
        busy_ranks = [rank for rank in living if rank not in current and self._requests.is_busy(view.tab, rank)]
        if not current or len(current) + len(busy_ranks) < len(living):
            return
        pages = {rank: reply[1] for rank, reply in current.items() if not isinstance(reply[1], str)}
        errors = [f"rank {rank}: {_of_error(reply[1])}" for rank, reply in current.items() if isinstance(reply[1], str)]
        page_by_rank: dict[int, Any] = {rank: pages.get(rank) for rank in living if rank in pages or rank in busy_ranks}
        coming = [rank for rank in page_by_rank if view.tab == "captures" and self._is_in(self._shown_step(), rank)]
        view.page = joined_page(page_by_rank, self._figure, _NAMES[view.tab], coming)
        table: RanksTable = {
            "ranks": list(page_by_rank),
            "rows": view.page.rows,
            "note": texts.one_line("; ".join(errors)),
            "first": (len(view.positions) - 1) * PER_PAGE,
            "more": view.page.more,
            "figure": self._figure,
            "total": max((page["total"] for page in pages.values()), default=0),
            "filter": view.text,
        }
        if view.tab == "captures":
            self.captures = {**table, **self._steps(list(pages.values()))}
        else:
            if view.bits:
                table["rows"] = sorted(table["rows"], key=lambda row: not row["marked"])
            self.parameters = {**table, "bits": view.bits}

    def _is_in(self, step: int, rank: int) -> bool:
        status = self._statuses[rank]
        return status.get("step") == step and status.get("state") in ("runs", "paused", "held", "waits")

    def _steps(self, pages: list[Mapping[str, Any]]) -> RanksTable:
        oldest = max((page["steps"][0] for page in pages), default=0)
        return {"step": self._shown_step(), "newest": self._step is None, "steps": (oldest, self._newest_step())}

    def _shown_step(self) -> int:
        return self._newest_step() if self._step is None else self._step

    def _newest_step(self) -> int:
        """Return the newest step common to all living ranks; while they run, the newest that all have completed."""
        living = [member.rank for member in self._fleet.living]
        steps = [int(self._statuses[rank].get("step") or 0) for rank in living]
        newest = min((step for step in steps if step), default=0)
        return max(1, newest - 1) if newest and self._works() else newest

    def close(self) -> None:
        """Stop sending requests and remove the widget from the page."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._unsubscribe()
        self._wake_event.set()
        if self._open_panel in [member.rank for member in self._fleet.living]:
            self._fleet.ask("panel", [self._open_panel], of=self._panel_id, open=False)
        if self.comm is not None:
            self.layout.close()
        super().close()


def _nonfinite(text: str) -> bool:
    return text in ("nan", "inf", "-inf")


def _of_error(error: str) -> str:
    """Return an error's message without its class, which is irrelevant to a reader of several ranks."""
    return error.removeprefix("ValueError: ")
