"""Plans: graphs as Python functions, plans with their guards, and planned calls inside a recording."""

from __future__ import annotations

from .plan import Plan, PlanError

__all__ = ["Plan", "PlanError"]
