"""Triton's compiled form of every GPU kernel, compared with bounds that were set before compiling.

`bounds.py` defines bounds and cases, `family_*.py` are the cases of the kernels' families, `reading.py`
compiles one without a GPU and reads the result. `python -m tests.triton_kernels.quality [FAMILY ...]` prints the
table.
"""
