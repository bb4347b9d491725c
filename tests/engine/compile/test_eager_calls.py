"""Calls without a plan: the warning, the line that it names, and the error under ``fullgraph``."""

from __future__ import annotations

import contextlib
import io
import math
import re
import warnings
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.base.file_labels import set_file_labels
from hookscope.engine.compile import plans_of
from hookscope.engine.tensors import random

X = Tensor([1.0, 2.0])


def test_the_warning_stands_where_the_call_does_and_comes_once() -> None:
    @ms.jit
    def branch(x: Tensor) -> Tensor:
        return x + 1 if x.sum() > 0 else x

    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        branch(X)
        branch(X)
    (record,) = records
    assert record.filename == __file__
    assert f"{__file__}:" in str(record.message) and str(record.message).endswith("it runs eagerly")
    assert plans_of(branch)[0].counts["eager"] == 2


def branches(x: Tensor) -> Tensor:
    return x + 1 if x.sum() > 0 else x


def loops(x: Tensor) -> Tensor:
    while x.sum() < 10:
        x = x * 2
    return x


def prints(x: Tensor) -> Tensor:
    print(x.shape)
    return x * 2


READ = [
    (branches, "a branch is taken on a tensor's value"),
    (loops, "a branch is taken on a tensor's value"),
    (lambda x: x * max(x[0], x[1]), "a branch is taken on a tensor's value"),
    (lambda x: x * float(x.sum()), "float() reads the number of a tensor"),
    (lambda x: x * math.sqrt(x.sum()), "float() reads the number of a tensor"),
    (lambda x: x * int(x.sum()), "int() reads the number of a tensor"),
    (lambda x: x * x.sum().item(), "item() reads the numbers of a tensor"),
    (lambda x: x + Tensor(x.asnumpy()), "asnumpy() reads the numbers of a tensor"),
    (lambda x: x * x.tolist()[0], "tolist() reads the numbers of a tensor"),
    (lambda x: x + np.asarray(x).max(), "NumPy reads the numbers of a tensor"),
    (lambda x: x * len(f"{x}"), "a tensor becomes text, which shows its numbers"),
    (lambda x: x * (3 in x), "'in' reads the numbers of a tensor"),
    (lambda x: x * range(9)[x[1].astype(ms.int32)], "the number of a tensor is used as an index or a length"),
    (lambda x: x.reshape((Tensor(2), 1)), "reshape() reads the numbers of a tensor"),
    (lambda x: ops.nonzero(x), "nonzero() reads the numbers of a tensor"),
    (lambda x: x * x.allclose(x), "allclose() reads the numbers of a tensor"),
    (prints, "print() is called, and a plan would not print"),
]


@pytest.mark.parametrize(("function", "why"), READ, ids=[why for _, why in READ])
def test_the_warning_says_how_numbers_are_read_in_the_words_of_the_line(function: Any, why: str) -> None:
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        ms.jit(function)(X)
    lines = {line for *_, line in function.__code__.co_lines()}
    text = str(records[0].message)
    match = re.fullmatch(rf".*: {re.escape(why)} \({re.escape(__file__)}:(\d+)\); it runs eagerly", text)
    assert match is not None, text
    assert int(match[1]) in lines


def test_lines_of_a_notebook_s_cells_have_the_names_that_the_notebook_gives_them() -> None:
    source = "def branch(x):\n    if x.sum() > 0:\n        return x + 1\n    return x\n"

    def told(file: str) -> str:
        names: dict[str, Any] = {"jit": ms.jit}
        exec(compile(source + "\n\ndef call(x):\n    return jit(branch)(x)\n", file, "exec"), names)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            names["call"](X)
        (record,) = caught
        return f"{record.filename}:{record.lineno}: {record.message}"

    file = "/tmp/ipykernel_123/4567.py"
    message = "no plan can be made of 'branch': a branch is taken on a tensor's value"
    assert told(file) == f"a cell:8: {message} (a cell, line 2); it runs eagerly"
    set_file_labels({file: "Cell In[3]"}.get)
    try:
        assert told(file) == f"Cell In[3]:8: {message} (Cell In[3], line 2); it runs eagerly"
        assert told("/home/me/net.py") == f"/home/me/net.py:8: {message} (/home/me/net.py:2); it runs eagerly"
    finally:
        set_file_labels(None)


class PythonStream(io.StringIO):
    """A stream whose code is unknown before it runs, as that of a notebook's stream."""

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
