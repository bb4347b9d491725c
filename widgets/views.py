"""The views that a panel is made of: what each may be asked, and how it is brought up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from hookscope.widgets import (
    captures_view,
    cells_view,
    conditions_view,
    hooks_view,
    parameters_view,
    stepper_view,
    texts,
)
from hookscope.widgets.messages import Actions

if TYPE_CHECKING:
    from hookscope.widgets.panel import DebuggerPanel


class View(NamedTuple):
    """One view.

    `publish` writes to the panel's traits what has changed, and sends what is no state; it is given the seconds that
    it may spend on statistics. `sends` tells whether there is anything that is no state.
    """

    actions: Actions
    publish: Callable[[DebuggerPanel, float], None]
    sends: bool = False


VIEWS = {
    "cells": View(cells_view.ACTIONS, cells_view.publish),
    "captures": View(captures_view.ACTIONS, captures_view.publish, sends=True),
    "timeline": View(captures_view.TIMELINE_ACTIONS, captures_view.publish, sends=True),
    "tensor": View(captures_view.TENSOR_ACTIONS, captures_view.publish_nothing),
    "parameters": View(parameters_view.ACTIONS, parameters_view.publish, sends=True),
    "stepper": View(stepper_view.ACTIONS, stepper_view.publish),
    "conditions": View(conditions_view.ACTIONS, conditions_view.publish),
    "hooks": View(hooks_view.ACTIONS, hooks_view.publish),
}
WHOLE = ("cells", "captures", "parameters", "stepper", "conditions", "hooks")
"""The tabs of the whole panel; its captures are the timeline and the tensor view together."""

# What the page asks by itself, which must not wipe away the answer to what a person asked.
BACKGROUND = frozenset(
    {
        "hello",
        "sync",
        "show",
        "seen",
        "gone",
        "statistics",
        "tensor",
        "hook_log",
        "hook_draft",
        "look_at_parameters",
        "look_at_work",
        "preview_edit",
    }
)


def checked_views(views: Iterable[str]) -> tuple[str, ...]:
    """Return the names of views, in the order given.

    Raises:
        TypeError: not strings.
        ValueError: an unknown name, a name given twice, none, or a part of another view beside it.
    """
    names = tuple(views) if isinstance(views, Iterable) and not isinstance(views, str) else (views,)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"views must be names of views, got {type(name).__name__}")
        if name not in VIEWS:
            raise ValueError(f"views: unknown view {texts.one_line(name, 40)!r}; known are {', '.join(VIEWS)}")
    if not names:
        raise ValueError(f"views must name at least one of {', '.join(VIEWS)}")
    if len(set(names)) < len(names):
        raise ValueError(f"views: each view can be there once, got {', '.join(names)}")
    if "captures" in names and {"timeline", "tensor"} & set(names):
        raise ValueError(f"views: 'captures' is 'timeline' and 'tensor' together, got {', '.join(names)}")
    return names
