"""From arrays to a launched kernel.

Triton's own launch derives the kernel's signature from its arguments anew each time (42 us on the host,
measured in Triton 3.9). Here a compiled kernel is kept under exactly what Triton specialises on, so that a
launch is one look-up and a call of the C launcher with plain integers. In Triton's interpreter, NumPy arrays
go through Triton's own launch.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

# CuPy has no types; a CuPy array is used through what it shares with NumPy's.
Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Kernel:
    """One operator on the GPU. `qualifies` says of the arguments of `function` whether it suits them."""

    function: Callable[..., Any]
    qualifies: Callable[..., bool]


class CupyPointer:
    """A CuPy array as Triton's compiler wants an argument: an address and a dtype."""

    __slots__ = ("address", "dtype")

    def __init__(self, array: Any) -> None:
        self.dtype = array.dtype
        self.address: int = array.data.ptr  # CuPy has a view's offset in it already

    def data_ptr(self) -> int:
        return self.address

    def specialisation(self) -> Hashable:
        """What Triton compiles into a kernel of a pointer: its type, and that it is aligned to 16 bytes."""
        return (self.dtype, self.address % 16 == 0)


class NumpyPointer:
    """A NumPy array as Triton's interpreter wants an argument: the part of torch.Tensor's interface it calls.

    The interpreter copies a tensor's storage to the CPU and back; this storage is there already and is its
    own copy.
    """

    __slots__ = ("_array", "dtype")

    def __init__(self, array: Array) -> None:
        self._array = array
        self.dtype = array.dtype

    def data_ptr(self) -> int:
        return self._array.ctypes.data

    def untyped_storage(self) -> NumpyPointer:
        return self

    def cpu(self) -> NumpyPointer:
        return self

    def copy_(self, source: object) -> NumpyPointer:
        return self

    def new_empty(self, size: int, device: str) -> NumpyPointer:
        return self

    def set_(self, storage: object, offset: int, size: object, stride: object) -> NumpyPointer:
        return self

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self._array.shape

    def stride(self) -> tuple[int, ...]:
        return element_strides(self._array)


_FLOATS = frozenset({"float16", "bfloat16", "float32"})
_is_float: dict[np.dtype[Any], bool] = {}  # a dtype's name is slow to make, and asked for at every call
_compiled: dict[Hashable, Any] = {}

# Programs in one launch: the limit CUDA sets for a grid's first dimension.
MAX_PROGRAMS = 2**31 - 1


def array_module(array: object) -> Any:
    """`cupy` or `numpy`, whichever the array belongs to."""
    return sys.modules["cupy"] if type(array).__module__.partition(".")[0] == "cupy" else np


def is_float(array: Any) -> bool:
    """Whether the argument is an array, not empty, of a dtype that the kernels take."""
    dtype = getattr(array, "dtype", None)
    if dtype is None:
        return False
    known = _is_float.get(dtype)
    if known is None:
        known = _is_float[dtype] = dtype.name in _FLOATS
    return known and array.size > 0


def are_floats(first: Any, *others: Any) -> bool:
    """Whether all arguments are non-empty arrays of one dtype that the kernels take."""
    return is_float(first) and all(is_float(other) and other.dtype == first.dtype for other in others)


