"""What Triton's compiler makes of every GPU kernel, held to bounds that were written down before it was asked.

`bounds.py` says what a bound and a case are, `family_*.py` are the cases of the kernels' families, `reading.py`
compiles one without a GPU and reads what came out. `python -m tests.triton_kernels.quality [FAMILY ...]` prints the
table.
"""
