"""Choices of the previous run of a cell for the session of the next one, and how to forget them.

A choice that does not fit stays among the choices, so that it is back when the network fits again; until then one
sentence says so.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from hookscope.engine.base.quoting import quoted
from hookscope.engine.debug.record.capture import cell_name
from hookscope.engine.debug.watch.pattern import ROOT, matches
from hookscope.widgets import texts
from hookscope.widgets.choices.choices import (
    Checked,
    Choices,
    attached_hooks,
    checked_conditions,
    choices_of,
    is_chosen,
    replace_choices,
)
from hookscope.widgets.choices.lines import moved
from hookscope.widgets.views.hooks import written_hooks

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.debug.stop.breakpoints.breakpoint import Breakpoint

NO_CELL = "the network has no such cell now"


def take_over(session: DebugSession, previous: Choices, explicit: Collection[str] = ()) -> None:
    """Give a session the choices of the previous run, except where the magic's line decides.

    Args:
        session: the session, before it is attached.
        previous: the choices.
        explicit: the names of conditions and limits that the line gives.
    """
    choices = previous.copy()
    choices.line_breakpoints = list(session.breakpoints)
    choices.line_conditions = checked_conditions(session)
    replace_choices(session, choices)
    if choices.just_my_code is not None:
        session.just_my_code = choices.just_my_code
    counts = {
        "breakpoint": _add_breakpoints(session, choices),
        "condition": _add_conditions(session, choices, explicit),
        "muted finding": _add_mutes(session, choices),
        "hook": _add_hooks(session, choices),
        "limit": _set_bounds(session, choices, explicit),
        "watch expression": len(choices.expressions),
    }
    choices.retained = ", ".join(texts.counted(count, what) for what, count in counts.items() if count)


def _add_breakpoints(session: DebugSession, choices: Choices) -> int:
    explicit_places = {(stop.path or ROOT, stop.moment) for stop in session.breakpoints}
    count = 0
    for index, chosen in enumerate(choices.breakpoints):
        line = choices.lines.pop(str(chosen), None)
        stop = moved(session, chosen, line)
        if line is not None:
            choices.lines[str(stop or chosen)] = line
            if stop is None:
                choices.misfits.append(f"breakpoint {chosen}: the function has no line {quoted(line.text)} now")
        if stop is None:
            continue
        choices.breakpoints[index] = stop
        if (stop.path or ROOT, stop.moment) in explicit_places:
            continue
        try:
            session.add_breakpoint(stop)
            count += 1
        except ValueError as error:
            problem = NO_CELL if not _fits(session, stop) else texts.one_line(str(error))
            choices.misfits.append(f"breakpoint {stop}: {problem}")
    return count


def _fits(session: DebugSession, stop: Breakpoint) -> bool:
    return stop.is_anywhere or any(matches(stop.path or ROOT, path) for path, _ in session.paths)


def _add_conditions(session: DebugSession, choices: Choices, explicit: Collection[str]) -> int:
    count = 0
    for name, checked in choices.conditions.items():
        if name in explicit:
            continue
        try:
            _set_condition(session, name, checked)
            count += 1
        except ValueError as error:  # one that a plug-in no longer registers
            choices.misfits.append(f"condition {name}: {texts.one_line(str(error))}")
    return count


def _set_condition(session: DebugSession, name: str, checked: Checked | None) -> None:
    if checked is not None:
        session.add_condition(*checked)
    elif name in session.checks.conditions:
        session.remove_condition(name)


def _add_mutes(session: DebugSession, choices: Choices) -> int:
    explicit_places = {(mute.condition, mute.path) for mute in session.muted}
    count = 0
    for (condition, path), reason in choices.mutes.items():
        if (condition, path) in explicit_places:
            continue
        try:
            session.mute(condition, path, reason)
            count += 1
        except ValueError:
            choices.misfits.append(f"{condition} muted in {cell_name(path)}: {NO_CELL}")
    return count


def _add_hooks(session: DebugSession, choices: Choices) -> int:
    choices.waiting = session.takes_roots and bool(choices.hooks)
    if not choices.waiting:
        return attach_hooks(session)
    known = len(session.roots)

    def follow(event: str) -> None:
        nonlocal known
        if len(session.roots) != known:
            known = len(session.roots)
            attach_hooks(session)
        if event == "finished":
            choices.waiting = False
            unsubscribe()

    unsubscribe = session.observe(follow)
    return len(choices.hooks)


def attach_hooks(session: DebugSession, again: bool = False) -> int:
    """Attach the chosen hooks that are not attached; return the number of attached ones.

    Args:
        session: the session.
        again: whether to attach written hooks once more, since their output has another log now.
    """
    choices = choices_of(session)
    attached = attached_hooks(session)
    count = 0
    choices.misfits = [text for text in choices.misfits if " hook of " not in text]
    for (path, kind), written in choices.hooks.items():
        name = f"{kind} hook of {cell_name(path)}"
        try:
            session.paths.cell(path or ROOT)
        except ValueError:
            if not choices.waiting or session.roots:
                choices.misfits.append(f"{name}: {NO_CELL}")
            continue
        count += 1
        if (path, kind) in attached and (written is None or not again):
            continue
        if written is None:
            session.attach_hook(path or ROOT, kind)
        else:
            description = f"{kind} hook {getattr(written.function, '__qualname__', 'hook')} of {cell_name(path)}"
            reporting = written_hooks.reporting(written, description, choices.log or written_hooks.Log(_nothing))
            session.attach_hook(path or ROOT, kind, reporting)
    return count


def _nothing() -> None:
    """Do nothing: no panel shows the output of the hooks."""


def _set_bounds(session: DebugSession, choices: Choices, explicit: Collection[str]) -> int:
    bounds = {name: bound for name, bound in choices.bounds.items() if name not in explicit}
    if bounds:
        session.set_capture_bounds(**bounds)
    return len(bounds)


def drop_undone_hooks(session: DebugSession) -> None:
    """Remove from the choices the hooks that Abort has undone."""
    choices = choices_of(session)
    attached = attached_hooks(session)
    paths = {path for path, _ in session.paths}
    choices.hooks = {key: written for key, written in choices.hooks.items() if key in attached or key[0] not in paths}


def detach_hooks(session: DebugSession) -> None:
    """Remove the chosen hooks from the network: the session of the next run attaches them again."""
    for (path, kind), function in attached_hooks(session).items():
        if is_chosen(function) and (path, kind) in choices_of(session).hooks:
            session.detach_hook(path or ROOT, kind)


def forget(session: DebugSession) -> None:
    """Undo what was clicked in the panels of a session, so that the next run begins as its cell says."""
    choices = choices_of(session)
    detach_hooks(session)
    for stop in choices.breakpoints:
        if stop in session.breakpoints and stop not in choices.line_breakpoints:
            session.remove_breakpoint(stop)
    for name in choices.conditions:
        _set_condition(session, name, choices.line_conditions.get(name))
    muted = {(mute.condition, mute.path) for mute in session.muted}
    for condition, path in choices.mutes.keys() & muted:
        session.unmute(condition, path)
    empty = Choices(line_breakpoints=choices.line_breakpoints, line_conditions=choices.line_conditions)
    replace_choices(session, empty)
    session.notify("changed")
