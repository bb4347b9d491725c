"""The debugger panel: one widget over one `DebugSession`, made of views.

State flows one way: the session changes, Python writes traits (and sends captures as they come), the browser draws
them. Actions flow back as small messages, each checked against the tables of the views that the panel has. A handler
may run in the paused thread of a running cell, so none of them waits.

Only the view that is looked at is kept up to date, so that what it costs does not grow with the number of views. The
others are brought up to date when they are chosen; during a run now and then, for a busy kernel answers no choice.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import cycle
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import traitlets

from hookscope.widgets import page, progress_view, snapshot, texts
from hookscope.widgets.heading import heading
from hookscope.widgets.kept import Kept
from hookscope.widgets.messages import Actions, MessageError, checked, checked_traits, one_of
from hookscope.widgets.named import named_anew
from hookscope.widgets.own import OWN
from hookscope.widgets.throttle import Throttle
from hookscope.widgets.view import refuse_clashes
from hookscope.widgets.views import VIEWS, WHOLE, checked_views

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, Event

# Seconds of statistics in one update: little while the user's code is held up, more when it waits anyway.
_LIVE_BUDGET = 0.004
_IDLE_BUDGET = 0.05
# The shares of a run's time that updates may take: of the view that is looked at, and of the others.
_SHARE = 0.02
_SHARE_OF_OTHERS = 0.01
# Seconds that the server and the page work on an update before anything of it is drawn; drawing has a pace of its own
# (static/pace.js). Measured in JupyterLab 4.6 on two cores (python -m benchmarks panel_times).
_BEYOND = 0.005
# So many seconds of a run are only for the view that is looked at: who steps waits for that.
_ONLY_ONE = 1.0
# A page that has just been drawn needs nothing again that was computed so many seconds ago.
_FRESH = 1.0
# A session that watches, and has captured nothing for so many seconds, has no code to hold up.
_STILL = 0.5


Memory = TypeVar("Memory")

refuse_clashes((OWN, *VIEWS.values()))


class DebuggerPanel(Kept):
    """Views of a session, live while it runs, as tabs; a single view stands without a tab.

    Args:
        session: the session.
        views: which views, by their names in `hookscope.widgets.views.VIEWS`; by default all but parts of others.
        namespace: where hooks that are written in the panel run; by default among the notebook's own names.
        clock: tells the time in seconds.

    Attributes:
        view: the name of the view that is looked at; set it to choose another.
        selected: the index of the selected capture, or -1; set it, or link it to another widget's.
        seen: whether a page has answered `ask_who_sees` that the panel can be seen there, or that it cannot; None
            while none has answered.
        gone: whether since then a page has taken the panel off.
        replaced: what there is in place of the network that was watched, as a sentence; None if it is the same.

    Raises:
        TypeError: ``session`` is no session.
        ValueError: ``views`` names a view that there is not, none, or one twice.
    """

    session: DebugSession
    views: list[Any]

    _esm: ClassVar[str] = page.script()
    _css: ClassVar[str] = page.style()

    # The traits are those that the views name; a class statement has no other way to take them from data.
    vars().update({name: trait for view in (OWN, *VIEWS.values()) for name, trait in view.traits.items()})

    def __init__(
        self,
        session: DebugSession,
        *,
        views: Iterable[str] = WHOLE,
        namespace: dict[str, Any] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._unsubscribe: Callable[[], None] = _nothing
        self.seen: bool | None = None
        self.gone = False
        self._asks = False
        self.replaced: str | None = None
        self.progress_view = progress_view.ProgressView(session, self._show_progress, clock)
        if not hasattr(session, "observe"):
            raise TypeError(f"session must be a DebugSession, got {type(session).__name__}")
        names = checked_views(views)
        self.session = session
        self.namespace = sys.modules["__main__"].__dict__ if namespace is None else namespace
        self.clock = clock
        self._memories: dict[Callable[[DebuggerPanel], Any], Any] = {}
        self._parts = [VIEWS[name] for name in names]
        beside = (view.publish_beside for view in self._parts if view.publish_beside)
        self._publish_beside = list(dict.fromkeys(beside))
        # A session that is attached already follows whatever runs: nobody tells when that has ended.
        self._active = "watching" if session.attached else "running"
        self.state = "paused" if session.paused is not None else "watching" if session.attached else "ready"
        self._at_pause = next((view.name for view in self._parts if view.at_pause), "")
        self._error = ""
        self._actions: Actions = {k: v for view in (OWN, *self._parts) for k, v in view.actions.items()}
        self._due = Throttle(clock, share=_SHARE, beyond=_BEYOND)
        self._others_due = Throttle(clock, share=_SHARE_OF_OTHERS, beyond=_BEYOND)
        self._others = cycle(names)
        self._behind = False  # whether the page knows that something was held back
        self._acting = False  # whether a message is being done,
        self._changed = False  # and whether it has changed something
        self._published = float("-inf")
        self._captured = float("-inf")  # when a value was last captured: a session that watches may have nothing to do
        self._publishing = threading.RLock()
        # What is set before the widget opens goes to the page with its first message.
        self.views = list(names)
        self.view = (self._at_pause if self.state == "paused" else "") or names[0]
        self._publish(0.0)
        super().__init__()
        self.on_msg(self._received)
        for name, follow in dict.fromkeys(item for view in self._parts for item in view.follow.items()):
            self.observe(partial(self._follow_trait, follow), name)
        self._unsubscribe = session.observe(self._observed)
        self.progress_view.begin(self.comm)

    def __repr__(self) -> str:
        if "session" not in self.__dict__:
            return f"{type(self).__name__}(closed)"
        return snapshot.summary(self.session, self.views, type(self).__name__)

    def of_what(self) -> str:
        """Name what the panel looks at."""
        return texts.root_name(self.session)

    def snapshot_html(self) -> str:
        """Return the panel as static HTML: what a saved notebook shows without a kernel."""
        return snapshot.panel_html(self.session, self.views)

    # What the session tells.

    def _observed(self, event: Event) -> None:
        """Follow the session, in whatever thread the user's code runs; never raise into it."""
        try:
            if event == "captured":
                self.captured = True
                self._captured = self.clock()
                if self._captured >= self.renew_at:
                    self.renew_due()
                if self.state == self._active and not (self._shown and self._is_due()):
                    return
            else:
                self.changed = True
            if event == "changed" and self._acting:
                self._changed = True
                return
            with self._publishing:
                self._follow(event)
        except Exception as error:  # a fault of the panel must not stop the user's training
            self._failed("the panel", error)

    def _failed(self, what: str, error: Exception) -> None:
        """Report that something of the panel raised: in its status, and as a fault of the debugger."""
        self._error = f"the panel could not be updated: {texts.error_line(error)}"
        if not self.session.forgives(what, error):
            raise error

    def _publish_view(self, name: str, budget: float) -> None:
        """Bring a view up to date; one that raises stays as it is, and the others are shown."""
        try:
            VIEWS[name].publish(self, budget)
        except Exception as error:
            self._failed(f"the view {name!r}", error)

    def _is_due(self) -> bool:
        return self._due.due() or not self._behind

    def _follow(self, event: Event) -> None:
        self.progress_view.follow(event)
        if event == "paused":
            self.state = "paused"
            if self._at_pause and self.view != self._at_pause:
                with self.hold_sync():
                    self.view = self._at_pause  # which publishes it
            else:
                self._publish(_IDLE_BUDGET)
        elif event == "finished":
            self.state = "finished"
            self._publish(_IDLE_BUDGET)
        elif event == "attached":
            if self.state == "finished":
                self.state = self._active = "watching"
            self._publish(_IDLE_BUDGET)
        elif event == "resumed":
            if self.state != "finished":  # a session that is detached while it is paused finishes first
                self.goes_on()
        else:
            # An expression that is evaluated at a pause may run a hook.
            began = event == "captured" and self.session.paused is None and self.state != self._active
            if began:
                self.goes_on()
            if began or self._due.due():
                self._publish(_LIVE_BUDGET)
                self._publish_another()
            else:
                self._hold_back()

    def _hold_back(self) -> None:
        """Tell the page that there is more than it has, and that it may ask for that later."""
        if not self._behind:
            self._behind = True
            self.send({"type": "later"})

    def goes_on(self) -> None:
        """The run goes on, or begins."""
        self.state = self._active
        self._others_due.wait(_ONLY_ONE)
        self.publish_status()

    def _publish(self, budget: float) -> None:
        """Bring the view that is looked at up to date, and what stands beside each view."""
        with self._publishing, self._due.spend():
            self._behind = False
            with self.hold_sync():
                try:
                    self.title = texts.root_name(self.session)
                    self.publish_status()
                    self.heading = heading(self.session)
                    for publish in self._publish_beside:
                        publish(self, budget)
                except Exception as error:
                    self._failed("what stands beside the views", error)
            self._publish_view(self.view, budget)
            self._published = self.clock()

    def _publish_another(self) -> None:
        if not self._others_due.due():
            return
        with self._publishing, self._others_due.spend():
            name = next(self._others)
            if name != self.view:
                self._publish_view(name, 0.0)

    def _show_progress(self, shown: progress_view.Progress) -> None:
        with self._publishing:
            self.progress = shown

    def publish_status(self) -> None:
        """Show how the run stands, and what went wrong last."""
        self.status = {
            "state": self.state,
            "text": self._status_text(),
            "error": self._error,
            "watching": self.session.attached,
        }

    def _status_text(self) -> str:
        point = self.session.paused
        if point is not None and self.state == "paused":
            return f"paused in {point.place}"
        missed = len(self.session.skipped_pauses)
        reason = self.session.no_pauses
        if self.state == "finished":
            told = f"{missed} {'pause' if missed == 1 else 'pauses'} skipped: {reason or 'nobody could answer'}"
            return self.replaced or "finished, no longer watching" + (f"; {told}" if missed else "")
        asked = self.session.breakpoints or self.session.step_bprop or self.session.checks.pausing
        eagerly = "compiled calls run eagerly" if self.session.runs_eagerly else ""
        return "; ".join(part for part in (self.state, reason if asked else "", eagerly) if part)

    # What the page asks.

    def _received(self, _widget: object, content: object, _buffers: object) -> None:
        """Do one action; whatever goes wrong becomes one line in the status."""
        action = content.get("type") if isinstance(content, Mapping) else None
        known = self._actions.get(action) if isinstance(action, str) else None
        if known is None or not (known.background or known.keeps_error):
            self._error = ""
        # During long work that a message started, others are done too.
        outermost, self._acting = not self._acting, True
        try:
            act, fields = checked(content, self._actions)
            act(self, **fields)
        except Exception as error:  # an error in a comm handler would be lost in the server's log
            self._error = str(error) if isinstance(error, MessageError) else texts.error_line(error)
        finally:
            self._acting = not outermost
        if self._changed:
            self._changed = False
            self.sync()
        self.progress_view.look()
        self.publish_status()
        self.send({"type": "done", "action": action if isinstance(action, str) else ""})

    def set_state(self, sync_data: object) -> None:
        """Take what a page wrote of the traits that are a page's to write; of the rest the status tells."""
        taken, wrong = checked_traits(self, sync_data)
        super().set_state(taken)
        if wrong:
            self._error = wrong
            self.publish_status()

    def sync(self) -> None:
        """Bring the view that is looked at up to date now."""
        self._publish(_IDLE_BUDGET)

    def when_due(self, act: Callable[[], None]) -> None:
        """Do what the page asks by itself; while code runs only when it is due, else the page is told to ask later."""
        runs = self.state == self._active and self.clock() - self._captured < _STILL
        if runs and not self._due.due():
            self._hold_back()
            return
        with self._publishing, self._due.spend():
            act()

    def asked_again(self) -> None:
        """The page was told that something was held back, and asks for it."""
        self._behind = False
        self.when_due(self.sync)

    def page_drawn(self) -> None:
        """A page was drawn: it has the state, and is sent again what is none."""
        self._shown = True
        if self._asks:  # it was not there yet when the question was sent
            self.send({"type": "look"})
        for restart in dict.fromkeys(view.restart for view in self._parts if view.restart):
            restart(self)
        if VIEWS[self.view].restart or self.clock() - self._published > _FRESH:
            self.sync()

    def look_at(self, view: str) -> None:
        """Look at another view."""
        one_of("view", view, tuple(self.views))
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
        with self._publishing:
            follow(self)

    def memory(self, make: Callable[[DebuggerPanel], Memory]) -> Memory:
        """Return what a view remembers for this panel, made when it is first asked for."""
        if make not in self._memories:
            self._memories[make] = make(self)
        found: Memory = self._memories[make]
        return found

    def ask_who_sees(self) -> None:
        """Ask each page that shows the panel whether a person can see it; `seen` and `gone` tell what came back."""
        self.seen = None
        self.gone = False
        self._asks = True
        self.send({"type": "look"})

    def answer_seen(self, visible: bool) -> None:
        """A page says whether a person can see the panel there."""
        self._asks = False
        self.seen = visible or bool(self.seen)  # one page in which it can be seen is enough

    def answer_gone(self) -> None:
        """A page has taken the panel off."""
        self.gone = True

    def watch_again(self) -> None:
        """Follow what later cells do with the network."""
        anew = named_anew(self.session, self.namespace)
        if anew is not None:
            raise MessageError(anew)
        self.session.attach()

    def close(self) -> None:
        """Stop following the session and remove the widget from the page.

        It lets go of the session too: a notebook keeps what its cells have shown, and would keep the captures with it.
        """
        if "session" not in self.__dict__:  # ipywidgets closes a widget again when it is collected
            return
        self._unsubscribe()
        self._unsubscribe = _nothing
        self.progress_view.close()
        for view in self._parts:
            if view.close:
                view.close(self)
        if self.comm is not None:
            self.layout.close()  # a widget of its own, which ipywidgets leaves open
        super().close()
        for part in ("session", "progress_view", "_memories"):
            del self.__dict__[part]


def _nothing() -> None:
    """Be what a closed panel has left to unsubscribe."""
