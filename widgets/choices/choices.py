"""Data of a session's choices: texts by the paths of cells, and functions of hooks, but no cell and no capture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from hookscope.engine.debug import CONDITIONS, Breakpoint
from hookscope.engine.debug.watch.hooks import MAKES_CAPTURES
from hookscope.widgets.views.hooks.written_hooks import Log, Written, written_of

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, Condition, DebugSession, EvictedCapture
    from hookscope.widgets.choices.lines import ChosenLine


class CaptureName(NamedTuple):
    """The name of a capture that another run may have too."""

    path: str
    step: int
    call: int
    direction: str
    slot: str
    context: str

    @classmethod
    def of(cls, capture: Capture | EvictedCapture) -> CaptureName:
        """Return the name of a capture."""
        return cls(capture.path, capture.step, capture.call, capture.direction, capture.slot, capture.context)

    def is_like(self, other: CaptureName) -> bool:
        """Return whether the other is the same value, perhaps of another step."""
        return self._replace(step=0) == other._replace(step=0)


class Checked(NamedTuple):
    """A condition that is looked for: its text, as `add_condition` takes it, and whether the run pauses there."""

    text: str
    pause: bool


@dataclass
class Choices:
    """What was clicked in the panels of one session.

    Attributes:
        breakpoints: the breakpoints, without their counters.
        lines: the lines that have a breakpoint, by the breakpoint's text.
        conditions: by name, the conditions that were switched on or changed; None for one that was switched off.
        mutes: the reasons of muted findings, by condition and path.
        hooks: by path and kind, the hooks; None for one that captures what it receives.
        bounds: the limits of the ring buffer of captures, by name.
        expressions: the watch expressions.
        view: the selected view; "" if none was selected.
        capture: the selected capture.
        draft: the content of the hook editor.
        just_my_code: the choice of the code that is stepped through; None without one.
        line_breakpoints, line_conditions: the breakpoints and conditions that the session had before any click.
        retained: what of this was taken over from the previous run, in words: "2 breakpoints, 1 hook".
        misfits: a sentence for each choice that the network does not allow now.
        waiting: whether hooks wait for a network that is called later.
        log: receives the output of the hooks that were taken over: the log of the first panel.
    """

    breakpoints: list[Breakpoint] = field(default_factory=list)
    lines: dict[str, ChosenLine] = field(default_factory=dict)
    conditions: dict[str, Checked | None] = field(default_factory=dict)
    mutes: dict[tuple[str, str], str] = field(default_factory=dict)
    hooks: dict[tuple[str, str], Written | None] = field(default_factory=dict)
    bounds: dict[str, int] = field(default_factory=dict)
    expressions: list[str] = field(default_factory=list)
    view: str = ""
    capture: CaptureName | None = None
    draft: dict[str, str] = field(default_factory=dict)
    just_my_code: bool | None = None
    line_breakpoints: list[Breakpoint] = field(default_factory=list)
    line_conditions: dict[str, Checked] = field(default_factory=dict)
    retained: str = ""
    misfits: list[str] = field(default_factory=list)
    waiting: bool = False
    log: Log | None = None

    @classmethod
    def of_new(cls, session: DebugSession) -> Choices:
        """Return the choices of a session in which nothing was clicked yet."""
        return cls(line_breakpoints=list(session.breakpoints), line_conditions=checked_conditions(session))

    def copy(self) -> Choices:
        """Return the choices for the session of the next run, without anything about this run."""
        return Choices(
            [Breakpoint(stop.path, stop.moment, stop.expression, stop.log) for stop in self.breakpoints],
            {text: self.lines[text] for text in map(str, self.breakpoints) if text in self.lines},
            dict(self.conditions),
            dict(self.mutes),
            dict(self.hooks),
            dict(self.bounds),
            list(self.expressions),
            self.view,
            self.capture,
            dict(self.draft),
            self.just_my_code,
        )

    def is_empty(self) -> bool:
        """Return whether nothing was clicked."""
        return self.copy() == Choices()


def checked_conditions(session: DebugSession) -> dict[str, Checked]:
    """Return the conditions that a session looks for, by name."""
    pausing = session.checks.pausing
    return {
        name: Checked(_text(name, condition), name in pausing) for name, condition in session.checks.conditions.items()
    }


def _text(name: str, condition: Condition) -> str:
    default = CONDITIONS.get(name)
    if default is None or condition.threshold == default.threshold or condition.threshold != condition.threshold:
        return name
    return f"{name}={condition.threshold!r}"


_choices: WeakKeyDictionary[Any, Choices] = WeakKeyDictionary()


def choices_of(session: DebugSession) -> Choices:
    """Return what was clicked in the panels of a session."""
    if session not in _choices:
        _choices[session] = Choices.of_new(session)
    return _choices[session]


def replace_choices(session: DebugSession, choices: Choices) -> None:
    """Set the choices of a session."""
    _choices[session] = choices


def attached_hooks(session: DebugSession) -> Mapping[tuple[str, str], object]:
    """Return the functions of the session's hooks, by kind and the first path of the cell."""
    first: dict[int, tuple[str, str]] = {}
    hooks: dict[tuple[str, str], object] = {}
    for row in session.hooks():
        if row.by_session and first.setdefault(id(row.hook), (row.path, row.kind)) == (row.path, row.kind):
            hooks[row.path, row.kind] = row.hook
    return hooks


def is_chosen(hook: object) -> bool:
    """Return whether a hook was attached in a panel: written there, or one that captures what it receives.

    Hooks of code, and those of a cure, are attached again by what attached them.
    """
    return written_of(hook) is not None or getattr(hook, "__qualname__", "") == MAKES_CAPTURES
