"""Breakpoints, pauses, who answers them, and what can be looked at and edited meanwhile."""
