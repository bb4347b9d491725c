"""Calls whose arguments differ in kind from the last call's: each gives the eager result."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn


class Own(Tensor):
    factor = 3.0


def total(x: Any, y: Any = None, *more: Any, scale: float = 1.0, **options: Any) -> Any:
    """Compute a different value for each kind of arguments."""
    result = x * scale * getattr(x, "factor", 1.0)
    if isinstance(y, Tensor):
        result = result + ms.grad(lambda z: (z * z).sum())(y) * (5.0 if y is x else 7.0)
    elif isinstance(y, dict):
        result = result * y["a"] + len(y)
    elif isinstance(y, list | tuple):
        result = result - sum(y, Tensor(0.0)) * (1.0 if isinstance(y, list) else 2.0)
    elif y is not None:
        result = result + 1.0 / Tensor(y) if isinstance(y, float) else result - 3.0 * y
    for index, item in enumerate(more):
        result = result + item * (index + 2.0)
    for name, item in options.items():
        result = result + item * len(name)
    return result


def tensor(*numbers: float, dtype: Any = ms.float32) -> Tensor:
    return Tensor(list(numbers), dtype)


def hooked() -> Tensor:
    made = tensor(1.5, 2.5)
    made.register_hook(lambda g: g * 11.0)
    return made


X, HOOKED, WEIGHT = tensor(1.0, -2.0), hooked(), Parameter(tensor(0.5, 0.25), name="weight")
ROWS = tensor(1.0, 2.0, 3.0, 4.0).reshape((2, 2))
KINDS: dict[str, Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "one": lambda: ((X,), {}),
    "two": lambda: ((X, tensor(3.0, 4.0)), {}),
    "twice the same": lambda: ((X, X), {}),
    "two of one array": lambda: ((X, X.view((2,))), {}),
    "two views": lambda: ((ROWS[0], ROWS[1]), {}),
    "hooked": lambda: ((X, HOOKED), {}),
    "a parameter": lambda: ((X, WEIGHT), {}),
    "a class of its own": lambda: ((Own([1.0, 2.0]),), {}),
    "keyword": lambda: ((X,), {"y": tensor(3.0, 4.0)}),
    "number by keyword": lambda: ((X,), {"scale": 2.0}),
    "number": lambda: ((X, 2), {}),
    "float": lambda: ((X, 2.0), {}),
    "bool": lambda: ((X, True), {}),
    "NumPy's number": lambda: ((X, np.float32(2.0)), {}),
    "0.0": lambda: ((X, 0.0), {}),
    "-0.0": lambda: ((X, -0.0), {}),
    "NaN": lambda: ((X, float("nan")), {}),
    "a large number": lambda: ((X, 10**18), {}),
    "None": lambda: ((X, None), {}),
    "a list": lambda: ((X, [tensor(1.0, 2.0), tensor(3.0, 4.0)]), {}),
    "a tuple": lambda: ((X, (tensor(1.0, 2.0), tensor(3.0, 4.0))), {}),
    "a dictionary": lambda: ((X, {"a": tensor(1.0, 2.0)}), {}),
    "a longer dictionary": lambda: ((X, {"a": tensor(1.0, 2.0), "b": 1.0}), {}),
    "three": lambda: ((X, tensor(3.0, 4.0), tensor(5.0, 6.0)), {}),
    "further keywords": lambda: ((X,), {"left": tensor(1.0, 2.0), "right": X}),
    "further keywords, turned around": lambda: ((X,), {"right": tensor(1.0, 2.0), "left": X}),
    "float16": lambda: ((tensor(1.0, 2.0, dtype=ms.float16),), {}),
    "complex": lambda: ((tensor(1.0, 2.0, dtype=ms.complex64),), {}),
    "no axes": lambda: ((Tensor(2.0),), {}),
    "empty": lambda: ((Tensor(np.zeros((0, 2), np.float32)),), {}),
}


class Total(nn.Cell):
    def construct(self, *args: Any, **kwargs: Any) -> Any:
        return total(*args, **kwargs)


@pytest.fixture(params=["jit", "cell"])
def make(request: pytest.FixtureRequest) -> Iterator[Callable[[], Any]]:
    """Return a function that runs by plans, and has none yet."""
    if request.param == "jit":
        yield lambda: ms.jit(total)
        return
    ms.set_context(mode=ms.GRAPH_MODE)
    yield Total
    ms.set_context(mode=ms.PYNATIVE_MODE)


def bits(value: Any) -> Any:
    return type(value).__name__, str(value._array.dtype), value.shape, np.array(value._array).tobytes()


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return {kind: bits(total(*args, **kwargs)) for kind in KINDS for args, kwargs in [KINDS[kind]()]}


@pytest.mark.parametrize("first", KINDS)
def test_a_plan_for_one_kind_of_arguments_is_not_taken_for_another(
    first: str, make: Callable[[], Any], expected: dict[str, Any]
) -> None:
    function = make()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no plan can be made")
        at = list(KINDS).index(first)
        for then in itertools.islice(itertools.cycle(KINDS), at + 1, at + 14):
            for kind in (first, first, first, then, first, then):
                args, kwargs = KINDS[kind]()
                assert bits(function(*args, **kwargs)) == expected[kind], (first, then, kind)
