"""Declaration of one view of a panel as data: a `View` contains everything about it.

A view is a module or package in `hookscope.widgets.views` that contains a `View`. The panel, the page, the static forms
and the export are built from the list of them (`hookscope.widgets.views.VIEWS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_origin

import traitlets

from hookscope.widgets.messages import Actions
from hookscope.widgets.static_html.markup import Table

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets.panel import DebuggerPanel


class Message(NamedTuple):
    """A message from Python that is not state: its content, and whether a run sends it repeatedly."""

    content: Any
    live: bool = False


class Static(NamedTuple):
    """A view without a script: its position among the others, and its markup and tables."""

    position: int
    make: Callable[[DebugSession], list[str | Table]]


class Section(NamedTuple):
    """A part of the exported page: its position, its title, and its markup, "" if there is nothing to show."""

    position: int
    title: str
    make: Callable[[DebugSession], str]


def state(content: Any, live: bool = False) -> traitlets.TraitType[Any, Any]:
    """Return a trait for a piece of state that the page shows, initially empty.

    Args:
        content: the state's type: a TypedDict, a list of those, or bytes.
        live: whether a run changes it repeatedly, so that the page limits its drawing rate.
    """
    kinds: dict[Any, type[traitlets.TraitType[Any, Any]]] = {bytes: traitlets.Bytes, list: traitlets.List}
    return kinds.get(get_origin(content) or content, traitlets.Dict)().tag(sync=True, content=content, live=live)


def _publish_nothing(panel: DebuggerPanel, budget: float) -> None:
    """Do nothing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """One view.

    Attributes:
        name: the name that selects it.
        title: the title of its tab.
        position: its position among the others.
        script: a file next to the module, or for a small view the text itself: a JavaScript module that exports
            `create`, which takes a `ViewContext` and returns a `ViewPart` (static/types.js). Text imports as a file
            `widgets/views/<name>.js` would.
        style: its style sheet, a file next to the module or the text itself.
        part_of: the view that includes this one; such a view is not a tab of the whole panel.
        at_pause: whether it is selected when the run pauses.
        leads_to: the target that other views open in it with `go.<leads_to>`; "" for none.
        traits: its state; views may share a trait.
        messages: its messages to the page, which are not state, by type.
        actions: the page's requests, by type of message.
        constants: what its script imports from `static/python.js`, such as the names of columns.
        publish: updates the page while the view is selected; takes the seconds that it may spend on statistics.
        publish_always: updates the page also while another view is selected; must be cheap.
        follow: handlers of trait changes, by trait name.
        restart: sends data that is not state again to a newly drawn page; None if there is none.
        close: called when the panel is closed.
        static: its form in a saved notebook.
        sections: its parts of the exported page.
        summary: its one-line summary of a session.
    """

    name: str
    title: str
    position: int
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
    publish_always: Callable[[DebuggerPanel, float], None] | None = None
    follow: Mapping[str, Callable[[DebuggerPanel], None]] = field(default_factory=dict)
    restart: Callable[[DebuggerPanel], None] | None = None
    close: Callable[[DebuggerPanel], None] | None = None
    static: Static | None = None
    sections: tuple[Section, ...] = ()
    summary: Callable[[DebugSession], str] | None = None


def refuse_clashes(views: Iterable[View]) -> None:
    """Raise if two views use one name for two different things; views may share declarations.

    Raises:
        ValueError: two views declare different traits, messages, actions or constants of one name.
    """
    declared: dict[tuple[str, str], tuple[View, object]] = {}
    for view in views:
        for kind in ("traits", "messages", "actions", "constants"):
            for name, value in getattr(view, kind).items():
                owner, first = declared.setdefault((kind, name), (view, value))
                if first != value:
                    raise ValueError(f"{kind}: the views {owner.name!r} and {view.name!r} differ in {name!r}")
