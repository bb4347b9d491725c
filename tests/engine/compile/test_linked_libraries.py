"""Libraries in a linked folder, as in many environments, are recognized as libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

PROGRAM = """
import sys, numpy
import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.compile import plans_of

assert numpy.ones.__code__.co_filename.startswith(sys.argv[1]), numpy.ones.__code__.co_filename
step = ms.jit(ms.value_and_grad(nn.Dense(3, 1), 0))
step(Tensor(numpy.full((2, 3), 0.5, numpy.float32)))
print(*[one.counts["traced"] for one in plans_of(step)])
"""


def test_a_first_call_is_traced_where_numpy_is_reached_by_a_link(tmp_path: Path) -> None:
    link = tmp_path / "packages"
    link.symlink_to(Path(np.__file__).parents[1])
    paths = os.pathsep.join([str(link), *[path for path in sys.path if path]])
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(link)],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.stdout == "1\n", process.stderr
