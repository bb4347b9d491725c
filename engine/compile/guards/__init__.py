"""Guards: the key of a call's arguments, the Python values that code reads, and the check that they are unchanged."""

from __future__ import annotations

from .arguments import key_of
from .guards import Guards, Snapshot
from .inspection import Inspection

__all__ = ["Guards", "Inspection", "Snapshot", "key_of"]
