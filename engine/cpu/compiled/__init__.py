"""Kernels that Numba compiles, one file for each subject; ``compiling.kernels`` loads a file on its first use.

``library`` has the parts that kernels are written with, ``sharing`` distributes a kernel's parts over threads, and
``_building`` compiles a file to machine code. The names of files are unique among all packages here.
"""
