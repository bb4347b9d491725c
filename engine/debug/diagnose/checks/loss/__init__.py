"""Checks of losses: their calls, their terms and their course."""
