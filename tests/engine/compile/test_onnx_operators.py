"""Each operator that is written to ONNX: onnxruntime computes what the operator's reference does, and so does the file
that is read back."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx_runs import Array, graph_of_one, run_by_onnxruntime
from operator_samples import ROWS as FIRST_ROWS
from operator_samples import Row, Sample

import hookscope.engine as ms
from hookscope.engine import Tensor, ops
from hookscope.engine.compile.function import graph_of
from hookscope.engine.formats.onnx import read, write
from hookscope.engine.formats.onnx.draft import CONVERTERS
from hookscope.engine.formats.onnx.writing import model_of
from hookscope.engine.tensors.operator import OPERATORS

ROWS: dict[str, Row] = dict(FIRST_ROWS)
for _path in sorted(Path(__file__).parents[1].glob("operator_samples_*.py")):
    ROWS.update(importlib.import_module(_path.stem).ROWS)
RELATIVE = {np.float32: 1e-6, np.float64: 2e-12, np.float16: 1e-3}
"""Of 1 or the value: eight units in the last place of single precision, one of half; in double the references are by
differences in places. Measured, the worst are 2.3e-7, 1.1e-12 and 5.4e-4."""
SAMPLES = {
    **{name: row.samples for name, row in ROWS.items()},
    "conj": [Sample((np.array([1.5, -2.0]),))],  # complex numbers are refused
    "real": [Sample((np.array([1.5, -2.0]),))],
}
# onnxruntime has no kernels of these for double precision on the CPU.
NOT_IN_DOUBLE = frozenset(
    (
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "avg_pool2d",
        "avg_pool3d",
        "col2im",
        "conv2d",
        "conv2d_bias",
        "conv2d_input_grad",
        "conv3d",
        "conv3d_input_grad",
        "cosh",
        "det",
        "erf",
        "recurrent",
        "sinh",
        "tan",
    )
)


def runs_in(name: str, sample: Sample, dtype: Any) -> bool:
    if dtype is not np.float64:
        return True
    form = sample.attrs.get("approximate"), sample.attrs.get("activation")
    return name not in NOT_IN_DOUBLE and form[0] != "none" and form[1] != "gelu"


def in_dtype(sample: Sample, dtype: Any) -> tuple[Any, ...]:
    return tuple(
        [x.astype(dtype) if isinstance(x, np.ndarray) and x.dtype == np.float64 else x for x in sample.operands]
    )


def reference_of(name: str, operands: tuple[Any, ...], attrs: dict[str, Any], dtype: Any) -> Array:
    """Return the result of the operator's reference in double precision, for numbers that were rounded to ``dtype``."""
    if ROWS[name].complex:
        return np.asarray(operands[0])
    wide = [x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype == dtype else x for x in operands]
    return np.asarray(ROWS[name].reference(*wide, **attrs))


def assert_close(actual: Array, want: Array, tolerance: float, case: str) -> None:
    assert actual.shape == want.shape, case
    if actual.size and actual.dtype.kind == "f":
        apart = np.abs(actual.astype(np.float64) - want) / np.maximum(np.abs(want), 1.0)
        assert np.nanmax(apart, initial=0.0) <= tolerance, case
        np.testing.assert_array_equal(np.isnan(actual), np.isnan(want), case)
    else:
        np.testing.assert_array_equal(actual, want, case)


