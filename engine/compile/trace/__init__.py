"""Traces: one eager run of a function, recorded as a graph, or the reason why there is none."""

from __future__ import annotations

from .traced_run import ALSO_READ, EffectProbe, Trace

__all__ = ["ALSO_READ", "EffectProbe", "Trace"]
