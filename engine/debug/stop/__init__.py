"""Breakpoints, pauses and pausers, and the inspection and editing of a paused run."""
