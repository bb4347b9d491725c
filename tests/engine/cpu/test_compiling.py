"""Kernels are compiled on first use, told in one line, and found on disk by every later process."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hookscope.engine.cpu import compiling

LOAD = """
import sys
from hookscope.engine.cpu import compiling
assert "numba" not in sys.modules
module = compiling.kernels("products")
assert compiling.kernels("products") is module
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command, variables = [sys.executable, "-P", "-c", code], {**os.environ, **environment}
    return subprocess.run(command, env=variables, text=True, capture_output=True, check=True)


def test_what_was_compiled_is_told_once_and_found_on_disk_after_that(tmp_path: Path) -> None:
    first = run(LOAD, NUMBA_CACHE_DIR=str(tmp_path))
    (line,) = first.stderr.splitlines()
    assert line.startswith("Hookscope compiled products for this CPU in ") and line.endswith(f" s (kept in {tmp_path})")
    assert any(tmp_path.rglob("*.nbc"))
    assert run(LOAD, NUMBA_CACHE_DIR=str(tmp_path)).stderr == ""


def test_files_of_kernels_import_of_each_other_only_what_their_folders_digest_has() -> None:
    for path in (Path(compiling.__file__).parent / "compiled").glob("*.py"):
        imported = {f"{node.module}.py" for node in ast.walk(ast.parse(path.read_text()))
                    if isinstance(node, ast.ImportFrom) and node.level == 1}  # fmt: skip
        assert imported <= set(compiling._SHARED), path.name


def test_without_a_folder_each_process_compiles(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.touch()
    told = run(LOAD, NUMBA_CACHE_DIR=str(occupied)).stderr
    assert told.endswith("(for this process: there is no folder to keep it in)\n")


@pytest.mark.parametrize("name", ["HOOKSCOPE_NUMBA", "NUMBA_DISABLE_JIT"])
def test_a_variable_of_the_environment_leaves_all_to_numpy(name: str) -> None:
    code = "from hookscope.engine.cpu import compiling; print(compiling.is_on())"
    assert run(code, **{name: "0"}).stdout == f"{name == 'NUMBA_DISABLE_JIT'}\n"
    assert run(code, **{name: "1"}).stdout == f"{name == 'HOOKSCOPE_NUMBA'}\n"


def test_only_much_work_in_float32_is_compiled() -> None:
    assert compiling.is_worth(np.zeros(1 << 14, np.float32))
    assert not compiling.is_worth(np.zeros((1 << 14) - 1, np.float32))
    assert compiling.is_worth(np.zeros(100, np.float32), 100)
    for dtype in (np.float64, np.float16, np.int32, ">f4"):
        assert not compiling.is_worth(np.zeros(1 << 15, dtype))


def test_arrays_are_made_ready_without_a_copy_where_they_are() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert compiling.ready(x) is x
    for other in (x.T, x[:, 1:], np.frombuffer(b"\0" + x.tobytes(), np.float32, offset=1).reshape(3, 4)):
        made = compiling.ready(other)
        assert made is not other and made.flags.c_contiguous and made.flags.aligned
        np.testing.assert_array_equal(made, other)
