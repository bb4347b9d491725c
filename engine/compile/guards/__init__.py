"""Guards: the key of a call's arguments, the Python values that code reads, and the check that they are unchanged."""

from __future__ import annotations

__all__: list[str] = []
