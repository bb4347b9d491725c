"""Kernels on NumPy's arrays, and on CuPy's where the same text serves both.

``arrays``, ``neural`` and ``optim`` are the kernels; ``compiled`` has those that Numba compiles. ``compiling`` finds
machine code, ``machine_code`` is its format, ``build_kernels`` compiles all of it. ``threads`` shares work out.
"""
