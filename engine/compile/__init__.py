"""Graph mode: functions and cells that are traced once and then computed by a plan."""

from __future__ import annotations

from .cells import plans_of

__all__ = ["plans_of"]
