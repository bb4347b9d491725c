"""Checks of optimizers: their parameters, what they are called with, and what becomes of their updates."""
