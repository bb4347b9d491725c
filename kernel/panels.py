"""The life of the panels that the magics show.

A panel is live while its session watches (a cell that runs, or what `%cell` opened) and while a variable of the user
names the session. When a magic opens the next one, every other panel is replaced in its output by its static forms, and
its captures are given back; when the kernel ends, so are the rest. For without a kernel a notebook can show no widget.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from IPython.display import display

from .pausing import widgets_come_alive

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets import DebuggerPanel

_live: list[DebuggerPanel] = []


def open_panel(session: DebugSession) -> DebuggerPanel | None:
    """Show a live panel in the running cell's output; where nobody looks, its static forms."""
    if not widgets_come_alive():
        _show_static(session)
        return None
    from hookscope.widgets import DebuggerPanel

    panel = DebuggerPanel(session)
    _live.append(panel)
    panel.display()
    return panel


@contextmanager
def panel_around(session: DebugSession) -> Iterator[None]:
    """Show the panel from before the body runs; when it ends, renew what a saved notebook keeps of it.

    Where nobody looks, its static forms are shown at the end, when there is something in them.
    """
    panel = open_panel(session) if widgets_come_alive() else None
    try:
        yield
    finally:
        if panel is not None:
            panel.display()
        else:
            _show_static(session)


def _show_static(session: DebugSession) -> None:
    from hookscope.widgets.snapshot import static_forms

    display(static_forms(session), raw=True)  # type: ignore[no-untyped-call]  # IPython has no types here


def freeze_unreachable(namespace: Mapping[str, object]) -> None:
    """Make static every panel whose session watches nothing and has no name in the user's namespace."""
    named = {id(value) for value in list(namespace.values())}
    gone = [panel for panel in _live if not panel.session.attached and id(panel.session) not in named]
    for panel in gone:
        _freeze(panel)
    if gone:
        # A session and what watches for it refer to each other, and its captures may be hundreds of megabytes.
        del gone, panel
        gc.collect()


def freeze_all(seconds: float) -> None:
    """Make static what is live, the newest first, for so long at most."""
    deadline = time.monotonic() + seconds
    while _live and time.monotonic() < deadline:
        _freeze(_live[-1])


def _freeze(panel: DebuggerPanel) -> None:
    _live.remove(panel)
    try:
        panel.freeze()
    except Exception as error:  # a fault of an old panel must not stop the cell that is to run, nor the kernel's end
        print(f"hookscope: a panel could not be made static: {type(error).__name__}: {error}", file=sys.stderr)
