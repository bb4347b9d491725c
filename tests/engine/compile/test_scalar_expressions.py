"""Scalar expressions of the table of operators: each gives the same as the operator's kernel, element by element."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

import numpy as np
import pytest

import hookscope.engine.nn
from hookscope.engine.compile.graph import FusedLoop, Store, Value
from hookscope.engine.compile.loops.buffers import with_buffers
from hookscope.engine.compile.loops.cpu_loops import loop
from hookscope.engine.compile.loops.scalar_programs import FUNCTIONS, Program, UnsupportedScalar
from hookscope.engine.cpu import compiling
from hookscope.engine.tensors.operator import OPERATORS, Operator

assert hookscope.engine.nn  # which fills the table

FLOAT32 = np.dtype(np.float32)
NAMES = sorted(name for name, operator in OPERATORS.items() if operator.scalar)

# How far a loop may be from the kernel, in units in the last place; others must be the same bit for bit.
ULPS = {
    **dict.fromkeys(("pow", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "erf", "tanh"), 2),
    **dict.fromkeys(("acos", "asin", "atan", "acosh", "asinh", "atanh", "hypot"), 2),
    **dict.fromkeys(("expm1", "log1p", "sinh", "cosh", "atan2", "sigmoid", "silu"), 4),
    "erfc": 6,
    # Differences of nearly equal numbers, so units of the largest number that is subtracted (``SCALES``).
    **dict.fromkeys(("silu_grad", "gelu", "gelu_grad"), 8),
}
SCALES = {
    "silu_grad": lambda g, x: np.abs(g) * (1 + np.abs(x)),
    "gelu": np.abs,
    "gelu_grad": lambda g, x: np.abs(g) * (1 + np.abs(x)),
}


def awkward(dtype: Any, count: int) -> Any:
    """Return zeros, infinities, NaN, subnormals, the largest and the smallest, and numbers of all sizes."""
    kind, random = np.finfo(dtype), np.random.default_rng(0)
    edges = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        kind.tiny,
        -kind.tiny,
        kind.smallest_subnormal,
        kind.max,
        -kind.max,
        1,
        -1,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        20,
        -20,
        88,
        89,
        -88,
        -104,
        700,
        -700,
        1e-20,
        -1e-20,
        1e10,
        -1e10,
    ]
    sizes = np.exp(random.uniform(-80, 80, count))
    spread = np.concatenate([random.standard_normal(count), random.uniform(-1, 1, count), sizes])
    return np.concatenate([np.array(edges, dtype), (spread * random.choice([-1, 1], spread.size)).astype(dtype)])


def arity(operator: Operator) -> int:
    return max([1, *["xyz".index(name) + 1 for name in re.findall(r"\b[xyz]\b", operator.scalar)]])


def arrays_for(name: str, dtype: Any) -> list[Any]:
    """Return the inputs: for two, all pairs."""
    if arity(OPERATORS[name]) == 1:
        return [awkward(dtype, 400)]
    x, y = (pair.ravel() for pair in np.meshgrid(awkward(dtype, 25), awkward(dtype, 25)))
    if name == "where":
        return [x > 0, x, y]
    return [x > 0, y > 0] if name.startswith("bitwise") else [x, y]


def attributes_of(name: str) -> list[dict[str, Any]]:
    if name.startswith("gelu"):
        return [{"approximate": "none"}, {"approximate": "tanh"}]
    return [{"dtype": np.dtype(kind)} for kind in (np.float64, np.float32, bool)] if name == "cast" else [{}]


def loops_of(names: list[str], dtype: Any) -> list[tuple[str, list[Any], Any, Any]]:
    """Return each operator's name, inputs, kernel result, and step in a loop; all steps of one loop."""
    cases = []
    for name in names:
        for attrs in attributes_of(name):
            inputs = arrays_for(name, dtype)
            with np.errstate(all="ignore"):
                cases.append((name, attrs, inputs, np.asarray(OPERATORS[name].kernel(*inputs, **attrs))))
    return cases


def results_of(cases: list[Any], by: Any) -> list[Any]:
    """Return the results of one loop over all of them, whose inputs are the same arrays."""
    program, arrays, outputs, stores = Program(), [], [], []
    indices: dict[tuple[str, bytes], int] = {}
    for name, attrs, inputs, expected in cases:
        steps = []
        for x in inputs:
            index = indices.setdefault((str(x.dtype), x.tobytes()), len(arrays))
            if index == len(arrays):
                arrays.append(x)
            steps.append(program.add("input", x.dtype, index))
        stores.append(Store(program.apply(OPERATORS[name].scalar, steps, attrs, expected.dtype)))
        outputs.append(Value(expected.shape, expected.dtype))
    values = tuple([Value(x.shape, x.dtype) for x in arrays])
    node = FusedLoop(
        arrays[0].shape, tuple(program.steps), values, ((True,),) * len(arrays), tuple(outputs), tuple(stores)
    )
    with np.errstate(all="ignore"):
        return list(by(node)(*arrays))


