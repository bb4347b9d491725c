"""The strict device refuses what a real CuPy array refuses, has what CuPy has, and counts what is done on it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops, value_and_grad
from tests import strict_device
from tests.strict_device import facts, ufuncs

cp = strict_device.CUPY
BFLOAT16 = facts.BFLOAT16


def on_device(values: Any, dtype: Any = None) -> Any:
    return cp.asarray(np.asarray(values, dtype))


X = np.arange(12, dtype=np.float32).reshape(3, 4)


# Contents


@pytest.mark.parametrize("name", ["longdouble", "nditer", "ma", "linalg.multi_dot", "cuda.runtime.foo"])
def test_what_cupy_lacks_is_not_there(name: str) -> None:
    module = cp
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part)
    with pytest.raises(AttributeError, match=f"has no attribute '{last}'"):
        getattr(module, last)


def test_methods_and_attributes_are_cupys() -> None:
    public = {name for name in dir(strict_device.ndarray) if not name.startswith("_")}
    assert public <= set(facts.METHODS) | facts.ATTRIBUTES
    for name in ("writeable",):
        assert not hasattr(on_device(X).flags, name)


@pytest.mark.parametrize("name", facts.RESOLVED)
def test_each_pair_of_operands_takes_the_loop_that_cupy_takes(name: str) -> None:
    """By the table that ``record`` asked the real CuPy for; comparisons have two for integers."""
    chars = "?bBhHiIqQeEfdFD"
    numbers = [eval(text, {"np": np}) for text in facts.NUMBERS]
    loops = facts.loops(facts.MODULES["cupy"][name]["loops"])

    def char(dtype: Any) -> str:
        return "E" if dtype == BFLOAT16 else np.dtype(dtype).char

    for first, row in facts.RESOLVED[name].items():
        operands = [np.empty(1, facts.dtype_of(second)) for second in chars] + numbers
        for second, expected in zip(operands, row.split(), strict=True):
            array = np.empty(1, facts.dtype_of(first))
            result = ufuncs._guessed(loops, *ufuncs.kinds_and_dtypes([array, second]))
            text = "-" if result is None else "".join(map(char, result[0])) + "->" + char(result[1][0])
            if {text, expected} == {"QQ->?", "Qq->?"}:  # of comparisons, whose results are of one dtype
                continue
            assert text == expected, (first, second)


@pytest.mark.parametrize(
    ("compute", "dtype"),
    [
        (lambda x: x * 2, BFLOAT16),
        (lambda x: x * 2.5, np.float32),  # a Python float is not a bfloat16, in NumPy neither
        (lambda x: x + np.float32(1), np.float32),
        (lambda x: cp.where(x > 0, x, x), np.float32),  # no loop for bfloat16
        (lambda x: x.clip(0, 1), np.float32),
        (lambda x: cp.round(x), np.float32),
        (lambda x: x.sum(), BFLOAT16),
        (lambda x: x > 1, np.bool_),
        (lambda x: cp.matmul(x, x.T), BFLOAT16),
        (lambda x: strict_device.MODULES["cupyx.scipy.special"].erf(x), np.float32),
    ],
)
def test_bfloat16_stays_where_cupy_has_it(compute: Callable[[Any], Any], dtype: Any) -> None:
    assert compute(on_device(X, BFLOAT16)).dtype == dtype


# Errors


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (np.asarray, TypeError, "Implicit conversion to a NumPy array is not allowed"),
        (lambda x: x + X, TypeError, "Unsupported type <class 'numpy.ndarray'>"),
        (lambda x: x + np.array(1.0), TypeError, "Unsupported type <class 'numpy.ndarray'>"),
        (lambda x: X + x, TypeError, "Unsupported type <class 'numpy.ndarray'>"),
        (lambda x: x * [1.0], TypeError, "Unsupported type <class 'list'>"),
        (lambda x: cp.add(x, 1, where=x > 0), TypeError, "Wrong arguments"),
        (lambda x: cp.where(X > 0, x, x), (AttributeError, TypeError), "astype|Unsupported"),
        (lambda x: cp.concatenate([x, X]), TypeError, "Unsupported type"),
        (lambda x: x.sum(initial=1.0), TypeError, "unexpected keyword argument 'initial'"),
        (lambda x: cp.sum(x, where=True), TypeError, "unexpected keyword argument 'where'"),
        (lambda x: cp.sum([1, 2]), AttributeError, "'list' object has no attribute 'sum'"),
        (lambda x: cp.take(x, 1, mode="clip"), TypeError, "unexpected keyword argument 'mode'"),
        (lambda x: range(x.sum()), TypeError, "cannot be interpreted as an integer"),
        (lambda x: x[: x.sum()], TypeError, "slice indices must be integers"),
        (lambda x: x[5], IndexError, "out of bounds"),
        (lambda x: x[x], IndexError, "arrays used as indices must be of integer or boolean type"),
        (lambda x: x.__setitem__(0, X[0]), ValueError, "non-scalar numpy.ndarray cannot be used for fill"),
        (lambda x: x.__setitem__(0, [1.0]), TypeError, "Unsupported type"),
        (lambda x: cp.bitwise_and(x, x), TypeError, "Wrong type"),
        (lambda x: cp.sort(x.astype(BFLOAT16)), TypeError, "Sorting arrays with dtype 'bfloat16' is not supported"),
        (lambda x: x.T.sort(), NotImplementedError, "non-contiguous"),
        (lambda x: x.repeat(x.astype(int)), ValueError, "`repeats`"),
        (lambda x: cp.multiply.at(x, cp.asarray([0]), x), NotImplementedError, "multiply.at"),
        (lambda x: cp.maximum.reduce(x), NotImplementedError, "maximum.reduce"),
        (lambda x: cp.linalg.inv(cp.eye(2).astype(np.float16)), TypeError, "float16 is unsupported in linalg"),
        (lambda x: hash(x), TypeError, "unhashable"),
        (lambda x: setattr(x, "name", 1), AttributeError, "name"),
        (lambda x: x.item(0), TypeError, "argument"),
    ],
)
def test_what_a_real_array_refuses_is_refused(act: Callable[[Any], Any], error: Any, text: str) -> None:
    with pytest.raises(error, match=text.replace("(", r"\(")):
        act(on_device(X))


@pytest.mark.parametrize("dtype", [BFLOAT16, np.complex64, np.int16, np.bool_])
def test_atomics_are_for_few_dtypes(dtype: Any) -> None:
    x = on_device(np.zeros(3), dtype)
    with pytest.raises(TypeError, match="cupy.add.at only supports float16, float32, float64, int32, int64"):
        cp.add.at(x, cp.asarray([1, 1]), x[:2])


# Differences from NumPy


def test_indices_out_of_range_wrap_around_silently() -> None:
    x = on_device(X)
    assert x[cp.asarray([4, -4])].get().tolist() == X[[1, 2]].tolist()
    assert x.take(cp.asarray([13])).get().tolist() == [1.0]
    x[cp.asarray([3])] = 7.0
    assert x.get()[0].tolist() == [7.0] * 4


def test_new_memory_is_not_zero() -> None:
    assert np.isnan(cp.empty((2, 2), np.float16).get()).all()
    assert np.isnan(cp.empty_like(on_device(X, BFLOAT16)).get().astype(np.float32)).all()
    assert cp.empty(2, np.int64).get().tolist() != [0, 0]
    assert cp.empty(2, np.bool_).get().tolist() == [True, False]


def test_what_is_added_in_no_order_differs_from_run_to_run() -> None:
    values = np.random.default_rng(0).standard_normal(4000).astype(np.float32)

    def added() -> bytes:
        x = cp.zeros(1, np.float32)
        cp.add.at(x, cp.zeros(4000, np.int64), on_device(values))
        return bytes(x.tobytes())

    assert len({added() for _ in range(8)}) > 1

    def assign() -> float:
        x = cp.zeros(1, np.float32)
        x[cp.zeros(4000, np.int64)] = on_device(values)
        return float(x[0])

    assert len({assign() for _ in range(8)}) > 1


def test_results_are_in_c_order_and_copies_keep_theirs() -> None:
    x = on_device(X).T
    assert (x.flags.f_contiguous, (x + 1).flags.c_contiguous, (x * x).strides) == (True, True, (12, 4))
    assert x.astype(np.float64).flags.f_contiguous and x.copy().flags.c_contiguous
    assert cp.empty_like(x).flags.f_contiguous and cp.zeros_like(x).flags.f_contiguous
    assert cp.copy(x).flags.f_contiguous and cp.ascontiguousarray(x).flags.c_contiguous


def test_views_share_and_indices_of_arrays_copy() -> None:
    x = on_device(X)
    wide = cp.broadcast_to(x, (2, 3, 4))
    for view in (x[1:], x.T, x.reshape(4, 3), x[None], x.ravel(), wide, x.view(np.int32), x.diagonal()):
        assert view.base is x and cp.may_share_memory(view, x)
    for new in (x[cp.asarray([0])], x.T.reshape(-1), x.flatten(), x + 0, x.copy(), copy.deepcopy(x)):
        assert new.base is None and not cp.may_share_memory(new, x)
    x.T[0] += 1
    assert x.get()[:, 0].tolist() == [1.0, 5.0, 9.0]
    assert x.sum().shape == x[0, 0].shape == () and type(x.sum()) is type(x)
    assert x[1].data.ptr == x.data.ptr + 16


def test_an_operand_under_its_result_is_read_before_it_is_written() -> None:
    x = on_device(np.arange(5.0))
    cp.add(x[:-1], x[1:], out=x[1:])
    assert x.get().tolist() == [0.0, 1.0, 3.0, 5.0, 7.0]


def test_numpys_functions_are_cupys_for_arrays_of_the_device() -> None:
    x = on_device(X)
    for result in (np.add(x, 1), np.concatenate([x, x]), np.sum(x, axis=0), np.linalg.norm(x)):
        assert type(result) is strict_device.ndarray
    with pytest.raises(TypeError):
        np.sum(x, initial=1.0)


# Counting


@pytest.mark.parametrize(
    ("act", "launches", "waits"),
    [
        (lambda x: x + 1, 1, 0),
        (lambda x: x.reshape(4, 3)[1:].ravel().T, 0, 0),
        (lambda x: x.T.reshape(12), 1, 0),
        (lambda x: x.sum(), 1, 0),
        (lambda x: x.var(), 2, 0),
        (lambda x: x[cp.asarray([0, 1])], 1, 0),
        (lambda x: x[x > 1], 3, 1),
        (lambda x: x.__setitem__(x > 1, 0.0), 3, 1),
        (lambda x: cp.where(x > 1, x, 0.0), 2, 0),
        (lambda x: x.nonzero(), 3, 1),
        (lambda x: cp.bincount(x.astype(int).ravel()), 6, 2),
        (lambda x: x.astype(np.float32, copy=False), 0, 0),
        (lambda x: cp.asarray(x), 0, 0),
        (lambda x: cp.empty((3,)), 0, 0),
        (lambda x: float(x.max()), 1, 1),
        (lambda x: bool((x > 0).any()), 2, 1),
        (lambda x: x.tolist(), 0, 1),
        (lambda x: repr(x), 0, 1),
        (lambda x: f"{x[0, 0]:.2f}", 0, 1),
        (lambda x: cp.cuda.get_current_stream().synchronize(), 0, 1),
        (lambda x: cp.add.at(x, cp.asarray([0]), 1.0), 1, 0),
    ],
)
def test_launches_and_waits_are_counted(act: Callable[[Any], Any], launches: int, waits: int) -> None:
    x = on_device(X)
    with strict_device.counting() as counts:
        act(x)
    assert (len(counts.launches), len(counts.synchronizations)) == (launches, waits), str(counts)


def test_copies_are_counted_with_their_size() -> None:
    with strict_device.counting() as counts:
        x = cp.asarray(X)
        x[[0, 1]]
        x.get()
    assert [(event.name, event.bytes) for event in counts.to_device] == [("asarray", 48), ("array", 16)]
    assert [(event.name, event.bytes) for event in counts.to_host] == [("ndarray.get", 48)]
    assert counts.totals() == {"launches": 1, "synchronizations": 1, "to device": 2, "to host": 1}


def test_events_know_the_operator_and_our_line() -> None:
    with strict_device.device() as counts:
        x = Tensor(X)
        counts.clear()
        loss, _ = value_and_grad(lambda t: ops.tanh(t).sum(), 0)(x)
        assert {event.operator for event in counts.launches} >= {"tanh", "sum"}
        assert all(event.place.startswith("engine/") for event in counts.launches)
        float(loss)
        (waited,) = counts.synchronizations
        assert waited.operator is None and waited.place.startswith("engine/tensors/")
        assert f"1 synchronization {waited.name}" in str(counts).replace("  ", " ")
        with strict_device.counting() as inner:
            ops.add(x, x)
        assert len(inner.launches) == 1 and counts.launches[-1].operator == "add"


def test_the_engine_is_on_the_device_within_the_block_alone() -> None:
    with strict_device.device():
        assert ms.get_context("device_target") == "GPU"
        net = nn.Dense(3, 2)
        assert type(net.weight._array) is type(net(Tensor(X[:, :3]))._array) is strict_device.ndarray
    assert ms.get_context("device_target") == "CPU" and isinstance(Tensor([1.0])._array, np.ndarray)


def test_bfloat16_is_the_dtype_of_ml_dtypes() -> None:
    assert np.dtype(ml_dtypes.bfloat16) == BFLOAT16 == cp.empty(1, ml_dtypes.bfloat16).dtype
