"""Compiled kernels on arrays: copies, products, random numbers, sums by index, statistics."""
