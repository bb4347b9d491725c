"""Tensors of other libraries' memory and back: the same elements, and no memory that both could write."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor
from hookscope.engine.tensors.interchange import from_dlpack, frombuffer, to_dlpack

NUMBERS = np.array([1.5, -2.0, 3.25, 1e30], np.float32)


@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview, lambda b: array.array("B", b)])
@pytest.mark.parametrize(
    ("dtype", "count", "offset"),
    [(None, -1, 0), (ms.float32, 2, 4), (ms.int16, -1, 2), (ms.uint8, 3, 5), (ms.int64, 1, 8), (ms.bool_, 4, 0)],
)
def test_a_buffer_is_read_as_numpy_reads_it(buffer: Any, dtype: Any, count: int, offset: int) -> None:
    content = bytes([1, 0, 1, 1]) + bytes(range(4, 16))
    names = {None: "float32", ms.bool_: "bool"}
    want = np.frombuffer(content, names.get(dtype, str(dtype).lower()), count, offset)
    result = frombuffer(buffer(content), dtype=dtype, count=count, offset=offset)
    assert result.asnumpy().dtype == want.dtype
    np.testing.assert_array_equal(result.asnumpy(), want)


def test_later_writes_to_a_buffer_do_not_show() -> None:
    content = bytearray(NUMBERS.tobytes())
    result = ms.frombuffer(content)
    content[:] = bytes(len(content))
    np.testing.assert_array_equal(result.asnumpy(), NUMBERS)


@pytest.mark.parametrize(("dtype", "count", "offset"), [(ms.float32, -1, 1), (ms.float32, 9, 0), (ms.int64, -1, 99)])
def test_a_buffer_of_too_few_bytes_is_refused(dtype: Any, count: int, offset: int) -> None:
    with pytest.raises(ValueError, match=r"buffer|offset"):
        frombuffer(NUMBERS.tobytes(), dtype=dtype, count=count, offset=offset)


class Taker:
    """Another library's use of a capsule."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> object:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.complex64, np.bool_])
@pytest.mark.parametrize("shape", [(), (4,), (0, 3), (2, 2)])
def test_a_capsule_holds_the_elements(shape: tuple[int, ...], dtype: Any) -> None:
    values = np.resize(NUMBERS[:3], shape).astype(dtype)
    array = np.from_dlpack(Taker(to_dlpack(Tensor(values))))
    assert array.dtype == dtype
    np.testing.assert_array_equal(array, values)


@pytest.mark.parametrize("shape", [(), (4,), (0, 3), (2, 2)])
def test_what_another_library_hands_over_is_copied(shape: tuple[int, ...]) -> None:
    values = np.resize(NUMBERS, shape)
    kept = values.copy()
    for result in (from_dlpack(values), from_dlpack(values.__dlpack__()), ms.from_dlpack(to_dlpack(Tensor(values)))):
        assert result.dtype == ms.float32
        np.testing.assert_array_equal(result.asnumpy(), kept)
        values[...] = 0
        np.testing.assert_array_equal(result.asnumpy(), kept)
        values[...] = kept


@pytest.mark.parametrize("argument", [3, [1.0], "a"])
def test_what_holds_no_elements_is_refused(argument: Any) -> None:
    with pytest.raises(TypeError, match=f"'tensor' must be a Tensor, but got {type(argument).__name__}"):
        to_dlpack(argument)
    with pytest.raises(TypeError, match="'dlpack' must be"):
        from_dlpack(argument)


def test_a_capsule_is_taken_once() -> None:
    capsule = to_dlpack(Tensor(NUMBERS))
    from_dlpack(capsule)
    with pytest.raises(ValueError, match="this capsule was taken before"):
        from_dlpack(capsule)
