"""How much a session has seen so far."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Counts"]


@dataclass(eq=False)
class Counts:
    """Counts that parts of a session share.

    Attributes:
        steps: how many calls of a root began one.
        captures: how many captures were made, those included that are no longer kept.
    """

    steps: int = 0
    captures: int = 0
