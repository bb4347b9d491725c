"""Blocks: the bytes of an array outside of its device's memory, in a file for the CPU, in pinned memory for a GPU.

A block is of an array that has memory of its own, and is written when it is made. ``fetch`` begins to bring the bytes
back and gives what holds them; ``view`` lays an array over that, where it has come.

The file has no name in any folder, so that nothing is left behind however the process ends. It is written by calls and
read through memory mapping: its pages belong to the system, which keeps them while there is room.

Copies of a GPU run on a stream of their own, beside the computation. Until one has ended, both of its ends stay where
they are: CuPy's pools would give them to others.
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
"""How an array lies in a block: the place of its first element, shape, steps (all in bytes), and NumPy's dtype."""


class Block:
    """What both kinds have in common."""

    _fetched: weakref.ref[Any] | None = None

    def fetch(self) -> Any:
        """Begin to bring the bytes back; who holds the result holds them."""
        fetched = None if self._fetched is None else self._fetched()
        if fetched is None:
            fetched = self._fetch()
            self._fetched = weakref.ref(fetched)
        return fetched

    def view(self, fetched: Any, layout: Layout) -> Array:
        """An array over what ``fetch`` gave."""
        raise NotImplementedError

    def _fetch(self) -> Any:
        raise NotImplementedError


def owner_of(array: Any) -> Any:
    """The array whose memory an array lies in: itself, or what it is a view of. None: memory of another library's."""
    base = array.base
    while base is not None:
        if type(base) is not type(array):
            return None
        array, base = base, base.base
    return array if array.flags.owndata else None


def layout_in(owner: Any, array: Any) -> Layout:
    """How a view lies in its owner's memory."""
    return _address(array) - _address(owner), array.shape, array.strides, array.dtype


def block_of(owner: Any, file: SwapFile) -> Block | None:
    """Write an array's memory where it is to be meanwhile; None where its elements do not lie side by side.

    Raises:
        OSError: there is no room for the file.
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
    """A file of bytes that is gone with this object; it is made when something is written.

    A process that is forked reads what its parent wrote before, and writes into a file of its own: both would else
    write to the same places.
    """

    def __init__(self) -> None:
        self._file: Any = None
        self._end = 0
        self._process = os.getpid()

    def append(self, flat: Array) -> tuple[Any, int]:
        """Write bytes at the end; the open file, and where they begin, which is where a page does."""
        try:
            if self._process != os.getpid():
                self._file, self._end, self._process = None, 0, os.getpid()
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="hookscope-", buffering=0)  # noqa: SIM115  # closed below
                weakref.finalize(self, self._file.close)
            begin = -(-self._end // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
            self._file.seek(begin)
            rest = flat.data
            while rest:
                rest = rest[self._file.write(rest) :]
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
        self.owner, self.size = file, flat.nbytes  # which closes the file when it goes
        self.file, self.begin = file.append(flat)

    def view(self, fetched: mmap.mmap, layout: Layout) -> Array:
        """An array whose elements are pages of the file."""
        first, shape, strides, dtype = layout
        return np.ndarray(shape, dtype, fetched, first, strides)

    def _fetch(self) -> mmap.mmap:
        pages = mmap.mmap(self.file.fileno(), self.size, access=mmap.ACCESS_COPY, offset=self.begin)
        pages.madvise(mmap.MADV_WILLNEED)  # in memory when somebody reads it
        return pages


class _Pinned(Block):
    """Bytes of a GPU's memory, in pinned memory of the host."""

    def __init__(self, owner: Any) -> None:
        cuda = sys.modules["cupy"].cuda
        self.size, self.device = owner.nbytes, owner.device
        with self.device:
            self.host = cuda.alloc_pinned_memory(self.size)
            beside = _beside(self.device.id)
            beside.wait_event(cuda.get_current_stream().record())
            owner.data.copy_to_host_async(self.host.ptr, self.size, beside)
            _begun(beside.record(), owner, self.host)

    def view(self, fetched: _Coming, layout: Layout) -> Any:
        """An array for what comes after the copy on the stream of the computation."""
        first, shape, strides, dtype = layout
        with self.device:
            sys.modules["cupy"].cuda.get_current_stream().wait_event(fetched.copy[0])
            fetched.copy[1] = None  # whoever gets this memory next comes later on that stream
            return sys.modules["cupy"].ndarray(shape, dtype, fetched.memory + first, strides)

    def _fetch(self) -> _Coming:
        return _Coming(self)


class _Coming:
    """A copy back to the GPU."""

    def __init__(self, block: _Pinned) -> None:
        cuda = sys.modules["cupy"].cuda
        with block.device:
            self.memory = cuda.alloc(block.size)
            beside = _beside(block.device.id)
            beside.wait_event(cuda.get_current_stream().record())  # what had this memory before has read it
            self.memory.copy_from_host_async(block.host.ptr, block.size, beside)
            self.copy = _begun(beside.record(), self.memory, block.host)


_MOST_UNDER_WAY = 4
"""So many copies may wait for their end; then the computation waits, else what waits would fill the memory."""
_under_way: deque[list[Any]] = deque()
"""Copies in the order in which they began: the event of the end, and both ends."""
_streams: dict[int, Any] = {}


def _begun(end: Any, near: Any, far: Any) -> list[Any]:
    """Note a copy; those that have ended are forgotten."""
    copy = [end, near, far]
    _under_way.append(copy)
    while _under_way and (len(_under_way) > _MOST_UNDER_WAY or _under_way[0][0].done):
        _under_way[0][0].synchronize()
        _under_way.popleft()
    return copy


def _beside(device: int) -> Any:
    """The stream for the copies of a GPU, which is the current one."""
    if device not in _streams:
        _streams[device] = sys.modules["cupy"].cuda.Stream(non_blocking=True)
    return _streams[device]
