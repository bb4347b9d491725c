"""Views of a panel: each module and package here contains one or more `View` objects, which are collected."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from hookscope.widgets import texts
from hookscope.widgets.view import View


def _views() -> dict[str, View]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    declared = {value for module in modules for value in vars(module).values() if isinstance(value, View)}
    views = {view.name: view for view in sorted(declared, key=lambda view: (view.position, view.name))}
    if len(views) < len(declared):
        raise ValueError(f"two views have one name, among {', '.join(sorted(view.name for view in declared))}")
    return views


VIEWS = _views()
"""All views, by name."""

TABS = tuple(name for name, view in VIEWS.items() if not view.part_of)
"""The tabs of the whole panel."""


def checked_views(views: Iterable[str]) -> tuple[str, ...]:
    """Return the names of views, in the given order.

    Raises:
        TypeError: the names are not strings.
        ValueError: a name is unknown or repeated, there are none, or a view is given together with a part of it.
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
    for container in names:
        parts = [view.name for view in VIEWS.values() if view.part_of == container]
        if not set(parts).isdisjoint(names):
            listing = " and ".join(repr(part) for part in parts)
            raise ValueError(f"views: {container!r} is {listing} together, got {', '.join(names)}")
    return names
