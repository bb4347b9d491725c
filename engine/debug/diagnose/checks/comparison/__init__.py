"""Checks of the values that a loss compares: predictions, targets and representations."""
