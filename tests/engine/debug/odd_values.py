"""Values of every shape, dtype and structure that may pass in a network, and the observations that formulas take.

The values follow from the tables: a new condition or check gets values without a change here. If a class of
observations has a field of a kind without values here, the tests fail with its name.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, get_type_hints

import ml_dtypes
import numpy as np

from hookscope.engine import COOTensor, CSRTensor, Tensor
from hookscope.engine.debug import Capture, Statistics, statistics
from hookscope.engine.debug.diagnose.conditions.data import LabelsObservation
from hookscope.engine.debug.diagnose.conditions.loss import FirstLossObservation
from hookscope.engine.debug.diagnose.conditions.loss_terms import DrownedObservation, FallObservation
from hookscope.engine.debug.diagnose.conditions.values import ValueObservation
from hookscope.engine.tensors.backend import to_host

SHAPES = ((), (1,), (1, 1), (0,), (0, 3), (3, 0), (8,), (8, 1), (1, 8), (4, 4), (2, 3, 2))
DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
KINDS = ("plain", "zeros", "probabilities", "nan", "inf", "-inf", "all nan", "largest")


def numpy_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def array(shape: tuple[int, ...], dtype: str, kind: str) -> np.ndarray[Any, Any] | None:
    """Return an array of this kind; None if the dtype has none."""
    plain = np.arange(math.prod(shape)).reshape(shape) * 0.7 - 1.0
    real = dtype.startswith(("float", "bfloat", "complex"))
    if kind == "zeros":
        plain = np.zeros(shape)
    elif kind == "probabilities":
        grows = np.exp(plain)
        plain = grows / grows.sum(axis=min(1, grows.ndim - 1), keepdims=True) if shape else grows
    elif kind != "plain":
        if not real:
            return None
        if kind == "all nan":
            plain = np.full(shape, math.nan)
        elif kind == "largest":
            limit = ml_dtypes.finfo(numpy_dtype(dtype)) if dtype == "bfloat16" else np.finfo(dtype)
            plain = np.full(shape, float(limit.max))
        elif plain.size:
            plain.reshape(-1)[-1] = float(kind)
    with np.errstate(all="ignore"):
        value = np.asarray(plain if real else abs(plain)).astype(numpy_dtype(dtype))
    return value + value.dtype.type(1j) if value.dtype.kind == "c" and kind == "plain" else value


def arrays() -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Yield every array with a name."""
    for shape, dtype, kind in itertools.product(SHAPES, DTYPES, KINDS):
        value = array(shape, dtype, kind)
        if value is not None:
            yield f"{dtype}{list(shape)} {kind}", value


def structures(x: Tensor) -> dict[str, Any]:
    """Return the structures that a cell may return, made of one tensor."""
    flat = to_host(x._array).reshape(-1)[:1]
    results: dict[str, Any] = {
        "alone": x,
        "None": None,
        "number": 2.5,
        "integer": 3,
        "text": "abc",
        "flag": True,
        "complex": 1 + 2j,
        "tuple": (x, None, 1),
        "list": [x, "abc", [x, (), {}]],
        "nested": ((x, (x, [x])), {"a": {"b": x}}),
        "dictionary": {"a": x, 1: None, "b": (x, 2.0)},
        "empty tuple": (),
        "empty list": [],
        "empty dictionary": {},
        "array": np.arange(3),
        "object": object(),
    }
    if flat.size and flat.dtype.kind in "fiu" and flat.dtype.name != "bfloat16":
        values = Tensor(flat)
        zero = Tensor(np.zeros(1, np.int32))
        results["COO"] = COOTensor(Tensor(np.zeros((1, 2), np.int32)), values, (2, 2))
        results["CSR"] = (CSRTensor(Tensor(np.array([0, 1, 1], np.int32)), zero, values, (2, 2)), x)
    return results


# Observations

Made = Callable[[random.Random], Any]

_NUMBERS = (0.0, -0.0, 1.0, -2.5, 1e-300, 1e300, math.nan, math.inf, -math.inf, 0.5)
_TEXTS = (
    "",
    "some",
    "none",
    "zeros",
    "noise",
    "not asked",
    "cross_entropy",
    "nll_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "mse_loss",
    "a reason",
)


@functools.cache
def _arrays() -> list[np.ndarray[Any, Any]]:
    return [value for _, value in arrays()]


@functools.cache
def _figures() -> list[Statistics]:
    return [statistics(value) for value in _arrays()[::7]]


