"""Kernels on arrays of any meaning: elementwise loops, selection, copies, matrix products, sums by index, sparse matrices
and random numbers."""
