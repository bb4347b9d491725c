"""Blocks: the bytes of an array outside of its device's memory, in a file for the CPU, in pinned memory for a GPU.

A block belongs to an array that owns its memory, and is written when it is created. ``fetch`` starts to read the bytes
back and returns their holder; ``view`` makes an array over it, after waiting for the read.

The file is unlinked, so that nothing is left behind however the process ends. It is written by system calls and read
through memory mapping: its pages belong to the system, which keeps them while there is memory.

Copies of a GPU run on a separate stream, parallel to the computation. Until a copy has ended, its source and
destination stay allocated: CuPy's pools would reuse them.
"""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
import weakref
from collections import deque
from typing import Any

import numpy as np

from ..base.types import Array

__all__ = ["Block", "Layout", "SwapFile", "block_of", "layout_in", "owner_of"]

Layout = tuple[int, tuple[int, ...], tuple[int, ...], Any]
"""Layout of an array in a block: the offset of its first element, shape, strides (all in bytes), and NumPy's dtype."""


class Block:
    """Base of both kinds of blocks."""

    _fetched: weakref.ref[Any] | None = None

    def fetch(self) -> Any:
        """Start to read the bytes back; the result holds them."""
        fetched = None if self._fetched is None else self._fetched()
        if fetched is None:
            fetched = self._fetch()
            self._fetched = weakref.ref(fetched)
        return fetched

    def view(self, fetched: Any, layout: Layout) -> Array:
        """Return an array over the result of ``fetch``."""
        raise NotImplementedError

    def _fetch(self) -> Any:
        raise NotImplementedError


def owner_of(array: Any) -> Any:
    """Return the array that owns an array's memory: itself, or its base. None: memory of another library."""
    base = array.base
    while base is not None:
        if type(base) is not type(array):
            return None
        array, base = base, base.base
    return array if array.flags.owndata else None


def layout_in(owner: Any, array: Any) -> Layout:
    """Return the layout of a view in its owner's memory."""
    return _address(array) - _address(owner), array.shape, array.strides, array.dtype


def block_of(owner: Any, file: SwapFile) -> Block | None:
    """Write an array's memory to a block; return None if its elements are not dense.

    Raises:
        OSError: there is not enough space for the file.
    """
    axes = sorted(range(owner.ndim), key=lambda axis: -owner.strides[axis])
    ordered = owner.transpose(axes)
    if not ordered.flags.c_contiguous or owner.dtype.hasobject:
        return None
    if type(owner) is np.ndarray:
        return _InFile(ordered.reshape(-1).view(np.uint8), file)
    return _Pinned(owner)


def _address(array: Any) -> int:
    address: int = array.__array_interface__["data"][0] if isinstance(array, np.ndarray) else array.data.ptr
    return address


class SwapFile:
    """A temporary file that is deleted with this object; it is created by the first write.

    A forked process reads data that its parent wrote before, and writes into a new file: otherwise both would write to
    the same offsets.
    """

    def __init__(self) -> None:
        self._file: Any = None
        self._end = 0
        self._process = os.getpid()

    def append(self, flat: Array) -> tuple[Any, int]:
        """Append bytes; return the open file, and their offset, which is that of a page."""
        try:
            if self._process != os.getpid():
                self._file, self._end, self._process = None, 0, os.getpid()
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="hookscope-", buffering=0)  # noqa: SIM115  # closed below
                weakref.finalize(self, self._file.close)
            begin = -(-self._end // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
            self._file.seek(begin)
            remaining = flat.data
            while remaining:
                remaining = remaining[self._file.write(remaining) :]
        except OSError as error:
            raise OSError(
                error.errno,
                f"For 'Cell.offload', {flat.nbytes} bytes cannot be written to a file in {tempfile.gettempdir()} "
                f"({error.strerror}): set TMPDIR to a folder with more room, or offload fewer cells",
            ) from error
        self._end = begin + flat.nbytes
        return self._file, begin


class _InFile(Block):
    """Bytes of the CPU's memory, in a file."""

    def __init__(self, flat: Array, file: SwapFile) -> None:
        self.owner, self.size = file, flat.nbytes  # which closes the file when it is freed
        self.file, self.begin = file.append(flat)

    def view(self, fetched: mmap.mmap, layout: Layout) -> Array:
        """Return an array whose elements are pages of the file."""
        first, shape, strides, dtype = layout
        return np.ndarray(shape, dtype, fetched, first, strides)

    def _fetch(self) -> mmap.mmap:
        pages = mmap.mmap(self.file.fileno(), self.size, access=mmap.ACCESS_COPY, offset=self.begin)
        pages.madvise(mmap.MADV_WILLNEED)  # prefetched before it is read
        return pages


class _Pinned(Block):
    """Bytes of a GPU's memory, in pinned memory of the host."""

    def __init__(self, owner: Any) -> None:
        cuda = sys.modules["cupy"].cuda
        self.size, self.device = owner.nbytes, owner.device
        with self.device:
            self.host = cuda.alloc_pinned_memory(self.size)
            stream = _copy_stream(self.device.id)
            stream.wait_event(cuda.get_current_stream().record())
            owner.data.copy_to_host_async(self.host.ptr, self.size, stream)
            _begun(stream.record(), owner, self.host)

    def view(self, fetched: _Coming, layout: Layout) -> Any:
        """Return an array for work that follows the copy on the computation's stream."""
        first, shape, strides, dtype = layout
        with self.device:
            sys.modules["cupy"].cuda.get_current_stream().wait_event(fetched.copy[0])
            fetched.copy[1] = None  # the next user of this memory comes later on that stream
            return sys.modules["cupy"].ndarray(shape, dtype, fetched.memory + first, strides)

    def _fetch(self) -> _Coming:
        return _Coming(self)


class _Coming:
    """A copy back to the GPU in progress."""

    def __init__(self, block: _Pinned) -> None:
        cuda = sys.modules["cupy"].cuda
        with block.device:
            self.memory = cuda.alloc(block.size)
            stream = _copy_stream(block.device.id)
            stream.wait_event(cuda.get_current_stream().record())  # the previous user of this memory has read it
            self.memory.copy_from_host_async(block.host.ptr, block.size, stream)
            self.copy = _begun(stream.record(), self.memory, block.host)


_MAX_PENDING_COPIES = 4
"""Maximum of pending copies; at more the computation waits, since waiting copies would fill the memory."""
_pending_copies: deque[list[Any]] = deque()
"""Copies in order of their start: the event of the end, destination or source, and the other."""
_streams: dict[int, Any] = {}


def _begun(end: Any, near: Any, far: Any) -> list[Any]:
    """Track a copy, and remove those that have ended."""
    copy = [end, near, far]
    _pending_copies.append(copy)
    while _pending_copies and (len(_pending_copies) > _MAX_PENDING_COPIES or _pending_copies[0][0].done):
        _pending_copies[0][0].synchronize()
        _pending_copies.popleft()
    return copy


def _copy_stream(device: int) -> Any:
    """Return the stream for the copies of a GPU, which is the current one."""
    if device not in _streams:
        _streams[device] = sys.modules["cupy"].cuda.Stream(non_blocking=True)
    return _streams[device]
