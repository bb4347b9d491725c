"""Checks of parameters: their first values, their use, their gradients and updates."""
