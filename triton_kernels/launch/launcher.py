"""Launch of a kernel on the device, or in Triton's interpreter, from addresses.

Triton's own launch derives the kernel's signature from its arguments at each call (42 us on the host, measured in
Triton 3.9), and its Python launcher checks for scratch memory, profilers and sanitizers. Here a kernel is compiled once
for everything that Triton specializes on, and launched by its C launcher alone, with plain integers for addresses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

# CuPy has no types; a CuPy array is used through what it shares with NumPy's.
Array: TypeAlias = npt.NDArray[Any]

Starter: TypeAlias = Callable[[int, int, tuple[Any, ...]], None]
"""Function that queues a compiled kernel, given the number of programs, the stream's address and all arguments."""

# Programs in one launch: the limit CUDA sets for a grid's first dimension.
MAX_PROGRAMS = 2**31 - 1


class Pointer:
    """An address and a dtype in the form of an array for Triton's compiler and interpreter.

    The interpreter copies a tensor's storage to the CPU and back; this memory is already there and is its own copy.
    Only those members of torch.Tensor that the two call are implemented.
    """

    __slots__ = ("address", "dtype")

    def __init__(self, address: int, dtype: np.dtype[Any]) -> None:
        self.address = address
        self.dtype = dtype

    def data_ptr(self) -> int:
        return self.address

    def untyped_storage(self) -> Pointer:
        return self

    def cpu(self) -> Pointer:
        return self

    def copy_(self, source: object) -> Pointer:
        return self

    def new_empty(self, size: int, device: str) -> Pointer:
        return self

    def set_(self, storage: object, offset: int, size: object, stride: object) -> Pointer:
        return self

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return ()

    def stride(self) -> tuple[int, ...]:
        return ()


@functools.cache
def interpreting() -> bool:
    """Return whether Triton's kernels are interpreted on the CPU, which is fixed when Triton is imported."""
    from triton import knobs  # type: ignore[import-untyped]  # Triton ships no types

    return bool(knobs.runtime.interpret)


@functools.cache
def _capability(device: object) -> int:
    from triton.runtime import driver  # type: ignore[import-untyped]  # Triton ships no types

    return int(driver.active.get_current_target().arch)


def capability() -> int:
    """Return the compute capability that kernels are compiled for, 90 for 9.0; the minimum if they are interpreted."""
    if interpreting():
        return 80
    from triton.runtime import driver

    return _capability(driver.active.get_current_device())


def address_of(array: Any) -> int:
    """Return the address of an array's first element."""
    if type(array) is not np.ndarray:
        return int(array.data.ptr)  # CuPy's pointer already includes a view's offset
    if not interpreting():
        raise TypeError("arrays must be CuPy arrays; NumPy arrays run only with TRITON_INTERPRET=1")
    return array.ctypes.data


_compiled: dict[Hashable, Any] = {}


def compiled_kernel(
    kernel: Any,
    arrays: Sequence[tuple[np.dtype[Any], bool] | None],
    scalars: Sequence[int | float],
    constants: Mapping[str, Hashable],
    num_warps: int,
    num_stages: int,
    contracts: bool,
) -> Any:
    """Return the machine code of a kernel, compiled once for everything that Triton specializes on.

    Args:
        kernel: the result of `triton.jit`.
        arrays: the dtype of each, and whether its address is divisible by 16.
        scalars: examples; of an integer it matters whether it is 1, divisible by 16 and within 32 bits.
        constants: the compile-time constants, by name.
        num_warps: the warps of a program.
        num_stages: the stages of its pipelined loops.
        contracts: whether a product and its sum may be rounded once.
    """
    key = (kernel, *arrays, *map(specialization, scalars), *constants.values(), num_warps, num_stages)
    compiled = _compiled.get(key)
    if compiled is None:
        compiled = _compiled[key] = kernel.warmup(
            *[None if x is None else Pointer(16 if x[1] else 4, x[0]) for x in arrays],
            *scalars,
            **constants,
            grid=(1,),
            num_warps=num_warps,
            num_stages=num_stages,
            # Multiply-add in one rounding; Triton's own default differs between versions.
            enable_fp_fusion=contracts,
        )
    return compiled


def specialization(scalar: int | float) -> Hashable:
    """Return the properties of a scalar that Triton compiles in: whether it is 1, divisible by 16, and its width."""
    if isinstance(scalar, float):
        return None
    return (scalar == 1, scalar % 16 == 0, -(2**31) <= scalar < 2**31)


def starter(compiled: Any) -> Starter:
    """Return a function that queues a compiled kernel on the current device, after loading its binary.

    Metadata for hooks is not passed, since only Triton's profiler uses it. If the kernel needs no scratch memory and
    Triton's launcher is that of 3.9, its C function is called without the Python around it.
    """
    run = compiled.run  # loads the binary, which creates `function`
    function, metadata = compiled.function, compiled.packed_metadata
    bare = getattr(run, "launch", None)
    annotations = getattr(run, "arg_annotations", None)
    if bare is None or annotations is None or run.global_scratch_size or run.profile_scratch_size or run.gsan_enabled:
        return lambda programs, stream, arguments: run(
            programs, 1, 1, stream, function, metadata, None, None, None, *arguments
        )
    cooperative, dependent, signature = run.launch_cooperative_grid, run.launch_pdl, run.kernel_signature

    def start(programs: int, stream: int, arguments: tuple[Any, ...]) -> None:
        bare(
            programs,
            1,
            1,
            stream,
            function,
            cooperative,
            dependent,
            metadata,
            None,
            None,
            None,
            None,
            None,
            annotations,
            signature,
            arguments,
        )

    return start


def interpret(
    kernel: Any,
    programs: int,
    arrays: Sequence[tuple[int, np.dtype[Any]] | None],
    scalars: Sequence[int | float],
    constants: Mapping[str, Hashable],
) -> None:
    """Run a kernel in Triton's interpreter on this process's memory: `arrays` are addresses and dtypes."""
    pointers = [None if x is None else Pointer(*x) for x in arrays]
    # A GPU receives floating-point numbers in float32; the interpreter would keep Python's 64 bits.
    rounded = [float(np.float32(value)) if isinstance(value, float) else value for value in scalars]
    # NumPy warns where a GPU does not: masked lanes divide by zero, exp underflows.
    with np.errstate(all="ignore"):
        kernel[(programs,)](*pointers, *rounded, **constants)


FEWEST_LONG = 2**31
"""From this number of elements on, indices take 64 bits, whose division is slow."""


def is_long(farthest: int) -> bool:
    """Return whether an index up to `farthest` elements needs 64 bits."""
    return farthest >= FEWEST_LONG


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def next_power_of_2(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()
