"""Panel of many ranks: their status, the differences between them, and any one rank's own panel."""

from .panel import RanksPanel

__all__ = ["RanksPanel"]
