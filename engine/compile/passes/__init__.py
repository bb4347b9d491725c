"""Passes: functions from a graph to an equivalent graph with less work or less memory."""

from __future__ import annotations

from .optimization import expands_at, optimized, without_dead_code

__all__ = ["expands_at", "optimized", "without_dead_code"]