def _labels(draw: random.Random) -> LabelsObservation:
    size, classes = draw.choice((0, 1, 8, 40)), draw.choice((1, 2, 3, 10))
    dtype = draw.choice(("int8", "int32", "int64", "uint8", "uint64"))
    least = draw.choice((0, classes // 2))
    labels = np.array([draw.randrange(least, classes + 1) for _ in range(size)], dtype)
    counts = np.bincount(labels[labels < classes].astype(np.int64), minlength=classes)
    return LabelsObservation(labels, counts, draw.random() < 0.5)


def _seen_value(draw: random.Random) -> ValueObservation:
    value = Tensor(draw.choice(_arrays()))
    direction = draw.choice(("forward", "backward"))
    slots = {"forward": ("input[0]", "output", "output[1]"), "backward": ("grad_output[0]", "grad_input[1]")}
    slot = draw.choice(slots[direction])
    capture = Capture(0, 1, "a.b", draw.choice(("ReLU", "Sigmoid", "Dense")), 0, direction, slot, value)
    return ValueObservation(capture, draw.choice((None, *_figures())), dict)


def _losses(draw: random.Random) -> list[float]:
    return [draw.choice(_NUMBERS)] * draw.choice((0, 1, 20, 300)) + draw.sample(_NUMBERS, draw.choice((0, 2)))


_COURSES = (
    (1.0, -1.0, -10.0, -1e2, -1e4),
    (1.0, 0.9, 0.8, 0.7, 0.6),
    (1.0, 1.0, 1.1, 1.0, 1.0),
    (5e3, 5e3, 9e3, 50.0, 40.0),
)


def _course(draw: random.Random) -> list[float]:
    """Return the means of five parts."""
    return list(draw.choice(_COURSES)) if draw.random() < 0.8 else [draw.choice(_NUMBERS) for _ in range(5)]


def _fall(draw: random.Random) -> FallObservation:
    parts = _course(draw)
    return FallObservation(parts, draw.choice(_NUMBERS), parts[-1], draw.choice((0, 10, 60)), draw.choice(_TEXTS))


def _drowned(draw: random.Random) -> DrownedObservation:
    return DrownedObservation(_course(draw), _course(draw), draw.choice((0, 60, 200)), draw.choice(_NUMBERS))


_DEPENDENT: dict[type, Made] = {
    FallObservation: _fall,
    DrownedObservation: _drowned,
    LabelsObservation: _labels,
    ValueObservation: _seen_value,
    FirstLossObservation: lambda draw: FirstLossObservation(draw.choice(_NUMBERS), draw.choice((1, 2, 1000))),
}
"""Of these classes the fields depend on each other."""

_FIELDS: dict[object, Made] = {
    float: lambda draw: draw.choice(_NUMBERS),
    float | None: lambda draw: draw.choice((None, *_NUMBERS)),
    int: lambda draw: draw.choice((0, 1, 2, 17, 10**9)),
    bool: lambda draw: draw.random() < 0.5,
    str: lambda draw: draw.choice(_TEXTS),
    tuple[int, ...]: lambda draw: draw.choice(SHAPES),
    tuple[str, str]: lambda draw: ("first", draw.choice(("first", "second"))),
    Sequence[float]: _losses,
    Sequence[str]: lambda draw: [f"name{index}" for index in range(draw.choice((0, 1, 3, 9)))],
    Mapping[str, Sequence[str]]: lambda draw: {
        f"name{index}": ["a.b", "c"][: draw.choice((1, 2))] for index in range(draw.choice((0, 1, 3)))
    },
    Statistics: lambda draw: draw.choice(_figures()),
    Any: lambda draw: draw.choice(_arrays()),
}


def observations(kind: type[Any], count: int) -> Iterator[Any]:
    """Yield random observations of a class."""
    draw = random.Random(kind.__name__)
    make = _DEPENDENT.get(kind)
    if make is not None:
        yield from (make(draw) for _ in range(count))
        return
    hints = get_type_hints(kind, localns={"Statistics": Statistics})
    fields = {name: hint for name, hint in hints.items() if "ClassVar" not in str(hint)}
    unknown = [f"{name}: {hint}" for name, hint in fields.items() if hint not in _FIELDS]
    assert not unknown, f"odd_values.py has no values for {kind.__name__}'s {', '.join(unknown)}"
    for _ in range(count):
        yield kind(**{name: _FIELDS[hint](draw) for name, hint in fields.items()})
