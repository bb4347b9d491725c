"""The debugger panel: one widget over one `DebugSession`.

State flows one way: the session changes, Python writes traits (and sends captures as they come), the
browser draws them. Actions flow back as small messages `{"type": ..., ...}`, each checked against a row
of `_ACTIONS` or `_VIEW_ACTIONS`. A handler may run in the paused thread of a running cell, so none of them waits.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import anywidget
import traitlets
from IPython.display import display

from hookscope.widgets import (
    bundle,
    cells_view,
    conditions_view,
    export,
    hooks_view,
    parameters_view,
    snapshot,
    stepper_view,
    tensor_view,
    views,
)
from hookscope.widgets.throttle import Throttle

if TYPE_CHECKING:
    from IPython.display import DisplayHandle

    from hookscope.engine.debug import DebugSession

# Seconds of statistics in one update: little while the user's code is held up, more when it waits anyway.
_LIVE_BUDGET = 0.004
_IDLE_BUDGET = 0.05
_KEPT_EVALUATIONS = 20

# The fields of every message from the browser, and their types.
_ACTIONS: dict[str, dict[str, type]] = {
    "hello": {},
    "sync": {},
    "show": {"view": str},
    "hook": {"path": str, "kind": str, "on": bool},
    "train": {"path": str, "on": bool},
    "requires_grad": {"name": str, "on": bool},
    "resume": {"command": str},
    "step_back": {},
    "step_forward": {},
    "show_operator": {"index": int},
    "evaluate": {"expression": str},
    "select": {"index": int},
    "statistics": {"indices": list},
    "tensor": {"index": int, "other": int, "picture": str, "at": list, "window": list},
    "source": {"path": str},
}
# The messages of views with a module of their own: their fields, and what each does to the session.
_VIEW_ACTIONS: dict[str, tuple[dict[str, type], Callable[..., None]]] = {
    **cells_view.ACTIONS,
    **conditions_view.ACTIONS,
}
# The same for views that the panel itself answers for, where each is a function of the panel.
_PANEL_ACTIONS: dict[str, tuple[dict[str, type], Callable[..., None]]] = {
    **parameters_view.ACTIONS,
    **stepper_view.ACTIONS,
    **hooks_view.ACTIONS,
    **export.ACTIONS,
}
# What the page asks by itself; it must not wipe away the answer to what a person asked.
_BACKGROUND = ("hello", "sync", "show", "statistics", "tensor", "hook_log", "look_at_parameters", "preview_edit")
_VIEWS = ("cells", "captures", "parameters", "stepper", "conditions", "hooks")
_COMMANDS = ("over", "into", "out", "operator", "cell", "continue", "abort")


class DebuggerPanel(anywidget.AnyWidget):
    """Cells, captures, parameters and the stepper of a session, live while the session runs."""

    _esm: ClassVar[str] = bundle.bundle("panel.js")
    _css: ClassVar[str] = bundle.styles()

    title = traitlets.Unicode().tag(sync=True)
    view = traitlets.Unicode(_VIEWS[0]).tag(sync=True)
    status = traitlets.Dict().tag(sync=True)
    tree: traitlets.List[Any] = traitlets.List().tag(sync=True)
    parameters = traitlets.Dict().tag(sync=True)
    parameter_numbers = traitlets.Bytes().tag(sync=True)
    selection = traitlets.Dict().tag(sync=True)
    histogram = traitlets.Bytes().tag(sync=True)
    stop = traitlets.Dict().tag(sync=True)
    evaluations: traitlets.List[Any] = traitlets.List().tag(sync=True)
    gradient = traitlets.Dict().tag(sync=True)
    hooks = traitlets.Dict().tag(sync=True)
    hook_answer = traitlets.Dict().tag(sync=True)
    hook_log = traitlets.Dict().tag(sync=True)
    conditions = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        session: DebugSession,
        *,
        namespace: dict[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._unsubscribe: Callable[[], None] = _nothing
        self.printed = hooks_view.HookLog(lambda: hooks_view.publish_log(self), Throttle(clock, rate=10.0))
        super().__init__()
        if not hasattr(session, "observe"):
            raise TypeError(f"session must be a DebugSession, got {type(session).__name__}")
        self.session = session
        # A session that is attached already follows whatever runs: nobody tells when that has ended.
        self._active = "watching" if session.attached else "running"
        self._state = "paused" if session.paused is not None else "watching" if session.attached else "ready"
        self._error = ""
        self._feed = views.CaptureFeed(session)
        self.parameters_view = parameters_view.ParametersView(session, self.send, self._do_sync)
        # Where hooks that are written in the panel run: by default among the notebook's own names.
        self.namespace = sys.modules["__main__"].__dict__ if namespace is None else namespace
        # Two streams, so that the tables of a large network do not hold back the captures; together they
        # take at most a tenth of the user's time.
        self._captures_due = Throttle(clock)
        self._tables_due = Throttle(clock)
        self._publishing = threading.RLock()
        self._displays: tuple[DisplayHandle, DisplayHandle] | None = None
        self.on_msg(self._received)
        self._unsubscribe = session.observe(self._observed)
        self._publish(_IDLE_BUDGET)

    # What the session tells.

    def _observed(self, event: str) -> None:
        """Follow the session, in whatever thread the user's code runs; never raise into it."""
        if event == "captured" and self._state == self._active and not self._captures_due.due():
            return
        try:
            with self._publishing:
                self._follow(event)
        except Exception as error:  # a fault of the panel must not stop the user's training
            self._error = f"the panel could not be updated: {views.error_line(error)}"

    def _follow(self, event: str) -> None:
        if event == "paused":
            self._state = "paused"
            self.view = "stepper"
            self._publish(_IDLE_BUDGET)
        elif event == "finished":
            self._state = "finished"
            self._publish(_IDLE_BUDGET)
        elif event == "resumed":
            if self._state != "finished":  # a session that is detached while it is paused finishes first
                self._state = self._active
            self._publish_status()
        elif event == "captured":
            if self.session.paused is None:  # an expression that is evaluated at a pause may run a hook
                self._state = self._active
            self._publish(_LIVE_BUDGET, live=True)
        elif self._captures_due.due():
            self._publish(_LIVE_BUDGET, live=True)

    def _publish(self, budget: float, *, live: bool = False) -> None:
        """Write what changed to the traits; `live` keeps the tables' share of the user's time small."""
        with self._publishing:
            with self._captures_due.spend(), self.hold_sync():
                self._publish_status()
                self.publish_stop()
                self._publish_captures(budget)
            if live and not self._tables_due.due():
                return
            with self._tables_due.spend():
                with self.hold_sync():
                    self.title = views.root_name(self.session)
                    self.publish_cells()
                    self.conditions = conditions_view.conditions_view(self.session)
                    rows = self.parameters_view.rows()
                    self.parameters = parameters_view.parameter_texts(rows)
                    self.parameter_numbers = parameters_view.parameter_numbers(rows)
                # The page has these rows by now.
                self.parameters_view.publish(rows, budget)

    def _publish_status(self) -> None:
        with self._publishing:
            self.status = {"state": self._state, "text": self._status_text(), "error": self._error}

    def _publish_captures(self, budget: float) -> None:
        new = self._feed.take(budget)
        if new is not None:
            content, numbers = new
            self.send(content, [numbers])

    def publish_stop(self) -> None:
        """Show the stop that the session shows."""
        point = self.session.shown
        skipped = point is None and self._state == "finished" and bool(self.session.skipped_pauses)
        if skipped:
            point = self.session.skipped_pauses[-1]
        if point is not None:
            self.stop = views.stop_view(point, skipped, self.session.paused)

    def _status_text(self) -> str:
        point = self.session.paused
        if point is not None and self._state == "paused":
            return f"paused in {point.place}"
        missed = len(self.session.skipped_pauses)
        if self._state == "finished" and missed:
            return f"finished, {missed} {'pause' if missed == 1 else 'pauses'} skipped: nobody could answer"
        return self._state

    # What the browser asks.

    def _received(self, _widget: object, content: object, _buffers: object) -> None:
        """Do one action; whatever goes wrong becomes one line in the status."""
        action = content.get("type") if isinstance(content, Mapping) else None
        if action not in _BACKGROUND:
            self._error = ""
        try:
            fields = _checked(content)
            if action in _VIEW_ACTIONS:
                self._do_view_action(_VIEW_ACTIONS[action][1], fields)
            elif action in _PANEL_ACTIONS:
                _PANEL_ACTIONS[action][1](self, **fields)
            else:
                getattr(self, f"_do_{action}")(**fields)
        except Exception as error:  # an error in a comm handler would be lost in the server's log
            self._error = views.error_line(error) if not isinstance(error, _MessageError) else str(error)
        self._publish_status()
        self.send({"type": "done", "action": action if isinstance(action, str) else ""})

    def _do_hello(self) -> None:
        self._feed.restart()
        self.parameters_view.restart()
        self._publish(_IDLE_BUDGET)

    def _do_sync(self) -> None:
        self._publish(_IDLE_BUDGET)

    def _do_show(self, view: str) -> None:
        if view not in _VIEWS:
            raise _MessageError(f"unknown view {view!r}; it is one of {', '.join(_VIEWS)}")
        self.view = view

    def _do_hook(self, path: str, kind: str, on: bool) -> None:
        if kind not in views.KINDS:
            raise _MessageError(f"unknown hook kind {kind!r}; it is one of {', '.join(views.KINDS)}")
        (self.session.attach_hook if on else self.session.detach_hook)(path, kind)
        self.publish_cells()

    def _do_train(self, path: str, on: bool) -> None:
        self.session.set_train(path, on)
        self.publish_cells()

    def _do_requires_grad(self, name: str, on: bool) -> None:
        self.session.set_requires_grad(name, on)
        self._publish(_LIVE_BUDGET)

    def _do_view_action(self, act: Callable[..., None], fields: dict[str, Any]) -> None:
        act(self.session, **fields)
        with self._publishing, self.hold_sync():
            self.publish_cells()
            self.conditions = conditions_view.conditions_view(self.session)

    def _do_resume(self, command: str) -> None:
        if command not in _COMMANDS:
            raise _MessageError(f"unknown command {command!r}; it is one of {', '.join(_COMMANDS)}")
        if self.session.paused is None:
            raise _MessageError(f"cannot do {command!r}: the run is not paused")
        # The state changes first: the run may reach its next stop before resume() returns.
        self._state = self._active
        self._publish_status()
        try:
            self.session.resume(command)
        except Exception:  # whatever it was, the run still waits; _received reports it
            self._state = "paused"
            raise

    def _do_step_back(self) -> None:
        self.session.step_back()
        self.publish_stop()

    def _do_step_forward(self) -> None:
        self.session.step_forward()
        self.publish_stop()

    def _do_show_operator(self, index: int) -> None:
        self.session.show_operator(index)
        self.publish_stop()

    def _do_evaluate(self, expression: str) -> None:
        if self.session.paused is None:
            raise _MessageError("cannot evaluate: the run is not paused")
        try:
            text, failed = views.value_text(self.session.evaluate(expression), 4000), False
        except Exception as error:  # the user's expression may raise anything; it is the answer
            text, failed = views.error_line(error), True
        self.answer(expression, text, failed)

    def answer(self, expression: str, text: str, failed: bool) -> None:
        """Add to the answers that the stepper shows."""
        answer = {"expression": expression, "text": text, "failed": failed}
        self.evaluations = [*self.evaluations, answer][-_KEPT_EVALUATIONS:]

    def _do_select(self, index: int) -> None:
        found = self._feed.find([index])
        if not found:
            raise _MessageError(f"capture {index} is no longer kept")
        with self._publishing, self.hold_sync():
            self.selection, self.histogram = views.selection_view(found[0], self.session.captures)

    def _do_tensor(self, index: int, other: int, picture: str, at: list[Any], window: list[Any]) -> None:
        found = self._feed.find([index] if other < 0 else [index, other])
        if not found or found[0].index != index:
            raise _MessageError(f"capture {index} is no longer kept")
        compared = found[1] if len(found) > 1 else None
        content, buffers = tensor_view.slice_view(found[0], compared, picture, at, window)
        self.send(content, buffers)

    def _do_source(self, path: str) -> None:
        self.send(tensor_view.source_view(self.session.paths.cell(path), path))

    def _do_statistics(self, indices: list[Any]) -> None:
        if not all(isinstance(index, int) for index in indices):
            raise _MessageError("message 'statistics': indices must be a list of int")
        self.send({"type": "statistics"}, [self._feed.statistics(indices)])

    def publish_cells(self) -> None:
        """Show the cells and the hooks on them as they are now."""
        with self._publishing, self.hold_sync():
            self.tree = cells_view.cell_rows(self.session)
            self.hooks = hooks_view.hooks_view(self.session)

    # What the notebook keeps.

    def __repr__(self) -> str:
        return snapshot.summary(self.session)

    def snapshot_html(self) -> str:
        """Return the whole panel as static HTML: what a saved notebook shows without a kernel."""
        return snapshot.panel_html(self.session)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle_, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**bundle_, **snapshot.static_forms(self.session)}, metadata

    def display(self) -> None:
        """Show the panel in the running cell's output; once more, renew what a saved notebook keeps of it there.

        That is a static copy in an output of its own, which the page shows only where the panel is not live.
        """
        if self._displays is None:
            live, metadata = super()._repr_mimebundle_() or ({}, {})  # the static forms are the copy's
            live = {**live, "text/plain": f"DebuggerPanel({views.root_name(self.session)})"}
            shown = display(live, metadata=metadata, raw=True, display_id=True)  # type: ignore[no-untyped-call]
            copy = display(self._copy(), raw=True, display_id=True)  # type: ignore[no-untyped-call]
            self._displays = shown, copy
        else:
            self._displays[1].update(self._copy(), raw=True)  # type: ignore[no-untyped-call]  # IPython is untyped

    def _copy(self) -> dict[str, str]:
        return snapshot.copy_behind_live(self.session)

    def freeze(self) -> None:
        """Put the static forms where `display` showed the panel, and close it."""
        try:
            if self._displays is not None:
                live, copy = self._displays
                live.update(snapshot.static_forms(self.session), raw=True)  # type: ignore[no-untyped-call]
                copy.update({"text/plain": "", "text/html": ""}, raw=True)  # type: ignore[no-untyped-call]
        finally:
            self.close()

    def close(self) -> None:
        """Stop following the session and remove the widget from the page."""
        self._unsubscribe()
        self.printed.close()
        self._unsubscribe = _nothing  # ipywidgets closes a widget again when it is collected
        if self.comm is not None:
            self.layout.close()  # a widget of its own, which ipywidgets leaves open
        super().close()


def _nothing() -> None:
    """Be what a closed panel has left to unsubscribe."""


class _MessageError(ValueError):
    """A message from the browser that asks for something impossible; its text is the whole answer."""


def _checked(content: object) -> dict[str, Any]:
    """Return the fields of a message, or raise an error that names what is wrong with it."""
    if not isinstance(content, Mapping) or not isinstance(content.get("type"), str):
        raise _MessageError(f"a message must be an object with a type, got {views.one_line(repr(content), 80)}")
    action = content["type"]
    of_views = {**_VIEW_ACTIONS, **_PANEL_ACTIONS}
    known = _ACTIONS | {name: fields for name, (fields, _) in of_views.items()}
    if action not in known:
        raise _MessageError(f"unknown message {views.one_line(action, 40)!r}; known: {', '.join(known)}")
    fields = {}
    for name, kind in known[action].items():
        value = content.get(name)
        if type(value) is not kind:
            got = "nothing" if name not in content else type(value).__name__
            raise _MessageError(f"message {action!r} needs {name}: {kind.__name__}, got {got}")
        fields[name] = value
    return fields
