"""Conditions and their hits, findings, causes and fixes."""
