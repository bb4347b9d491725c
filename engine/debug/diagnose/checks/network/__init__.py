"""Checks of networks: modes, structure, bprops, and the state that they keep."""