def test_at_least_120_operators_of_the_table_are_written() -> None:
    assert len(CONVERTERS) >= 120
    assert set(CONVERTERS) <= set(OPERATORS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", sorted(CONVERTERS))
def test_onnxruntime_computes_what_the_reference_does(name: str, dtype: Any) -> None:
    for number, sample in enumerate(SAMPLES[name]):
        if not runs_in(name, sample, dtype):
            continue
        operands = in_dtype(sample, dtype)
        actual, own = run_one(name, operands, **sample.attrs), OPERATORS[name].on_arrays(*operands, **sample.attrs)
        assert actual.dtype == (own[0] if isinstance(own, tuple) else own).dtype
        expected = reference_of(name, operands, sample.attrs, dtype)
        assert_close(actual, expected, RELATIVE[dtype], f"sample {number}: {sample.attrs}")


@pytest.mark.parametrize("name", sorted(CONVERTERS))
def test_the_file_read_back_computes_what_the_reference_does(name: str, tmp_path: Path) -> None:
    for number, sample in enumerate(SAMPLES[name]):
        operands = in_dtype(sample, np.float32)
        graph, arrays = graph_of_one(name, operands, sample.attrs)
        path = str(tmp_path / f"{number}.onnx")
        write(graph, path, [f"x{i}" for i in range(len(arrays))], name)
        function = read(path)
        expected = reference_of(name, operands, sample.attrs, np.float32)
        for _ in range(2):  # a call leaves nothing behind
            actual = function(*[Tensor(x) for x in arrays]).asnumpy()
            assert_close(actual, expected, RELATIVE[np.float32], f"sample {number}: {sample.attrs}")


# Integers and bools, by NumPy

INTEGERS = np.array([[7, -7, 3], [0, -8, 100]])
DIVISORS = np.array([[2, 2, -3], [5, 3, -7]])
NUMPY: list[tuple[str, Any, tuple[str, ...]]] = [
    ("add", np.add, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "?")),
    ("sub", np.subtract, ("i1", "i2", "i4", "i8")),
    ("mul", np.multiply, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "?")),
    ("floor_divide", np.floor_divide, ("i1", "i2", "i4", "i8")),
    ("remainder", np.remainder, ("i1", "i2", "i4", "i8")),
    ("fmod", np.fmod, ("i1", "i2", "i4", "i8")),
    ("maximum", np.maximum, ("i1", "i2", "i4", "i8", "u1", "u2", "u4")),
    ("minimum", np.minimum, ("i1", "i2", "i4", "i8", "u1", "u2", "u4")),
    ("bitwise_and", np.bitwise_and, ("i1", "i2", "i4", "i8", "u1", "?")),
    ("bitwise_or", np.bitwise_or, ("i1", "i2", "i4", "i8", "u1", "?")),
    ("bitwise_xor", np.bitwise_xor, ("i1", "i2", "i4", "i8", "u1", "?")),
    ("eq", np.equal, ("i1", "i4", "i8", "u1", "?")),
    ("ne", np.not_equal, ("i1", "i4", "i8", "u1", "?")),
    ("lt", np.less, ("i1", "i4", "i8", "u1", "?")),
    ("ge", np.greater_equal, ("i1", "i4", "i8", "u1", "?")),
    ("logical_and", np.logical_and, ("i4", "?", "f4")),
    ("logical_xor", np.logical_xor, ("i4", "?", "f4")),
]


def run_one(name: str, operands: tuple[Any, ...], **attrs: Any) -> Array:
    graph, arrays = graph_of_one(name, operands, attrs)
    model = model_of(graph, [f"x{i}" for i in range(len(arrays))], name).SerializeToString()
    (result,) = run_by_onnxruntime(model, arrays)
    return result


@pytest.mark.parametrize(("name", "reference", "kinds"), NUMPY, ids=[row[0] for row in NUMPY])
def test_integers_are_numpys(name: str, reference: Any, kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        x, y = INTEGERS.astype(kind), DIVISORS.astype(kind)
        expected = reference(x, y)
        actual = run_one(name, (x, y))
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected, err_msg=f"{name} of {kind}")
        if kind != "?":
            np.testing.assert_array_equal(run_one(name, (x, 2)), reference(x, x.dtype.type(2)))
            np.testing.assert_array_equal(run_one(name, (2, y)), reference(x.dtype.type(2), y))
            with np.errstate(divide="ignore"):
                np.testing.assert_array_equal(run_one(name, (x, y * 0)), reference(x, y * 0))


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1"])
def test_integers_alone_and_summed_are_numpys(kind: str) -> None:
    x = INTEGERS.astype(kind)
    for name, reference in (
        ("abs", np.abs),
        ("square", np.square),
        ("sign", np.sign),
        ("bitwise_not", np.invert),
        ("floor", lambda x: x),
        ("isfinite", np.isfinite),
    ):
        np.testing.assert_array_equal(run_one(name, (x,)), reference(x), err_msg=name)
    shifts = np.array([1, 2, 3]).astype(kind)
    np.testing.assert_array_equal(run_one("bitwise_left_shift", (x, shifts)), np.left_shift(x, shifts))
    np.testing.assert_array_equal(run_one("bitwise_right_shift", (x, shifts)), np.right_shift(x, shifts))
    for name, method in (
        ("sum", "sum"),
        ("prod", "prod"),
        ("amax", "max"),
        ("amin", "min"),
        ("any", "any"),
        ("all", "all"),
    ):
        for axis in (None, (0,), (1,)):
            more = {"dtype": x.dtype} if name in ("sum", "prod") else {}
            expected = getattr(x, method)(axis=axis, keepdims=True, **more)
            np.testing.assert_array_equal(run_one(name, (x,), axis=axis, keepdims=True), expected, err_msg=name)
    np.testing.assert_array_equal(run_one("mean", (x,), axis=None, keepdims=False), np.trunc(x.mean()).astype(kind))
    np.testing.assert_array_equal(run_one("cumsum", (x,), axis=-1), x.cumsum(axis=-1, dtype=x.dtype))
    np.testing.assert_array_equal(run_one("order", (x,), axis=1, descending=True), np.argsort(-x.astype(int), 1))
    np.testing.assert_array_equal(run_one("where", (x > 2, x, 1)), np.where(x > 2, x, x.dtype.type(1)))
    np.testing.assert_array_equal(run_one("pad_axis", (x,), axis=1, before=1, after=2), np.pad(x, ((0, 0), (1, 2))))


