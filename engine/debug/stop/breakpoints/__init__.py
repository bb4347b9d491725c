"""Breakpoints: their texts and expressions, those of a session, lines, logpoints, and calls of ``breakpoint()``."""
