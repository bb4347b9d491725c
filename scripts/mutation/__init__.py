"""Mutation testing: single faults in the engine, each tried with its tests."""
