"""Stepping through a function line by line and operator by operator, and looking back at what it passed."""