def element_strides(array: Array) -> tuple[int, ...]:
    """Strides counted in elements, as a kernel adds them to a pointer."""
    itemsize = array.itemsize
    return tuple(stride // itemsize for stride in array.strides)


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def next_power_of_2(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()


@functools.cache
def interpreting() -> bool:
    """Whether Triton's kernels are interpreted on the CPU; fixed when Triton is imported."""
    from triton import knobs  # type: ignore[import-untyped]  # Triton ships no types

    return bool(knobs.runtime.interpret)


def launch(
    kernel: Any,
    programs: int,
    arrays: Sequence[Array | None],
    scalars: Sequence[int | float],
    constants: Mapping[str, Hashable],
    num_warps: int = 4,
    num_stages: int = 2,
    contracts: bool = True,
) -> None:
    """Run `programs` programs of `kernel`, which takes the arrays, then the scalars, then the constants.

    `contracts` lets a product and the sum with it be rounded once; it is always the same for one kernel.
    """
    if isinstance(arrays[0], np.ndarray) and array_module(arrays[0]) is np:
        if not interpreting():
            raise TypeError("arrays must be CuPy arrays; NumPy arrays run only with TRITON_INTERPRET=1")
        wrapped = [None if array is None else NumpyPointer(array) for array in arrays]
        # A GPU gets a number with a point in float32; the interpreter would keep Python's 64 bits.
        rounded = [float(np.float32(value)) if isinstance(value, float) else value for value in scalars]
        # NumPy warns where a GPU says nothing: masked lanes divide by zero, exp underflows.
        with np.errstate(all="ignore"):
            kernel[(programs,)](*wrapped, *rounded, **constants)
        return
    cupy = sys.modules["cupy"]
    pointers = [None if array is None else CupyPointer(array) for array in arrays]
    key = (
        kernel,
        cupy.cuda.runtime.getDevice(),
        *[None if pointer is None else pointer.specialisation() for pointer in pointers],
        *map(specialisation, scalars),
        *constants.values(),
        num_warps,
        num_stages,
    )
    compiled = _compiled.get(key)
    if compiled is None:
        compiled = _compiled[key] = kernel.warmup(
            *pointers,
            *scalars,
            **constants,
            grid=(programs,),
            num_warps=num_warps,
            num_stages=num_stages,
            # Multiply-add in one rounding; Triton's own default differs between versions.
            enable_fp_fusion=contracts,
        )
    addresses = [None if pointer is None else pointer.address for pointer in pointers]
    start(compiled, programs, cupy.cuda.get_current_stream().ptr, (*addresses, *scalars, *constants.values()))


def start(compiled: Any, programs: int, stream: int, arguments: tuple[Any, ...]) -> None:
    """Queue a compiled kernel: no metadata and no hooks, which only Triton's profiler uses."""
    # `run` loads the binary the first time, and only then is there a `function`.
    run = compiled.run
    run(programs, 1, 1, stream, compiled.function, compiled.packed_metadata, None, None, None, *arguments)


def specialisation(scalar: int | float) -> Hashable:
    """What Triton compiles into a kernel of a scalar's value: that it is 1, divides by 16, and its width."""
    if isinstance(scalar, float):
        return None
    return (scalar == 1, scalar % 16 == 0, -(2**31) <= scalar < 2**31)


# The longest row that a program holds in registers, of one array and of two: 32 and 16 values a thread each.
MAX_ROW = 16384
MAX_PAIR_ROW = 8192
# A longer row is read in pieces of so many values.
PIECE = 4096
# Values in the tile of one program, where rows are shorter.
_ROW_TILE = 1024


def row_tile(columns: int, longest: int) -> tuple[int, int, int]:
    """(rows, columns, warps) of the tile with which a program works on rows of a matrix.

    Short rows are put several to a program; of a row above `longest`, the tile is a piece.
    """
    block = next_power_of_2(columns) if columns <= longest else PIECE
    rows = max(1, _ROW_TILE // block)
    return rows, block, warps_for(rows * block)


def warps_for(elements: int) -> int:
    """Warps for a tile of so many values: 8 to 32 values a thread."""
    return 4 if elements < 2048 else 8 if elements < 8192 else 16


def as_rows(x: Array, axis: int) -> Array:
    """`x` as a contiguous matrix whose rows run along `axis`."""
    xp = array_module(x)
    moved = xp.moveaxis(x, axis, -1) if axis % x.ndim != x.ndim - 1 else x
    rows: Array = xp.ascontiguousarray(moved).reshape(-1, x.shape[axis])
    return rows


def from_rows(rows: Array, x: Array, axis: int) -> Array:
    """The inverse of `as_rows` for a result of the shape of `x`, contiguous."""
    if axis % x.ndim == x.ndim - 1:
        return rows.reshape(x.shape)
    xp = array_module(x)
    moved_shape = [*x.shape[: axis % x.ndim], *x.shape[axis % x.ndim + 1 :], x.shape[axis]]
    whole: Array = xp.ascontiguousarray(xp.moveaxis(rows.reshape(moved_shape), -1, axis))
    return whole
