"""Current mode (graph or eager), and access to ``engine.compile``, which is above the packages that import this one.

``engine.compile`` is loaded when a graph is first requested: by ``set_context(mode=GRAPH_MODE)``, ``jit`` or
``Cell.compile``.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

__all__ = ["graph_mode", "graphs", "level", "set_graph_mode", "set_level"]

_graph_mode = False
level = "O0"
"""Level of plans if neither a function nor a cell sets one."""


@functools.cache
def graphs() -> Any:
    """Return the module ``engine.compile.cells``."""
    return importlib.import_module(f"{__package__.rpartition('.')[0]}.compile.cells")


def graph_mode() -> bool:
    """Return whether the mode is GRAPH_MODE."""
    return _graph_mode


def set_level(name: str) -> None:
    """Set the level of plans, "O0" or "O1", if neither a function nor a cell sets another."""
    global level
    level = name


def set_graph_mode(on: bool) -> None:
    """Set whether calls of cells and of gradient functions run as graphs or eagerly."""
    global _graph_mode
    if on != _graph_mode:
        graphs().switch(on)
        _graph_mode = on
