"""Stepping through a function line by line and operator by operator, and the display of earlier lines."""
