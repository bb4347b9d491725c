"""Kernels that Numba compiles, one file for each subject; ``compiling.kernels`` loads a file on its first use.

``library`` has what kernels are written with, ``sharing`` has a kernel's parts taken by threads, and ``_building``
makes machine code of a file. The names of files are unique among all packages here.
"""
