"""Recording of choices: the difference that a message of a page makes to its session and its panel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from hookscope.engine.debug import Breakpoint
from hookscope.widgets.choices.choices import (
    CaptureName,
    Checked,
    attached_hooks,
    checked_conditions,
    choices_of,
    is_chosen,
)
from hookscope.widgets.choices.lines import chosen_line
from hookscope.widgets.views.hooks.written_hooks import written_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookscope.widgets.panel import DebuggerPanel


class _State(NamedTuple):
    """Everything that a message may choose."""

    just_my_code: bool
    breakpoints: tuple[tuple[str, str, str | None, str | None], ...]
    conditions: dict[str, Checked]
    mutes: dict[tuple[str, str], str]
    hooks: Mapping[tuple[str, str], object]
    bounds: dict[str, int]
    expressions: list[str]
    view: str
    selected: int
    draft: dict[str, str]


def _state(panel: DebuggerPanel) -> _State:
    session = panel.session
    return _State(
        session.just_my_code,
        tuple((stop.path, stop.moment, stop.expression, stop.log) for stop in session.breakpoints),
        checked_conditions(session),
        {(mute.condition, mute.path): mute.reason for mute in session.muted},
        attached_hooks(session),
        {"max_bytes": session.captures.max_bytes, "max_captures": session.captures.max_captures},
        [entry["expression"] for entry in panel.watches],
        panel.view,
        panel.selected,
        dict(panel.hook_draft),
    )


@contextmanager
def recorded(panel: DebuggerPanel) -> Iterator[None]:
    """Record what a message changes inside the context as the user's choice."""
    before = _state(panel)
    try:
        yield
    finally:
        _record(panel, before, _state(panel))


def _record(panel: DebuggerPanel, before: _State, after: _State) -> None:
    choices = choices_of(panel.session)
    if before.just_my_code is not after.just_my_code:
        choices.just_my_code = after.just_my_code
    for stop in before.breakpoints:
        if stop not in after.breakpoints:
            choices.breakpoints = [chosen for chosen in choices.breakpoints if chosen != Breakpoint(*stop)]
    new = [Breakpoint(*stop) for stop in after.breakpoints if stop not in before.breakpoints]
    choices.breakpoints += new
    choices.lines |= {str(stop): line for stop in new if (line := chosen_line(panel.session, stop)) is not None}
    for name in before.conditions.keys() | after.conditions.keys():
        now = after.conditions.get(name)
        if before.conditions.get(name) == now:
            continue
        if choices.line_conditions.get(name) == now:
            choices.conditions.pop(name, None)
        else:
            choices.conditions[name] = now
    for mute in before.mutes.keys() - after.mutes.keys():
        choices.mutes.pop(mute, None)
    choices.mutes |= {mute: reason for mute, reason in after.mutes.items() if before.mutes.get(mute) != reason}
    for key in before.hooks.keys() - after.hooks.keys():
        choices.hooks.pop(key, None)
    for key, hook in after.hooks.items():
        if before.hooks.get(key) is not hook and is_chosen(hook):
            choices.hooks[key] = written_of(hook)
    choices.bounds |= {name: bound for name, bound in after.bounds.items() if before.bounds[name] != bound}
    if before.expressions != after.expressions:
        choices.expressions = after.expressions
    if before.view != after.view:
        choices.view = after.view
    if before.draft != after.draft:
        choices.draft = after.draft
    if before.selected != after.selected:
        matches = [row for row in panel.session.captures.rows() if row.index == panel.selected]
        choices.capture = CaptureName.of(matches[0]) if matches else None
