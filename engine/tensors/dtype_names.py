"""Second names of element types, as in MindSpore: ``ms.half``, ``ms.long``; the last two lines only at its top."""

from . import dtype as _dtypes

byte, short, intc, long = _dtypes.int8, _dtypes.int16, _dtypes.int32, _dtypes.int64
ubyte, ushort, uintc = _dtypes.uint8, _dtypes.uint16, _dtypes.uint32
intp, uintp = _dtypes.int64, _dtypes.uint64
half, single, double = _dtypes.float16, _dtypes.float32, _dtypes.float64
cfloat, cdouble = _dtypes.complex64, _dtypes.complex128
bool, int, float = _dtypes.bool_, _dtypes.int32, _dtypes.float32
STRICT, COMPATIBLE, LAX = 0, 1, 2
