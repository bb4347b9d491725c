"""The views that a panel is made of: each module and package in here has one `View` or more, and all are found."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from hookscope.widgets import texts
from hookscope.widgets.view import View


def _found() -> dict[str, View]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    own = {value for module in modules for value in vars(module).values() if isinstance(value, View)}
    views = {view.name: view for view in sorted(own, key=lambda view: (view.place, view.name))}
    if len(views) < len(own):
        raise ValueError(f"two views have one name, among {', '.join(sorted(view.name for view in own))}")
    return views


VIEWS = _found()
"""All of them, by name."""

WHOLE = tuple(name for name, view in VIEWS.items() if not view.part_of)
"""The tabs of the whole panel."""


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
    for whole in names:
        parts = [view.name for view in VIEWS.values() if view.part_of == whole]
        if not set(parts).isdisjoint(names):
            told = " and ".join(repr(part) for part in parts)
            raise ValueError(f"views: {whole!r} is {told} together, got {', '.join(names)}")
    return names
