"""Counters of a session."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Counts"]


@dataclass(eq=False)
class Counts:
    """Counters that components of a session share.

    Attributes:
        steps: the number of steps, see ``watch.steps``.
        captures: the number of captures so far, including evicted ones.
        trainings: the number of outermost gradient calls for weights of the session's networks, and of calls of
            optimizers that hold some.
    """

    steps: int = 0
    captures: int = 0
    trainings: int = 0
