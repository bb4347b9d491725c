"""Captures in a bounded ring, their figures, and rows and tables of them."""
