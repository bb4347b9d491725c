"""Loops: fused elementwise operators as one function, by Numba on a CPU (``cpu_loops``) or Triton (``gpu_loops``).

``scalar_programs`` has the computation on one element, ``buffers`` the same steps by NumPy or CuPy.
"""

from __future__ import annotations

from .cpu_loops import is_free, loop, written_over

__all__ = ["is_free", "loop", "written_over"]
