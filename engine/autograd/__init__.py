"""Gradients: ``grad`` and related functions, the backward pass over a tape, custom functions, offloading."""
