"""Blocks: bytes come back as they lay, and copies of a GPU, played here by queues, find both of their ends there."""

from __future__ import annotations

import contextlib
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hookscope.engine.tensors import blocks
from hookscope.engine.tensors.blocks import SwapFile, block_of, layout_in, owner_of

X = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)

VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "turned": lambda x: x.transpose(2, 0, 1),
    "backwards": lambda x: x[::-1, 1:, ::-2],
    "one row for all": lambda x: np.broadcast_to(x[0], (5, 3, 4)),
    "one element": lambda x: x[1, 2, 3, ...],
    "nothing": lambda x: x[2:],
    "bytes": lambda x: x.ravel("K").view(np.uint8),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_an_array_comes_back_as_it_lay(name: str, axes: tuple[int, ...]) -> None:
    owner = np.ascontiguousarray(X.transpose(axes)).transpose(np.argsort(axes)).copy("K")
    file = SwapFile()
    block_of(np.ones(7), file)  # lies before it in the file
    block = block_of(owner, file)
    assert block is not None
    view = VIEWS[name](owner)
    fetched = block.fetch()
    assert block.fetch() is fetched
    back = block.view(fetched, layout_in(owner, view))
    np.testing.assert_array_equal(back, view)
    assert (back.strides, back.dtype, type(back)) == (view.strides, view.dtype, np.ndarray)
    assert back.flags.writeable and back.flags.aligned


def test_a_forked_process_and_its_parent_write_over_nothing_of_each_other() -> None:
    file = SwapFile()
    before = block_of(np.full(5000, 1.0), file)
    child = os.fork()
    own = block_of(np.full(5000, 2.0 if child else 3.0), file)
    assert before is not None and own is not None
    if child == 0:
        good = False
        with contextlib.suppress(BaseException):
            layout = (0, (5000,), (8,), np.dtype(np.float64))
            both = before.view(before.fetch(), layout), own.view(own.fetch(), layout)
            good = bool((both[0] == 1).all() and (both[1] == 3).all())
        os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    layout = (0, (5000,), (8,), np.dtype(np.float64))
    assert (own.view(own.fetch(), layout) == 2).all() and (before.view(before.fetch(), layout) == 1).all()


def test_the_owner_is_whose_memory_it_is() -> None:
    assert owner_of(X.copy()[1:].T).flags.owndata
    owner = X.copy()
    assert owner_of(owner[1:].reshape(-1)[2:]) is owner
    assert owner_of(np.frombuffer(b"12345678", np.float32)) is None
    assert owner_of(np.memmap(sys.executable, np.uint8, "r")[:4]) is None


def test_elements_that_do_not_lie_side_by_side_are_not_written() -> None:
    apart = np.ndarray((3,), np.float32, np.zeros(12, np.float32), 0, (16,))
    assert block_of(apart, SwapFile()) is None
    assert block_of(np.array([None]), SwapFile()) is None


# A GPU


class Memory:
    """Bytes of a pool, which are reused once this is released."""

    def __init__(self, size: int) -> None:
        self.bytes = np.zeros(size, np.uint8)
        self.ptr, self.given_back = id(self), [False]
        MEMORIES[self.ptr] = self
        weakref.finalize(self, _give_back, self.bytes, self.given_back)

    def copy_to_host_async(self, host: int, size: int, stream: Stream) -> None:
        stream.copy(self, MEMORIES[host], size)

    def copy_from_host_async(self, host: int, size: int, stream: Stream) -> None:
        stream.copy(MEMORIES[host], self, size)

    def __add__(self, first: int) -> tuple[Memory, int]:
        return self, first


MEMORIES: weakref.WeakValueDictionary[int, Memory] = weakref.WeakValueDictionary()


def _give_back(taken: Any, given_back: list[bool]) -> None:
    taken[:] = 255
    given_back[0] = True


class Event:
    def __init__(self, stream: Stream) -> None:
        self.stream, self.place = stream, stream.begun

    @property
    def done(self) -> bool:
        return self.stream.ended >= self.place

    def synchronize(self) -> None:
        self.stream.go_on_to(self.place)


class Stream:
    """A stream whose work is done only when it is synchronized."""

    def __init__(self, non_blocking: bool = True) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.begun = self.ended = 0

    def copy(self, source: Memory, target: Memory, size: int) -> None:
        come, gone = (source.bytes, source.given_back), (target.bytes, target.given_back)

        def copy() -> None:
            assert come[1] == gone[1] == [False], "one end already belongs to another block"
            gone[0][:size] = come[0][:size]

        self._put(copy)

    def record(self) -> Event:
        return Event(self)

    def wait_event(self, event: Event) -> None:
        self._put(event.synchronize)

    def _put(self, work: Callable[[], None]) -> None:
        self.waiting.append(work)
        self.begun += 1

    def go_on_to(self, index: int) -> None:
        while self.ended < index:
            self.ended += 1
            self.waiting.pop(0)()


class Computing(Stream):
    """The stream of the computation, which does its work at once."""

    def _put(self, work: Callable[[], None]) -> None:
        work()


class DeviceArray:
    def __init__(self, values: Any) -> None:
        self.values = values
        self.nbytes, self.ndim, self.strides, self.dtype = values.nbytes, values.ndim, values.strides, values.dtype
        self.shape, self.flags, self.device, self.data = values.shape, values.flags, Device(), Memory(values.nbytes)
        self.data.bytes[:] = values.reshape(-1).view(np.uint8)

    def transpose(self, axes: Any) -> Any:
        return self.values.transpose(axes)


class Device(nullcontext[None], AbstractContextManager[None]):
    id = 0


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def array(shape: Any, dtype: Any, memory: tuple[Memory, int], strides: Any) -> Any:
        return np.ndarray(shape, dtype, memory[0].bytes, memory[1], strides).copy("K")

    computing = Computing()
    fake = SimpleNamespace(
        ndarray=array,
        cuda=SimpleNamespace(
            alloc=Memory, alloc_pinned_memory=Memory, Stream=Stream, get_current_stream=lambda: computing
        ),
    )
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(blocks, "_streams", {})
    blocks._pending_copies.clear()
    yield
    blocks._pending_copies.clear()


def put(number: int) -> tuple[Any, Any]:
    """Return a block of an array of which nobody knows any more, and how the array lay."""
    owner = DeviceArray(X + number)
    block = block_of(owner, SwapFile())
    return block, (0, owner.shape, owner.strides, owner.dtype)


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("ahead", [0, 1, 5])
def test_copies_of_a_gpu_find_their_ends(ahead: int) -> None:
    stored_blocks = [put(number) for number in range(12)]
    assert len(blocks._pending_copies) == blocks._MAX_PENDING_COPIES
    coming: list[Any] = []
    for number in reversed(range(12)):
        while len(coming) <= ahead and number - len(coming) >= 0:
            coming.append(stored_blocks[number - len(coming)][0].fetch())
        block, layout = stored_blocks.pop()
        np.testing.assert_array_equal(block.view(coming.pop(0), layout), X + number)
        assert len(blocks._pending_copies) <= blocks._MAX_PENDING_COPIES


@pytest.mark.usefixtures("cuda")
def test_what_is_fetched_and_never_used_is_there_until_it_came() -> None:
    for number in range(10):
        block, _ = put(number)
        block.fetch()
    del block
    stream = blocks._streams[0]
    stream.go_on_to(stream.begun)  # the copies' own checks
