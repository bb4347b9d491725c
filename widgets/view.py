"""One view of a panel, as data: all that there is of it is named in its `View`, and nowhere else.

A view is a module or a package in `hookscope.widgets.views` that has one. The panel, the page, the static forms and the
export are put together from the list of them (`hookscope.widgets.views.VIEWS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_origin

import traitlets

from hookscope.widgets.markup import Table
from hookscope.widgets.messages import Actions

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets.panel import DebuggerPanel


class Message(NamedTuple):
    """What Python sends that is no state: what it holds, and whether a run sends it again and again."""

    content: Any
    live: bool = False


class Static(NamedTuple):
    """A view without a script: where it stands among the others, and its markup and tables."""

    place: int
    make: Callable[[DebugSession], list[str | Table]]


class Section(NamedTuple):
    """A part of the exported page: where it stands, its title, and its markup, "" for nothing to show."""

    place: int
    title: str
    make: Callable[[DebugSession], str]


def state(content: Any, live: bool = False) -> traitlets.TraitType[Any, Any]:
    """Return a trait for a piece of state that the page shows, empty at first.

    Args:
        content: its type: a TypedDict, a list of those, or bytes.
        live: a run changes it again and again, so that the page draws it at a pace.
    """
    kinds: dict[Any, type[traitlets.TraitType[Any, Any]]] = {bytes: traitlets.Bytes, list: traitlets.List}
    return kinds.get(get_origin(content) or content, traitlets.Dict)().tag(sync=True, content=content, live=live)


def _publish_nothing(panel: DebuggerPanel, budget: float) -> None:
    """Leave the page as it is."""


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """One view.

    Attributes:
        name: by which it is chosen.
        title: what its tab says.
        place: where it stands among the others.
        script: a file beside the module, or for a small view the text itself: a JavaScript module that exports
            `create`, which is given a `ViewContext` and returns a `ViewPart` (static/types.js). Text imports as a file
            `widgets/views/<name>.js` would.
        style: its style sheet, likewise.
        part_of: the view that shows this one and more; such a view is no tab of the whole panel.
        at_pause: it is the one to look at when the run pauses.
        leads_to: what other views can show in it, by calling `go.<leads_to>`; "" for nothing.
        traits: its state; views may share a trait.
        messages: what it sends to the page that is no state, by type.
        actions: what the page may ask, by the type of the message.
        constants: what its script imports from `static/python.js`, such as the names of columns.
        publish: brings the page up to date while it is looked at; given the seconds that it may spend on statistics.
        publish_beside: does so while another view is looked at too, and costs next to nothing.
        follow: what is done when a trait changes, by its name.
        restart: a page was drawn anew: what is no state is to be sent again. Without, there is none.
        close: the panel is closed.
        static: what a saved notebook shows of it.
        sections: its parts of the exported page.
        summary: what it says of a session in one line of text.
    """

    name: str
    title: str
    place: int
    script: Path | str
    style: Path | str = ""
    part_of: str = ""
    at_pause: bool = False
    leads_to: str = ""
    traits: Mapping[str, traitlets.TraitType[Any, Any]] = field(default_factory=dict)
    messages: Mapping[str, Message] = field(default_factory=dict)
    actions: Actions = field(default_factory=dict)
    constants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    publish: Callable[[DebuggerPanel, float], None] = _publish_nothing
    publish_beside: Callable[[DebuggerPanel, float], None] | None = None
    follow: Mapping[str, Callable[[DebuggerPanel], None]] = field(default_factory=dict)
    restart: Callable[[DebuggerPanel], None] | None = None
    close: Callable[[DebuggerPanel], None] | None = None
    static: Static | None = None
    sections: tuple[Section, ...] = ()
    summary: Callable[[DebugSession], str] | None = None


def refuse_clashes(views: Iterable[View]) -> None:
    """Let views share what they name, but not use one name for two things.

    Raises:
        ValueError: two views differ in what a name of a trait, a message, an action or a constant means.
    """
    known: dict[tuple[str, str], tuple[View, object]] = {}
    for view in views:
        for kind in ("traits", "messages", "actions", "constants"):
            for name, value in getattr(view, kind).items():
                owner, first = known.setdefault((kind, name), (view, value))
                if first != value:
                    raise ValueError(f"{kind}: the views {owner.name!r} and {view.name!r} differ in {name!r}")
