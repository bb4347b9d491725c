"""Whether the name by which a session knows its network still means that network."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

from hookscope.engine.nn import Cell

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession


def named_anew(session: DebugSession, namespace: Mapping[str, object]) -> str | None:
    """Return what there is to do, where the name means another network by now; None otherwise.

    That is so after the cell that makes the network has run again. A name that means none says nothing.
    """
    head, *path = session.name.split(".")
    named = reduce(lambda value, part: getattr(value, part, None), path, namespace.get(head))
    if not isinstance(named, Cell) or any(named is cell for _, cell in session.paths):
        return None
    return f"{session.name} is another network now: run the cell that opened this panel again"
