"""Whether calls are to run as graphs, and the way to the room that does it, which is above whoever asks here.

``engine.graph`` is loaded when a graph is first asked for: by ``set_context(mode=GRAPH_MODE)``, ``jit`` or
``Cell.compile``.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

__all__ = ["graph_mode", "graphs", "level", "set_graph_mode", "set_level"]

_graph_mode = False
level = "O0"
"""At which level plans are made where neither a function nor a cell says it."""


@functools.cache
def graphs() -> Any:
    """What ``engine.graph.cells`` offers."""
    return importlib.import_module(f"{__package__.rpartition('.')[0]}.graph.cells")


def graph_mode() -> bool:
    """Whether the mode is GRAPH_MODE."""
    return _graph_mode


def set_level(name: str) -> None:
    """Make plans at a level from now on, "O0" or "O1", where neither a function nor a cell says another."""
    global level
    level = name


def set_graph_mode(on: bool) -> None:
    """Let calls of cells and of gradient functions run as graphs from now on, or eagerly."""
    global _graph_mode
    if on != _graph_mode:
        graphs().switch(on)
        _graph_mode = on
