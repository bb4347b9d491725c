"""Mutation testing: small faults put into the engine one at a time, and whether a test notices."""
