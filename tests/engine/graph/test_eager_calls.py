"""Calls of which no plan can be made: the warning, where it stands, and the error under ``fullgraph``."""

from __future__ import annotations

import contextlib
import io
import warnings

import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.core import random
from hookscope.engine.graph import plans_of

X = Tensor([1.0, 2.0])


def test_the_warning_stands_where_the_call_does_and_comes_once() -> None:
    @ms.jit
    def branch(x: Tensor) -> Tensor:
        return x + 1 if x.sum() > 0 else x

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        branch(X)
        branch(X)
    (one,) = told
    assert one.filename == __file__
    assert f"{__file__}:" in str(one.message) and str(one.message).endswith("it runs eagerly")
    assert plans_of(branch)[0].counts["eager"] == 2


class PythonStream(io.StringIO):
    """Its code is not known before it runs, as that of a notebook's stream."""

    def write(self, text: str) -> int:
        return super().write(text)


def test_fullgraph_is_an_error_also_where_unknown_code_runs_first_and_nothing_is_changed() -> None:
    count = Parameter(Tensor(0.0), name="count")

    @ms.jit(fullgraph=True)
    def printing(x: Tensor) -> Tensor:
        ops.assign_add(count, Tensor(1.0))
        print("here")
        return x * count

    with contextlib.redirect_stdout(PythonStream()), pytest.raises(RuntimeError, match=r"print\(\) is called"):
        printing(X)
    assert float(count) == 0


def test_a_layer_that_is_made_inside_draws_its_first_values_at_each_call() -> None:
    def made(x: Tensor) -> Tensor:
        return nn.Dense(2, 2)(x.reshape((1, 2)))

    outcomes = []
    for way in (made, ms.jit(made)):
        ms.set_seed(5)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="no plan can be made")
            outcomes.append(([way(X).tolist() for _ in range(4)], random.position()))
    assert outcomes[0] == outcomes[1]
