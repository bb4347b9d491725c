"""Compiled kernels of layers, forward and backward."""