def test_truth_values_are_numpys() -> None:
    x, y = np.array([True, False, True, False]), np.array([True, True, False, False])
    np.testing.assert_array_equal(run_one("logical_not", (x,)), ~x)
    np.testing.assert_array_equal(run_one("bitwise_not", (x,)), ~x)
    np.testing.assert_array_equal(run_one("where", (x, y, ~y)), np.where(x, y, ~y))
    np.testing.assert_array_equal(run_one("sum", (x,), axis=None, keepdims=False), 2)
    np.testing.assert_array_equal(run_one("lt", (x, y)), np.less(x, y))


@pytest.mark.parametrize("source", ["?", "i1", "i4", "i8", "u1", "f2", "f4", "f8"])
def test_a_cast_is_numpys(source: str) -> None:
    x = np.array([0, 1, 2, 100]).astype(source)
    for target in ("?", "i1", "i4", "i8", "u1", "f2", "f4", "f8"):
        expected = x.astype(target)
        actual = run_one("cast", (x,), dtype=np.dtype(target))
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)


# At the edges

EDGES = np.array([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-30, -1e-30, 89.0, -90.0], np.float32)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("relu", lambda x: np.maximum(x, 0)),
        ("sign", lambda x: (x > 0) * 1.0 - (x < 0)),
        ("signbit", np.signbit),
        ("expm1", np.expm1),
        ("log1p", np.log1p),
        ("exp", np.exp),
        ("log", np.log),
        ("log2", np.log2),
        ("cbrt", np.cbrt),
        ("sqrt", np.sqrt),
        ("reciprocal", np.reciprocal),
        ("isfinite", np.isfinite),
        ("isinf", np.isinf),
        ("isnan", np.isnan),
        ("trunc", np.trunc),
        ("round", np.rint),
        ("abs", np.abs),
        ("square", np.square),
        ("tanh", np.tanh),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x.astype(np.float64)))),
        ("exp2", np.exp2),
        ("sinc", np.sinc),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_infinities_nan_and_tiny_numbers_are_numpys(name: str, reference: Any) -> None:
    with np.errstate(all="ignore"):
        expected = reference(EDGES)
    x = EDGES if name != "sinc" else EDGES[:4]
    np.testing.assert_allclose(run_one(name, (x,)), expected[: len(x)], rtol=1e-6, atol=1e-38)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("atan2", np.arctan2),
        ("hypot", np.hypot),
        ("logaddexp", np.logaddexp),
        ("maximum", np.maximum),
        ("minimum", np.minimum),
        ("fmod", np.fmod),
        ("remainder", np.remainder),
        ("div", np.true_divide),
        ("pow", np.power),
        ("lt", np.less),
        ("ne", np.not_equal),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_pairs_of_infinities_nan_and_tiny_numbers_are_numpys(name: str, reference: Any) -> None:
    x, y = (item.ravel() for item in np.meshgrid(EDGES, EDGES))
    with np.errstate(all="ignore"):
        expected = reference(x, y)
    np.testing.assert_allclose(run_one(name, (x, y)), expected, rtol=1e-6, atol=1e-38)


