"""Check whether a session's name for its network still refers to that network."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

from hookscope.engine.nn import Cell

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession


def replacement_message(session: DebugSession, namespace: Mapping[str, object]) -> str | None:
    """Return a message if the name now refers to another network; None otherwise.

    This happens after the cell that makes the network has run again. A name that refers to no network is ignored.
    """
    head, *path = session.name.split(".")
    network = reduce(lambda value, part: getattr(value, part, None), path, namespace.get(head))
    if not isinstance(network, Cell) or any(network is cell for _, cell in session.paths):
        return None
    return f"{session.name} is another network now: run the cell that opened this panel again"
