"""Shared by all rooms of the engine: name tables, argument checks, types, where code comes from."""
