"""Kernels that Numba compiles on first use, one file for each subject; ``compiling.kernels`` loads them."""
