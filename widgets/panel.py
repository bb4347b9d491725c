"""The debugger panel: one widget over one `DebugSession`, made of views.

State flows one way: the session changes, Python writes traits (and sends captures as they arrive), the browser draws
them. Actions flow back as small messages, each validated against the tables of the panel's views. A handler may run in
the paused thread of a running cell, so handlers never block.

Only the selected view is kept up to date, so that the cost does not grow with the number of views. The others are
updated when they are selected, and occasionally during a run, since a busy kernel does not handle a selection.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from itertools import cycle
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import traitlets

from hookscope.widgets import page, progress_view, texts
from hookscope.widgets.choices import of_panel
from hookscope.widgets.choices.clicks import recorded
from hookscope.widgets.heading import heading
from hookscope.widgets.messages import Actions, MessageError, check_choice, checked, checked_traits
from hookscope.widgets.network_check import replacement_message
from hookscope.widgets.panel_view import PANEL_VIEW
from hookscope.widgets.saved_widget import SavedWidget
from hookscope.widgets.static_html import snapshot
from hookscope.widgets.throttle import Throttle
from hookscope.widgets.view import refuse_clashes
from hookscope.widgets.views import TABS, VIEWS, checked_views

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, Event

# Seconds of statistics in one update: short while user code is blocked, longer when it waits anyway.
_LIVE_BUDGET = 0.004
_IDLE_BUDGET = 0.05
# Shares of a run's time that updates may take: of the selected view, and of the others.
_SHARE = 0.02
_SHARE_OF_OTHERS = 0.01
# Seconds that the server and the page process an update before drawing; drawing has its own pacing (static/pace.js).
# Measured in JupyterLab 4.6 on two cores (python -m benchmarks panel_times).
_PAGE_SECONDS = 0.005
# Seconds at the start of a run that update only the selected view, which a user who steps waits for.
_SELECTED_ONLY_SECONDS = 1.0
# Values computed within this many seconds are not recomputed for a newly drawn page.
_FRESH_SECONDS = 1.0
# Characters of a failure in the status, and in its tooltip.
_SHORT = 90
_LONG = 2000
# Seconds without a capture after which a watching session is idle, so that updates block no code.
_IDLE_SECONDS = 0.5


Memory = TypeVar("Memory")

refuse_clashes((PANEL_VIEW, *VIEWS.values()))


class DebuggerPanel(SavedWidget):
    """Tabs with views of a session, live while it runs; a single view has no tab.

    Args:
        session: the session.
        views: names of views in `hookscope.widgets.views.VIEWS`; by default all except parts of others.
        namespace: the namespace in which hooks from the panel run; by default the notebook's.
        clock: returns the time in seconds.

    Attributes:
        view: the name of the selected view; assign to select another.
        selected: the index of the selected capture, or -1; assign to it, or link it to another widget's.
        seen: whether a page has replied to `ask_who_sees` that the panel is visible; None before the first reply.
        removals: how often a page has removed a view of the panel, as when a user clears outputs.
        replaced: a sentence about the network that has replaced the watched one; None if it is the same.

    Raises:
        TypeError: ``session`` is not a session.
        ValueError: ``views`` is empty, repeats a name, or contains an unknown one.
    """

    session: DebugSession
    views: list[Any]

    _esm: ClassVar[str] = page.script()
    _css: ClassVar[str] = page.style()

    # The views declare the traits; a class statement has no other way to take them from data.
    vars().update({name: trait for view in (PANEL_VIEW, *VIEWS.values()) for name, trait in view.traits.items()})

    def __init__(
        self,
        session: DebugSession,
        *,
        views: Iterable[str] = TABS,
        namespace: dict[str, Any] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._unsubscribe: Callable[[], None] = _nothing
        self.seen: bool | None = None
        self.removals = 0
        self._sight_requested = False
        self.replaced: str | None = None
        self.progress_view = progress_view.ProgressView(session, self._show_progress, clock)
        if not hasattr(session, "observe"):
            raise TypeError(f"session must be a DebugSession, got {type(session).__name__}")
        names = checked_views(views)
        self.session = session
        self.namespace = sys.modules["__main__"].__dict__ if namespace is None else namespace
        self.clock = clock
        self._memories: dict[Callable[[DebuggerPanel], Any], Any] = {}
        self._views = [VIEWS[name] for name in names]
        publishers = (view.publish_always for view in self._views if view.publish_always)
        self._publish_always = list(dict.fromkeys(publishers))
        # An attached session follows any run, and the end of a run is not reported to it.
        self._running_state = "watching" if session.attached else "running"
        self.state = "paused" if session.paused is not None else "watching" if session.attached else "ready"
        self._at_pause = next((view.name for view in self._views if view.at_pause), "")
        self._error = ""
        self._actions: Actions = {k: v for view in (PANEL_VIEW, *self._views) for k, v in view.actions.items()}
        self._view_due = Throttle(clock, share=_SHARE, page_seconds=_PAGE_SECONDS)
        self._other_views_due = Throttle(clock, share=_SHARE_OF_OTHERS, page_seconds=_PAGE_SECONDS)
        self._view_cycle = cycle(names)
        self._has_backlog = False  # whether the page knows that updates were deferred
        self._is_handling = False  # whether a message is being handled
        self._has_changes = False  # whether that message has changed something
        self._publication_time = float("-inf")
        self._capture_time = float("-inf")  # time of the last capture: a watching session may be idle
        self._publish_lock = threading.RLock()
        # State that is set before the widget opens is sent to the page with its first message.
        self.views = list(names)
        at_pause = self._at_pause if session.shown is not None else ""
        self.view = at_pause or of_panel.chosen_view(session, names) or names[0]
        of_panel.restore(self)
        for name, follow in dict.fromkeys(item for view in self._views for item in view.follow.items()):
            self.observe(partial(self._follow_trait, follow), name)
        self._publish(0.0)
        super().__init__()
        self.on_msg(self._received)
        self._unsubscribe = session.observe(self._observed)
        self.progress_view.begin(self.comm)

    def __repr__(self) -> str:
        if "session" not in self.__dict__:
            return f"{type(self).__name__}(closed)"
        return snapshot.summary(self.session, self.views, type(self).__name__)

    def subject_name(self) -> str:
        """Return a name for the network that the panel shows."""
        return texts.root_name(self.session)

    def snapshot_html(self) -> str:
        """Return the panel as static HTML, as a saved notebook shows it without a kernel."""
        return snapshot.panel_html(self.session, self.views)

    # Events of the session.

    def _observed(self, event: Event) -> None:
        """Follow an event of the session, in the thread of the user's code, without raising into it."""
        try:
            if event == "captured":
                self.captured = True
                self._capture_time = self.clock()
                if self._capture_time >= self.renew_at:
                    self.renew_due()
                if self.state == self._running_state and not (self._drawn and self._is_due()):
                    return
            else:
                self.changed = True
            if event == "changed" and self._is_handling:
                self._has_changes = True
                return
            with self._publish_lock:
                self._follow(event)
        except Exception as error:  # a fault of the panel must not stop the user's training
            self._failed("the panel", error)

    def _failed(self, what: str, error: Exception) -> None:
        """Report an exception in the panel: in its status, and as a fault of the debugger."""
        self._error = f"the panel could not be updated: {texts.error_line(error)}"
        if not self.session.report_fault(what, error):
            raise error

    def _publish_view(self, name: str, budget: float) -> None:
        """Update a view; a view that raises stays unchanged and the others are still shown."""
        try:
            VIEWS[name].publish(self, budget)
        except Exception as error:
            self._failed(f"the view {name!r}", error)

    def _is_due(self) -> bool:
        return self._view_due.due() or not self._has_backlog

    def _follow(self, event: Event) -> None:
        self.progress_view.follow(event)
        if event == "paused":
            self.state = "paused"
            if self.running_cell is not None:
                _, self.paused_cell = self.running_cell()
            if self._at_pause and self.view != self._at_pause:
                with self.hold_sync():
                    self.view = self._at_pause  # assigning publishes it
            else:
                self._publish(_IDLE_BUDGET)
        elif event == "finished":
            self.state = "finished"
            of_panel.finish(self)
            self._publish(_IDLE_BUDGET)
        elif event == "attached":
            if self.state == "finished":
                self.state = self._running_state = "watching"
            self._publish(_IDLE_BUDGET)
        elif event == "resumed":
            if self.state != "finished":  # a session that is detached while paused finishes first
                self.goes_on()
        else:
            # An expression that is evaluated at a pause may run a hook.
            began = event == "captured" and self.session.paused is None and self.state != self._running_state
            if began:
                self.goes_on()
            if began or self._view_due.due():
                self._publish(_LIVE_BUDGET)
                self._publish_next_view()
            else:
                self._announce_backlog()

    def _announce_backlog(self) -> None:
        """Notify the page that more data is available, which it may request later."""
        if not self._has_backlog:
            self._has_backlog = True
            self.send({"type": "backlog"})

    def goes_on(self) -> None:
        """Mark the run as begun or resumed."""
        self.state = self._running_state
        self._other_views_due.wait(_SELECTED_ONLY_SECONDS)
        self.publish_status()

    def _publish(self, budget: float) -> None:
        """Update the selected view and the parts next to every view."""
        with self._publish_lock, self._view_due.spend():
            self._has_backlog = False
            with self.hold_sync():
                try:
                    self.title = texts.root_name(self.session)
                    self.publish_status()
                    self.heading = heading(self.session)
                    of_panel.publish(self)
                    for publish in self._publish_always:
                        publish(self, budget)
                except Exception as error:
                    self._failed("the parts next to every view", error)
            self._publish_view(self.view, budget)
            self._publication_time = self.clock()

    def _publish_next_view(self) -> None:
        if not self._other_views_due.due():
            return
        with self._publish_lock, self._other_views_due.spend():
            name = next(self._view_cycle)
            if name != self.view:
                self._publish_view(name, 0.0)

    def _show_progress(self, progress: progress_view.Progress) -> None:
        with self._publish_lock:
            self.progress = progress

    def publish_status(self) -> None:
        """Publish the run's status and the last error."""
        self.status = {
            "state": self.state,
            "text": self._status_text(_SHORT),
            "full": self._status_text(_LONG),
            "failed": self.session.failure is not None and self.session.paused is None,
            "error": self._error,
            "watching": self.session.attached,
            "cell": self._paused_cell_id(),
        }

    def _paused_cell_id(self) -> str:
        """Return the identifier of the paused cell; "" for one that is known by its text only, which has spaces."""
        return self.paused_cell if self.state == "paused" and " " not in self.paused_cell else ""

    def _status_text(self, limit: int) -> str:
        point = self.session.paused
        if point is not None and self.state == "paused":
            return f"paused in {point.place}"
        skip_count = len(self.session.skipped_pauses)
        reason = self.session.no_pauses
        failure = self.session.failure
        failed = "" if failure is None else texts.one_line(failure.summary, limit)
        if self.state == "finished":
            pauses = (
                f"{skip_count} {'pause' if skip_count == 1 else 'pauses'} skipped: {reason or 'nobody could answer'}"
            )
            return self.replaced or (failed or "finished, no longer watching") + (f"; {pauses}" if skip_count else "")
        pausing = self.session.breakpoints or self.session.step_bprop or self.session.checks.pausing
        eagerly = "compiled calls run eagerly" if self.session.runs_eagerly else ""
        return "; ".join(part for part in (failed, self.state, reason if pausing else "", eagerly) if part)

    # Requests from the page.

    def _received(self, _widget: object, content: object, _buffers: object) -> None:
        """Handle one action; any error becomes one line in the status."""
        action = content.get("type") if isinstance(content, Mapping) else None
        action_row = self._actions.get(action) if isinstance(action, str) else None
        if action_row is None or not (action_row.background or action_row.keeps_error):
            self._error = ""
        # Long work that a message started may handle further messages meanwhile.
        outermost, self._is_handling = not self._is_handling, True
        try:
            act, fields = checked(content, self._actions)
            with recorded(self) if action_row is not None and action_row.chooses else nullcontext():
                act(self, **fields)
        except Exception as error:  # an error in a comm handler would be lost in the server's log
            self._error = str(error) if isinstance(error, MessageError) else texts.error_line(error)
        finally:
            self._is_handling = not outermost
        if self._has_changes:
            self._has_changes = False
            self.sync()
        self.progress_view.look()
        self.publish_status()
        self.send({"type": "done", "action": action if isinstance(action, str) else ""})

    def set_state(self, sync_data: object) -> None:
        """Accept the traits that a page may write; report others in the status."""
        accepted, problem = checked_traits(self, sync_data)
        super().set_state(accepted)
        if problem:
            self._error = problem
            self.publish_status()

    def sync(self) -> None:
        """Update the selected view now."""
        self._publish(_IDLE_BUDGET)

    def when_due(self, act: Callable[[], None]) -> None:
        """Handle a page's background request if it is due or no code runs; otherwise defer it and notify the page."""
        runs = self.state == self._running_state and self.clock() - self._capture_time < _IDLE_SECONDS
        if runs and not self._view_due.due():
            self._announce_backlog()
            return
        with self._publish_lock, self._view_due.spend():
            act()

    def asked_again(self) -> None:
        """Handle the page's request for updates that were deferred."""
        self._has_backlog = False
        self.when_due(self.sync)

    def page_drawn(self) -> None:
        """Handle a newly drawn page, which has the traits: resend the data that is not in traits."""
        self._drawn = True
        if self._sight_requested:  # the page was not drawn yet when the request was sent
            self.send({"type": "look"})
        for restart in dict.fromkeys(view.restart for view in self._views if view.restart):
            restart(self)
        if VIEWS[self.view].restart or self.clock() - self._publication_time > _FRESH_SECONDS:
            self.sync()

    def look_at(self, view: str) -> None:
        """Select another view."""
        check_choice("view", view, tuple(self.views))
        self.view = view

    @traitlets.validate("view")
    def _checked_view(self, proposal: Any) -> str:
        if proposal["value"] not in self.views:
            raise ValueError(f"view must be one of {', '.join(self.views)}, got {proposal['value']!r}")
        return str(proposal["value"])

    @traitlets.observe("view")
    def _view_chosen(self, _change: object) -> None:
        if self.comm is not None:
            self.sync()

    def _follow_trait(self, follow: Callable[[DebuggerPanel], None], _change: object) -> None:
        with self._publish_lock:
            follow(self)

    def memory(self, make: Callable[[DebuggerPanel], Memory]) -> Memory:
        """Return a view's memory for this panel, created on first use."""
        if make not in self._memories:
            self._memories[make] = make(self)
        value: Memory = self._memories[make]
        return value

    def ask_who_sees(self) -> None:
        """Ask each page that shows the panel whether it is visible; replies set `seen`."""
        self.seen = None
        self._sight_requested = True
        self.send({"type": "look"})

    def answer_seen(self, visible: bool) -> None:
        """Handle a page's report on whether the panel is visible there."""
        self._sight_requested = False
        self.seen = visible or bool(self.seen)  # one page with a visible panel is enough

    def answer_gone(self) -> None:
        """Handle a page's report that it has removed the panel."""
        self.removals += 1

    def watch_again(self) -> None:
        """Attach to the network again, to follow later cells."""
        problem = replacement_message(self.session, self.namespace)
        if problem is not None:
            raise MessageError(problem)
        self.session.attach()

    def close(self) -> None:
        """Stop following the session and remove the widget from the page.

        It also releases the session: a notebook keeps the outputs of its cells, and would keep the captures with them.
        """
        if "session" not in self.__dict__:  # ipywidgets closes a widget again when it is garbage collected
            return
        self._unsubscribe()
        self._unsubscribe = _nothing
        self.progress_view.close()
        for view in self._views:
            if view.close:
                view.close(self)
        if self.comm is not None:
            self.layout.close()  # a separate widget that ipywidgets leaves open
        super().close()
        for part in ("session", "progress_view", "_memories"):
            del self.__dict__[part]


def _nothing() -> None:
    """Do nothing; replaces the unsubscribe function of a closed panel."""