def check(name: str, inputs: list[Any], want: Any, actual: Any) -> None:
    assert actual.dtype == want.dtype
    if want.dtype.kind == "b":
        assert np.array_equal(actual, want), name
        return
    if name == "gelu_grad":
        # The kernel for small arrays gives NaN where a square overflows, and of an infinite gradient times a slope that
        # it rounds to 0; the one for large arrays is as the expression.
        want = np.where(np.isnan(want) & ((np.abs(inputs[1]) > 1e9) | np.isinf(inputs[0])), actual, want)
    assert np.array_equal(np.isnan(actual), np.isnan(want)), name
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(want), SCALES[name](*inputs)) if name in SCALES else np.abs(want)
        scale = np.minimum(np.nan_to_num(scale, posinf=np.finfo(want.dtype).max), np.finfo(want.dtype).max)
        apart = np.where(
            actual == want, 0, np.abs(actual.astype(np.float64) - want) / np.spacing(scale.astype(want.dtype))
        )
    worst = int(np.nanargmax(apart))
    # SciPy's erfc of float64 is 87 units from the C library's at 13.
    allowed = 128 if name == "erfc" and want.dtype == np.float64 else ULPS.get(name, 0)
    assert apart[worst] <= allowed, (name, [x[worst] for x in inputs], actual[worst], want[worst], apart[worst])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("of_two", [False, True])
def test_an_expression_gives_what_the_kernel_gives(dtype: Any, of_two: bool) -> None:
    names = [name for name in NAMES if (arity(OPERATORS[name]) > 1) == of_two]
    cases = loops_of(names, dtype)
    for by in (loop, with_buffers):
        for (name, _, inputs, expected), actual in zip(cases, results_of(cases, by), strict=True):
            check(name, inputs, expected, actual)


def test_integers_wrap_around_as_the_kernels_do() -> None:
    x = np.array([0, 1, -1, 127, -128, 100, 50, -100], np.int8)
    y = x[::-1].copy()
    names = ["add", "sub", "mul", "maximum", "minimum", "eq", "lt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor"]
    cases = [(name, {}, [x, y], OPERATORS[name].kernel(x, y)) for name in names]
    of_one = ["neg", "abs", "sign", "square", "relu"]
    cases += [(name, {}, [x], np.asarray(OPERATORS[name].kernel(x))) for name in of_one]
    kinds = [np.dtype(name) for name in ("int64", "uint8", "float32", "bool")]
    cases += [("cast", {"dtype": kind}, [x], x.astype(kind)) for kind in kinds]
    for by in (loop, with_buffers):
        for (name, attrs, _, expected), actual in zip(cases, results_of(cases, by), strict=True):
            assert actual.dtype == expected.dtype, name
            assert np.array_equal(actual, expected), (name, attrs)


def test_numbers_take_the_dtype_of_what_stands_beside_them() -> None:
    program = Program()
    x = program.add("input", FLOAT32, 0)
    step = program.apply("x * 0.1 + y", [x, (3,)], {}, FLOAT32)
    assert {dtype for _, dtype, *_ in program.steps} == {FLOAT32}
    assert program.dtype(step) == FLOAT32
    assert ("const", FLOAT32, float(np.float32(0.1))) in program.steps


@pytest.mark.parametrize(
    ("text", "dtypes", "result"),
    [
        ("x + y", ("float32", "float64"), "float32"),  # of two dtypes
        ("x + y", ("bool", "bool"), "bool"),  # NumPy's sum of bools is another operation
        ("x / y", ("int32", "int32"), "int32"),
        ("exp(x)", ("int32", "int32"), "int32"),
        ("x * 0.5", ("int32", "int32"), "int32"),
        ("x * 300", ("int8", "int8"), "int8"),
        ("x + y", ("float32", "float32"), "float64"),  # the operator gives something else
        ("cast(x, dtype)", ("float32", "float32"), "int32"),  # of NaN and large numbers, the processor's affair
        ("x & y", ("float32", "float32"), "float32"),
        ("where(x, y, y)", ("float32", "float32"), "float32"),
    ],
)
def test_what_does_not_fit_the_dtypes_is_left_alone(text: str, dtypes: tuple[str, str], result: str) -> None:
    program = Program()
    inputs = [program.add("input", np.dtype(dtype), index) for index, dtype in enumerate(dtypes)]
    with pytest.raises(UnsupportedScalar):
        program.apply(text, inputs, {"dtype": np.dtype(np.int32)}, np.dtype(result))


def test_equal_steps_stand_once() -> None:
    program = Program()
    x = program.add("input", FLOAT32, 0)
    program.apply("exp(x) * (1 + exp(x))", [x], {}, FLOAT32)
    assert [name for name, *_ in program.steps].count("exp") == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_expression_is_written_in_the_language(name: str) -> None:
    operator = OPERATORS[name]
    tree = ast.parse(operator.scalar, mode="eval")
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called <= {*FUNCTIONS, "where", "max", "min", "cast", "abs", "sigmoid", "normal", "gelu_slope"}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - called - {"inf"}
    try:
        known = set(inspect.signature(operator.kernel).parameters)
    except ValueError:  # NumPy's functions have no attributes
        known = set()
    assert names <= {"x", "y", "z"} | known


def test_numba_is_what_computes_here() -> None:
    """Otherwise the tests above compare NumPy with NumPy; ``make numpy`` does that on purpose."""
    import os

    assert compiling.is_on() or os.environ.get("HOOKSCOPE_NUMBA") == "0"
