"""Triton's own specialization of integers, as JSON; run by test_plans.py in a process of its own."""

from __future__ import annotations

import json
import sys

from triton.backends.nvidia.compiler import CUDABackend
from triton.runtime.jit import native_specialize_impl

FLAGS = (False, True, True)  # not constant, specialize on the value, specialize on the alignment
values = json.loads(sys.argv[1])
print(json.dumps([native_specialize_impl(CUDABackend, value, *FLAGS) for value in values]))