def test_floor_divide_is_the_engines_also_of_infinities() -> None:
    x, y = (item.ravel() for item in np.meshgrid(EDGES, EDGES))
    x, y = np.concatenate([x, np.float32([7.5, -7.5, 1e6, 0.3])]), np.concatenate([y, np.float32([2, 2, 0.1, 0.1])])
    with np.errstate(all="ignore"):
        expected = np.where(np.isinf(x), x / y, np.floor_divide(x, y))
    np.testing.assert_array_equal(run_one("floor_divide", (x, y)), expected)


def test_small_numbers_keep_their_digits_through_expm1_and_log1p() -> None:
    x = np.float32([1e-8, -3e-6, 2e-4, 9.9e-4, 1.01e-3, 0.02, -0.5])
    for name, reference in (("expm1", np.expm1), ("log1p", np.log1p)):
        np.testing.assert_allclose(run_one(name, (x,)), reference(x.astype(np.float64)), rtol=2e-7)


@pytest.mark.parametrize("name", ["add", "div", "exp", "gelu", "matmul", "relu", "softmax", "sum", "tanh"])
def test_bfloat16_is_computed_in_single_precision_and_rounded_once(name: str) -> None:
    numbers = np.random.default_rng(3)
    kind = np.dtype(ml_dtypes.bfloat16)
    x = numbers.standard_normal((3, 3)).astype(kind)
    attrs: dict[str, Any] = {
        "matmul": {"transpose_a": False, "transpose_b": True},
        "softmax": {"axis": -1},
        "gelu": {"approximate": "none"},
        "sum": {"axis": (1,), "keepdims": False},
    }.get(name, {})
    operands = [x.astype(np.float32)] * (2 if name in ("add", "div", "matmul") else 1)

    OPERATORS[name](*map(Tensor, operands), **attrs)  # imported on first use

    def function(*tensors: Tensor) -> Any:  # onnxruntime takes no arrays of bfloat16 from Python
        return ops.cast(OPERATORS[name](*[ops.cast(t, ms.bfloat16) for t in tensors], **attrs), ms.float32)

    graph = graph_of(function, *map(Tensor, operands))
    model = model_of(graph, [f"x{i}" for i in range(len(operands))], name).SerializeToString()
    (actual,) = run_by_onnxruntime(model, operands)
    wide = OPERATORS[name].on_arrays(*[operand.astype(np.float64) for operand in operands], **attrs)
    np.testing.assert_allclose(actual, wide, rtol=2**-8, atol=2**-9)
    np.testing.assert_array_equal(actual, actual.astype(kind).astype(np.float32))


def test_half_precision_goes_through_several_steps_in_single_and_is_rounded_once(tmp_path: Path) -> None:
    numbers = np.random.default_rng(4)
    x, y = numbers.standard_normal((2, 4, 9, 8)).astype(np.float16)
    weight, bias = numbers.standard_normal((16, 8)).astype(np.float16), numbers.standard_normal(16).astype(np.float16)
    gamma, beta = numbers.standard_normal((2, 8)).astype(np.float16)
    flat = x.reshape(36, 8)
    linear: Any = ROWS["linear"].reference
    cases: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("linear", (x, weight, bias), {"activation": None}),
        ("linear", (flat, weight, bias), {"activation": "silu"}),
        ("linear", (flat, weight, bias), {"activation": "tanh"}),
        ("silu", (x,), {}),
        ("rsqrt", (np.abs(x),), {}),
        ("layer_norm", (x, gamma, beta), {"begin_norm_axis": 2, "epsilon": 1e-5}),
        ("softmax_grad", (x, y), {"axis": -1}),
        ("tanh_grad", (x, y), {}),
    ]
    for name, operands, attrs in cases:
        graph, arrays = graph_of_one(name, operands, attrs)
        path = str(tmp_path / "one.onnx")
        write(graph, path, [f"x{i}" for i in range(len(arrays))], name)
        # onnxruntime leaves out some roundings that a file asks for; the file read back does not.
        actual = read(path)(*map(Tensor, arrays)).asnumpy()
        assert actual.dtype == np.float16
        reference = linear if name == "linear" else ROWS[name].reference
        expected = reference(*[operand.astype(np.float64) for operand in operands], **attrs)
        half_a_unit = 0.51 * np.spacing(np.abs(actual)).astype(np.float64)
        assert (np.abs(actual - expected) <= half_a_unit + 1e-6).all(), (name, attrs)


