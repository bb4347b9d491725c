"""MINDIR: files that MindSpore 2.10 wrote run here, and what we write is built of what it writes.

With ``HOOKSCOPE_MINDSPORE``, the Python of an environment that has MindSpore 2.10, our files run there as well.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.core.operator import OPERATORS as O
from hookscope.engine.graph.function import graph_of
from hookscope.engine.graph.mindir import read, write
from hookscope.engine.graph.mindir.messages import mind_ir
from hookscope.engine.graph.mindir.steps import RULES
from graph.mindir_cases import FOLDER, NETWORKS, ResNet, facts_of, leaves, network
from recorded import filled

MINDSPORE = os.environ.get("HOOKSCOPE_MINDSPORE")


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    with np.load(FOLDER / "mindir.npz") as found:
        return dict(found)


def parsed(path: Path) -> Any:
    return mind_ir()["Model"].FromString(path.read_bytes())


def floats(*shape: int, k: float = 0.0) -> Any:
    return np.sin(np.arange(int(np.prod(shape))) * 1.7 + 1 + k).astype(np.float32).reshape(shape)


def same(got: list[Any], want: list[Any], **tolerance: float) -> None:
    assert [(x.shape, x.dtype) for x in got] == [(x.shape, x.dtype) for x in want]
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, **tolerance)


# Files of MindSpore


@pytest.mark.parametrize("name", NETWORKS)
def test_a_file_of_mindspore_runs_here(name: str, kept: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "x.mindir").write_bytes(kept[f"{name} file"].tobytes())
    cell = nn.GraphCell(ms.load(str(tmp_path / "x.mindir")))
    got = leaves(cell(*NETWORKS[name][1]()))
    want = [kept[f"{name} {place}"] for place in range(len(got))]
    assert f"{name} {len(got)}" not in kept
    for one, other in zip(got, want, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
    made = network(name)
    assert [(p.name, p.shape) for p in cell.get_parameters()] == [(p.name, p.shape) for p in made.get_parameters()]
    for p, q in zip(cell.get_parameters(), made.get_parameters(), strict=True):
        np.testing.assert_array_equal(p.asnumpy(), q.asnumpy())


def test_a_file_of_mindspore_has_gradients_here(kept: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "x.mindir").write_bytes(kept["lenet file"].tobytes())
    read_cell, made, (x,) = nn.GraphCell(ms.load(str(tmp_path / "x.mindir"))), network("lenet"), NETWORKS["lenet"][1]()
    got = ms.grad(lambda x: read_cell(x).sum(), 0, read_cell.trainable_params())(x)
    want = ms.grad(lambda x: made(x).sum(), 0, made.trainable_params())(x)
    same(leaves(list(got)), leaves(list(want)), rtol=1e-4, atol=1e-5)
    again = read_cell(Tensor(np.concatenate([x.asnumpy()] * 3)))  # another batch
    same(leaves(again), [np.concatenate(leaves(made(x)) * 3)], rtol=1e-5, atol=1e-6)
