"""View of hooks: all hooks on cells, and an editor that attaches and removes hooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from hookscope.engine.debug.record.capture import cell_name
from hookscope.engine.debug.record.rows import HOOK_KINDS
from hookscope.widgets.messages import Action, check_choice
from hookscope.widgets.throttle import Throttle
from hookscope.widgets.view import Message, Section, Static, View, state
from hookscope.widgets.views import cells
from hookscope.widgets.views.hooks import written_hooks
from hookscope.widgets.views.hooks.names import names_at_end
from hookscope.widgets.views.hooks.rows import HookLog, Hooks, Printed, hooks_view
from hookscope.widgets.views.hooks.static_html import export_html, static_parts

if TYPE_CHECKING:
    from hookscope.widgets.panel import DebuggerPanel

_HERE = Path(__file__).parent
_MAX_DRAFT = 100_000  # characters, enough for a hook


class Answer(TypedDict):
    """The result of attaching a hook; if its source was rejected, that source and the line, or 0."""

    text: str
    failed: bool
    line: int
    source: str


class HookNames(TypedDict):
    """Completions at the cursor; `number` is the request's, `begun` is the prefix that is already typed."""

    type: Literal["hook_names"]
    number: int
    begun: str
    names: list[str]


class Draft(TypedDict):
    """The editor's content."""

    path: str
    kind: str
    source: str


def printed(panel: DebuggerPanel) -> HookLog:
    """Return the log of hooks that were written in a panel."""
    return panel.memory(_new_log)


def _new_log(panel: DebuggerPanel) -> HookLog:
    return HookLog(lambda: publish_log(panel), Throttle(panel.clock, rate=10.0))


def close(panel: DebuggerPanel) -> None:
    """Disconnect the output of hooks from the panel."""
    printed(panel).close()


def publish(panel: DebuggerPanel, budget: float) -> None:
    """Publish the current hooks."""
    panel.hooks = hooks_view(panel.session)


def attach(panel: DebuggerPanel, path: str, kind: str, source: str) -> None:
    """Compile a hook in the user's namespace and attach it; publish the result."""
    first = 0
    try:
        panel.session.paths.cell(path)
        hook = written_hooks.compile_hook(source, panel.namespace)
        first = hook.first_line
        name = getattr(hook.function, "__qualname__", "hook")
        description = f"{kind} hook {name} of {cell_name('' if path == '.' else path)}"
        panel.session.attach_hook(path, kind, written_hooks.reporting(hook, description, printed(panel).log))
        panel.hook_answer = {"text": f"attached: {description}", "failed": False, "line": 0, "source": ""}
    except Exception as error:  # the user's source may raise anything; the error is the reply
        text, line = written_hooks.error_text(error)
        panel.hook_answer = {"text": text, "failed": True, "line": line or first, "source": source}


def complete(panel: DebuggerPanel, number: int, path: str, kind: str, before: str) -> None:
    """Send the completions at the cursor in the editor."""
    try:
        cell = panel.session.paths.cell(path)
    except ValueError:  # the path may be completed later
        cell = None
    prefix, names = names_at_end(before[-_MAX_DRAFT:], kind, cell, panel.namespace)
    content: HookNames = {"type": "hook_names", "number": number, "begun": prefix, "names": names}
    panel.send(content)


def keep_draft(panel: DebuggerPanel, path: str, kind: str, source: str) -> None:
    """Keep the editor's content for the panel's other displays, and for a reloaded page."""
    check_choice("hook kind", kind, HOOK_KINDS)
    panel.hook_draft = {"path": path[:_MAX_DRAFT], "kind": kind, "source": source[:_MAX_DRAFT]}


def publish_log(panel: DebuggerPanel) -> None:
    """Publish log entries that the throttle deferred."""
    panel.hook_log = printed(panel).view()


def clear_log(panel: DebuggerPanel) -> None:
    """Clear the log."""
    printed(panel).log.clear()
    publish_log(panel)


VIEW = View(
    name="hooks",
    title="Hooks",
    position=60,
    script=_HERE / "hooks.js",
    style=_HERE / "hooks.css",
    traits={
        "hooks": state(Hooks),
        "hook_answer": state(Answer),
        "hook_log": state(Printed),
        "hook_draft": state(Draft),
    },
    messages={"hook_names": Message(HookNames)},
    actions={
        "hook": cells.SET_HOOK,
        "attach_hook": Action({"path": str, "kind": str, "source": str}, attach, chooses=True),
        "complete_hook": Action({"number": int, "path": str, "kind": str, "before": str}, complete, background=True),
        "hook_draft": Action({"path": str, "kind": str, "source": str}, keep_draft, keeps_error=True, chooses=True),
        "hook_log": Action({}, publish_log, background=True),
        "clear_hook_log": Action({}, clear_log),
    },
    constants={"HOOK_KINDS": HOOK_KINDS},
    publish=publish,
    close=close,
    static=Static(60, static_parts),
    sections=(Section(80, "Hooks", export_html),),
)
