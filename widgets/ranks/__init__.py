"""The panel of many ranks: how they stand, what differs between them, and any one rank's own panel."""

from .panel import RanksPanel

__all__ = ["RanksPanel"]