@pytest.mark.parametrize("name", ["avg_pool2d", "max_pool2d"])
def test_borders_wider_than_half_a_window_are_put_around_before(name: str) -> None:
    x = np.random.default_rng(5).standard_normal((2, 3, 4, 5)).astype(np.float32) - 3
    for pads in ((1, 1, 1, 1), (2, 0, 0, 0), (0, 2, 1, 2)):
        how: dict[str, Any] = {"kernel": (2, 3), "stride": (1, 2), "pads": pads}
        if name == "max_pool2d":
            how["dilation"] = (1, 1)
        expected = ROWS[name].reference(x.astype(np.float64), **how)
        np.testing.assert_allclose(run_one(name, (x,), **how), expected, rtol=1e-6, err_msg=f"{pads}")


# Indices, drawn at random

SHAPE = (4, 3, 5, 2)


def drawn_index(numbers: np.random.Generator) -> tuple[Any, ...]:
    """Return for each axis an int, a slice, an index array or nothing, with new axes and an ellipsis in between."""
    common = [(), (3,), (2, 1), (1, 3)]
    parts: list[Any] = []
    for length in SHAPE[: numbers.integers(1, 5)]:
        match numbers.integers(6):
            case 0:
                parts.append(int(numbers.integers(-length, length)))
            case 1 | 2:
                start, stop = sorted(numbers.integers(-length, length + 2, 2).tolist())
                step = int(numbers.choice([1, 1, 2, -1, -2]))
                parts.append(slice(start, stop, step) if step > 0 else slice(stop, start, step))
            case 3 | 4:
                shape = common[numbers.integers(4)]
                parts.append(np.asarray(numbers.integers(-length, length, shape)))
            case _:
                parts.append(slice(None))
    if numbers.integers(3) == 0:
        parts.insert(int(numbers.integers(len(parts) + 1)), None)
    if numbers.integers(3) == 0:
        parts.append(Ellipsis)
    return tuple(parts)


@pytest.mark.parametrize("seed", range(60))
def test_a_part_by_any_index_is_numpys(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    x = numbers.standard_normal(SHAPE).astype(np.float32)
    index = drawn_index(numbers)
    expected = x[index]
    np.testing.assert_array_equal(run_one("getitem", (x,), index=index), expected)
    indices = np.arange(x.size).reshape(SHAPE)[index]
    if np.unique(indices).size == indices.size:  # if an element is written twice, NumPy promises nothing
        value = numbers.standard_normal(expected.shape[-1:]).astype(np.float32)
        changed = x.copy()
        changed[index] = value
        np.testing.assert_array_equal(run_one("setitem", (x, value), index=index), changed)
    added = np.zeros(SHAPE)
    np.add.at(added, index, expected)
    np.testing.assert_allclose(
        run_one("scatter_add", (np.asarray(expected),), index=index, shape=SHAPE), added, rtol=1e-6
    )


def test_what_cannot_be_written_says_which_operator_where_and_what_to_do() -> None:
    graph, _ = graph_of_one("lgamma", (np.ones(2, np.float32),), {})
    with pytest.raises(RuntimeError) as raised:
        model_of(graph, ["x"], "Net")
    assert str(raised.value) == (
        "For 'export', the operator 'lgamma' (here.py:1) in 'Net' cannot be written: it has no form in ONNX: "
        "compute it outside the network, or by other operators"
    )
    how = {"kernel": (2, 2), "stride": (2, 2), "pads": (0, 0, 0, 0), "dilation": (1, 1)}
    graph, _ = graph_of_one("max_pool2d", (np.ones((1, 1, 4, 4), np.float32),), how)
    graph.result = graph.nodes[0].outputs
    with pytest.raises(RuntimeError, match="outputs beside the first ones have no form in ONNX: do not use them"):
        model_of(graph, ["x"], "Net")
    graph, _ = graph_of_one("conj", (np.ones(2, np.complex64),), {})
    with pytest.raises(RuntimeError, match="For 'export', 'Net' cannot be written: complex numbers have no kernels"):
        model_of(graph, ["x"], "Net")
