"""Kernels on arrays of any meaning.

Elementwise loops, selection, copies, matrix products, sums by index, sparse matrices, and random numbers.
"""
