"""Choices of a session in a panel: its tab, watch expressions, draft of a hook and selected capture; and a note."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, TypedDict

from hookscope.engine.debug.record.capture import cell_name
from hookscope.widgets.choices.choices import CaptureName, choices_of
from hookscope.widgets.choices.rerun import NO_CELL, attach_hooks, drop_undone_hooks, forget
from hookscope.widgets.views import hooks
from hookscope.widgets.views.stepper.watch_expressions import unwatch_expression, watch_expression

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets.panel import DebuggerPanel


class Retained(TypedDict):
    """What was taken over from the previous run, in words, and a sentence for each choice that does not fit now."""

    text: str
    misfits: list[str]


def chosen_view(session: DebugSession, names: Collection[str]) -> str:
    """Return the view that was selected, if a panel with these views has it; "" otherwise."""
    view = choices_of(session).view
    return view if view in names else ""


def restore(panel: DebuggerPanel) -> None:
    """Give a new panel what was chosen in the panels of its session, and of the run before."""
    choices = choices_of(panel.session)
    for expression in list(choices.expressions):
        watch_expression(panel, expression)
    if choices.draft:
        panel.hook_draft = dict(choices.draft)
    if choices.hooks and "hooks" in panel.views and choices.log is None:
        choices.log = hooks.printed(panel).log
        attach_hooks(panel.session, again=True)
    panel.memory(_Selection)


def publish(panel: DebuggerPanel) -> None:
    """Select the chosen capture once the run has captured it, and publish the note."""
    panel.memory(_Selection).follow()
    choices = choices_of(panel.session)
    panel.retained = {"text": choices.retained, "misfits": list(choices.misfits)}


def finish(panel: DebuggerPanel) -> None:
    """Follow the end of a run."""
    drop_undone_hooks(panel.session)
    panel.memory(_Selection).finish()


def forget_choices(panel: DebuggerPanel) -> None:
    """Forget what was clicked, in this run too."""
    for expression in list(choices_of(panel.session).expressions):
        unwatch_expression(panel, expression)
    panel.memory(_Selection).wanted = None
    forget(panel.session)


class _Selection:
    """The capture that the previous run had selected, until this run captures it or another one is selected."""

    def __init__(self, panel: DebuggerPanel) -> None:
        self._panel = panel
        views = {"captures", "timeline", "tensor"}
        self.wanted = None if views.isdisjoint(panel.views) else choices_of(panel.session).capture
        self._next = 0

    def follow(self) -> None:
        """Select the capture if it is among the new ones."""
        if self.wanted is not None and not self._is_over():
            new = [capture for capture in self._panel.session.captures if capture.index >= self._next]
            self._select([capture.index for capture in new if CaptureName.of(capture) == self.wanted])
            self._next = new[-1].index + 1 if new else self._next

    def finish(self) -> None:
        """Select the same value of the newest step if the run has not come to the chosen one."""
        self.follow()
        if self.wanted is None or self._is_over():
            return
        wanted, session = self.wanted, self._panel.session
        self._select([capture.index for capture in session.captures if wanted.is_like(CaptureName.of(capture))])
        if self.wanted is not None:
            known = any(path == wanted.path for path, _ in session.paths)
            problem = "this run has not captured it" if known else NO_CELL
            name = f"{cell_name(wanted.path)}#{wanted.call} {wanted.direction} {wanted.slot}"
            choices_of(session).misfits.append(f"capture {name}: {problem}")
            self.wanted = None

    def _is_over(self) -> bool:
        if self._panel.selected >= 0:
            self.wanted = None
        return self.wanted is None

    def _select(self, indices: list[int]) -> None:
        if indices:
            self._panel.selected = indices[-1]
            self.wanted = None
