"""Figures of many values: bound by the sums in float64, of which each thread keeps those of 4 elements.

`survey_kernel`: sum, squared deviations, squares, least and largest in float64 and five counts of 4 elements are 60
registers of a thread; with the elements and places of a turn a hundred are wanted: 4 programs of 128 threads, whose 5
registers of bound are 128. `count_kernel` keeps a bin of 64 for every second thread: 8 programs, 64 registers.

A turn of float32 is read 16 bytes at a time, of half precision 8: 4 elements a thread. The last turn of a value is
read number by number. Besides, in both: the chunk, the table's row, the first element; in the second kernel the ranges
of 128 pieces. The output is a row, written number by number.
"""

import numpy as np

from .bounds import Array, Bounds, Case

TABLE, CHUNKS, ROWS = (
    Array(shape, np.dtype(kind)) for shape, kind in (((62, 4), np.int64), ((500, 2), np.int32), ((500, 74), np.float64))
)
CASES = []
for dtype, width in (("float32", 16), ("bfloat16", 8), ("float64", 16), ("int64", 16), ("bool", 4)):
    survey = Bounds(programs=4, load_bytes=width, narrow_loads=16, store_bytes=8)
    count = Bounds(programs=8, load_bytes=width, narrow_loads=32, store_bytes=8)
    CASES.append(Case("survey_rows", (TABLE, CHUNKS, ROWS), survey, {"dtype": dtype}, dtype, dtype == "float32"))
    CASES.append(Case("count_rows", (TABLE, CHUNKS, ROWS), count, {"dtype": dtype}, dtype))
