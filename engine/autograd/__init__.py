"""Gradients: ``grad`` and its relatives, the backward pass over a tape, custom functions, offloading."""
