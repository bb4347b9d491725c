"""Captures in a ring buffer, their statistics, and rows and tables of them."""
