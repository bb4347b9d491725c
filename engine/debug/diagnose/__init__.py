"""Conditions that hold, findings, causes and cures."""
